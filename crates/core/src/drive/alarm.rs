//! What happens when a block's reads reach its alarm: the error model is asked, the reclaim policy is asked, data that is
//! gone is reported. Rare, and out of line.

use crate::base::units::{BlockId, Cause, Lpn, Ppn, Reads, StreamId};
use crate::bugs::{Bug, planted};
use crate::disturb::table::QUARTERS;
use crate::disturb::{Assessment, BlockView, ErrorModel};
use crate::drive::Drive;
use crate::flash::block::{BlockHot, BlockState, CARRY, HAS_GUARDS, MOVING, SUSPECT};
use crate::flash::ops::NandOp;
use crate::ftl::map::BUFFERED;
use crate::ftl::mover::{Job, Plan};
use crate::ftl::place::{GC, RECLAIM};
use crate::slots::reclaim::{Action, Probed};
use crate::watch::observer::{NOBODY, PhysRead, ReadResult};

/// Counters, in quarters, are kept below this: 32 (the largest alpha) times as much still fits 32 bits. A block that gets there
/// (33 million reads without an erase) is rewritten whatever the policy.
const COUNTER_GUARD: u32 = 1 << 27;

impl Drive {
    /// Senses a page out of the batch path: for a move or a fill. Tells whether its data could be read.
    pub(crate) fn sense(&mut self, lpn: Lpn, ppn: Ppn, cause: Cause, fill: bool) -> bool {
        let block = self.geometry.block_of(ppn);
        crate::flash::rules::read(ppn, ppn - self.geometry.first_page(block), &self.flash.hot[block as usize], &self.geometry);
        if cause == Cause::Host || !self.bugs.has(Bug::ReadsUncounted) {
            self.flash.counts.reads[cause as usize] += 1;
        }
        let rings = !(fill && self.bugs.has(Bug::FillDisturbsNothing)) && self.count_any_read(ppn).1;
        self.put_off_alarm(block, self.flash.dose[self.geometry.kind_of(ppn) as usize], cause);
        if rings {
            return !self.ring(lpn, ppn, block, cause, fill);
        }
        self.note_read(PhysRead { lpn, ppn, cause, result: ReadResult::Good, fill });
        true
    }

    /// What a mover deposits, in quarters, was reserved for it when the policy named its alarm (`D_move`): it uses up none of the reads
    /// until then.
    pub(crate) fn put_off_alarm(&mut self, block: BlockId, dose: u32, cause: Cause) {
        if cause != Cause::Host || self.bugs.has(Bug::PutOffByHost) {
            self.flash.cold[block as usize].put_off_by(if self.bugs.has(Bug::PutOffTwice) { 2 * dose } else { dose });
        }
    }

    /// A counted host read reached the block's alarm.
    #[cold]
    pub(crate) fn alarm(&mut self, lpn: Lpn, ppn: Ppn, block: BlockId) {
        self.ring(lpn, ppn, block, Cause::Host, false);
    }

    /// Tells whether the page read was uncorrectable.
    fn ring(&mut self, lpn: Lpn, ppn: Ppn, block: BlockId, cause: Cause, fill: bool) -> bool {
        let mut gone = self.flash.hot[block as usize].has(SUSPECT) && self.is_past_limit(block, ppn);
        gone &= !self.bugs.has(Bug::LossHidden);
        gone |= self.bugs.has(Bug::LossInvented) && self.flash.hot[block as usize].has(SUSPECT);
        let result = if gone { ReadResult::Uncorrectable } else { ReadResult::Good };
        self.note_read(PhysRead { lpn, ppn, cause, result, fill });
        if self.flash.model.is_none() {
            self.carry(block);
            return false;
        }
        if gone {
            if cause == Cause::Host && (!fill || planted(Bug::FillFailureCounted)) && !self.bugs.has(Bug::FailuresUncounted) {
                self.uncorrectable_reads += 1;
            }
            if !fill {
                self.report_lost(lpn);
            }
        }
        self.ask_model(block);
        // A block that a move is reading is on its way out already; only host reads can make it late.
        if cause == Cause::Host && !(fill && planted(Bug::FillAsksNobody)) {
            self.rung_by = ppn;
            self.ask_policy(block);
        }
        self.set_alarm(block);
        gone
    }

