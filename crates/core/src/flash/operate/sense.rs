//! Sensing: a page read for the host or on the drive's own account, and the one place where the drive decides that data could not be read.

use crate::base::units::{BlockId, Cause, Lpn, Ppn};
use crate::bugs::{Bug, planted};
use crate::disturb::{BlockView, ErrorModel, PageHealth};
use crate::flash::Flash;
use crate::flash::block::{CARRY, SUSPECT};
use crate::flash::ops::NandOp;
use crate::flash::rules;
use crate::watch::observer::{NOBODY, PhysRead, ReadResult};

/// What a sensing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sensed {
    /// The data could be read.
    pub(crate) good: bool,
    /// The block has reached its alarm: after a read of the host its policy may want to be asked.
    pub(crate) rings: bool,
    /// How often it was sensed again.
    pub(crate) retries: u8,
}

impl Flash {
    /// A read of the host; tells whether the block has reached its alarm. Then [`Self::rung`] says what the read came to.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the read path")]
    pub(crate) fn host_read<const COUNTED: u8, const WATCHED: bool>(&mut self, lpn: Lpn, ppn: Ppn) -> bool {
        self.counts.reads[Cause::Host as usize] += 1;
        let rings = self.count_read::<COUNTED>(ppn);
        if WATCHED && !rings {
            self.note_read(PhysRead::good(lpn, ppn, Cause::Host));
        }
        rings
    }

    /// Senses a page out of the batch path: for a move or a fill.
    pub(crate) fn sense(&mut self, lpn: Lpn, ppn: Ppn, cause: Cause, fill: bool) -> Sensed {
        let block = self.geometry.block_of(ppn);
        rules::read(ppn, ppn - self.geometry.first_page(block), &self.hot[block as usize], &self.geometry);
        if cause == Cause::Host || !self.bugs.has(Bug::ReadsUncounted) {
            self.counts.reads[cause as usize] += 1;
        }
        let rings = !(fill && self.bugs.has(Bug::FillDisturbsNothing)) && self.count_any_read(ppn);
        self.put_off_alarm(block, self.dose[self.geometry.kind_of(ppn) as usize], cause);
        if rings {
            return self.rung(lpn, ppn, cause, fill);
        }
        self.note_read(PhysRead { fill, ..PhysRead::good(lpn, ppn, cause) });
        Sensed { good: true, rings: false, retries: 0 }
    }

    /// A sensing that has been counted reached its block's alarm: decides whether the data could be read, and asks the error model.
    pub(crate) fn rung(&mut self, lpn: Lpn, ppn: Ppn, cause: Cause, fill: bool) -> Sensed {
        let block = self.geometry.block_of(ppn);
        let own = self.dose[self.geometry.kind_of(ppn) as usize];
        if self.cold[block as usize].model_alarm == 0 {
            // It may have grown older since the model was asked last.
            self.ask_model(block);
        }
        let PageHealth { retries, is_lost } = self.health(block, ppn - self.geometry.first_page(block), own);
        let retries = if planted(Bug::RetryForgotten) { retries.saturating_sub(1) } else { retries };
        let mut gone = is_lost && !self.bugs.has(Bug::LossHidden);
        gone |= self.bugs.has(Bug::LossInvented) && self.hot[block as usize].has(SUSPECT);
        let result = if gone { ReadResult::Uncorrectable } else { ReadResult::Good };
        self.note_read(PhysRead { lpn, ppn, cause, result, fill, retries });
        self.sense_again(ppn, cause, fill, retries);
        if self.model.is_none() {
            self.carry(block);
            return Sensed { good: true, rings: false, retries: 0 };
        }
        self.ask_model(block);
        self.set_alarm(block);
        Sensed { good: !gone, rings: true, retries }
    }

