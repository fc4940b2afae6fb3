//! What happens when a block's reads reach its alarm: the error model is asked, the reclaim policy
//! is asked, data that is gone is reported. Rare, and out of line.

use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, Lpn, PageInBlock, Ppn, Reads};
use crate::bugs::{Bug, planted};
use crate::drive::Drive;
use crate::flash::assess::COUNTER_GUARD;
use crate::flash::block::{BlockState, LEFT, MOVING};
use crate::flash::operate::sense::Sensed;
use crate::ftl::job::Job;
use crate::ftl::map::Entry;
use crate::slots::reclaim::Action;
use crate::slots::refresh::Held;
use crate::slots::rewrite::Rewrite;

impl Drive {
    /// Reads older data of a partly written page, to complete it.
    pub(crate) fn fill(&mut self, lpn: Lpn, ppn: Ppn) -> Sensed {
        let sensed = self.flash.sense(lpn, ppn, Cause::Host, true);
        self.answer(lpn, ppn, sensed, true);
        sensed
    }

    /// The same for a read of the host's, which takes the time of it. Tells whether it could be
    /// read.
    pub(crate) fn fill_for_read(&mut self, lpn: Lpn, ppn: Ppn) -> bool {
        let Sensed { good, level, .. } = self.fill(lpn, ppn);
        self.flash.record_begin(level);
        good
    }

    /// A counted host read reached the block's alarm.
    #[cold]
    pub(crate) fn alarm(&mut self, lpn: Lpn, ppn: Ppn) {
        self.rung(lpn, ppn);
    }

    /// Rare on most drives, and every read of a tired one.
    #[inline(never)]
    fn rung(&mut self, lpn: Lpn, ppn: Ppn) {
        let sensed = self
            .flash
            .read_quietly(lpn, ppn)
            .unwrap_or_else(|| self.flash.rung(lpn, ppn, Cause::Host, false));
        if sensed.rings || !sensed.good || self.hears_retries && sensed.retries > 0 {
            self.answer(lpn, ppn, sensed, false);
        }
    }

    /// What follows from a host read: data that is gone is reported, and the policy asked. A block
    /// that a move is reading is on its way out already; only host reads can make it late.
    pub(super) fn answer(&mut self, lpn: Lpn, ppn: Ppn, sensed: Sensed, fill: bool) {
        if sensed.retries > 0
            && !fill
            && let Some(hints) = &mut self.hints
        {
            hints.judge(lpn, sensed.retries, self.host.read_requests);
        }
        let is_repaired =
            !sensed.good && !fill && self.geometry.stripes.is_some() && self.repair(lpn, ppn);
        if is_repaired {
            self.note_rebuilt_for_read(ppn);
        }
        if !sensed.good && !is_repaired {
            if (!fill || planted(Bug::FillFailureCounted)) && !self.bugs.has(Bug::FailuresUncounted)
            {
                self.uncorrectable_reads += 1;
            }
            if !fill && self.geometry.stripes.is_some() {
                self.give_up(lpn);
            } else if !fill {
                self.ftl.report_lost(&mut self.flash, lpn);
                // By chance the next read might succeed, and what was reported lost would be there
                // again.
                if self.config.error.noise && self.ftl.map.get(lpn) == Entry::on_flash(ppn) {
                    self.ftl.invalidate(&mut self.flash, ppn);
                    self.ftl.unmap_lost(lpn);
                }
            }
        }
        if is_repaired {
            self.form_waiting();
        }
        if sensed.rings && !(fill && planted(Bug::FillAsksNobody)) {
            let block = self.geometry.block_of(ppn);
            self.facts.rung_by = ppn;
            self.ask_policy(block);
            self.flash.set_alarm(block);
        }
        if self.hears_retries && sensed.good && sensed.retries > 0 && !fill {
            self.tell_of_retries(lpn, ppn, sensed.retries);
        }
    }