    /// Makes room in the counter of a block that no error model looks at.
    fn carry(&mut self, block: BlockId) {
        self.flash.hot[block as usize].reads -= CARRY;
        self.flash.cold[block as usize].carries += 1;
    }

    /// A sensing whose data nobody wants reached the block's alarm: only the model may have something to say.
    pub(crate) fn model_alarm(&mut self, block: BlockId) {
        self.ask_model(block);
        self.set_alarm(block);
    }

    /// Whether a page that was just counted once had gone past its limit before.
    fn is_past_limit(&mut self, block: BlockId, ppn: Ppn) -> bool {
        let dose = self.flash.dose[self.geometry.kind_of(ppn) as usize];
        let wordline = self.geometry.wordline_of(ppn);
        self.flash.hot[block as usize].reads -= dose;
        self.flash.wordlines[wordline as usize].reads -= dose;
        let page = ppn - self.geometry.first_page(block);
        let (d, limit) = self.with_block_view(block, |model, view| model.dose_and_limit(view, page));
        self.flash.hot[block as usize].reads += dose;
        self.flash.wordlines[wordline as usize].reads += dose;
        d > limit || planted(Bug::LimitReachedIsLost) && d == limit
    }

    /// The error model and what it may see of a block.
    pub(crate) fn with_block_view<T>(&self, block: BlockId, ask: impl FnOnce(&dyn ErrorModel, &BlockView) -> T) -> T {
        let first = self.geometry.first_wordline(block) as usize;
        let hot = &self.flash.hot[block as usize];
        let view = BlockView {
            block,
            reads: hot.reads,
            pec: self.limit_pec(block),
            wordlines: &self.flash.wordlines[first..first + self.geometry.wordlines_per_block as usize],
            pages_per_wordline: self.geometry.cell.bits(),
            mode: self.mode_or_bug(hot),
            guarded: self.flash.guards.of(block),
            written: u32::from(hot.write_ptr),
            valid: self.flash.contents.valid_words(block),
        };
        ask(self.flash.model.as_deref().expect("wordlines are counted for an error model"), &view)
    }

    /// The coding mode that the error model is told of.
    fn mode_or_bug(&self, hot: &BlockHot) -> u8 {
        let for_all = self.bugs.has(Bug::ModeForgotten) || hot.has(HAS_GUARDS) && self.bugs.has(Bug::GuardForAll);
        if for_all { 1.min(self.geometry.cell.bits() as u8 - 1) } else { hot.mode }
    }

    /// First alarms of a block that is about to be written.
    pub(crate) fn arm(&mut self, block: BlockId) {
        if self.flash.model.is_none() {
            return;
        }
        let (policy, view) = self.policy_and_view();
        let mut first = policy.arm(&view, block);
        self.tell(|o| o.asks_at(block, first));
        if self.bugs.has(Bug::AlphaForgotten) {
            first = Reads(first.0.saturating_mul(8));
        }
        if self.flash.hot[block as usize].stream == GC && self.bugs.has(Bug::ArmForgotten) {
            first = Reads::NEVER;
        }
        self.flash.cold[block as usize].set_policy_alarm(first);
        self.ask_model(block);
        self.set_alarm(block);
    }

    /// Asks the error model again, whatever it said before.
    pub(crate) fn reassess(&mut self, block: BlockId) {
        self.flash.cold[block as usize].model_alarm = u32::MAX;
        self.ask_model(block);
        self.set_alarm(block);
    }

    /// The error model, where there is one, is asked at the block's next read: nobody reads most blocks of a large drive. For a block of
    /// which no data is lost.
    pub(crate) fn ask_model_at_next_read(&mut self, block: BlockId) {
        if self.flash.model.is_some() {
            self.flash.cold[block as usize].model_alarm = 0;
        }
        self.set_alarm(block);
    }

