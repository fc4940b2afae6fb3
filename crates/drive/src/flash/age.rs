//! Age of a block's data in steps. Within a step, answers of the error model remain valid. At the
//! next step, the model is asked again.

use crate::base::dose::Quarters;
use crate::base::span::Span;
use crate::base::units::{BlockId, Moment, Ns, Ppn, WordlineInBlock};
use crate::error::ages::{Ages, STEPS};
use crate::flash::Flash;
use crate::flash::assess::COUNTER_GUARD;
use crate::flash::block::{FAILED, SUSPECT};
use crate::watch::observer::Event;

/// Wear and age of a block's page at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgedPage {
    wordline: WordlineInBlock,
    kind: u32,
    pec: u32,
    age: Ns,
}

impl Flash {
    /// Begins to keep time, because time affects the flash's data.
    pub(crate) fn keep_time(&mut self, longest_age: Span) {
        self.longest_age = longest_age.0;
        self.ages = self.model.as_ref().filter(|model| model.ages()).map(|_| Ages::default());
        self.tired.forget_all();
    }

    /// Returns the steps of age; `None` if data does not age.
    pub(crate) fn ages(&self) -> Option<&Ages> {
        self.ages.as_ref()
    }

    /// Returns the present wear and age of a page; `None` if data does not age.
    #[inline]
    pub(crate) fn aged(&self, ppn: Ppn) -> Option<AgedPage> {
        self.ages.is_some().then(|| self.aged_page(ppn))
    }

    #[inline(never)]
    fn aged_page(&self, ppn: Ppn) -> AgedPage {
        let block = self.geometry.block_of(ppn);
        let wordline = self.geometry.wordline_in(block, ppn);
        AgedPage {
            wordline,
            kind: self.geometry.kind_of(ppn),
            pec: self.limit_pec(block),
            age: self.age(block),
        }
    }

    /// Returns whether a lost page is lost by age. It is older than allowed, or age alone exceeds
    /// the limit of its last retry.
    pub(crate) fn is_lost_by_age(&self, of: AgedPage) -> bool {
        let (Some(ages), Some(model)) = (&self.ages, &self.model) else { return false };
        let block = (of.pec, ages.step(of.age));
        of.age > self.longest_age || model.is_spoilt_by_age(block, (of.wordline, of.kind))
    }

    /// Returns the age of the oldest page of a block.
    fn age(&self, block: BlockId) -> Ns {
        (self.now.cast_signed() - self.cold[block.index()].programmed_at).max(0).cast_unsigned()
    }

    /// Returns the step of a block's age; 0 if data does not age.
    pub(crate) fn age_step(&self, block: BlockId) -> usize {
        self.age_step_at(block, self.now)
    }

    /// Returns the step of a block's age at a time.
    pub(super) fn age_step_at(&self, block: BlockId, at: Ns) -> usize {
        let since = self.cold[block.index()].programmed_at;
        let age = (at.cast_signed() - since).max(0).cast_unsigned();
        self.ages.as_ref().map_or(0, |ages| ages.step(age))
    }

    /// Returns the time at which a block enters its next step of age; `Ns::MAX` if it never does.
    pub(crate) fn next_step_begins(&self, block: BlockId) -> Ns {
        let next = self.age_step(block) + 1;
        let Some(ages) = self.ages.as_ref().filter(|_| next < STEPS) else { return Ns::MAX };
        (self.cold[block.index()].programmed_at + ages.begin(next).cast_signed())
            .max(0)
            .cast_unsigned()
    }

    /// Notes that the model is being asked about a block. The model is asked again when the block
    /// becomes a step older.
    pub(super) fn note_age(&mut self, block: BlockId) {
        let Some(ages) = &self.ages else { return };
        let next = ages.step(self.age(block)) + 1;
        if next < STEPS {
            self.ageing.set(
                block,
                self.cold[block.index()].programmed_at + ages.begin(next).cast_signed(),
            );
        }
        let now = self.now;
        self.tell(Event::Clock { at: now });
    }

    /// Returns the next time at which any block enters its next step of age; `Ns::MAX` if none
    /// does.
    #[inline(always)]
    // A load, once a request.
    pub(crate) fn next_step_of_age(&self) -> Ns {
        self.ageing.next()
    }

    /// Handles blocks that have become a step older. The model is asked again at their next read,
    /// or is asked at each read anyway.
    pub(crate) fn grow_older(&mut self) {
        while let Some(block) = self.ageing.take_due(self.now) {
            if self.hot[block.index()].has(SUSPECT) {
                self.draw_until_now(block);
                self.note_age(block);
            } else if !self.is_read_in_bulk(block) {
                self.ask_model_at_next_read(block);
            } else if !self.stays_clean(block) {
                self.draw_until_now(block);
                self.reassess(block);
            }
        }
    }

    /// Returns whether every page of a block that is a step older still decodes without a retry,
    /// after all reads in bulk. Reads that are not drawn yet have not reached the block's alarm.
    fn stays_clean(&mut self, block: BlockId) -> bool {
        let (hot, cold) = (&self.hot[block.index()], &self.cold[block.index()]);
        if hot.has(FAILED) || cold.model_alarm == Quarters::ZERO {
            return false;
        }
        let until = self.with_block_view(block, |model, view| model.clean_whatever_was_read(view));
        let until = until.min(COUNTER_GUARD);
        if until < self.hot[block.index()].alarm {
            return false;
        }
        self.note_age(block);
        self.cold[block.index()].model_alarm = until;
        true
    }

    /// Notes that all data of a block was reprogrammed, the oldest of it at this time.
    pub(crate) fn restart_age(&mut self, block: BlockId, since: Moment) {
        if self.hot[block.index()].has(SUSPECT) {
            self.draw_until_now(block);
        }
        self.cold[block.index()].programmed_at = since;
        self.tell(Event::Renewed { block, since });
        // If the block stays suspect, nothing else updates its limits, or checks it at its next
        // step.
        self.tired.forget(block);
        if self.hot[block.index()].has(SUSPECT) {
            self.note_age(block);
        }
    }

    /// Notes that a block is older than assumed.
    pub(super) fn ask_model_when_older(&mut self, block: BlockId) {
        self.tired.forget(block);
        if self.ages.is_some() && !self.hot[block.index()].has(SUSPECT) {
            self.ask_model_at_next_read(block);
        }
    }

    /// Removes the age of an erased block.
    pub(super) fn forget_age(&mut self, block: BlockId) {
        if self.ages.is_some() {
            self.ageing.clear(block);
        }
    }

    /// Asks the model about a block that has grown older since the last question, even without
    /// reads.
    pub(crate) fn ask_model_of_age(&mut self, block: BlockId) {
        let stale =
            self.cold[block.index()].model_alarm == Quarters::ZERO || self.age_step(block) > 0;
        if self.ages.is_some() && stale && !self.hot[block.index()].has(SUSPECT) {
            self.reassess(block);
        }
    }

    /// Sets the clock back. The ages of all data stay the same.
    pub(crate) fn set_back(&mut self, by: Ns) {
        for cold in &mut self.cold {
            cold.programmed_at -= by.cast_signed();
        }
        self.ageing.set_back(by);
        self.tired.forget_all();
    }
}
