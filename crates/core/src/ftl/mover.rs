//! The one mover: reads a block's valid pages, or some of them, writes them elsewhere, erases a
//! block that is left without any. For GC, reclaim and wear levelling alike. A job runs at once or,
//! in the timed gear, a few pages at a time; pages that have moved are read at their new place.

use crate::base::units::{
    BlockId, Cause, Lpn, Ns, PageInBlock, Ppn, Reads, StreamId, WordlineInBlock,
};
use crate::bugs::{Bug, planted};
use crate::config::Schedule;
use crate::flash::Flash;
use crate::flash::block::{BlockState, LEFT, MOVING};
use crate::flash::ops::NandOp;
use crate::ftl::Ftl;
use crate::ftl::buffer::WHOLE;
use crate::ftl::gathers::Gatherer;
use crate::ftl::job::{Job, JobRef};
use crate::ftl::map::Entry;
use crate::slots::Slots;
use crate::slots::rewrite::{Destination, Rewrite};
use crate::watch::observer::Origin;

impl Ftl {
    /// Takes a block out of every other use and makes a job of what is to be done with it, which is
    /// [`settled`](Self::settle). An open block is closed.
    pub(crate) fn begin(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        rewrite: Rewrite,
        cause: Cause,
        deadline: Reads,
    ) -> Job {
        let block = rewrite.block;
        flash.draw_reads(block);
        let pages = rewrite.moving(flash.geometry.pages_per_block);
        flash.tell(|o| o.moving(block, pages.as_ref(), cause));
        let hot = *flash.hot(block);
        assert!(!hot.has(MOVING), "block {block} is being moved already");
        match hot.state {
            BlockState::Open => {
                if !self.bugs.has(Bug::OpenBlockKept) {
                    self.streams.drop_open(hot.stream, block);
                }
                flash.set_state(block, BlockState::Closed);
            }
            BlockState::Closed => self.victims.remove(block),
            BlockState::Free => panic!("block {block} is free; there is nothing to move"),
        }
        flash.set_flags(block, MOVING);
        let from = flash.cold(block).without_movers(hot.reads);
        self.jobs_begun += 1;
        let cursor = PageInBlock::new(u32::from(
            cause == Cause::Reclaim && self.bugs.has(Bug::JobForgetsFirst),
        ));
        let deadline = if self.bugs.has(Bug::DeadlineForgotten) { Reads::NEVER } else { deadline };
        // The first page of its next filling is behind all that it holds.
        let within = rewrite
            .parts
            .iter()
            .find(|part| part.to == Destination::Within)
            .and_then(|part| part.pages.as_ref());
        let within = within.map(|pages| PageInBlock::new(pages.len()));
        let (serial, started_at) = (self.jobs_begun, slots.now);
        let (merged, fetched, adjusted) = (WordlineInBlock::FIRST, 0, None);
        Job {
            serial,
            block,
            cause,
            rewrite,
            pages,
            within,
            cursor,
            merged,
            adjusted,
            fetched,
            started_at,
            from,
            deadline,
        }
    }

    /// Does with a block what is [`settled`](Self::settle), and erases it once it is empty: at
    /// once, or as a job where time and schedule allow.
    pub(crate) fn rewrite(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        rewrite: Rewrite,
        cause: Cause,
        deadline: Reads,
    ) {
        let mut job = self.begin(flash, slots, rewrite, cause, deadline);
        let deferred =
            flash.is_timed() && (cause != Cause::Reclaim || self.schedule != Schedule::Foreground);
        if !deferred {
            self.run_in_foreground(flash, slots, &mut job);
            return;
        }
        let slot = self.jobs.iter().position(Option::is_none).unwrap_or(self.jobs.len());
        if slot == self.jobs.len() {
            self.jobs.push(None);
        }
        self.started_jobs.push(JobRef { slot, serial: job.serial, block: job.block });
        self.gc_jobs[flash.geometry.domain_of(job.block)] += u32::from(cause == Cause::Gc);
        self.jobs[slot] = Some(job);
    }

    /// Runs a job to its end while its die does nothing else.
    fn run_in_foreground(&mut self, flash: &mut Flash, slots: &mut Slots, job: &mut Job) {
        let die = flash.geometry.die_of(job.block);
        flash.record(NandOp::JobBegin { die, cause: job.cause });
        let reserved =
            job.cause == Cause::Gc && self.gc_jobs[flash.geometry.domain_of(job.block)] == 0;
        self.run_job(flash, slots, job, reserved);
        flash.record(NandOp::JobEnd);
    }

    /// Runs a job to its end. `reserved` lets it use the blocks kept for moves.
    pub(crate) fn run_job(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        job: &mut Job,
        reserved: bool,
    ) {
        while self.step(flash, slots, job, reserved) {}
    }

