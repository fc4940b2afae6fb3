//! Allocator: it gives the next page of a stream. Blocks are opened only when they are used. There
//! is no other allocator.

use std::cmp::Reverse;

use crate::api::Context;
use crate::base::codings::FULL;
use crate::base::geometry::Geometry;
use crate::base::streams::{RECLAIM, RESERVE, WEAR};
use crate::base::units::{BlockId, Lpn, PageInBlock, Ppn, Reads, StreamId};
use crate::flash::Flash;
use crate::flash::operate::program::NewPage;
use crate::ftl::Ftl;
use crate::ftl::free::Side;
use crate::ftl::map::Entry;
use crate::watch::observer::Event;

impl Ftl {
    /// Makes `lpn` the next page of a stream. If the page has a fixed die, the stream continues
    /// there.
    #[inline]
    pub(crate) fn aim(&mut self, stream: StreamId, lpn: Lpn) {
        if let Some(stripes) = &self.stripes {
            self.streams.table[usize::from(stream)].turn = stripes.die(lpn).into();
        }
    }

    /// Returns the domain that a page is written in.
    #[inline]
    pub(crate) fn domain_of_page(&self, lpn: Lpn) -> usize {
        self.stripes.map_or(0, |stripes| stripes.die(lpn).into())
    }

    /// Returns whether the next page of a stream needs a block from the free pool.
    pub(crate) fn needs_block(&self, stream: StreamId) -> bool {
        let s = self.streams.of(stream);
        s.open[s.turn] == BlockId::NONE
    }

    /// Returns whether a stream has an open block in a domain.
    pub(super) fn has_open_in(&self, flash: &Flash, stream: StreamId, domain: usize) -> bool {
        let mut open = self.streams.of(stream).open.iter().filter(|block| **block != BlockId::NONE);
        open.any(|block| flash.geometry.domain_of(*block) == domain)
    }

    /// Returns the number of free pages in the current block of a stream; 0 if no block is open
    /// there.
    pub(super) fn room_at_turn(&self, flash: &Flash, stream: StreamId) -> u32 {
        let s = self.streams.of(stream);
        let block = s.open[s.turn];
        if block == BlockId::NONE {
            0
        } else {
            self.streams.of(stream).most_pages - u32::from(flash.hot(block).write_ptr)
        }
    }

    /// Returns the stream for a page's hint, among the streams that keep the same kind of data.
    #[inline]
    pub(crate) fn stream_of(&self, kind: StreamId, lpn: Lpn) -> StreamId {
        self.hinted.as_ref().map_or(kind, |hinted| self.streams.for_budget(kind, hinted.of(lpn)))
    }

    /// Returns the stream that data of a stream is written to. If only the reserve is left for the
    /// stream's blocks, this is the stream of the strictest hint.
    #[inline]
    pub(crate) fn stream_with_room(&self, stream: StreamId) -> StreamId {
        if self.streams.is_tightest(stream) || self.has_room(stream) {
            stream
        } else {
            self.streams.kind(stream)
        }
    }

    fn has_room(&self, stream: StreamId) -> bool {
        self.free.total() > RESERVE
            || self.streams.of(stream).open.iter().any(|block| *block != BlockId::NONE)
    }

    /// Writes a page at the next place of a stream and maps it there. The caller has ensured that
    /// there are free blocks.
    pub(crate) fn place(&mut self, cx: &mut Context, stream: StreamId, data: NewPage) -> Ppn {
        let NewPage { lpn, cause, .. } = data;
        let stream = self.stream_with_room(stream);
        self.aim(stream, lpn);
        let block = self.block_at_turn(cx, stream);
        self.streams.next_turn(stream);
        let page = cx.flash.next_page(block);
        let ppn = cx.flash.geometry.first_page(block) + page;
        self.program(cx.flash, block, page, data);
        cx.flash.complete_wordline(block, page, cause);
        self.close_when_written(cx.flash, stream, block);
        ppn
    }

    /// Returns the current block of a stream. If it is not open, it is opened if needed and
    /// possible. Otherwise the stream continues at its next open block.
    #[inline(always)]
    // A look-up, for every page written.
    pub(crate) fn block_at_turn(&mut self, cx: &mut Context, stream: StreamId) -> BlockId {
        let s = self.streams.of(stream);
        let block = s.open[s.turn];
        if block == BlockId::NONE { self.open_at_turn(cx, stream) } else { block }
    }

