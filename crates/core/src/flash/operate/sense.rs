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
        Sensed { good: true, rings: false }
    }

    /// A sensing that has been counted reached its block's alarm: decides whether the data could be read, and asks the error model.
    pub(crate) fn rung(&mut self, lpn: Lpn, ppn: Ppn, cause: Cause, fill: bool) -> Sensed {
        let block = self.geometry.block_of(ppn);
        if !self.hot[block as usize].has(SUSPECT) && self.cold[block as usize].model_alarm == 0 {
            // It may have grown older since the model was asked last.
            self.ask_model(block);
        }
        let is_suspect = self.hot[block as usize].has(SUSPECT);
        let wordline = self.geometry.wordline_of(ppn);
        let PageHealth { retries, is_lost } = if is_suspect { self.health_of_read(block, wordline, ppn) } else { PageHealth::WELL };
        let retries = if planted(Bug::RetryForgotten) { retries.saturating_sub(1) } else { retries };
        let gone = is_lost && !self.bugs.has(Bug::LossHidden) || is_suspect && self.bugs.has(Bug::LossInvented);
        let result = if gone { ReadResult::Uncorrectable } else { ReadResult::Good };
        self.note_read(PhysRead { lpn, ppn, cause, result, fill, retries });
        if retries > 0 && cause == Cause::Host && !fill {
            self.sense_again_for_host((block, wordline, ppn), retries);
        } else if retries > 0 {
            self.sense_again(ppn, cause, retries);
        }
        if is_suspect && self.tired.is_quiet(block, self.hot[block as usize].reads) {
            return Sensed { good: !gone, rings: false };
        }
        self.rung_out(block, gone)
    }

    /// The same, where model or policy may have something to say.
    #[inline(never)]
    fn rung_out(&mut self, block: BlockId, gone: bool) -> Sensed {
        if self.model.is_none() {
            self.carry(block);
            return Sensed { good: true, rings: false };
        }
        self.ask_model(block);
        self.set_alarm(block);
        Sensed { good: !gone, rings: true }
    }

    /// A page that a request of the host reads is sensed so many times again: each deposits what a read of it deposits.
    #[inline]
    fn sense_again_for_host(&mut self, (block, wordline, ppn): (BlockId, u32, Ppn), retries: u8) {
        self.counts.retried[usize::from(retries)] += 1;
        self.host_retries = if self.timed { retries } else { 0 };
        self.counts.reads[Cause::Retry as usize] += u64::from(retries);
        if !planted(Bug::RetryUncharged) {
            self.count_again(block, wordline, ppn, retries);
        }
    }

    /// The same of one that nobody waits for but the drive.
    #[inline(never)]
    fn sense_again(&mut self, ppn: Ppn, cause: Cause, retries: u8) {
        for attempt in 1..=retries {
            self.count_retry(ppn, cause);
            self.record(NandOp::Retry { src: ppn, attempt, cause, coding: self.read_coding(ppn) });
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

    /// Whether the data of a page of a suspect block is past its limit and cannot be read any more.
    fn is_past_limit(&mut self, block: BlockId, page: u32) -> bool {
        let (first, ppn) = (self.geometry.first_wordline(block), self.geometry.first_page(block) + page);
        self.health_of_tired(block, (self.geometry.wordline_of(ppn) - first, self.geometry.kind_of(ppn)), 0).is_lost
    }

    /// The gate: whether the data of a page of a suspect block that has just been sensed could be read, and with how many retries.
    #[inline]
    fn health_of_read(&mut self, block: BlockId, wordline: u32, ppn: Ppn) -> PageHealth {
        let kind = ppn - wordline * self.geometry.cell.bits();
        let own = self.dose[kind as usize & 3];
        let mut health = self.health_of_tired(block, (wordline - self.geometry.first_wordline(block), kind), own);
        if planted(Bug::LimitReachedIsLost) {
            health.is_lost |= self.is_at_limit(block, ppn, own);
        }
        health
    }

    /// Whether a page was at its limit before its last sensing.
    fn is_at_limit(&mut self, block: BlockId, ppn: Ppn, own: u32) -> bool {
        let (wordline, page) = (self.geometry.wordline_of(ppn) as usize, ppn - self.geometry.first_page(block));
        self.hot[block as usize].reads -= own;
        self.wordlines[wordline].reads -= own;
        let at_limit =
            |model: &dyn ErrorModel, view: &BlockView| model.dose(view, page).cast_signed() == model.limit(view, page, model.max_retries());
        let is = self.with_block_view(block, at_limit);
        self.hot[block as usize].reads += own;
        self.wordlines[wordline].reads += own;
        is
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