    fn ask_model(&mut self, block: BlockId) {
        let hot = &self.flash.hot[block as usize];
        let due = hot.reads > self.flash.cold[block as usize].model_alarm || self.flash.cold[block as usize].model_alarm == u32::MAX;
        if hot.has(SUSPECT) || !due || self.flash.model.is_none() {
            return;
        }
        match self.with_block_view(block, |model, view| model.assess(view)) {
            Assessment::CleanUntil(until) => self.flash.cold[block as usize].model_alarm = until.min(COUNTER_GUARD),
            Assessment::Suspect => self.flash.hot[block as usize].flags |= SUSPECT,
        }
    }

    /// Sets the number that reads are compared with.
    pub(crate) fn set_alarm(&mut self, block: BlockId) {
        let cold = &self.flash.cold[block as usize];
        let hot = &mut self.flash.hot[block as usize];
        if hot.state == BlockState::Free {
            return;
        }
        let late = if self.bugs.has(Bug::ModelAlarmLate) { 8 } else { 0 };
        hot.alarm = if hot.has(SUSPECT) { 0 } else { cold.policy_alarm_dose().min(cold.model_alarm.saturating_add(1 + late)).min(CARRY) };
    }

    /// Reads of a block since its erase, in whole dose units, rounded up.
    pub(crate) fn block_reads(&self, block: BlockId) -> u32 {
        self.flash.hot[block as usize].reads.div_ceil(QUARTERS)
    }

    fn ask_policy(&mut self, block: BlockId) {
        if self.flash.hot[block as usize].reads > COUNTER_GUARD && !self.flash.hot[block as usize].has(MOVING) {
            self.reclaim_block(block, Plan::whole(RECLAIM), Reads::NEVER);
            return;
        }
        if self.flash.hot[block as usize].reads < self.flash.cold[block as usize].policy_alarm_dose() {
            return;
        }
        if self.flash.hot[block as usize].has(MOVING) {
            self.look_at_job(block);
            return;
        }
        self.ftl.reclaim.alarms += 1;
        let (next, actions) = self.consult(block);
        assert!(next.0 > self.block_reads(block), "a policy's next alarm must lie ahead");
        self.tell(|o| o.asks_at(block, next));
        self.flash.cold[block as usize].set_policy_alarm(next);
        for action in actions {
            // Another block keeps its own deadline: its policy is asked when its alarm rings.
            let deadline = if action.block() == block { next } else { Reads::NEVER };
            match action {
                Action::Relocate { block } => self.reclaim_block(block, Plan::whole(RECLAIM), deadline),
                Action::RelocatePages { block, pages } => self.reclaim_block(block, Plan::some(pages, RECLAIM), deadline),
                Action::Divide { block, marked, to, rest } => self.reclaim_block(block, Plan::divided(marked, to, rest), deadline),
                Action::Probe { .. } => unreachable!("carried out while the policy was asked"),
                Action::Recycle { block } => self.reclaim_block(block, self.plan_recycling(block), deadline),
                Action::Reprogram { block, backup } => self.reprogram_block(block, backup, deadline),
                Action::ReprogramWordlines { block, wordlines, pages } => {
                    self.reclaim_block(block, self.plan_guarding(block, &wordlines, pages), deadline);
                }
            }
        }
    }

    /// Asks the policy, and carries out the probes that it wants first. Gives its next alarm, and what else it wants.
    fn consult(&mut self, block: BlockId) -> (Reads, Vec<Action>) {
        let mut wanted = vec![];
        let (policy, view) = self.policy_and_view();
        let mut next = policy.on_alarm(&view, block, &mut wanted);
        while let Some(Action::Probe { block, wordlines }) = wanted.pop_if(|action| matches!(action, Action::Probe { .. })) {
            let found = self.probe(block, &wordlines);
            let (policy, view) = self.policy_and_view();
            next = policy.probed(&view, block, &found, &mut wanted);
        }
        if !wanted.is_empty() && self.bugs.has(Bug::LateReadsZero) {
            // The job takes as long as it takes.
            next = Reads(next.0.saturating_add(self.late_reads));
        }
        (next, wanted)
    }

