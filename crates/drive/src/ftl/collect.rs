//! Free blocks: garbage collection, urgent or in the background, and static wear levelling.

use std::cmp::Reverse;

use crate::api::Context;
use crate::api::asked::Asked;
use crate::api::gc::{Candidates, GcPolicy};
use crate::api::rewrite::Rewrite;
use crate::base::streams::{GC, HOST, RESERVE, WEAR};
use crate::base::units::{BlockId, Cause, Reads, StreamId};
use crate::flash::Flash;
use crate::flash::block::{BlockState, MOVING};
use crate::ftl::Ftl;
use crate::ftl::free::Side;
use crate::ftl::gathers::Gatherer;
use crate::ftl::job::Job;

/// Message for a drive in which cleaning gains nothing more.
const OVERCOMMITTED: &str = "garbage collection found no victim, no job and no free block, because \
    the drive has too few spare blocks";

/// Number of times that static wear levelling checks all blocks during as many erases as the drive
/// has blocks.
const LOOKS_PER_TURN: u32 = 16;
/// Wear beyond the gap, in thousandths of a cycle. A block that lags by more is moved in any case.
const MOST_BEYOND_GAP: u64 = 8000;

/// Blocks of a domain that lag behind its most worn block.
pub(super) struct Lagging {
    /// Wear of the most worn block, in thousandths of a cycle.
    most: u64,
    /// Wear and number of each block, the least worn last.
    blocks: Vec<(u64, BlockId)>,
}

impl Ftl {
    /// Cleans until this number of blocks of a domain are free.
    pub(crate) fn ensure_free(&mut self, cx: &mut Context, domain: usize, blocks: u32) {
        while self.free.count(domain) < blocks {
            assert!(self.collect_one(cx, domain), "{OVERCOMMITTED}");
        }
    }

    /// Cleans until one block of a domain is free in addition to the reserve.
    pub(crate) fn ensure_room(&mut self, cx: &mut Context, domain: usize) {
        self.ensure_free(cx, domain, self.streams.reserve() + 1);
        if self.share.is_some() {
            self.keep_room(cx, HOST);
        }
    }

    /// Cleans until there is a free block for a stream that will open one. It is in the IPR pool if
    /// the stream wants that.
    pub(crate) fn free_for(
        &mut self,
        cx: &mut Context,
        (stream, domain): (StreamId, usize),
        cause: Cause,
    ) {
        let before = cx.flash.counts.erases[Cause::Gc as usize];
        let blocks = self.streams.reserve() + 1;
        while self.free.count(domain) < blocks && self.collect_one(cx, domain) {}
        // Without host writes, only reclaim and refresh open blocks, and a sample cleans for them.
        if self.share.is_some() && matches!(cause, Cause::Reclaim | Cause::Refresh) {
            self.keep_room(cx, stream);
        }
        // Cleaning may have opened a block of this stream itself, and then gains no other.
        assert!(
            self.free.count(domain) >= blocks || self.has_open_in(cx.flash, stream, domain),
            "{OVERCOMMITTED}"
        );
        if self.streams.of(stream).pool && self.free.count_in(domain, Side::Pool) == 0 {
            self.collect_in_pool(cx, domain);
        }
        self.count_cleaning(cx.flash, before, cause);
    }

    /// Cleans until a block of a domain is free in addition to the reserve, as long as cleaning
    /// gains space. Returns whether there is such a free block. Used for optional work.
    pub(super) fn free_if_it_gains(
        &mut self,
        cx: &mut Context,
        domain: usize,
        cause: Cause,
    ) -> bool {
        let before = cx.flash.counts.erases[Cause::Gc as usize];
        while self.free.count(domain) <= self.streams.reserve() && self.clean_one(cx, domain) {}
        self.count_cleaning(cx.flash, before, cause);
        self.free.count(domain) > self.streams.reserve()
    }

    /// Counts the blocks that GC has erased for a job since there were `before` erases.
    fn count_cleaning(&mut self, flash: &Flash, before: u64, cause: Cause) {
        if cause == Cause::Reclaim {
            self.reclaim.gc_erases += flash.counts.erases[Cause::Gc as usize] - before;
        }
    }