    /// Finishes a deferred job now, in the foreground of its die.
    pub(crate) fn finish_job(&mut self, flash: &mut Flash, slots: &mut Slots, id: usize) {
        let mut job = self.take_job(flash, id);
        self.run_in_foreground(flash, slots, &mut job);
    }

    /// Takes a deferred job out of the others, to be finished.
    pub(crate) fn take_job(&mut self, flash: &Flash, id: usize) -> Job {
        let job = self.jobs[id].take().expect("the job is running");
        self.gc_jobs[flash.geometry.domain_of(job.block)] -= u32::from(job.cause == Cause::Gc);
        job
    }

    /// A deferred job, unless it is done.
    pub(crate) fn job(&self, job: JobRef) -> Option<&Job> {
        self.jobs.get(job.slot)?.as_ref().filter(|j| j.serial == job.serial)
    }

    /// Moves the next page of a deferred job; false when there was none left and the job is gone.
    pub(crate) fn step_job(&mut self, flash: &mut Flash, slots: &mut Slots, job: JobRef) -> bool {
        if self.job(job).is_none() {
            return false;
        }
        let mut running = self.jobs[job.slot].take().expect("just seen");
        // Cleaning that is alone may use the reserve: opening one block it has room for all that it
        // has left to move (`lent`).
        let domain = flash.geometry.domain_of(running.block);
        let reserved = running.cause == Cause::Gc && self.gc_jobs[domain] == 1;
        let goes_on = self.step(flash, slots, &mut running, reserved);
        if goes_on {
            self.jobs[job.slot] = Some(running);
        } else {
            self.gc_jobs[domain] -= u32::from(running.cause == Cause::Gc);
        }
        goes_on
    }

    /// The job that moves this block.
    pub(crate) fn job_of(&self, block: BlockId) -> Option<usize> {
        self.jobs.iter().position(|j| j.as_ref().is_some_and(|j| j.block == block))
    }

    /// Moves one page of the job or, when there is none left, merges a wordline, or ends it: a
    /// block without valid data is erased, another one serves on.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the mover's path, from two places")]
    fn step(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        job: &mut Job,
        reserved: bool,
    ) -> bool {
        let taken = job.pages_taken(flash);
        let goes_on = if taken == 0 {
            self.step_on(flash, slots, job, reserved)
        } else {
            self.step_leaving(flash, slots, job, reserved, taken)
        };
        if self.worn.is_on() {
            self.settle_parity(flash);
        }
        goes_on
    }

    /// While it runs the job is in no slot; the pages that it is going to take count all the same.
    #[cold]
    fn step_leaving(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        job: &mut Job,
        reserved: bool,
        taken: u32,
    ) -> bool {
        let domain = flash.geometry.domain_of(job.block);
        self.leaving_now[domain] += taken;
        let goes_on = self.step_on(flash, slots, job, reserved);
        self.leaving_now[domain] -= taken;
        goes_on
    }

    #[inline(never)]
    fn step_on(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        job: &mut Job,
        reserved: bool,
    ) -> bool {
        let next = match &job.pages {
            None => flash.contents().next_valid(job.block, job.cursor),
            Some(pages) => flash.contents().next_valid_of(job.block, job.cursor, pages),
        };
        let next = next.filter(|page| {
            page.number() < 512
                || job.cause != Cause::Reclaim
                || !self.bugs.has(Bug::PagesBeyond512)
        });
        let Some(page) = next else {
            if job.within.is_some() {
                self.pad(flash, slots, Gatherer::Block(job.block));
            }
            if flash.hot(job.block).valid == 0 {
                self.erase(flash, slots, job.block, job.cause);
            } else if self.merge_next(flash, slots, job, reserved) {
                return true;
            } else {
                self.release(flash, job.block);
            }
            return false;
        };
        let to = match job.destination(page) {
            Destination::Stream(to) => {
                let lpn = flash.contents().owner(flash.geometry.first_page(job.block) + page);
                let to =
                    if self.bugs.has(Bug::HintLostAtMove) { to } else { self.stream_of(to, lpn) };
                let to = self.in_class(flash, job.block, to);
                self.aim(to, lpn);
                to
            }
            Destination::Within => {
                self.recycle_page(flash, slots, job, page);
                return true;
            }
        };
        if !reserved && self.needs_block(to) {
            self.free_for(flash, slots, (to, flash.geometry.domain_of(job.block)), job.cause);
        }
        let word = page.number() / 64;
        if word >= job.fetched {
            self.fetch_map_entries(flash, job, word);
            job.fetched = word + 1;
        }
        job.cursor = page + 1 + u32::from(planted(Bug::JobSkipsPage) && page.number() % 64 == 63);
        self.move_page(flash, slots, job, page, Some(to));
        true
    }

