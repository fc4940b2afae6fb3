//! Keeping free blocks: garbage collection, urgent and in the background, and static wear levelling.

use crate::bugs::Bug;
use crate::drive::Drive;
use crate::ftl::gather::Gatherer;
use crate::ftl::mover::Plan;
use crate::ftl::place::{GC, RESERVE, WEAR};
use crate::gc::Candidates;
use crate::nand::block::{BlockState, MOVING, PROTECTED};
use crate::units::{BlockId, Cause, Reads, StreamId};

/// Static wear levelling looks at every block once while a sixteenth of them is erased.
const LOOKS_PER_TURN: u32 = 16;

impl Drive {
    /// Cleans until so many blocks are free.
    pub(crate) fn ensure_free(&mut self, blocks: u32) {
        while self.free.count() < blocks {
            self.collect_one();
        }
    }

    /// Sees to a free block for a stream that is about to open one: in the IPR pool where it wants one there.
    pub(crate) fn free_for(&mut self, stream: StreamId, cause: Cause) {
        let before = self.flash.erases[Cause::Gc as usize];
        self.ensure_free(if self.bugs.has(Bug::ReserveIgnored) { 1 } else { RESERVE + 1 });
        if self.streams.wants_pool(stream) && self.free.count_in_pool() == 0 {
            self.collect_in_pool();
        }
        if cause == Cause::Reclaim && !self.bugs.has(Bug::CleaningUncounted) {
            self.reclaim.gc_erases += self.flash.erases[Cause::Gc as usize] - before;
        }
    }

    /// Cleans a block of the IPR pool (ipr-2018 III-D): none that is of low density or read-hot, and none that wear levelling wrote of late.
    fn collect_in_pool(&mut self) {
        let allowed = |block: BlockId| {
            let hot = &self.hot[block as usize];
            self.geometry.is_in_pool(block) && hot.mode == 0 && !self.streams.wants_pool(hot.stream) && !self.is_protected(block)
        };
        if let Some(block) = self.pick_victim_of(&allowed) {
            let mut job = self.begin_move(block, Plan::whole(GC), Cause::Gc, Reads::NEVER);
            self.run_job(&mut job, true);
        }
    }

    /// Frees one block: finishes a GC job under way, else cleans the best victim, else finishes any job.
    fn collect_one(&mut self) {
        if let Some(id) = self.jobs.iter().position(|j| j.as_ref().is_some_and(|j| j.cause == Cause::Gc)) {
            let mut job = self.take_job(id);
            self.run_job(&mut job, true);
        } else if let Some(block) = self.pick_victim() {
            let mut job = self.begin_move(block, Plan::whole(GC), Cause::Gc, Reads::NEVER);
            self.run_job(&mut job, true);
        } else {
            let id = self.jobs.iter().position(Option::is_some).expect("no victim, no job and no free block: the spare was over-committed");
            // Moving a part of a block frees none.
            let mut job = self.take_job(id).widened();
            self.pad(Gatherer::Block(job.block));
            self.run_job(&mut job, true);
        }
    }

    /// The block that GC should clean: a protected one only where there is no other.
    fn pick_victim(&self) -> Option<BlockId> {
        self.pick_victim_of(&|block| !self.is_protected(block)).or_else(|| self.pick_victim_of(&|_| true))
    }

    fn pick_victim_of(&self, allowed: &dyn Fn(BlockId) -> bool) -> Option<BlockId> {
        let wear = |block: BlockId| self.cold[block as usize].effective_milli();
        let (pages_per_block, clock) = (self.geometry.pages_per_block, self.seq as u32);
        self.gc.pick(&Candidates { index: &self.victims, pages_per_block, clock, allowed, wear: &wear })
    }

    fn is_protected(&self, block: BlockId) -> bool {
        self.hot[block as usize].has(PROTECTED) && self.erases_total < self.cold[block as usize].protected_until
    }

    /// Free blocks that background cleaning aims at.
    pub(crate) fn background_blocks(&self) -> u32 {
        (self.config.gc.background * f64::from(self.geometry.spare_blocks())) as u32
    }

    /// Starts background cleaning where fewer blocks are free than wanted; the timed gear spends idle gaps on it.
    pub(crate) fn collect_in_background(&mut self) {
        if !self.timed {
            return;
        }
        let wanted = self.background_blocks();
        let running = self.gc_jobs;
        debug_assert!(running as usize == self.jobs.iter().flatten().filter(|j| j.cause == Cause::Gc).count(), "GC's jobs are counted");
        // A job per die at most: more would only spread the idle time thinner.
        if self.free.count() + running < wanted
            && running < self.geometry.dies()
            && self.free.count() > RESERVE
            && let Some(block) = self.pick_victim()
        {
            self.relocate(block, Plan::whole(GC), Cause::Gc, Reads::NEVER);
        }
    }

    /// Moves the data of the youngest block where it lags too far behind: it holds data that nobody rewrites.
    pub(crate) fn level_wear(&mut self) {
        let gap = u64::from(self.config.wear.static_gap) * 1000;
        if gap == 0 || self.bugs.has(Bug::ColdLeftBehind) || self.erases_total < self.next_wear_check {
            return;
        }
        self.next_wear_check = self.erases_total + u64::from(self.geometry.blocks / LOOKS_PER_TURN).max(1);
        let idle = |b: &BlockId| {
            let hot = &self.hot[*b as usize];
            hot.state == BlockState::Closed && !hot.has(MOVING) && !self.is_protected(*b)
        };
        let wear = |b: u32| self.cold[b as usize].effective_milli();
        let Some(youngest) = (0..self.geometry.blocks).filter(idle).min_by_key(|b| wear(*b)) else { return };
        let oldest = (0..self.geometry.blocks).map(wear).max().unwrap_or(0);
        let gap = if self.bugs.has(Bug::LevelledTooSoon) { gap / 2 } else { gap };
        if oldest > wear(youngest) + gap {
            self.relocate(youngest, Plan::whole(WEAR), Cause::Wear, Reads::NEVER);
        }
    }
}
