//! Mover for GC, reclaim and wear levelling. It reads all or some valid pages of a block, writes
//! them elsewhere, and erases the block if no valid page is left. A job runs at once or, in the
//! timed gear, a few pages at a time. Pages that have moved are read at their new place.

use crate::api::Context;
use crate::api::rewrite::{Destination, Rewrite};
use crate::base::units::{
    BlockId, Cause, Lpn, Ns, PageInBlock, Ppn, Reads, StreamId, WordlineInBlock,
};
use crate::config::Schedule;
use crate::flash::Flash;
use crate::flash::block::{BlockState, LEFT, MOVING};
use crate::flash::operate::program::NewPage;
use crate::flash::operate::sense::Sensed;
use crate::flash::ops::NandOp;
use crate::ftl::Ftl;
use crate::ftl::buffer::WHOLE;
use crate::ftl::gathers::Gatherer;
use crate::ftl::job::{Job, JobRef};
use crate::ftl::map::Entry;
use crate::watch::observer::{Event, Origin};

impl Ftl {
    /// Begins a job for a block. Its work is [`settled`](Self::settle). The block gets no other
    /// use, and an open block is closed.
    pub(crate) fn begin(
        &mut self,
        cx: &mut Context,
        rewrite: Rewrite,
        cause: Cause,
        deadline: Reads,
    ) -> Job {
        let block = rewrite.block;
        cx.flash.draw_reads(block);
        let pages = rewrite.moving(cx.flash.geometry.pages_per_block);
        cx.flash.tell(Event::JobBegan { block, pages: pages.as_ref(), cause });
        let hot = *cx.flash.hot(block);
        assert!(!hot.has(MOVING), "block {block} is being moved already");
        match hot.state {
            BlockState::Open => {
                self.streams.drop_open(hot.stream, block);
                cx.flash.set_state(block, BlockState::Closed);
            }
            BlockState::Closed => self.victims.remove(block),
            BlockState::Free => panic!("block {block} is free; there is nothing to move"),
        }
        cx.flash.set_flags(block, MOVING);
        let from = cx.flash.cold(block).without_movers(hot.reads);
        self.jobs_begun += 1;
        // The first page of the block's next filling is behind all its programmed pages.
        let within = rewrite
            .parts
            .iter()
            .find(|part| part.to == Destination::Within)
            .and_then(|part| part.pages.as_ref());
        let within = within.map(|pages| PageInBlock::new(pages.len()));
        let (serial, started_at) = (self.jobs_begun, cx.flash.now);
        let (merged, fetched, adjusted) = (WordlineInBlock::FIRST, 0, None);
        Job {
            serial,
            block,
            cause,
            rewrite,
            pages,
            within,
            cursor: PageInBlock::FIRST,
            merged,
            adjusted,
            fetched,
            reserved: false,
            started_at,
            from,
            deadline,
        }
    }

    /// Rewrites a block as [`settled`](Self::settle), and erases it when it is empty. This happens
    /// at once, or as a job if time and schedule allow.
    pub(crate) fn rewrite(
        &mut self,
        cx: &mut Context,
        rewrite: Rewrite,
        cause: Cause,
        deadline: Reads,
    ) {
        let mut job = self.begin(cx, rewrite, cause, deadline);
        let deferred =
            cx.flash.timed && (cause != Cause::Reclaim || self.schedule != Schedule::Foreground);
        if !deferred {
            self.run_in_foreground(cx, &mut job);
            return;
        }
        let slot = self.jobs.iter().position(Option::is_none).unwrap_or(self.jobs.len());
        if slot == self.jobs.len() {
            self.jobs.push(None);
        }
        self.started_jobs.push(JobRef { slot, serial: job.serial, block: job.block });
        self.gc_jobs[cx.flash.geometry.domain_of(job.block)] += u32::from(cause == Cause::Gc);
        self.jobs[slot] = Some(job);
    }

    /// Runs a job to its end. Its die does nothing else in that time.
    fn run_in_foreground(&mut self, cx: &mut Context, job: &mut Job) {
        let die = cx.flash.geometry.die_of(job.block);
        cx.flash.record(NandOp::JobBegin { die, cause: job.cause });
        let reserved =
            job.cause == Cause::Gc && self.gc_jobs[cx.flash.geometry.domain_of(job.block)] == 0;
        self.run_job(cx, job, reserved);
        cx.flash.record(NandOp::JobEnd);
    }