    /// Cleans a block of the IPR pool if the pool has no free block (ipr-2018 III-D). Blocks of low
    /// density, read-hot blocks, and blocks that wear levelling wrote recently are not cleaned. If
    /// the pool is kept, a block without an invalid page is evicted if there is no better one.
    ///
    /// An eviction gains no space, so it must not repeat or take blocks from GC. It is done once
    /// for each block that a read-hot stream opens. At that time, more blocks than the reserve are
    /// free, all outside the pool. They take the pages of the evicted block, and its erase gives a
    /// block back. So GC has as many pages to write to as before.
    fn collect_in_pool(&mut self, cx: &mut Context, domain: usize) {
        let evicts = self.streams.keep_pool;
        let rests = |block: BlockId| {
            cx.flash.is_protected(block) && (!evicts || cx.flash.hot(block).stream == WEAR)
        };
        let allowed = |block: BlockId| {
            let hot = cx.flash.hot(block);
            cx.flash.geometry.is_in_pool(block)
                && hot.mode == 0
                && !self.streams.of(hot.stream).pool
                && !rests(block)
        };
        if let Some(block) = self.pick_victim_of(cx.flash, cx.gc, domain, (&allowed, evicts)) {
            let mut job = self.begin(cx, Rewrite::all_to(block, GC), Cause::Gc, Reads::NEVER);
            self.run_job(cx, &mut job, true);
        }
    }

    /// Frees a block of a domain: cleans one, or else finishes any job. If flash has failed, there
    /// may be fewer spare blocks than the technique was set up for. Then blocks that hold fewer
    /// pages than they could are moved, too. Returns false if nothing can be done.
    fn collect_one(&mut self, cx: &mut Context, domain: usize) -> bool {
        if self.clean_one(cx, domain) {
            return true;
        }
        let is_here = |job: &Job| cx.flash.geometry.domain_of(job.block) == domain;
        if let Some(id) = self.jobs.iter().position(|j| j.as_ref().is_some_and(is_here)) {
            // Moving a part of a block frees no block.
            let mut job = self.take_job(cx.flash, id).widened();
            self.pad(cx, Gatherer::Block(job.block));
            self.run_job(cx, &mut job, true);
            return true;
        }
        let has_room = |block: BlockId| {
            u32::from(cx.flash.hot(block).valid) < cx.flash.geometry.pages_per_block
        };
        let Some(block) = self.pick_victim_of(cx.flash, cx.gc, domain, (&has_room, true)) else {
            return false;
        };
        let mut job = self.begin(cx, Rewrite::all_to(block, GC), Cause::Gc, Reads::NEVER);
        self.run_job(cx, &mut job, true);
        true
    }

    /// Cleans a block of a domain: finishes a running GC job there, or else cleans the best victim.
    /// Returns false if there is no victim.
    pub(super) fn clean_one(&mut self, cx: &mut Context, domain: usize) -> bool {
        let is_here = |job: &Job| cx.flash.geometry.domain_of(job.block) == domain;
        if let Some(id) = self
            .jobs
            .iter()
            .position(|j| j.as_ref().is_some_and(|j| j.cause == Cause::Gc && is_here(j)))
        {
            let mut job = self.take_job(cx.flash, id);
            self.run_job(cx, &mut job, true);
        } else if let Some(block) = self.pick_victim(cx.flash, cx.gc, domain) {
            self.turns.pass(cx.flash, block);
            let to = GC;
            let mut job = self.begin(cx, Rewrite::all_to(block, to), Cause::Gc, Reads::NEVER);
            self.run_job(cx, &mut job, true);
        } else {
            return false;
        }
        true
    }

    /// Returns the block that GC should clean. A protected block is cleaned only if there is no
    /// other.
    fn pick_victim(
        &self,
        flash: &Flash,
        gc: &mut Asked<dyn GcPolicy>,
        domain: usize,
    ) -> Option<BlockId> {
        self.pick_victim_of(flash, gc, domain, (&|block| !flash.is_protected(block), false))
            .or_else(|| self.pick_victim_of(flash, gc, domain, (&|_| true, false)))
    }

    fn pick_victim_of(
        &self,
        flash: &Flash,
        gc: &mut Asked<dyn GcPolicy>,
        domain: usize,
        (allowed, full_ones): (&dyn Fn(BlockId) -> bool, bool),
    ) -> Option<BlockId> {
        let wear = |block: BlockId| flash.cold(block).erased_milli();
        let (pages_per_block, clock) = (flash.geometry.pages_per_block, flash.seq as u32);
        gc.pick(&Candidates {
            index: self.victims.of(domain),
            pages_per_block,
            full_ones,
            clock,
            allowed,
            wear: &wear,
        })
    }

    /// Frees blocks, levels wear and adjusts codings, if this is due.
    #[inline]
    pub(crate) fn keep_house(&mut self, cx: &mut Context, domain: usize) {
        self.collect_in_background(cx, domain);
        self.level_wear(cx);
        self.adjust_in_turn(cx);
    }

    /// Starts background cleaning if a domain has fewer free blocks than wanted. The timed gear
    /// runs it in idle gaps.
    #[inline(always)]
    // A comparison, for every page that the host writes.
    pub(crate) fn collect_in_background(&mut self, cx: &mut Context, domain: usize) {
        if cx.flash.timed {
            self.begin_in_background(cx, domain);
        }
    }

