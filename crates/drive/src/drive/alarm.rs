//! Handling of a block whose reads reach its alarm. The drive asks the error model and the reclaim
//! policy, and reports lost data. This happens rarely.

use crate::api::reclaim::Action;
use crate::api::refresh::Held;
use crate::api::rewrite::Rewrite;
use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, Lpn, PageInBlock, Ppn, Reads};
use crate::drive::Drive;
use crate::flash::assess::COUNTER_GUARD;
use crate::flash::block::{BlockState, LEFT, MOVING};
use crate::flash::operate::sense::Sensed;
use crate::ftl::job::Job;
use crate::ftl::map::Entry;
use crate::watch::observer::Event;

impl Drive {
    /// Reads the older data of a partly written page to complete the page.
    pub(crate) fn fill(&mut self, lpn: Lpn, ppn: Ppn) -> Sensed {
        let sensed = self.flash.sense(lpn, ppn, Cause::Host, true);
        self.answer(lpn, ppn, sensed, true);
        sensed
    }

    /// Reads the older data of a partly written page for a host read, which waits for it. Returns
    /// whether the data could be read.
    pub(crate) fn fill_for_read(&mut self, lpn: Lpn, ppn: Ppn) -> bool {
        let Sensed { good, level, .. } = self.fill(lpn, ppn);
        self.flash.record_begin(level);
        good
    }

    /// Handles a counted host read that reached its block's alarm.
    #[cold]
    pub(crate) fn alarm(&mut self, lpn: Lpn, ppn: Ppn) {
        self.rung(lpn, ppn);
    }

    /// Handles a host read that reached the alarm. On a healthy drive such reads are rare. On a
    /// worn drive, every read is one.
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

