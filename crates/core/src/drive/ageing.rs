//! What time alone sets off: blocks that are due are looked at, and rewritten where the refresh
//! technique wants that.

use crate::base::streams::GC;
use crate::base::units::{BlockId, Cause, Moment, Ns, Reads};
use crate::bugs::{Bug, planted};
use crate::disturb::table::LimitTable;
use crate::drive::Drive;
use crate::flash::block::{BlockState, MOVING};
use crate::ftl::job::Job;
use crate::slots::refresh::{Aged, Held, Wanted};
use crate::slots::rewrite::{Recode, Rewrite};

impl Drive {
    /// Whether the drive needs to know the time: its data ages, or is refreshed.
    pub fn keeps_time(&self) -> bool {
        self.ftl.wheel.runs
    }

    /// The age of the oldest page of all, as far as it is programmed.
    pub fn oldest_age(&self) -> Ns {
        self.oldest_of(|_| true).unwrap_or(0)
    }

    /// The age of the oldest page in blocks that are not left to parity; none where all blocks with
    /// pages are.
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

    /// When time alone sets something off next; `Ns::MAX` where it does not.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a load, once a request")]
    pub(crate) fn next_wake(&self) -> Ns {
        self.ftl.wheel.next().min(self.ftl.steps.next()).min(self.flash.next_step_of_age())
    }

    /// Looks at all blocks that are due by now.
    pub(crate) fn wake(&mut self) {
        let now = self.flash.now;
        self.form_in_time();
        if !self.keeps_time() {
            return;
        }
        self.flash.tell(|o| o.clock(now));
        self.flash.grow_older();
        while let Some(block) = self.ftl.wheel.take_due(now) {
            self.look_at_aged(block);
        }
        while let Some(block) = self.ftl.steps.take_due(now) {
            self.look_at_older(block);
        }
    }

    /// A block is a step older, and the technique looks limits up at its age: what it said of the
    /// block holds no more.
    fn look_at_older(&mut self, block: BlockId) {
        if planted(Bug::OlderMovingSkipped) && self.flash.hot(block).has(MOVING) {
            return;
        }
        let longest = self.flash.limits().and_then(LimitTable::longest_step).unwrap_or(0);
        if self.flash.age_step(block) < longest {
            self.ftl.steps.set(block, self.flash.next_step_begins(block).cast_signed());
        }
        if !planted(Bug::OlderUnasked) && self.flash.hot(block).write_ptr > 0 {
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
            // Whoever moves it makes it young, if it moves all of it and in time.
            if now < end {
                if !planted(Bug::AgedMovingForgotten) {
                    self.ftl.wheel.set(block, end);
                }
                return;
            }
            if let Some(slot) = self.ftl.job_of(block) {
                self.ftl.refresh.deadline_misses += u64::from(!planted(Bug::RefreshMissUncounted));
                let (flash, ftl, mut slots) = self.parts();
                ftl.finish_job(flash, &mut slots, slot);
            }
            if self.flash.hot(block).state == BlockState::Free
                || self.flash.hot(block).write_ptr == 0
            {
                return;
            }
            // What it holds may be younger by now.
            let first = self.refresh.first_look(self.flash.cold(block).programmed_at);
            if let Some(at) = first.filter(|at| *at > now) {
                if !planted(Bug::AgedLeftForgotten) {
                    self.ftl.wheel.set(block, at);
                }
                return;
            }
        }
        let since = self.flash.cold(block).programmed_at;
        let under_way =
            self.ftl.jobs.iter().flatten().filter(|job| job.cause == Cause::Refresh).count() as u32;
        match self.refresh.on_time(&Aged { block, now, since, under_way }) {
            Wanted::Later(at) => {
                assert!(at > now, "a refresh technique's next look must lie ahead");
                self.ftl.wheel.set(block, at);
            }
            Wanted::Rewrite => self.rewrite_aged(block, end),
        }
    }

    /// Begins to rewrite a block; what must be done by now is done at once.
    fn rewrite_aged(&mut self, block: BlockId, end: Moment) {
        let (flash, ftl, mut slots) = self.parts();
        ftl.before_reclaim(flash, &mut slots, block);
        let hot = *self.flash.hot(block);
        if hot.state == BlockState::Open {
            if planted(Bug::OpenNeverDue) {
                return;
            }
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
        let (flash, ftl, mut slots) = self.parts();
        ftl.rewrite(flash, &mut slots, rewrite, Cause::Refresh, Reads::NEVER);
        if ftl.job_of(block).is_some() {
            flash.bring_forward(block, burden);
        }
        if late
            && !planted(Bug::LateRefreshDeferred)
            && let Some(slot) = ftl.job_of(block)
        {
            ftl.finish_job(flash, &mut slots, slot);
        }
        // Refresh uses up free blocks as writes do.
        ftl.collect_in_background(flash, &mut slots, flash.geometry.domain_of(block));
        ftl.level_wear(flash, &mut slots);
        ftl.adjust_in_turn(flash, &mut slots);
        self.form_waiting();
    }

    /// What is to be done with a block because of its age, and what its policy gives up for that:
    /// reads of those that the block may still serve, wherever they go.
    fn rewrite_for_age(&mut self, block: BlockId) -> (Rewrite, u32) {
        let mut rewrite = self.refresh.rewrite(&Held::of(&self.flash, block));
        self.ftl.settle(&self.flash, &mut rewrite);
        let Recode::Wordlines(merges) = &rewrite.recode else { return (rewrite, 0) };
        let burden = self
            .flash
            .burden_of_adjusting(block, &merges.wordlines(self.geometry.wordlines_per_block));
        if self.flash.has_room_for(block, burden) || planted(Bug::AdjustsWithoutRoom) {
            return (rewrite, burden);
        }
        self.ftl.refresh.no_room += 1;
        (Rewrite::all_to(block, GC), 0)
    }

    /// Whether the block of a job would grow too old before the job is done.
    pub(crate) fn is_aged(&self, job: &Job) -> bool {
        let end = self.refresh.done_by(self.flash.cold(job.block).programmed_at);
        !planted(Bug::AgedNotUrgent)
            && end.is_some_and(|end| {
                (self.flash.now + self.ftl.time_left(&self.flash, job)).cast_signed() >= end
            })
    }

    /// The clock shows 0 from here on, and what came before is before time 0: a measured phase
    /// begins behind a warm-up that took time.
    pub fn restart_clock(&mut self) {
        let passed = std::mem::take(&mut self.flash.now);
        if passed == 0 {
            return;
        }
        self.flash.set_back(passed);
        if !planted(Bug::JobsNotSetBack) {
            self.ftl.jobs.iter_mut().flatten().for_each(|job| job.set_back(passed));
        }
        self.ftl.wheel.set_back(passed);
        if !planted(Bug::StepsNotSetBack) {
            self.ftl.steps.set_back(passed);
        }
        self.ftl.partial.window.set_back(passed);
        self.ftl.worn.window.set_back(passed);
        self.ftl.worn.lifetime.set_back(passed);
        self.ftl.worn.pace.set_back(passed);
        self.refresh.set_back(passed);
        self.flash.tell(|o| o.clock_restarts(passed));
    }
}

#[cfg(test)]
mod tests;