    /// Asks for the map entries of 64 pages that are about to move, so that their cache misses
    /// overlap.
    fn fetch_map_entries(&self, flash: &Flash, job: &Job, word: u32) {
        let first = flash.geometry.first_page(job.block) + word * 64;
        let mut valid = flash.contents().valid_words(job.block)[word as usize];
        if let Some(pages) = &job.pages {
            valid &= pages.words()[word as usize];
        }
        while valid != 0 {
            self.map.prefetch(flash.contents().owner(first + valid.trailing_zeros()));
            valid &= valid - 1;
        }
    }

    /// Moves a page to a stream or, without one, on within its block.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the mover's path, from two places")]
    pub(crate) fn move_page(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        job: &Job,
        page: PageInBlock,
        to: Option<StreamId>,
    ) {
        let src = flash.geometry.first_page(job.block) + page;
        let lpn = flash.contents().owner(src);
        let hidden = self.is_hidden(flash, lpn);
        let good = hidden && self.bugs.has(Bug::FillFromMoverForgotten)
            || self.sense(flash, lpn, src, job.cause, hidden);
        // What it is rebuilt of is sensed next.
        let level = flash.began_at();
        let origin = if good { Some(Origin::Copy(src)) } else { self.rebuild_for_move(flash, lpn) };
        self.carry_page(flash, slots, job, (src, level, origin), to);
    }

    /// A page that could not be read where it lies is worked out from its stripe; where that cannot
    /// be either, it is lost.
    pub(super) fn rebuild_for_move(&mut self, flash: &mut Flash, lpn: Lpn) -> Option<Origin> {
        let origin = self.rebuild(flash, lpn).map(Origin::Xor);
        if origin.is_none()
            && self.stripes.is_some_and(|stripes| !stripes.is_parity(lpn))
            && !self.is_whole_in_memory(lpn)
        {
            self.report_lost(flash, lpn);
        }
        origin
    }

    /// Whether newer data of a page waits in the controller's memory, where a program takes a
    /// wordline: what is moved completes it there.
    pub(super) fn is_hidden(&self, flash: &Flash, lpn: Lpn) -> bool {
        flash.by_wordline() && self.map.slot_of(lpn).is_some()
    }

    /// What was sensed of a page, beginning with a level, or rebuilt, goes to a stream or, without
    /// one, on within its block. It is lost where it is neither.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the mover's path")]
    pub(super) fn carry_page(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        job: &Job,
        (src, level, origin): (Ppn, u8, Option<Origin>),
        to: Option<StreamId>,
    ) {
        let good = origin.is_some();
        let (lpn, coding) = (flash.contents().owner(src), flash.read_coding(src));
        let hidden = self.is_hidden(flash, lpn);
        self.invalidate(flash, src);
        if hidden {
            self.fill_from_mover(flash, lpn, src, good);
            flash.record(NandOp::Copy { src, coding, level, dst: None, cause: job.cause });
            return;
        }
        if self.bugs.has(Bug::MoverDropsPage) && flash.seq().is_multiple_of(97) {
            self.unmap_lost(lpn);
            return;
        }
        if !good && !self.bugs.has(Bug::MoverCopiesGarbage) {
            self.unmap_lost(lpn);
            if self.stripes.is_some() {
                self.lose_for_good(flash, lpn);
            }
            flash.record(NandOp::Copy { src, coding, level, dst: None, cause: job.cause });
            self.reclaim.pages_copied +=
                u64::from(planted(Bug::LostCopiesCounted) && job.cause == Cause::Reclaim);
            return;
        }
        if let Some(Origin::Xor(serial)) = origin {
            flash.record(NandOp::Copy { src, coding, level, dst: None, cause: job.cause });
            let dst = match to {
                Some(to) => self.place(flash, slots, lpn, to, Origin::Xor(serial), job.cause),
                None => self.place_within(flash, job.block, lpn, Origin::Xor(serial), job.cause),
            };
            flash.record(NandOp::Striped { dst, serial, waits: true, cause: job.cause });
            self.is_programmed(flash, lpn);
            return;
        }
        if flash.by_wordline() {
            let by = to.map_or(Gatherer::Block(job.block), Gatherer::Stream);
            let serial = self.gather_serial(by);
            flash.record(NandOp::Load { src, coding, level, serial, cause: job.cause });
            self.gather(flash, slots, by, lpn, Origin::Copy(src), job.cause);
        } else {
            let is_wrong = job.cause == Cause::Wear && planted(Bug::LevellingAsGc);
            let cause = if is_wrong { Cause::Gc } else { job.cause };
            let dst = match to {
                Some(to) => self.place(flash, slots, lpn, to, Origin::Copy(src), cause),
                None => self.place_within(flash, job.block, lpn, Origin::Copy(src), cause),
            };
            flash.record(NandOp::Copy { src, coding, level, dst: Some(dst), cause: job.cause });
        }
        if (job.cause == Cause::Reclaim || planted(Bug::GcCopiesCounted) && job.cause == Cause::Gc)
            && !(self.bugs.has(Bug::CopiesUncounted) && flash.seq().is_multiple_of(7))
        {
            self.reclaim.pages_copied += 1;
        }
    }