    /// Senses wordlines for their errors: once each, on reclaim's account, with the dose of a page kind that takes one sensing.
    fn probe(&mut self, block: BlockId, wordlines: &[u32]) -> Vec<Probed> {
        let (first, bits) = (self.geometry.first_page(block), self.geometry.cell.bits());
        let mut found = Vec::with_capacity(wordlines.len());
        for wordline in wordlines {
            let page = wordline * bits;
            crate::flash::rules::read(first + page, page, &self.flash.hot[block as usize], &self.geometry);
            // The weakest page kind's limit is the wordline's.
            let of_kind = |kind| self.with_block_view(block, |model, view| model.dose_and_limit(view, page + kind));
            let (dose, limit) = (0..bits).map(of_kind).min_by_key(|(_, limit)| *limit).expect("a wordline has pages");
            let dose = if self.bugs.has(Bug::ProbeHalved) { dose / 2 } else { dose };
            found.push(Probed { wordline: *wordline, dose, limit });
            self.flash.counts.reads[Cause::Reclaim as usize] += 1;
            self.count_any_read(first + page);
            if self.bugs.has(Bug::ProbeUncounted) {
                self.flash.wordlines[self.geometry.wordline_of(first + page) as usize].reads -= self.flash.dose[0];
            }
            self.note_read(PhysRead { lpn: NOBODY, ppn: first + page, cause: Cause::Reclaim, result: ReadResult::Good, fill: false });
        }
        self.record(NandOp::Probe { block, wordlines: wordlines.len() as u32 });
        self.ask_model(block);
        found
    }

    fn reprogram_block(&mut self, block: BlockId, backup: StreamId, deadline: Reads) {
        let plan = self.plan_reprogramming(block, backup);
        self.ftl.reclaim.low_density_refused += u64::from(plan.is_none());
        self.reclaim_block(block, plan.unwrap_or_else(|| Plan::whole(backup)), deadline);
    }

    fn reclaim_block(&mut self, block: BlockId, plan: Plan, deadline: Reads) {
        if self.flash.hot[block as usize].has(MOVING) || self.flash.hot[block as usize].state == BlockState::Free {
            return;
        }
        self.ftl.reclaim.invocations += u64::from(!self.bugs.has(Bug::JobsUncounted));
        self.book_blame(block, plan.pages.as_ref());
        self.relocate(block, plan, Cause::Reclaim, deadline);
        // Reclaim uses up free blocks as writes do, and where nothing is written nobody else would see to new ones.
        self.collect_in_background();
        self.level_wear();
    }

    /// A block under a deferred job reached its policy's alarm again: its last allowed read, or the first alarm of a block
    /// that GC or wear levelling was moving already.
    fn look_at_job(&mut self, block: BlockId) {
        let Some(slot) = self.job_of(block) else { return };
        if self.ftl.jobs[slot].as_ref().is_some_and(|job| job.deadline != Reads::NEVER) {
            self.ftl.reclaim.deadline_misses += u64::from(!self.bugs.has(Bug::MissesUncounted));
            if self.bugs.has(Bug::DeadlineOverrun) {
                self.flash.cold[block as usize].set_policy_alarm(Reads::NEVER);
                return;
            }
            self.finish_job(slot);
            return;
        }
        if self.bugs.has(Bug::GcJobGetsNoDeadline) {
            self.flash.cold[block as usize].set_policy_alarm(Reads::NEVER);
            return;
        }
        let (deadline, wanted) = self.consult(block);
        self.tell(|o| o.asks_at(block, deadline));
        self.flash.cold[block as usize].set_policy_alarm(if planted(Bug::JobLearnsNoDeadline) { Reads::NEVER } else { deadline });
        if wanted.is_empty() {
            return;
        }
        let (now, from) = (self.now, self.flash.hot[block as usize].reads);
        let job = self.ftl.jobs[slot].as_mut().expect("found");
        (job.from, job.deadline, job.started_at) = (from, deadline, now);
    }

    /// Whether a job should go ahead of reads: at the rate since it began, the block's reads would run out before it is done.
    pub(crate) fn is_urgent(&self, job: &Job) -> bool {
        if job.deadline == Reads::NEVER {
            return false;
        }
        let served = self.flash.cold[job.block as usize].without_movers(self.flash.hot[job.block as usize].reads);
        let rate = f64::from(served - job.from) / (self.now - job.started_at).max(1) as f64;
        let left = job.deadline.0.saturating_mul(QUARTERS).saturating_sub(served);
        rate * self.time_left(job) as f64 >= f64::from(left / QUARTERS * QUARTERS)
    }