    /// Runs a job to its end. With `reserved`, it may use the blocks kept for moves.
    pub(crate) fn run_job(&mut self, cx: &mut Context, job: &mut Job, reserved: bool) {
        job.reserved = reserved;
        while self.step(cx, job) {}
    }

    /// Finishes a deferred job now, in the foreground of its die.
    pub(crate) fn finish_job(&mut self, cx: &mut Context, id: usize) {
        let mut job = self.take_job(cx.flash, id);
        self.run_in_foreground(cx, &mut job);
    }

    /// Takes a deferred job out of the list, so that it can be finished.
    pub(crate) fn take_job(&mut self, flash: &Flash, id: usize) -> Job {
        let job = self.jobs[id].take().expect("the job is running");
        self.gc_jobs[flash.geometry.domain_of(job.block)] -= u32::from(job.cause == Cause::Gc);
        job
    }

    /// Returns a deferred job, unless it is done.
    pub(crate) fn job(&self, job: JobRef) -> Option<&Job> {
        self.jobs.get(job.slot)?.as_ref().filter(|j| j.serial == job.serial)
    }

    /// Moves the next page of a deferred job. Returns false if no page was left and the job has
    /// ended.
    pub(crate) fn step_job(&mut self, cx: &mut Context, job: JobRef) -> bool {
        if self.job(job).is_none() {
            return false;
        }
        let mut running = self.jobs[job.slot].take().expect("just seen");
        // A cleaning job that runs alone may use the reserve. When it opens one block, there is
        // space for all the data that it must still move (`lent`).
        let domain = cx.flash.geometry.domain_of(running.block);
        running.reserved = running.cause == Cause::Gc && self.gc_jobs[domain] == 1;
        let goes_on = self.step(cx, &mut running);
        if goes_on {
            self.jobs[job.slot] = Some(running);
        } else {
            self.gc_jobs[domain] -= u32::from(running.cause == Cause::Gc);
        }
        goes_on
    }

    /// Returns the job that moves this block.
    pub(crate) fn job_of(&self, block: BlockId) -> Option<usize> {
        self.jobs.iter().position(|j| j.as_ref().is_some_and(|j| j.block == block))
    }

    /// Moves one page of the job. If no page is left, merges a wordline or ends the job. A block
    /// without valid data is erased. Any other block stays in use.
    #[inline(always)]
    // The mover's path, from two places.
    fn step(&mut self, cx: &mut Context, job: &mut Job) -> bool {
        let taken = job.pages_taken(cx.flash);
        let goes_on =
            if taken == 0 { self.step_on(cx, job) } else { self.step_leaving(cx, job, taken) };
        if self.worn.is_on() {
            self.settle_parity(cx.flash);
        }
        goes_on
    }

    /// Runs a step of a job. Meanwhile the job is in no slot, but the pages that it will take away
    /// still count.
    #[cold]
    fn step_leaving(&mut self, cx: &mut Context, job: &mut Job, taken: u32) -> bool {
        let domain = cx.flash.geometry.domain_of(job.block);
        self.leaving_now[domain] += taken;
        let goes_on = self.step_on(cx, job);
        self.leaving_now[domain] -= taken;
        goes_on
    }

    #[inline(never)]
    fn step_on(&mut self, cx: &mut Context, job: &mut Job) -> bool {
        let next = match &job.pages {
            None => cx.flash.contents.next_valid(job.block, job.cursor),
            Some(pages) => cx.flash.contents.next_valid_of(job.block, job.cursor, pages),
        };
        let Some(page) = next else {
            if job.within.is_some() {
                self.pad(cx, Gatherer::Block(job.block));
            }
            if cx.flash.hot(job.block).valid == 0 {
                self.erase(cx, job.block, job.cause);
            } else if self.merge_next(cx, job) {
                return true;
            } else {
                self.release(cx.flash, job.block);
            }
            return false;
        };
        let to = match job.destination(page) {
            Destination::Stream(to) => {
                let lpn = cx.flash.contents.owner(cx.flash.geometry.first_page(job.block) + page);
                let to = self.stream_of(to, lpn);
                let to = self.in_class(cx.flash, job.block, to);
                self.aim(to, lpn);
                to
            }
            Destination::Within => {
                self.recycle_page(cx, job, page);
                return true;
            }
        };
        if !job.reserved && self.needs_block(to) {
            self.free_for(cx, (to, cx.flash.geometry.domain_of(job.block)), job.cause);
        }
        let word = page.number() / 64;
        if word >= job.fetched {
            self.fetch_map_entries(cx.flash, job, word);
            job.fetched = word + 1;
        }
        job.cursor = page + 1;
        self.move_page(cx, job, page, Some(to));
        true
    }