    /// A page that could be read with retries only is the policy's affair, unless it is on its way
    /// elsewhere or has moved already.
    fn tell_of_retries(&mut self, lpn: Lpn, ppn: Ppn, retries: u8) {
        let block = self.geometry.block_of(ppn);
        let stays = self.flash.hot(block).has(MOVING) || self.ftl.is_left_alone(&self.flash, block);
        let is_elsewhere =
            self.ftl.map.get(lpn) != Entry::on_flash(ppn) && !planted(Bug::RetriedTellsMoved);
        if is_elsewhere || stays {
            return;
        }
        let page = self.geometry.page_in(block, ppn);
        let (policy, view) = self.policy_and_view_of(block);
        if let Some(rewrite) = policy.retried(&view, block, page, retries) {
            self.reclaim(rewrite, Reads::NEVER);
        }
    }

    fn ask_policy(&mut self, block: BlockId) {
        if self.flash.hot(block).reads > COUNTER_GUARD && !self.flash.hot(block).has(MOVING) {
            self.reclaim(Rewrite::all(block), Reads::NEVER);
            return;
        }
        if self.flash.hot(block).reads < self.flash.cold(block).policy_alarm_dose() {
            return;
        }
        if self.flash.hot(block).has(MOVING) {
            self.look_at_job(block);
            return;
        }
        self.do_as_policy_says(block);
    }

    /// Asks the policies of blocks that were read for rebuilds, where nothing else is under way.
    pub(super) fn ask_about_rebuilds(&mut self) {
        while let Some(block) = self.ftl.worn.lifetime.take_unasked() {
            self.facts.rung_by = self.geometry.first_page(block);
            if self.flash.hot(block).state != BlockState::Free {
                self.ask_policy(block);
                self.flash.set_alarm(block);
            }
        }
    }

    /// Asks the policy about a block that is a step of age older, read or not. A job that it has
    /// wanted before ends now: what the block may still bear was reserved until here.
    pub(crate) fn ask_about_older(&mut self, block: BlockId) {
        if self.flash.hot(block).reads == Quarters::ZERO {
            if planted(Bug::OlderUnreadForgotten) {
                return;
            }
            // What has no dose is safe at any age.
            return self.flash.ask_policy_at_next_read(block);
        }
        self.facts.rung_by = self.geometry.first_page(block);
        if !self.flash.hot(block).has(MOVING) {
            self.do_as_policy_says(block);
        } else if let Some(slot) =
            self.ftl.job_of(block).filter(|_| !planted(Bug::OlderJobKept)).filter(|slot| {
                self.ftl.jobs[*slot].as_ref().is_some_and(|job| job.deadline != Reads::NEVER)
            })
        {
            let (flash, ftl, mut slots) = self.parts();
            ftl.finish_job(flash, &mut slots, slot);
        } else {
            self.look_at_job(block);
        }
        self.flash.set_alarm(block);
    }

    /// Asks the policy about a block that nothing moves, and does what it wants.
    fn do_as_policy_says(&mut self, block: BlockId) {
        self.ftl.reclaim.alarms +=
            u64::from(!(planted(Bug::AlarmsUncounted) && block.number().is_multiple_of(2)));
        if self.leaves_alone(block) {
            return;
        }
        // An alarm at 0 reads alone proves nothing: a block without dose has it when it is a step of
        // age older.
        let was_left = self.adjusts()
            && self.flash.hot(block).has(LEFT)
            && self.flash.cold(block).policy_alarm_dose() == Quarters::ZERO;
        self.flash.clear_flags(block, LEFT);
        let (next, actions) = self.consult(block);
        assert!(next.0 > self.flash.block_reads(block), "a policy's next alarm must lie ahead");
        self.flash.tell(|o| o.asks_at(block, next));
        self.flash.set_policy_alarm(block, next);
        if was_left && actions.is_empty() {
            return self.adjust_what_stays(block);
        }
        for action in actions {
            let Action::Rewrite(rewrite) = action else {
                unreachable!("probes are carried out while the policy is asked")
            };
            if self.ftl.is_left_alone(&self.flash, rewrite.block) {
                continue;
            }
            // Another block keeps its own deadline: its policy is asked when its alarm rings.
            let deadline = if rewrite.block == block { next } else { Reads::NEVER };
            self.reclaim(rewrite, deadline);
        }
    }