    /// Whether the drive reported this page's data as lost and it was not written since.
    pub(crate) fn is_lost(&self, lpn: Lpn) -> bool {
        self.ftl.lost.get(lpn as usize / 64).is_some_and(|word| word >> (lpn % 64) & 1 == 1)
    }

    /// Reports the host's data at a page as lost, once.
    pub(crate) fn report_lost(&mut self, lpn: Lpn) {
        if self.is_lost(lpn) {
            return;
        }
        if self.ftl.lost.is_empty() {
            self.ftl.lost = vec![0; (self.geometry.host_pages as usize).div_ceil(64)];
        }
        self.ftl.lost[lpn as usize / 64] |= 1 << (lpn % 64);
        self.ftl.lost_pages += u64::from(!self.bugs.has(Bug::LossesUncounted));
        self.tell(|o| o.lost(lpn));
    }

    pub(crate) fn clear_lost(&mut self, lpn: Lpn) {
        if let Some(word) = self.ftl.lost.get_mut(lpn as usize / 64) {
            *word &= !(1 << (lpn % 64));
        }
    }

    /// Ends a run: looks at every block that may hold pages past their limit and reports those that nobody has read.
    pub fn report_unread_losses(&mut self) {
        // What is sensed on the way may bring others past their limits.
        let mut before = None;
        while before.replace(self.ftl.lost_pages) != Some(self.ftl.lost_pages) {
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
        for block in 0..self.geometry.blocks {
            if !self.flash.hot[block as usize].has(SUSPECT)
                || planted(Bug::UnreadOpenSkipped) && self.flash.hot[block as usize].state == BlockState::Open
            {
                continue;
            }
            let first = self.geometry.first_page(block);
            let mut page = 0;
            while let Some(valid) = self.flash.contents.next_valid(block, page) {
                page = valid + 1;
                let (dose, limit) = self.with_block_view(block, |model, view| model.dose_and_limit(view, valid));
                if dose > limit {
                    self.report_unread(first + valid);
                }
            }
        }
    }

    /// A page past its limit that nobody has read. Where newer parts of it wait in the write buffer, the read that would complete
    /// them is what fails.
    fn report_unread(&mut self, ppn: Ppn) {
        let lpn = self.flash.contents.to_logical[ppn as usize];
        if self.ftl.map.to_physical[lpn as usize] & BUFFERED != 0 && !self.is_lost(lpn) {
            self.host.fill_reads += 1;
            self.flash.counts.reads[Cause::Host as usize] += 1;
            self.count_any_read(ppn);
            self.note_read(PhysRead { lpn, ppn, cause: Cause::Host, result: ReadResult::Uncorrectable, fill: true });
        }
        self.report_lost(lpn);
    }
}

#[cfg(test)]
mod tests {
    use crate::drive::tests::tiny_config;
    use crate::drive::{Drive, Techniques};
    use crate::flash::block::CARRY;

    #[test]
    fn reads_that_nobody_looks_at_are_carried_before_the_counter_is_full() {
        let mut drive = Drive::new(tiny_config().resolve().unwrap(), &Techniques::default(), false).unwrap();
        drive.write_page(0, u64::MAX);
        drive.drain_buffer();
        let ppn = drive.read_page(0);
        let block = drive.geometry.block_of(ppn) as usize;
        // Three times as though it had been read 2^29 - 1 times in between: the second of two more reads passes 2^29.
        for _ in 0..3 {
            drive.flash.hot[block].reads = CARRY - 4;
            drive.read_pages(&[0, 0]);
        }
        assert_eq!((drive.flash.hot[block].reads, drive.flash.cold[block].carries), (4, 3));
        assert_eq!(drive.block_states().nth(block).map(|row| row.reads), Some(3.0 * f64::from(1 << 29) + 1.0));
        assert_eq!(drive.reclaim_counts().invocations, 0, "what cannot be disturbed is not rewritten");
    }
}