    /// Prefetches the map entries of 64 pages that will move soon, so that their cache misses
    /// overlap.
    fn fetch_map_entries(&self, flash: &Flash, job: &Job, word: u32) {
        let first = flash.geometry.first_page(job.block) + word * 64;
        let mut valid = flash.contents.valid_words(job.block)[word as usize];
        if let Some(pages) = &job.pages {
            valid &= pages.words()[word as usize];
        }
        while valid != 0 {
            self.map.prefetch(flash.contents.owner(first + valid.trailing_zeros()));
            valid &= valid - 1;
        }
    }

    /// Moves a page to a stream or, without a stream, to a new place within its block.
    #[inline(always)]
    // The mover's path, from two places.
    pub(crate) fn move_page(
        &mut self,
        cx: &mut Context,
        job: &Job,
        page: PageInBlock,
        to: Option<StreamId>,
    ) {
        let src = cx.flash.geometry.first_page(job.block) + page;
        let lpn = cx.flash.contents.owner(src);
        let hidden = self.is_hidden(cx.flash, lpn);
        let Sensed { good, level, .. } = self.sense(cx.flash, lpn, src, job.cause, hidden);
        let origin =
            if good { Some(Origin::Copy(src)) } else { self.rebuild_for_move(cx.flash, lpn) };
        self.carry_page(cx, job, (src, level, origin), to);
    }

    /// Computes a page that could not be read from its stripe. If this fails, too, the page is
    /// lost.
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

    /// Returns whether newer data of a page waits in the controller's memory, if a program takes a
    /// wordline. The moved data completes it there.
    pub(super) fn is_hidden(&self, flash: &Flash, lpn: Lpn) -> bool {
        flash.by_wordline && self.map.slot_of(lpn).is_some()
    }

    /// Writes a page that was sensed, beginning with a level, or rebuilt, to a stream or, without a
    /// stream, within its block. If `origin` is `None`, the page is lost.
    #[inline(always)]
    // The mover's path.
    pub(super) fn carry_page(
        &mut self,
        cx: &mut Context,
        job: &Job,
        (src, level, origin): (Ppn, u8, Option<Origin>),
        to: Option<StreamId>,
    ) {
        let good = origin.is_some();
        let (lpn, coding) = (cx.flash.contents.owner(src), cx.flash.read_coding(src));
        let hidden = self.is_hidden(cx.flash, lpn);
        self.invalidate(cx.flash, src);
        if hidden {
            self.fill_from_mover(cx.flash, lpn, src, good);
            return cx.flash.record_read(src, level, job.cause);
        }
        if !good {
            self.unmap_lost(lpn);
            if self.stripes.is_some() {
                self.lose_for_good(cx.flash, lpn);
            }
            return cx.flash.record_read(src, level, job.cause);
        }
        if let Some(Origin::Xor(serial)) = origin {
            cx.flash.record_read(src, level, job.cause);
            let data = NewPage { lpn, origin: Origin::Xor(serial), cause: job.cause };
            let dst = match to {
                Some(to) => self.place(cx, to, data),
                None => self.place_within(cx.flash, job.block, data),
            };
            cx.flash.record(NandOp::Striped { dst, serial, waits: true, cause: job.cause });
            self.is_programmed(cx.flash, lpn);
            return;
        }
        if cx.flash.by_wordline {
            let by = to.map_or(Gatherer::Block(job.block), Gatherer::Stream);
            let serial = self.gather_serial(by);
            cx.flash.record(NandOp::Load { src, coding, level, serial, cause: job.cause });
            self.gather(cx, by, NewPage { lpn, origin: Origin::Copy(src), cause: job.cause });
        } else {
            let data = NewPage { lpn, origin: Origin::Copy(src), cause: job.cause };
            let dst = match to {
                Some(to) => self.place(cx, to, data),
                None => self.place_within(cx.flash, job.block, data),
            };
            cx.flash.record(NandOp::Copy { src, coding, level, dst: Some(dst), cause: job.cause });
        }
        if job.cause == Cause::Reclaim {
            self.reclaim.pages_copied += 1;
        }
    }