    /// Handles the consequences of a host read: reports lost data, and asks the policy. A block
    /// that is already being moved needs no further job. Only host reads can make its job late.
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
            if !fill {
                self.uncorrectable_reads += 1;
            }
            if !fill && self.geometry.stripes.is_some() {
                self.give_up(lpn);
            } else if !fill {
                self.ftl.report_lost(&mut self.flash, lpn);
                // By chance, the next read might succeed. Data that was reported lost would then
                // come back.
                if self.config.error.noise && self.ftl.map.get(lpn) == Entry::on_flash(ppn) {
                    self.ftl.invalidate(&mut self.flash, ppn);
                    self.ftl.unmap_lost(lpn);
                }
            }
        }
        if is_repaired {
            self.form_waiting();
        }
        if sensed.rings {
            let block = self.geometry.block_of(ppn);
            self.facts.rung_by = ppn;
            self.ask_policy(block);
            self.flash.set_alarm(block);
        }
        if self.hears_retries && sensed.good && sensed.retries > 0 && !fill {
            self.tell_of_retries(lpn, ppn, sensed.retries);
        }
    }

    /// Tells the policy of a page that needed retries, unless the page is being moved or has
    /// already moved. A drive with hints hears of retries too, even if its policy does not want to.
    fn tell_of_retries(&mut self, lpn: Lpn, ppn: Ppn, retries: u8) {
        if !self.policy.ask("follows_retries", |policy| policy.follows_retries()) {
            return;
        }
        let block = self.geometry.block_of(ppn);
        let stays = self.flash.hot(block).has(MOVING) || self.ftl.is_left_alone(&self.flash, block);
        let is_elsewhere = self.ftl.map.get(lpn) != Entry::on_flash(ppn);
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

    /// Asks the policies about blocks that were read for rebuilds, when no other operation is
    /// running.
    pub(super) fn ask_about_rebuilds(&mut self) {
        while let Some(block) = self.ftl.worn.lifetime.unasked.pop() {
            self.facts.rung_by = self.geometry.first_page(block);
            if self.flash.hot(block).state != BlockState::Free {
                self.ask_policy(block);
                self.flash.set_alarm(block);
            }
        }
    }

    /// Asks the policy about a block that has become a step older, whether it was read or not. An
    /// earlier job for the block ends now, because the block's remaining reads were reserved only
    /// up to this age.
    pub(crate) fn ask_about_older(&mut self, block: BlockId) {
        if self.flash.hot(block).reads == Quarters::ZERO {
            // A block without dose is safe at any age.
            return self.flash.ask_policy_at_next_read(block);
        }
        self.facts.rung_by = self.geometry.first_page(block);
        if !self.flash.hot(block).has(MOVING) {
            self.do_as_policy_says(block);
        } else if let Some(slot) = self.ftl.job_of(block).filter(|slot| {
            self.ftl.jobs[*slot].as_ref().is_some_and(|job| job.deadline != Reads::NEVER)
        }) {
            let (ftl, mut cx) = self.parts();
            ftl.finish_job(&mut cx, slot);
        } else {
            self.look_at_job(block);
        }
        self.flash.set_alarm(block);
    }

    /// Asks the policy about a block that no job moves, and carries out the answer.
    fn do_as_policy_says(&mut self, block: BlockId) {
        self.ftl.reclaim.alarms += 1;
        if self.leaves_alone(block) {
            return;
        }
        // An alarm after 0 reads does not prove a job. A block without dose also has this alarm
        // when it becomes a step older.
        let was_left = self.adjusts()
            && self.flash.hot(block).has(LEFT)
            && self.flash.cold(block).policy_alarm_dose() == Quarters::ZERO;
        self.flash.clear_flags(block, LEFT);
        let (next, actions) = self.consult(block);
        self.flash.tell(Event::AsksAt { block, at: next });
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
            // Another block keeps its own deadline. Its policy is asked when its own alarm is
            // reached.
            let deadline = if rewrite.block == block { next } else { Reads::NEVER };
            self.reclaim(rewrite, deadline);
        }
    }

    /// Returns whether the policy is not responsible for a block, because the block is not
    /// recycled. The policy is then not asked again.
    fn leaves_alone(&mut self, block: BlockId) -> bool {
        let is_left_alone = self.ftl.is_left_alone(&self.flash, block);
        if is_left_alone {
            self.flash.tell(Event::AsksAt { block, at: Reads::NEVER });
            self.flash.set_policy_alarm(block, Reads::NEVER);
        }
        is_left_alone
    }

    /// The policy wants no action for a block in which a job has left data. Wordlines of the block
    /// may be merged in place.
    fn adjust_what_stays(&mut self, block: BlockId) {
        let held = Held::of(&self.flash, block);
        let merges = self.refresh.ask("at_reclaim", |refresh| refresh.at_reclaim(&held));
        let (ftl, mut cx) = self.parts();
        ftl.adjust_in_place(&mut cx, block, merges);
    }

    /// Asks the policy, and carries out the probes that it wants first. Returns its next alarm and
    /// its other actions.
    fn consult(&mut self, block: BlockId) -> (Reads, Vec<Action>) {
        let mut wanted = vec![];
        if self.flash.watch.hears_alarms() {
            self.flash.tell(Event::Alarm { block });
        }
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
        (next, wanted)
    }

    /// Carries out the rewrite that the policy wants for a block, as far as possible.
    pub(crate) fn reclaim(&mut self, mut rewrite: Rewrite, deadline: Reads) {
        let block = rewrite.block;
        self.flash.draw_reads(block);
        let (ftl, mut cx) = self.parts();
        ftl.before_reclaim(&mut cx, block);
        self.ftl.settle(&self.flash, &mut rewrite);
        if self.flash.hot(block).has(MOVING) {
            // GC or wear levelling has taken the block since the policy was asked, to free space
            // for the policy's other actions.
            self.give_deadline(block, deadline);
            return;
        }
        if self.flash.hot(block).state == BlockState::Free {
            return;
        }
        self.ftl.reclaim.invocations += 1;
        self.blame.book(&self.flash, block, rewrite.moving(self.geometry.pages_per_block).as_ref());
        let (ftl, mut cx) = self.parts();
        ftl.rewrite(&mut cx, rewrite, Cause::Reclaim, deadline);
        // Like writes, reclaim uses up free blocks. Without writes, nothing else would free new
        // blocks.
        let domain = cx.flash.geometry.domain_of(block);
        ftl.keep_house(&mut cx, domain);
        self.form_waiting();
    }

    /// Handles a block under a deferred job that reached its policy's alarm again. This is the
    /// block's last allowed read, or the first alarm of a block that GC or wear levelling was
    /// already moving.
    fn look_at_job(&mut self, block: BlockId) {
        let Some(slot) = self.ftl.job_of(block) else { return };
        if self.ftl.jobs[slot].as_ref().is_some_and(|job| job.deadline != Reads::NEVER) {
            self.ftl.reclaim.deadline_misses += 1;
            let (ftl, mut cx) = self.parts();
            ftl.finish_job(&mut cx, slot);
            return;
        }
        if self.leaves_alone(block) {
            return;
        }
        // The remaining work must be the work for which the policy reserved reads: a move of all
        // data in the block.
        if let Some(job) = self.ftl.jobs[slot].take_if(|job| job.adjusts()) {
            self.ftl.jobs[slot] = Some(job.widened());
        }
        let (deadline, wanted) = self.consult(block);
        self.flash.tell(Event::AsksAt { block, at: deadline });
        self.flash.set_policy_alarm(block, deadline);
        if wanted.is_empty() {
            return;
        }
        self.give_deadline(block, deadline);
    }

    /// Gives the job that moves a block a deadline in reads, unless it already has one.
    fn give_deadline(&mut self, block: BlockId, deadline: Reads) {
        let Some(slot) = self.ftl.job_of(block) else { return };
        let (now, from) = (self.flash.now, self.flash.hot(block).reads);
        let job = self.ftl.jobs[slot].as_mut().expect("found");
        if job.deadline == Reads::NEVER {
            (job.from, job.deadline, job.started_at) = (from, deadline, now);
        }
    }

    /// Returns whether a job should go before reads. At the read rate since its beginning, the
    /// block would use up its reads before the job is done.
    pub(crate) fn is_urgent(&self, job: &Job) -> bool {
        if self.is_aged(job) {
            return true;
        }
        if job.deadline == Reads::NEVER {
            return false;
        }
        let served = self.flash.cold(job.block).without_movers(self.flash.hot(job.block).reads);
        let rate = f64::from((served - job.from).count())
            / (self.flash.now - job.started_at).max(1) as f64;
        let left = job.deadline.quarters().saturating_sub(served);
        rate * self.ftl.time_left(&self.flash, job) as f64
            >= f64::from(left.whole_down().quarters().count())
    }

    /// Ends a run. Checks every block that may hold pages past their limit, and reports those that
    /// no read has found.
    pub fn report_unread_losses(&mut self) {
        // Sensings of this check may bring other pages past their limits.
        let mut before = None;
        let so_far = |drive: &Self| (drive.ftl.lost_pages, drive.ftl.parity);
        while before.replace(so_far(self)) != Some(so_far(self)) {
            self.look_for_unread_losses();
        }
    }

    fn look_for_unread_losses(&mut self) {
        for block in self.geometry.block_ids() {
            self.flash.ask_model_of_age(block);
            let mut page = PageInBlock::FIRST;
            while let Some(gone) = self.flash.next_past_limit(block, page) {
                self.report_unread(self.geometry.first_page(block) + gone);
                page = gone + 1;
            }
        }
    }

    /// Handles a page past its limit that no read has found. If newer parts of it wait in the write
    /// buffer, the fill read that would complete them fails.
    fn report_unread(&mut self, ppn: Ppn) {
        let lpn = self.flash.contents.owner(ppn);
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