    /// Tells whether the policy has nothing to say of a block, which is not recycled. It is not
    /// asked again then.
    fn leaves_alone(&mut self, block: BlockId) -> bool {
        let is_left_alone = self.ftl.is_left_alone(&self.flash, block);
        if is_left_alone {
            self.flash.tell(|o| o.asks_at(block, Reads::NEVER));
            self.flash.set_policy_alarm(block, Reads::NEVER);
        }
        is_left_alone
    }

    /// The policy wants nothing of a block that a job has left data in: wordlines of it may be
    /// adjusted where they lie.
    fn adjust_what_stays(&mut self, block: BlockId) {
        let merges = self.refresh.at_reclaim(&Held::of(&self.flash, block));
        let (flash, ftl, mut slots) = self.parts();
        ftl.adjust_in_place(flash, &mut slots, block, merges);
    }

    /// Asks the policy, and carries out the probes that it wants first. Gives its next alarm, and
    /// what else it wants.
    fn consult(&mut self, block: BlockId) -> (Reads, Vec<Action>) {
        let mut wanted = vec![];
        if self.flash.is_fluid() {
            let (policy, view) = self.policy_and_view_of(block);
            let others = policy.compares_with(&view, block);
            for other in others {
                self.flash.draw_reads(other);
            }
        }
        let (policy, view) = self.policy_and_view_of(block);
        let mut next = policy.on_alarm(&view, block, &mut wanted);
        while let Some(Action::Probe { block, wordlines }) =
            wanted.pop_if(|action| matches!(action, Action::Probe { .. }))
        {
            let found = self.flash.probe(block, &wordlines);
            let (policy, view) = self.policy_and_view_of(block);
            next = policy.probed(&view, block, &found, &mut wanted);
        }
        if !wanted.is_empty() && self.bugs.has(Bug::LateReadsZero) {
            // The job takes as long as it takes.
            next = Reads(next.0.saturating_add(self.facts.late_reads));
        }
        (next, wanted)
    }

    /// Does with a block what the policy wants, or what is possible of it.
    pub(crate) fn reclaim(&mut self, mut rewrite: Rewrite, deadline: Reads) {
        let block = rewrite.block;
        self.flash.draw_reads(block);
        let (flash, ftl, mut slots) = self.parts();
        ftl.before_reclaim(flash, &mut slots, block);
        self.ftl.settle(&self.flash, &mut rewrite);
        if self.flash.hot(block).has(MOVING) {
            // Cleaning or levelling took it since the policy was asked, to make room for what else
            // that wanted.
            self.give_deadline(block, deadline);
            return;
        }
        if self.flash.hot(block).state == BlockState::Free {
            return;
        }
        self.ftl.reclaim.invocations += u64::from(!self.bugs.has(Bug::JobsUncounted));
        self.blame.book(&self.flash, block, rewrite.moving(self.geometry.pages_per_block).as_ref());
        let (flash, ftl, mut slots) = self.parts();
        ftl.rewrite(flash, &mut slots, rewrite, Cause::Reclaim, deadline);
        // Reclaim uses up free blocks as writes do, and where nothing is written nobody else would
        // see to new ones.
        ftl.collect_in_background(flash, &mut slots, flash.geometry.domain_of(block));
        ftl.level_wear(flash, &mut slots);
        ftl.adjust_in_turn(flash, &mut slots);
        self.form_waiting();
    }