    fn begin_in_background(&mut self, cx: &mut Context, domain: usize) {
        let wanted = self.background_blocks;
        let (free, running) = (self.free.count(domain), self.gc_jobs[domain]);
        // At most one job per die runs, because more jobs would only share the same idle time. A
        // job that runs alone may begin with only the reserve free.
        if free + running < wanted
            && running * cx.flash.geometry.domains() < cx.flash.geometry.dies()
            && free + u32::from(running == 0) > RESERVE
            && let Some(block) = self.pick_victim(cx.flash, cx.gc, domain)
        {
            self.turns.pass(cx.flash, block);
            self.rewrite(cx, Rewrite::all_to(block, GC), Cause::Gc, Reads::NEVER);
        }
    }

    /// Moves the data of a block if its wear is too far behind. Such a block holds data that is not
    /// rewritten.
    #[inline(always)]
    // A comparison, for every page that the host writes.
    pub(crate) fn level_wear(&mut self, cx: &mut Context) {
        if cx.flash.erases_total >= self.next_wear_check && self.wear.static_gap != 0 {
            self.move_coldest(cx);
        }
    }

    #[cold]
    fn move_coldest(&mut self, cx: &mut Context) {
        let erases = cx.flash.erases_total;
        // In the timed gear, jobs wait for idle dies.
        let is_levelling = self.jobs.iter().flatten().any(|job| job.cause == Cause::Wear);
        if !is_levelling {
            if erases >= self.next_wear_list {
                self.list_lagging(cx.flash);
                let wait = u64::from(cx.flash.geometry.blocks / LOOKS_PER_TURN).max(1);
                self.next_wear_list = erases + wait;
            }
            let mut domains = 0..self.lagging.len();
            if let Some(block) = domains.find_map(|of| self.coldest_to_move(cx.flash, of)) {
                self.rewrite(cx, Rewrite::all_to(block, WEAR), Cause::Wear, Reads::NEVER);
            }
        }
        let is_idle = !is_levelling && self.lagging.iter().all(|of| of.blocks.is_empty());
        // At least every second erase is not for levelling.
        self.next_wear_check =
            if is_idle { self.next_wear_list } else { cx.flash.erases_total + 1 };
    }

    /// Lists the blocks of each domain whose wear is too far behind the most worn block, the least
    /// worn last. A domain is a die if data cannot move between dies, and otherwise the drive.
    fn list_lagging(&mut self, flash: &Flash) {
        let wear = |b: BlockId| flash.cold(b).erased_milli();
        let gap = self.wear_gap_milli();
        let list = |domain| {
            let most = flash.geometry.blocks_of_domain(domain).map(wear).max().unwrap_or(0);
            let blocks = flash.geometry.blocks_of_domain(domain).filter(|b| can_level(flash, *b));
            let mut lagging: Vec<_> =
                blocks.map(|b| (wear(b), b)).filter(|(wear, _)| wear + gap < most).collect();
            lagging.sort_unstable_by_key(|of| Reverse(*of));
            Lagging { most, blocks: lagging }
        };
        self.lagging = (0..flash.geometry.domains()).map(list).collect();
    }

    /// Returns the least worn block of a domain's list if a free block is more worn by more than
    /// the gap, and takes it off the list. A move to a block of less wear would gain little. It is
    /// only made if the block lags far behind, because worn blocks are never free in some drives.
    fn coldest_to_move(&mut self, flash: &Flash, domain: usize) -> Option<BlockId> {
        let (_, to) = self.most_worn_free(flash, WEAR, domain)?;
        let gap = self.wear_gap_milli();
        let Lagging { most, blocks } = &mut self.lagging[domain];
        let most = flash.cold(to).erased_milli().max(most.saturating_sub(MOST_BEYOND_GAP));
        let least = most.saturating_sub(gap);
        while let Some((wear, block)) = blocks.last().copied() {
            // A block may have been erased or read since the check.
            let is_left = can_level(flash, block) && flash.cold(block).erased_milli() == wear;
            if is_left && wear >= least {
                return None;
            }
            blocks.pop();
            if is_left {
                return Some(block);
            }
        }
        None
    }

    fn wear_gap_milli(&self) -> u64 {
        u64::from(self.wear.static_gap) * 1000
    }
}

/// Returns whether wear levelling can move the data of a block. The data must be cold: older than
/// as many erases as the drive has blocks. Other data in a young block will soon leave it anyway.
fn can_level(flash: &Flash, block: BlockId) -> bool {
    let hot = flash.hot(block);
    hot.state == BlockState::Closed
        && !hot.has(MOVING)
        && flash.erases_total >= flash.cold(block).closed_at + u64::from(flash.geometry.blocks)
        && !flash.is_protected(block)
}