    #[cold]
    fn open_at_turn(&mut self, cx: &mut Context, stream: StreamId) -> BlockId {
        let width = self.streams.width(stream);
        for _ in 0..width {
            let s = &mut self.streams.table[usize::from(stream)];
            if s.open[s.turn] != BlockId::NONE {
                return s.open[s.turn];
            }
            let may_open = self.streams.is_tightest(stream) || self.free.total() > RESERVE;
            if may_open && let Some(block) = self.take_free(cx, stream) {
                let s = &mut self.streams.table[usize::from(stream)];
                s.open[s.turn] = block;
                return block;
            }
            if self.stripes.is_some() {
                // A page goes to its own die.
                break;
            }
            self.streams.next_turn(stream);
        }
        panic!(
            "no free block for stream {}: the reserve was not kept",
            self.streams.of(stream).purpose
        );
    }

    /// Closes a block that gets no more pages.
    #[inline(always)]
    // A comparison, for every page written.
    pub(super) fn close_when_written(
        &mut self,
        flash: &mut Flash,
        stream: StreamId,
        block: BlockId,
    ) {
        let hot = flash.hot(block);
        if u32::from(hot.write_ptr) >= self.streams.of(hot.stream).most_pages {
            self.streams.drop_open(self.streams.kind(stream), block);
            self.close(flash, block);
        }
    }

    /// Returns the block that the next page of a stream goes to at present; `None` if no block is
    /// free for it.
    pub(crate) fn next_block(&self, flash: &Flash, stream: StreamId) -> Option<BlockId> {
        let s = self.streams.of(stream);
        let open = Some(s.open[s.turn]).filter(|block| *block != BlockId::NONE);
        open.or_else(|| {
            let (plane, side, worn) = self.free_plane(flash, stream)?;
            self.free.next(plane, side, worn)
        })
    }

    /// Takes a free block for a stream, from the die with the most free blocks on which the stream
    /// has no open block yet.
    #[cold]
    fn take_free(&mut self, cx: &mut Context, stream: StreamId) -> Option<BlockId> {
        let (plane, side, worn) = self.free_plane(cx.flash, stream)?;
        let s = self.streams.of(stream);
        let domain = if self.stripes.is_some() { s.turn } else { 0 };
        let planes = self.free.planes_of(domain);
        let (wants_pool, counts_pages, mode) = (s.pool, s.counts_pages, s.mode);
        let is_own = self.streams.is_own(stream);
        let (kind, budget) = (self.streams.kind(stream), self.streams.budget(stream));
        let step = if self.stripes.is_some() { 1 } else { cx.flash.geometry.planes_per_die };
        self.streams.plane_cursor = (plane - planes.start + step) % planes.len() as u32;
        let block = self.free.take(plane, side, worn)?;
        // The technique is not asked about a block that is not recycled, so it keeps no separate
        // data there.
        let is_plain = is_own && self.is_left_alone(cx.flash, block);
        let (wants_pool, counts_pages) = (wants_pool && !is_plain, counts_pages && !is_plain);
        let (kind, mode) = if is_plain { (RECLAIM, FULL) } else { (kind, mode) };
        self.reclaim.pool_openings += u64::from(wants_pool);
        self.reclaim.pool_misses += u64::from(wants_pool && side != Side::Pool);
        cx.flash.open(block, kind, counts_pages, budget);
        self.open_in_mode(cx.flash, block, mode);
        self.arm(cx, block);
        self.arm_for_age(cx, block);
        Some(block)
    }

    /// Returns the plane from which a free block for a stream is taken, its side there, and whether
    /// the most worn block is taken.
    fn free_plane(&self, flash: &Flash, stream: StreamId) -> Option<(u32, Side, bool)> {
        let s = self.streams.of(stream);
        let domain = if self.stripes.is_some() { s.turn } else { 0 };
        let side = self.streams.side(stream, domain, &self.free);
        if self.streams.kind(stream) == WEAR {
            return Some((self.most_worn_free(flash, stream, domain)?.0, side, s.worn));
        }
        let planes = self.free.planes_of(domain);
        let (first, planes) = (planes.start, planes.len() as u32);
        let mut used = vec![false; flash.geometry.dies() as usize];
        for block in s.open.iter().filter(|b| **b != BlockId::NONE) {
            used[usize::from(flash.geometry.die_of(*block))] = true;
        }
        let free_in = |plane: u32| self.free.in_plane(first + plane, side);
        let cursor = self.streams.plane_cursor;
        let rank = |plane: u32| {
            let taken = used[((first + plane) / flash.geometry.planes_per_die) as usize];
            (taken, usize::MAX - free_in(plane), (plane + planes - cursor % planes) % planes)
        };
        let plane = (0..planes).filter(|p| free_in(*p) > 0).min_by_key(|p| rank(*p))?;
        Some((first + plane, side, s.worn))
    }

    /// Returns the most worn free block of a domain that a stream may open, and its plane.
    pub(super) fn most_worn_free(
        &self,
        flash: &Flash,
        stream: StreamId,
        domain: usize,
    ) -> Option<(u32, BlockId)> {
        let side = self.streams.side(stream, domain, &self.free);
        let most_worn = |plane| Some((plane, self.free.next(plane, side, true)?));
        let blocks = self.free.planes_of(domain).filter_map(most_worn);
        blocks.max_by_key(|(_, block)| (flash.cold(*block).erased_milli(), Reverse(*block)))
    }