    /// A page is sensed so many times again: each deposits what a read of it deposits.
    fn sense_again(&mut self, ppn: Ppn, cause: Cause, fill: bool, retries: u8) {
        if retries > 0 && cause == Cause::Host && !fill {
            self.counts.retried[usize::from(retries)] += 1;
        }
        for attempt in 1..=retries {
            self.count_retry(ppn, cause);
            self.record(NandOp::Retry {
                src: ppn,
                attempt,
                cause,
                of_request: cause == Cause::Host && !fill,
                coding: self.read_coding(ppn),
            });
        }
    }

    fn count_retry(&mut self, ppn: Ppn, cause: Cause) {
        self.counts.reads[Cause::Retry as usize] += 1;
        if planted(Bug::RetryUncharged) {
            return;
        }
        self.count_any_read(ppn);
        self.put_off_alarm(self.geometry.block_of(ppn), self.dose[self.geometry.kind_of(ppn) as usize], cause);
    }

    /// Whether the data of a page is past its limit and cannot be read any more.
    fn is_past_limit(&mut self, block: BlockId, page: u32) -> bool {
        self.health(block, page, 0).is_lost
    }

    /// The gate: whether the data of a page can be read, and with how many retries. `own` is what the sensing that asks has deposited
    /// already, in quarters: what comes after the data was sensed did it no harm.
    fn health(&mut self, block: BlockId, page: u32, own: u32) -> PageHealth {
        if !self.hot[block as usize].has(SUSPECT) {
            return PageHealth::WELL;
        }
        let wordline = (self.geometry.first_wordline(block) + page / self.geometry.cell.bits()) as usize;
        self.hot[block as usize].reads -= own;
        self.wordlines[wordline].reads -= own;
        let mut health = self.with_block_view(block, |model, view| model.health(view, page));
        if planted(Bug::LimitReachedIsLost) && own > 0 {
            let at_limit = |model: &dyn ErrorModel, view: &BlockView| {
                model.dose(view, page).cast_signed() == model.limit(view, page, model.max_retries())
            };
            health.is_lost |= self.with_block_view(block, at_limit);
        }
        self.hot[block as usize].reads += own;
        self.wordlines[wordline].reads += own;
        health
    }

    /// Makes room in the counter of a block that no error model looks at.
    fn carry(&mut self, block: BlockId) {
        self.hot[block as usize].reads -= CARRY;
        self.cold[block as usize].carries += 1;
    }

    /// Senses the cells of a page whose data nobody wants.
    pub(crate) fn sense_for_nobody(&mut self, ppn: Ppn, cause: Cause) {
        self.counts.reads[cause as usize] += 1;
        let block = self.geometry.block_of(ppn);
        let rings = !self.bugs.has(Bug::NobodyUncounted) && self.count_any_read(ppn);
        self.put_off_alarm(block, self.dose[self.geometry.kind_of(ppn) as usize], cause);
        self.note_read(PhysRead::good(NOBODY, ppn, cause));
        if rings {
            self.model_alarm(block);
        }
    }

    /// At the end of a run, the failing fill of a page that is known to be past its limit.
    pub(crate) fn sense_failing(&mut self, lpn: Lpn, ppn: Ppn) {
        self.counts.reads[Cause::Host as usize] += 1;
        self.count_any_read(ppn);
        let retries = self.model.as_ref().map_or(0, |model| model.max_retries());
        let result = ReadResult::Uncorrectable;
        self.note_read(PhysRead { result, fill: true, retries, ..PhysRead::good(lpn, ppn, Cause::Host) });
        (0..retries).for_each(|_| self.count_retry(ppn, Cause::Host));
    }

    /// First valid page of a block from `page` on whose data is past its limit.
    pub(crate) fn next_past_limit(&mut self, block: BlockId, page: u32) -> Option<u32> {
        if !self.hot[block as usize].has(SUSPECT) {
            return None;
        }
        let mut page = page;
        while let Some(valid) = self.contents.next_valid(block, page) {
            if self.is_past_limit(block, valid) {
                return Some(valid);
            }
            page = valid + 1;
        }
        None
    }
}
