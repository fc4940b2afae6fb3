//! Streams and the only allocator. A stream keeps one kind of data apart; it writes its open blocks in turn, so that
//! its pages are striped over dies, and opens them only when it is used.

use crate::base::geometry::Geometry;
use crate::base::streams::{FIRST_OWN, GC, RECLAIM, RESERVE, StreamSpec};
use crate::base::units::{BlockId, Cause, Lpn, Ppn, Reads, StreamId};
use crate::bugs::{Bug, disorder, planted};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ftl::free::{FreeBlocks, Side};
use crate::ftl::map::BUFFERED;
use crate::slots::Slots;
use crate::watch::observer::Origin;

const NONE: BlockId = BlockId::MAX;

pub(crate) struct Stream {
    purpose: &'static str,
    /// Page kinds that its blocks do without.
    mode: u8,
    /// Takes the most worn free block instead of the youngest.
    worn: bool,
    /// Its blocks come from the IPR pool where they can.
    pool: bool,
    /// Its blocks are closed after so many pages.
    most_pages: u32,
    /// Whether the reads of each page of its blocks are counted.
    counts_pages: bool,
    open: Vec<BlockId>,
    turn: usize,
}

pub(crate) struct Streams {
    table: Vec<Stream>,
    /// Whether the IPR pool is kept for the streams that want it.
    keep_pool: bool,
    plane_cursor: u32,
}

impl Streams {
    /// Widths so that open blocks plus the reserve never exceed half the spare blocks. `keep_pool` holds where any stream wants the pool.
    pub(crate) fn new(geometry: &Geometry, own: Vec<StreamSpec>, keep_pool: bool) -> Self {
        let room = (geometry.spare_blocks() / 2).saturating_sub(RESERVE + 1);
        let width = (room / (3 + own.len() as u32)).clamp(1, geometry.dies()) as usize;
        let all = geometry.pages_per_block;
        let stream = |purpose, width| Stream {
            purpose,
            mode: 0,
            worn: false,
            pool: false,
            most_pages: all,
            counts_pages: false,
            open: vec![NONE; width],
            turn: 0,
        };
        let mut table =
            vec![stream("host", width), stream("gc", width), stream("reclaim", width), Stream { worn: true, ..stream("wear", 1) }];
        assert_eq!(table.len(), usize::from(FIRST_OWN));
        let keep_pool = keep_pool && own.iter().any(|spec| spec.pool);
        table.extend(own.into_iter().map(|spec| Stream {
            mode: spec.mode,
            pool: spec.pool,
            most_pages: spec.most_pages.map_or(all, |n| u32::from(n).min(all)),
            counts_pages: spec.counts_pages,
            ..stream(spec.purpose, width)
        }));
        Self { table, keep_pool, plane_cursor: 0 }
    }

    pub(crate) fn widths(&self) -> Vec<(&'static str, u32)> {
        self.table.iter().map(|s| (s.purpose, s.open.len() as u32)).collect()
    }

    pub(crate) fn width(&self, stream: StreamId) -> usize {
        self.table[usize::from(stream)].open.len()
    }

    /// Page kinds that a stream's blocks do without, where the drive can spare them.
    pub(crate) fn mode(&self, stream: StreamId) -> u32 {
        self.table[usize::from(stream)].mode.into()
    }

    /// Pages after which a stream's blocks are closed.
    pub(crate) fn most_pages(&self, stream: StreamId) -> u32 {
        self.table[usize::from(stream)].most_pages
    }

    /// Whether a stream's blocks come from the IPR pool where they can.
    pub(crate) fn wants_pool(&self, stream: StreamId) -> bool {
        self.table[usize::from(stream)].pool
    }

    /// Where a stream's next block comes from.
    fn side(&self, stream: StreamId, free: &FreeBlocks) -> Side {
        let wanted = match (self.wants_pool(stream), self.keep_pool) {
            (true, _) => Side::Pool,
            (false, true) => Side::Outside,
            (false, false) => Side::Any,
        };
        if free.count_in(wanted) > 0 { wanted } else { Side::Any }
    }

    /// Whether blocks of which every page is valid are moved out of the pool where it has none to give.
    pub(crate) fn evicts_full(&self) -> bool {
        self.keep_pool
    }

    fn next_turn(&mut self, stream: StreamId) {
        let s = &mut self.table[usize::from(stream)];
        s.turn = if s.turn + 1 == s.open.len() { 0 } else { s.turn + 1 };
    }

    /// Forgets an open block (it is to be moved before it is full).
    pub(crate) fn drop_open(&mut self, stream: StreamId, block: BlockId) {
        for slot in &mut self.table[usize::from(stream)].open {
            if *slot == block {
                *slot = NONE;
            }
        }
    }
}

impl Ftl {
    /// Whether the next page of a stream needs a block from the free pool.
    pub(crate) fn needs_block(&self, stream: StreamId) -> bool {
        let s = &self.streams.table[usize::from(stream)];
        s.open[s.turn] == NONE
    }

    /// Writes a page at the next place of a stream and maps it there. The caller has seen to free blocks.
    pub(crate) fn place(&mut self, flash: &mut Flash, slots: &mut Slots, lpn: Lpn, stream: StreamId, origin: Origin, cause: Cause) -> Ppn {
        let block = self.block_at_turn(flash, slots, stream);
        let page = u32::from(flash.hot[block as usize].write_ptr);
        let ppn = flash.geometry.first_page(block) + page;
        self.program(flash, block, page, lpn, origin, cause);
        flash.complete_wordline(block, page, cause);
        self.end_turn(flash, stream, block);
        ppn
    }