    /// Older data of a partly written page was read on its way: it completes the page in the write
    /// buffer and need not be written.
    fn fill_from_mover(&mut self, flash: &mut Flash, lpn: Lpn, src: Ppn, good: bool) {
        let slot = self.map.slot_of(lpn).expect("newer data of the page is in the buffer");
        let slot = self.buffer.slot_mut(slot);
        slot.below = Entry::UNMAPPED;
        if good {
            slot.mask = WHOLE;
            flash.tell(|o| o.filled(lpn));
        } else {
            let by_age = flash.aged(src).is_some_and(|aged| flash.is_lost_by_age(aged));
            self.report_lost_by(flash, lpn, by_age);
        }
    }

    /// Ends a move that left data in its block: GC may have it again, and the policy is asked at
    /// the next read.
    fn release(&mut self, flash: &mut Flash, block: BlockId) {
        flash.clear_flags(block, if planted(Bug::MovingKept) { 0 } else { MOVING });
        if !planted(Bug::ReleasedUnlisted) {
            self.victims.insert(block, self.score(flash, block), flash.seq() as u32);
        }
        flash.tell(|o| o.job_ended(block));
        flash.set_flags(block, LEFT);
        flash.ask_policy_at_next_read(block);
    }

    /// Time that a job would still take on an idle drive.
    pub(crate) fn time_left(&self, flash: &Flash, job: &Job) -> Ns {
        u64::from(job.pages_left(flash)) * self.copy_ns
            + u64::from(job.merges_left(flash))
                * if planted(Bug::MergesUnweighed) { 0 } else { self.ns_of_merge(job) }
    }

    /// Erases a block without valid data and returns it to the free pool.
    fn erase(&mut self, flash: &mut Flash, slots: &mut Slots, block: BlockId, cause: Cause) {
        self.make_whole_before_erase(flash, block);
        slots.erased(flash, self.away(flash, block), block, cause);
        self.book_low_density(flash, block, cause);
        self.wheel.clear(block);
        self.steps.clear(block);
        flash.erase(block, cause);
        self.worn.any_is_worn |= self.is_worn(flash, block);
        // What has failed in part is empty now, and stays so.
        if !flash.has_failed(block) {
            self.add_free(flash, block);
        }
    }

    /// Puts an erased block into the free pool.
    pub(crate) fn add_free(&mut self, flash: &Flash, block: BlockId) {
        let plane = u32::from(flash.geometry.die_of(block)) * flash.geometry.planes_per_die
            + flash.geometry.plane_of(block);
        let rank = if self.wear.dynamic {
            if planted(Bug::ExtraWearUnranked) {
                u64::from(flash.cold(block).pec) * 1000
            } else {
                flash.cold(block).effective_milli()
            }
        } else {
            flash.erases_total()
        };
        self.free.add(plane, block, rank, flash.geometry.is_in_pool(block));
    }

    /// Erased blocks stand in the order of the wear with which they begin.
    pub(crate) fn rank_free(&mut self, flash: &Flash) {
        for block in self.free.take_all() {
            self.add_free(flash, block);
        }
    }

    /// The page's data is no longer wanted here.
    pub(crate) fn invalidate(&mut self, flash: &mut Flash, ppn: Ppn) {
        if self.bugs.has(Bug::StaleCopyReturns)
            && flash.seq() % 61 == 60
            && !flash.hot(flash.geometry.block_of(ppn)).has(MOVING)
        {
            return;
        }
        let block = flash.invalidate(ppn);
        if self.worn.is_on() {
            self.count_left(flash, ppn);
        }
        if self.victims.contains(block)
            && !(planted(Bug::VictimsStale) && flash.hot(block).valid > 0)
        {
            let score = self.score(flash, block);
            self.victims.relist(block, score, flash.seq() as u32);
        }
    }

    /// A page whose data could not be read is gone; its host data stays reported as lost.
    pub(crate) fn unmap_lost(&mut self, lpn: Lpn) {
        let slot = self.map.slot_of(lpn);
        self.set_place(lpn, Entry::UNMAPPED);
        if let Some(slot) = slot.filter(|_| planted(Bug::LossTakesBuffered)) {
            self.buffer.discard(slot);
            self.map.set(lpn, Entry::UNMAPPED);
        }
    }
}
