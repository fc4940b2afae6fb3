//! Effects of time alone. Due blocks are checked, and rewritten if the refresh technique wants it.

use crate::api::refresh::{Aged, Held, Wanted};
use crate::api::rewrite::{Recode, Rewrite};
use crate::base::streams::GC;
use crate::base::units::{BlockId, Cause, Moment, Ns, Reads};
use crate::disturb::table::LimitTable;
use crate::drive::Drive;
use crate::flash::block::{BlockState, MOVING};
use crate::ftl::job::Job;
use crate::watch::observer::Event;

impl Drive {
    /// Returns whether the drive must know the time, because its data ages or is refreshed.
    pub fn keeps_time(&self) -> bool {
        self.ftl.wheel.runs
    }

    /// Returns the age of the oldest programmed page.
    pub fn oldest_age(&self) -> Ns {
        self.oldest_of(|_| true).unwrap_or(0)
    }

    /// Returns the age of the oldest page in blocks that are not left to parity. Returns `None` if
    /// there is no such block with pages.
    pub fn oldest_recycled_age(&self) -> Option<Ns> {
        self.oldest_of(|block| !self.ftl.is_left_alone(&self.flash, block))
    }

    fn oldest_of(&self, counts: impl Fn(BlockId) -> bool) -> Option<Ns> {
        let holds_data =
            |block: &BlockId| self.flash.hot(*block).write_ptr > 0 && !self.flash.is_dead(*block);
        let written = self.geometry.block_ids().filter(holds_data).filter(|block| counts(*block));
        let oldest = written.map(|block| self.flash.cold(block).programmed_at).min();
        oldest.map(|since| (self.flash.now.cast_signed() - since).max(0) as Ns)
    }

    /// Returns the next time at which time alone has an effect; `Ns::MAX` if there is none.
    #[inline(always)]
    // A load, once a request.
    pub(crate) fn next_wake(&self) -> Ns {
        self.ftl.wheel.next().min(self.ftl.steps.next()).min(self.flash.next_step_of_age())
    }

    /// Checks all blocks that are due by now.
    pub(crate) fn wake(&mut self) {
        let now = self.flash.now;
        self.form_in_time();
        if !self.keeps_time() {
            return;
        }
        self.flash.tell(Event::Clock { at: now });
        self.flash.grow_older();
        while let Some(block) = self.ftl.wheel.take_due(now) {
            self.look_at_aged(block);
        }
        while let Some(block) = self.ftl.steps.take_due(now) {
            self.look_at_older(block);
        }
    }

    /// Handles a block that has become a step older, if the technique uses limits at the block's
    /// age. The technique's last answer about the block is no longer valid.
    fn look_at_older(&mut self, block: BlockId) {
        let longest = self.flash.limits().and_then(LimitTable::longest_step).unwrap_or(0);
        if self.flash.age_step(block) < longest {
            self.ftl.steps.set(block, self.flash.next_step_begins(block).cast_signed());
        }
        if self.flash.hot(block).write_ptr > 0 {
            self.ask_about_older(block);
        }
    }

    fn look_at_aged(&mut self, block: BlockId) {
        let (now, since) = (self.flash.now.cast_signed(), self.flash.cold(block).programmed_at);
        let Some(end) = self.refresh.done_by(since) else { return };
        if self.ftl.is_left_alone(&self.flash, block) {
            return;
        }
        if self.flash.hot(block).has(MOVING) {
            // A move makes the block young, if it moves all data of the block in time.
            if now < end {
                self.ftl.wheel.set(block, end);
                return;
            }
            if let Some(slot) = self.ftl.job_of(block) {
                self.ftl.refresh.deadline_misses += 1;
                let (ftl, mut cx) = self.parts();
                ftl.finish_job(&mut cx, slot);
            }
            if self.flash.hot(block).state == BlockState::Free
                || self.flash.hot(block).write_ptr == 0
            {
                return;
            }
            // The data of the block may be younger now.
            let first = self.refresh.first_look(self.flash.cold(block).programmed_at);
            if let Some(at) = first.filter(|at| *at > now) {
                self.ftl.wheel.set(block, at);
                return;
            }
        }
        let since = self.flash.cold(block).programmed_at;
        let under_way =
            self.ftl.jobs.iter().flatten().filter(|job| job.cause == Cause::Refresh).count() as u32;
        match self.refresh.on_time(&Aged { block, now, since, under_way }) {
            Wanted::Later(at) => {
                assert!(at > now, "the next check of a refresh technique must lie in the future");
                self.ftl.wheel.set(block, at);
            }
            Wanted::Rewrite => self.rewrite_aged(block, end),
        }
    }