    /// The block that the stream's turn falls on, opened where needed and possible; else its next open one, which then has its turn.
    pub(crate) fn block_at_turn(&mut self, flash: &mut Flash, slots: &mut Slots, stream: StreamId) -> BlockId {
        let width = self.streams.width(stream);
        for _ in 0..width {
            let s = &mut self.streams.table[usize::from(stream)];
            if s.open[s.turn] != NONE {
                return s.open[s.turn];
            }
            if let Some(block) = self.take_free(flash, slots, stream) {
                let s = &mut self.streams.table[usize::from(stream)];
                s.open[s.turn] = block;
                return block;
            }
            self.streams.next_turn(stream);
        }
        panic!("no free block for stream {}: the reserve was not kept", self.streams.table[usize::from(stream)].purpose);
    }

    /// The block at turn was written to: the next one has its turn, and a block that is written as far as it will be is closed.
    #[inline]
    pub(crate) fn end_turn(&mut self, flash: &mut Flash, stream: StreamId, block: BlockId) {
        self.streams.next_turn(stream);
        if u32::from(flash.hot[block as usize].write_ptr) >= self.streams.most_pages(stream) {
            self.streams.drop_open(stream, block);
            self.close(flash, block);
        }
    }

    /// A free block for a stream: from a die on which it has no open block yet, where free blocks are most plenty.
    #[cold]
    fn take_free(&mut self, flash: &mut Flash, slots: &mut Slots, stream: StreamId) -> Option<BlockId> {
        let planes = flash.geometry.dies() * flash.geometry.planes_per_die;
        let s = &self.streams.table[usize::from(stream)];
        let worn = s.worn && !planted(Bug::ColdToYoungest) || self.bugs.has(Bug::OldestFirst);
        let mut used = vec![false; flash.geometry.dies() as usize];
        for block in s.open.iter().filter(|b| **b != NONE) {
            used[usize::from(flash.geometry.die_of(*block))] = true;
        }
        let side = self.streams.side(stream, &self.free);
        let free_in = |plane: u32| self.free.in_plane(plane, side);
        let (wants_pool, counts_pages, mode) = (s.pool, s.counts_pages, s.mode);
        let cursor = if planted(Bug::NotDeterministic) { disorder() % planes } else { self.streams.plane_cursor };
        let rank = |plane: u32| {
            let taken = used[(plane / flash.geometry.planes_per_die) as usize];
            (taken, usize::MAX - free_in(plane), (plane + planes - cursor) % planes)
        };
        let plane = (0..planes).filter(|p| free_in(*p) > 0).min_by_key(|p| rank(*p))?;
        self.streams.plane_cursor = (plane + flash.geometry.planes_per_die) % planes;
        let block = self.free.take(plane, side, worn)?;
        self.reclaim.pool_openings += u64::from(wants_pool);
        self.reclaim.pool_misses += u64::from(wants_pool && side != Side::Pool);
        flash.open(block, stream, counts_pages);
        self.open_in_mode(flash, block, mode);
        self.arm(flash, slots, block);
        Some(block)
    }

    /// First alarms of a block that is about to be written.
    pub(crate) fn arm(&mut self, flash: &mut Flash, slots: &mut Slots, block: BlockId) {
        if flash.model.is_none() {
            return;
        }
        let mut first = slots.arm(flash, self.away(flash), block);
        flash.tell(|o| o.asks_at(block, first));
        if self.bugs.has(Bug::AlphaForgotten) {
            first = Reads(first.0.saturating_mul(8));
        }
        if flash.hot[block as usize].stream == GC && self.bugs.has(Bug::ArmForgotten) {
            first = Reads::NEVER;
        }
        flash.set_policy_alarm(block, first);
        flash.ask_model(block);
        flash.set_alarm(block);
    }

    /// Programs the next page of a block and maps it there.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "its two callers are the write path")]
    pub(crate) fn program(&mut self, flash: &mut Flash, block: BlockId, page: u32, lpn: Lpn, origin: Origin, cause: Cause) {
        let ppn = flash.program(block, page, lpn, origin, cause);
        let entry = self.map.to_physical[lpn as usize];
        if entry & BUFFERED == 0 {
            self.map.to_physical[lpn as usize] = ppn;
        } else if !self.bugs.has(Bug::MoveMissesBuffer) {
            // A copy of what lies below newer data in the write buffer.
            self.buffer.slot_mut(entry & !BUFFERED).below = ppn;
        }
    }

    /// A block that will not be written further becomes a candidate for GC.
    #[cold]
    pub(crate) fn close(&mut self, flash: &mut Flash, block: BlockId) {
        let stream = flash.hot[block as usize].stream;
        flash.close(block);
        if stream >= RECLAIM {
            // A full turn of the spare blocks: by then what was moved has had its rest.
            flash.protect(block, flash.geometry.spare_blocks());
        }
        self.victims.insert(block, self.score(flash, block), flash.seq as u32);
    }

    /// Valid pages over available pages, scaled to a full block: a block that is not meant to be filled, or that was reprogrammed before it
    /// was, must not look empty.
    #[inline]
    pub(crate) fn score(&self, flash: &Flash, block: BlockId) -> u32 {
        let hot = &flash.hot[block as usize];
        let valid = u32::from(hot.valid);
        let all = flash.geometry.pages_per_block;
        let available = (all - flash.pages_away_of(block)).min(self.streams.most_pages(hot.stream)).max(1);
        if available == all { valid } else { (valid * all).div_ceil(available).min(all) }
    }
}