    /// A block under a deferred job reached its policy's alarm again: its last allowed read, or the
    /// first alarm of a block that GC or wear levelling was moving already.
    fn look_at_job(&mut self, block: BlockId) {
        let Some(slot) = self.ftl.job_of(block) else { return };
        if self.ftl.jobs[slot].as_ref().is_some_and(|job| job.deadline != Reads::NEVER) {
            self.ftl.reclaim.deadline_misses += u64::from(!self.bugs.has(Bug::MissesUncounted));
            if self.bugs.has(Bug::DeadlineOverrun) {
                self.flash.set_policy_alarm(block, Reads::NEVER);
                return;
            }
            let (flash, ftl, mut slots) = self.parts();
            ftl.finish_job(flash, &mut slots, slot);
            return;
        }
        if self.bugs.has(Bug::GcJobGetsNoDeadline) {
            self.flash.set_policy_alarm(block, Reads::NEVER);
            return;
        }
        if self.leaves_alone(block) {
            return;
        }
        // What is left to do must be what the policy has left room for: a move of all that is
        // there.
        if let Some(job) =
            self.ftl.jobs[slot].take_if(|job| job.adjusts() && !planted(Bug::AdjustingNotWidened))
        {
            self.ftl.jobs[slot] = Some(job.widened());
        }
        let (deadline, wanted) = self.consult(block);
        self.flash.tell(|o| o.asks_at(block, deadline));
        self.flash.set_policy_alarm(
            block,
            if planted(Bug::JobLearnsNoDeadline) { Reads::NEVER } else { deadline },
        );
        if wanted.is_empty() {
            return;
        }
        self.give_deadline(block, deadline);
    }

    /// The job that moves a block has to be done by so many reads, unless it had a deadline before.
    fn give_deadline(&mut self, block: BlockId, deadline: Reads) {
        let Some(slot) = self.ftl.job_of(block) else { return };
        let (now, from) = (self.flash.now, self.flash.hot(block).reads);
        let job = self.ftl.jobs[slot].as_mut().expect("found");
        if job.deadline == Reads::NEVER || planted(Bug::DeadlineReplaced) {
            (job.from, job.deadline, job.started_at) = (from, deadline, now);
        }
    }

    /// Whether a job should go ahead of reads: at the rate since it began, the block's reads would
    /// run out before it is done.
    pub(crate) fn is_urgent(&self, job: &Job) -> bool {
        if self.is_aged(job) {
            return true;
        }
        if job.deadline == Reads::NEVER || planted(Bug::NeverUrgent) {
            return false;
        }
        let served = self.flash.cold(job.block).without_movers(self.flash.hot(job.block).reads);
        let rate = f64::from((served - job.from).count())
            / (self.flash.now - job.started_at).max(1) as f64;
        let left = job.deadline.quarters().saturating_sub(served);
        rate * self.ftl.time_left(&self.flash, job) as f64
            >= f64::from(left.whole_down().quarters().count())
    }

    /// Ends a run: looks at every block that may hold pages past their limit and reports those that
    /// nobody has read.
    pub fn report_unread_losses(&mut self) {
        // What is sensed on the way may bring others past their limits.
        let mut before = None;
        let so_far = |drive: &Self| (drive.ftl.lost_pages, drive.ftl.parity);
        while before.replace(so_far(self)) != Some(so_far(self)) {
            if planted(Bug::UnreadOnce) && before.is_none() {
                break;
            }
            self.look_for_unread_losses();
            if planted(Bug::UnreadOnce) {
                break;
            }
        }
    }

    fn look_for_unread_losses(&mut self) {
        for block in self.geometry.block_ids() {
            if planted(Bug::UnreadOpenSkipped) && self.flash.hot(block).state == BlockState::Open {
                continue;
            }
            self.flash.ask_model_of_age(block);
            let mut page = PageInBlock::FIRST;
            while let Some(gone) = self.flash.next_past_limit(block, page) {
                self.report_unread(self.geometry.first_page(block) + gone);
                page = gone + 1;
            }
        }
    }

    /// A page past its limit that nobody has read. Where newer parts of it wait in the write
    /// buffer, the read that would complete them is what fails.
    fn report_unread(&mut self, ppn: Ppn) {
        let lpn = self.flash.contents().owner(ppn);
        if self.geometry.stripes.is_some() {
            return self.repair_unread(lpn, ppn);
        }
        if self.ftl.map.slot_of(lpn).is_some() && !self.ftl.is_lost(lpn) {
            self.host.fill_reads += 1;
            self.flash.sense_failing(lpn, ppn);
        }
        self.ftl.report_lost(&mut self.flash, lpn);
    }
}

#[cfg(test)]
mod tests;