    /// Completes a partly written page in the write buffer with its older data, which a mover just
    /// read. The older data need not be written.
    fn fill_from_mover(&mut self, flash: &mut Flash, lpn: Lpn, src: Ppn, good: bool) {
        let slot = self.map.slot_of(lpn).expect("newer data of the page is in the buffer");
        let slot = self.buffer.slot_mut(slot);
        slot.below = Entry::UNMAPPED;
        if good {
            slot.mask = WHOLE;
            flash.tell(Event::Filled { lpn });
        } else {
            let by_age = flash.aged(src).is_some_and(|aged| flash.is_lost_by_age(aged));
            self.report_lost_by(flash, lpn, by_age);
        }
    }

    /// Ends a move that left data in its block. GC may take the block again, and the policy is
    /// asked at the next read.
    fn release(&mut self, flash: &mut Flash, block: BlockId) {
        flash.clear_flags(block, MOVING);
        self.victims.insert(block, self.score(flash, block), flash.seq as u32);
        flash.tell(Event::JobEnded { block });
        flash.set_flags(block, LEFT);
        flash.ask_policy_at_next_read(block);
    }

    /// Returns the remaining time of a job on an idle drive.
    pub(crate) fn time_left(&self, flash: &Flash, job: &Job) -> Ns {
        let adjusts = self.adjusting.is_some() && job.adjusts();
        let merge_ns = if adjusts { self.adjust_ns } else { self.merge_ns };
        u64::from(job.pages_left(flash)) * self.copy_ns
            + u64::from(job.merges_left(flash)) * merge_ns
    }

    /// Erases a block without valid data and returns it to the free pool.
    fn erase(&mut self, cx: &mut Context, block: BlockId, cause: Cause) {
        // These partial parities are programmed later, because the erase may be needed for space.
        self.make_whole_where(cx.flash, |flash, ppn| flash.geometry.block_of(ppn) == block);
        cx.erased(self.away(cx.flash, block), block, cause);
        self.book_low_density(cx.flash, block, cause);
        self.wheel.clear(block);
        self.steps.clear(block);
        cx.flash.erase(block, cause);
        self.worn.any_is_worn |= self.is_worn(cx.flash, block);
        // A block with failed parts is empty now, and stays empty.
        if !cx.flash.has_failed(block) {
            self.add_free(cx.flash, block);
        }
    }

    /// Puts an erased block into the free pool.
    pub(crate) fn add_free(&mut self, flash: &Flash, block: BlockId) {
        let plane = u32::from(flash.geometry.die_of(block)) * flash.geometry.planes_per_die
            + flash.geometry.plane_of(block);
        let rank =
            if self.wear.dynamic { flash.cold(block).erased_milli() } else { flash.erases_total };
        self.free.add(plane, block, rank, flash.geometry.is_in_pool(block));
    }

    /// Sorts the erased blocks by the wear with which they start.
    pub(crate) fn rank_free(&mut self, flash: &Flash) {
        for block in self.free.take_all() {
            self.add_free(flash, block);
        }
    }

    /// Marks the data of a page as no longer wanted.
    pub(crate) fn invalidate(&mut self, flash: &mut Flash, ppn: Ppn) {
        let block = flash.invalidate(ppn);
        if !self.lost.is_empty() {
            flash.note_lost(flash.contents.owner(ppn));
        }
        if self.worn.is_on() {
            self.count_left(flash, ppn);
        }
        if self.victims.contains(block) {
            let score = self.score(flash, block);
            self.victims.relist(block, score, flash.seq as u32);
        }
    }

    /// Removes a page whose data could not be read. Its host data stays reported as lost.
    pub(crate) fn unmap_lost(&mut self, lpn: Lpn) {
        self.set_place(lpn, Entry::UNMAPPED);
    }
}