    /// Begins to rewrite a block. If the rewrite is due by now, it is done at once.
    fn rewrite_aged(&mut self, block: BlockId, end: Moment) {
        let (ftl, mut cx) = self.parts();
        ftl.before_reclaim(&mut cx, block);
        let hot = *self.flash.hot(block);
        if hot.state == BlockState::Open {
            self.ftl.refresh.open_blocks += 1;
            self.ftl.refresh.unused_pages +=
                u64::from(self.geometry.pages_per_block - u32::from(hot.write_ptr));
        }
        self.ftl.refresh.invocations += 1;
        let late = end <= self.flash.now.cast_signed();
        if !late {
            self.ftl.wheel.set(block, end);
        }
        let (rewrite, burden) = self.rewrite_for_age(block);
        let (ftl, mut cx) = self.parts();
        ftl.rewrite(&mut cx, rewrite, Cause::Refresh, Reads::NEVER);
        if ftl.job_of(block).is_some() {
            cx.flash.bring_forward(block, burden);
        }
        if late && let Some(slot) = ftl.job_of(block) {
            ftl.finish_job(&mut cx, slot);
        }
        // Like writes, refresh uses up free blocks.
        let domain = cx.flash.geometry.domain_of(block);
        ftl.keep_house(&mut cx, domain);
        self.form_waiting();
    }

    /// Returns the rewrite of a block because of its age. Also returns the number of reads that the
    /// rewrite takes from those that the policy still allows the block.
    fn rewrite_for_age(&mut self, block: BlockId) -> (Rewrite, u32) {
        let held = Held::of(&self.flash, block);
        let mut rewrite = self.refresh.ask("rewrite", |refresh| refresh.rewrite(&held));
        self.ftl.settle(&self.flash, &mut rewrite);
        let Recode::Wordlines(merges) = &rewrite.recode else { return (rewrite, 0) };
        let burden = self
            .flash
            .burden_of_adjusting(block, &merges.wordlines(self.geometry.wordlines_per_block));
        if self.flash.has_room_for(block, burden) {
            return (rewrite, burden);
        }
        self.ftl.refresh.no_room += 1;
        (Rewrite::all_to(block, GC), 0)
    }

    /// Returns whether the block of a job would become too old before the job is done.
    pub(crate) fn is_aged(&self, job: &Job) -> bool {
        let end = self.refresh.done_by(self.flash.cold(job.block).programmed_at);
        end.is_some_and(|end| {
            (self.flash.now + self.ftl.time_left(&self.flash, job)).cast_signed() >= end
        })
    }

    /// Sets the clock to 0. Earlier events are then before time 0. This begins a measured phase
    /// after a warm-up that took time.
    pub fn restart_clock(&mut self) {
        let passed = std::mem::take(&mut self.flash.now);
        if passed == 0 {
            return;
        }
        self.flash.set_back(passed);
        self.ftl.jobs.iter_mut().flatten().for_each(|job| job.set_back(passed));
        self.ftl.wheel.set_back(passed);
        self.ftl.steps.set_back(passed);
        self.ftl.partial.window.set_back(passed);
        self.ftl.worn.window.set_back(passed);
        self.ftl.worn.lifetime.set_back(passed);
        self.ftl.worn.pace.set_back(passed);
        self.refresh.ask_mut("set_back", |refresh| refresh.set_back(passed));
        self.flash.tell(Event::ClockRestarted { passed });
    }
}

#[cfg(test)]
mod tests;