    /// Takes an erased block of a domain for data of the start-up state, from each plane in turn.
    pub(crate) fn take_for_loading_in(&mut self, domain: usize) -> BlockId {
        let planes = self.free.planes_of(domain);
        let plane = planes
            .max_by_key(|plane| self.free.in_plane(*plane, Side::Any))
            .expect("a domain has planes");
        self.free.take(plane, Side::Any, false).expect("a domain has room for its pages")
    }

    /// Takes an erased block for data of the start-up state, from each plane in turn, dies first.
    pub(crate) fn take_for_loading(&mut self, geometry: &Geometry) -> BlockId {
        let planes = geometry.dies() * geometry.planes_per_die;
        let order = |i: u32| (i % geometry.dies()) * geometry.planes_per_die + i / geometry.dies();
        for i in 0..planes {
            let turn = (self.load_cursor + i) % planes;
            if let Some(block) = self.free.take(order(turn), Side::Any, false) {
                self.load_cursor = (turn + 1) % planes;
                return block;
            }
        }
        panic!("no block left to load");
    }

    /// Sets the first alarms of a block that will be written.
    pub(crate) fn arm(&mut self, cx: &mut Context, block: BlockId) {
        if cx.flash.model.is_none() {
            return;
        }
        if cx.flash.is_fluid() {
            let others = cx.compared_with(self.away(cx.flash, block), block);
            for other in others {
                cx.flash.draw_reads(other);
            }
        }
        let first = if self.is_left_alone(cx.flash, block) {
            Reads::NEVER
        } else {
            cx.arm(self.away(cx.flash, block), block)
        };
        cx.flash.tell(Event::AsksAt { block, at: first });
        cx.flash.set_policy_alarm(block, first);
        cx.flash.ask_model(block);
        cx.flash.set_alarm(block);
    }

    /// Sets the time of the first check for age of a block that will be written.
    fn arm_for_age(&mut self, cx: &mut Context, block: BlockId) {
        if self.wheel.runs {
            let now = cx.flash.now;
            cx.flash.tell(Event::Clock { at: now });
        }
        self.set_checks_of_age(cx, block, !self.is_left_alone(cx.flash, block));
    }

    /// Sets the times of the next checks for age of a block.
    pub(super) fn set_checks_of_age(&mut self, cx: &Context, block: BlockId, is_looked_at: bool) {
        let since = cx.flash.cold(block).programmed_at;
        if self.wheel.runs
            && is_looked_at
            && let Some(at) = cx.refresh.first_look(since)
        {
            self.wheel.set(block, at);
        }
        if self.steps.runs {
            self.steps.set(block, cx.flash.next_step_begins(block).cast_signed());
        }
    }

    /// Programs the next page of a block and maps it there.
    #[inline(always)]
    // Its two callers are the write path.
    pub(crate) fn program(
        &mut self,
        flash: &mut Flash,
        block: BlockId,
        page: PageInBlock,
        data: NewPage,
    ) {
        let (ppn, lpn) = (flash.program(block, page, data), data.lpn);
        if self.worn.is_on() {
            self.count_written(flash, block, data);
        }
        match self.map.slot_of(lpn) {
            None => self.map.set(lpn, Entry::on_flash(ppn)),
            // This is a copy of data that newer data in the write buffer hides.
            Some(slot) => self.buffer.slot_mut(slot).below = Entry::on_flash(ppn),
        }
    }

    /// Makes a block that gets no more pages a candidate for GC.
    #[cold]
    pub(crate) fn close(&mut self, flash: &mut Flash, block: BlockId) {
        let stream = flash.hot(block).stream;
        flash.close(block);
        if stream >= RECLAIM && !self.streams.is_of_gc(stream) {
            // This is the time of one pass through the spare blocks. By then, moved data has rested
            // long enough.
            flash.protect(block, flash.geometry.spare_blocks_in_share());
        }
        self.victims.insert(block, self.score(flash, block), flash.seq as u32);
    }

    /// Returns the ratio of valid pages to available pages, scaled to a full block. A block that
    /// will not be filled, or that was reprogrammed before it was full, must not look empty.
    #[inline(always)]
    // A few instructions, for every page that is overwritten.
    pub(crate) fn score(&self, flash: &Flash, block: BlockId) -> u32 {
        let hot = flash.hot(block);
        let valid = u32::from(hot.valid);
        let all = flash.geometry.pages_per_block;
        let available =
            (all - flash.pages_away_of(block)).min(self.streams.of(hot.stream).most_pages).max(1);
        if available == all { valid } else { (valid * all).div_ceil(available).min(all) }
    }
}
