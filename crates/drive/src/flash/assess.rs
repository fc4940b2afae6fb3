//! Assessment of a block by the error model, and the dose at which the block must be checked next.

use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, Ppn, Reads};
use crate::disturb::{Assessment, BlockView, ErrorModel, PageHealth};
use crate::flash::Flash;
use crate::flash::block::{BlockState, CARRY, FAILED, SUSPECT};
use crate::watch::observer::Event;

/// Upper bound for counters. Multiplied by 32 (the largest alpha), they still fit 32 bits. A block
/// that reaches this bound (33 million reads without an erase) is rewritten under any policy.
pub(crate) const COUNTER_GUARD: Quarters = Quarters::from_count(1 << 27);

impl Flash {
    /// Returns the P/E count that determines the limits of a block.
    pub(crate) fn limit_pec(&self, block: BlockId) -> u32 {
        self.cold[block.index()].limit_pec(self.wear_counts)
    }

    /// Calls a function with the error model and its view of a block.
    pub(crate) fn with_block_view<T>(
        &self,
        block: BlockId,
        ask: impl FnOnce(&ErrorModel, &BlockView) -> T,
    ) -> T {
        let hot = &self.hot[block.index()];
        let view = BlockView {
            block,
            reads: hot.reads,
            pec: self.limit_pec(block),
            wordlines: &self.wordlines[self.geometry.rows_of(block)],
            pages_per_wordline: self.geometry.cell.bits(),
            mode: hot.mode,
            codings: &self.geometry.codings,
            recoded: self.recoded.of(block),
            written: u32::from(hot.write_ptr),
            valid: self.contents.valid_words(block),
            age_step: self.age_step(block),
            budget: self.cold[block.index()].budget,
        };
        ask(self.error_model(), &view)
    }

    #[inline]
    pub(super) fn error_model(&self) -> &ErrorModel {
        self.model.as_deref().expect("the drive has an error model, so its wordlines are counted")
    }

    /// Returns the largest number of retries of a read; `None` without a model.
    pub(crate) fn max_retries(&self) -> Option<u8> {
        self.model.as_ref().map(|model| model.max_retries())
    }

    /// Asks the error model about a block, unless its last answer is still valid.
    pub(crate) fn ask_model(&mut self, block: BlockId) {
        let hot = &self.hot[block.index()];
        let due = hot.reads > self.cold[block.index()].model_alarm
            || self.cold[block.index()].model_alarm == Quarters::MAX;
        if hot.has(SUSPECT) || !due || self.model.is_none() {
            return;
        }
        self.note_age(block);
        match self.with_block_view(block, |model, view| model.assess(view)) {
            Assessment::CleanUntil(until) => {
                self.cold[block.index()].model_alarm = until.min(COUNTER_GUARD);
            }
            Assessment::Suspect => {
                self.hot[block.index()].flags |= SUSPECT;
                self.begin_tired(block);
            }
        }
    }

    /// Prepares a read of a page with old data. The model has not considered this page, because it
    /// considers only current data.
    pub(crate) fn look_at_kept(&mut self, ppn: Ppn) {
        let block = self.geometry.block_of(ppn);
        if self.model.is_none() || self.hot[block.index()].has(SUSPECT) {
            return;
        }
        self.note_age(block);
        let page = self.geometry.page_in(block, ppn);
        let health = self.with_block_view(block, |model, view| model.health(view, page));
        if health != PageHealth::WELL {
            self.hot[block.index()].flags |= SUSPECT;
            self.begin_tired(block);
            self.set_alarm(block);
        }
    }

    /// Returns whether a page may be read without asking the policy of its block, because the
    /// block's alarm is far enough away.
    pub(crate) fn may_be_read_unasked(&self, ppn: Ppn) -> bool {
        let block = self.geometry.block_of(ppn);
        self.model.is_none()
            || self.hot[block.index()].reads + self.dose_of(ppn)
                < self.cold[block.index()].policy_alarm_dose()
    }

    /// Asks the error model again, even if its last answer is still valid.
    pub(crate) fn reassess(&mut self, block: BlockId) {
        self.cold[block.index()].model_alarm = Quarters::MAX;
        self.ask_model(block);
        self.set_alarm(block);
    }

    /// Lets the error model be asked at the block's next read, because most blocks of a large drive
    /// are never read. No data of the block may be lost.
    pub(crate) fn ask_model_at_next_read(&mut self, block: BlockId) {
        if self.model.is_some() {
            self.cold[block.index()].model_alarm = Quarters::ZERO;
        }
        self.set_alarm(block);
    }

    /// Handles a sensing without an owner that reached the block's alarm. Only the error model
    /// needs to be asked.
    pub(crate) fn model_alarm(&mut self, block: BlockId) {
        self.ask_model(block);
        self.set_alarm(block);
    }

    /// Sets the number of block reads at which the reclaim policy is asked next.
    pub(crate) fn set_policy_alarm(&mut self, block: BlockId, at: Reads) {
        self.cold[block.index()].set_policy_alarm(at);
        self.tired.rings_at(block, Quarters::ZERO);
    }

    /// Lets the policy be asked about a block at its next read, if reads disturb anything.
    pub(crate) fn ask_policy_at_next_read(&mut self, block: BlockId) {
        self.tell(Event::AsksAt { block, at: Reads(0) });
        if self.model.is_none() {
            return;
        }
        self.set_policy_alarm(block, Reads(0));
        self.set_alarm(block);
    }

    /// Delays an alarm by the dose of a mover. The policy reserved this dose when it set its alarm
    /// (`D_move`), so movers use up none of the reads until then.
    pub(crate) fn put_off_alarm(&mut self, block: BlockId, dose: Quarters, cause: Cause) {
        // Parity reads are not reserved either.
        if !matches!(cause, Cause::Host | Cause::Parity) {
            self.cold[block.index()].put_off_by(dose);
        }
    }

    /// Sets the dose with which reads are compared.
    pub(crate) fn set_alarm(&mut self, block: BlockId) {
        let cold = &self.cold[block.index()];
        let hot = &mut self.hot[block.index()];
        if hot.state == BlockState::Free {
            return;
        }
        if let Some(fluid) = &mut self.fluid {
            fluid.touch(block);
        }
        let late = Quarters::from_count(1);
        if hot.has(FAILED) {
            hot.alarm = Quarters::ZERO;
        } else if hot.has(SUSPECT) {
            hot.alarm = Quarters::ZERO;
            self.tired.rings_at(block, cold.policy_alarm_dose());
        } else {
            hot.alarm =
                cold.policy_alarm_dose().min(cold.model_alarm.saturating_add(late)).min(CARRY);
        }
    }
}
