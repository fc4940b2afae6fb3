//! Sensing: a page read for the host or for the drive itself. Only here does the drive decide that
//! data could not be read.

use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, Lpn, PageInBlock, Ppn, WordlineInBlock};
use crate::disturb::{BlockView, ErrorModel, PageHealth};
use crate::flash::Flash;
use crate::flash::block::{CARRY, FAILED, SUSPECT};
use crate::flash::ops::NandOp;
use crate::flash::rules;
use crate::watch::observer::{NO_OWNER, PhysRead, ReadResult};

/// Result of a sensing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sensed {
    /// Whether the data could be read.
    pub(crate) good: bool,
    /// Whether the block has reached its alarm. After a read of the host, its policy may have to be
    /// asked.
    pub(crate) rings: bool,
    /// Level that the read began with.
    pub(crate) level: u8,
    /// Number of retries.
    pub(crate) retries: u8,
}

impl Sensed {
    /// Result of a read of good data without retries, of a block that has not reached its alarm.
    const AT_ONCE: Self = Self { good: true, rings: false, level: 0, retries: 0 };
}

impl Flash {
    /// Serves a read of the host, and returns whether the block has reached its alarm. If it has,
    /// [`Self::rung`] gives the result of the read.
    #[inline(always)]
    // The read path.
    pub(crate) fn host_read<const COUNTED: u8, const WATCHED: bool>(
        &mut self,
        lpn: Lpn,
        ppn: Ppn,
    ) -> bool {
        self.counts.reads[Cause::Host as usize] += 1;
        let rings = self.count_read::<COUNTED>(ppn);
        if WATCHED && !rings {
            self.note_read(PhysRead::good(lpn, ppn, Cause::Host));
        }
        rings
    }

    /// Senses a page outside the batch path: for a move or a fill.
    pub(crate) fn sense(&mut self, lpn: Lpn, ppn: Ppn, cause: Cause, fill: bool) -> Sensed {
        let block = self.geometry.block_of(ppn);
        rules::read(ppn, &self.hot[block.index()], &self.geometry);
        let rings = self.count_sensing(ppn, cause, cause);
        if rings {
            self.touch(block);
            return self.rung(lpn, ppn, cause, fill);
        }
        self.sensed(block);
        self.note_read(PhysRead { fill, ..PhysRead::good(lpn, ppn, cause) });
        Sensed::AT_ONCE
    }

    /// Senses a page of which the controller's memory holds a copy, to check that flash still holds
    /// this data. With `fill`, the copy is used to complete newer data. The check fails if the page
    /// `is_corrupted` or past its limit.
    pub(crate) fn verify(
        &mut self,
        lpn: Lpn,
        ppn: Ppn,
        cause: Cause,
        fill: bool,
        is_corrupted: bool,
    ) -> Sensed {
        let block = self.geometry.block_of(ppn);
        rules::read(ppn, &self.hot[block.index()], &self.geometry);
        let rings = self.count_sensing(ppn, cause, cause);
        let result = if is_corrupted { ReadResult::InMemory } else { ReadResult::Good };
        let read = PhysRead { result, fill, ..PhysRead::good(lpn, ppn, cause) };
        if rings {
            return self.rung_by(read, ReadResult::InMemory);
        }
        self.note_read(PhysRead { fill: fill && is_corrupted, ..read });
        self.counts.soft_errors += u64::from(is_corrupted);
        Sensed { good: !is_corrupted, ..Sensed::AT_ONCE }
    }

    /// Counts a sensing outside the batch path, and returns whether the block has reached its
    /// alarm. The sensing is a read or a retry for this cause.
    fn count_sensing(&mut self, ppn: Ppn, counted: Cause, cause: Cause) -> bool {
        self.counts.reads[counted as usize] += 1;
        let rings = self.count_any_read(ppn);
        self.put_off_alarm(self.geometry.block_of(ppn), self.dose_of(ppn), cause);
        rings
    }

    /// Handles a counted sensing that reached its block's alarm: decides whether the data could be
    /// read, and asks the error model.
    pub(crate) fn rung(&mut self, lpn: Lpn, ppn: Ppn, cause: Cause, fill: bool) -> Sensed {
        self.rung_by(
            PhysRead { fill, ..PhysRead::good(lpn, ppn, cause) },
            ReadResult::Uncorrectable,
        )
    }

    /// Handles a counted sensing at the alarm with the result of `read`, or with `if_gone` if the
    /// page is past its limit.
    fn rung_by(&mut self, read: PhysRead, if_gone: ReadResult) -> Sensed {
        let PhysRead { ppn, cause, .. } = read;
        let block = self.geometry.block_of(ppn);
        if !self.hot[block.index()].has(SUSPECT)
            && self.cold[block.index()].model_alarm == Quarters::ZERO
        {
            // The block may have become older since the model was last asked.
            self.ask_model(block);
        }
        let is_suspect = self.hot[block.index()].has(SUSPECT);
        // Failed flash is not read again.
        let has_failed = self.is_failed(ppn);
        let is_judged = is_suspect && !has_failed;
        let (PageHealth { retries, is_lost }, lost) =
            if is_judged { self.health(block, ppn) } else { (PageHealth::WELL, None) };
        let level = if has_failed { 0 } else { self.levels.of(block) };
        let retries = retries.saturating_sub(level);
        let gone = is_lost || has_failed;
        let result = if gone { if_gone } else { read.result };
        let fill =
            read.fill && (if_gone == ReadResult::Uncorrectable || result == ReadResult::InMemory);
        let read = PhysRead { result, fill, retries, ..read };
        self.note_read(read);
        if cause == Cause::Host && !fill {
            self.record_begin(level);
            self.counts.began_higher += u64::from(level > 0);
            self.draws.host_read(lost);
        }
        if retries > 0 {
            self.sense_again(read, level);
        } else if result != ReadResult::Good {
            self.counts.soft_errors += 1;
        }
        if result == ReadResult::Good && self.model.is_some() {
            self.levels.worked(block, level + retries);
        }
        let hot = &self.hot[block.index()];
        if is_suspect && !hot.has(FAILED) && self.tired.is_quiet(block, hot.reads) {
            return Sensed { good: result == ReadResult::Good, rings: false, level, retries };
        }
        self.rung_out(block, result == ReadResult::Good, level, retries)
    }

    /// Handles a sensing at the alarm if the error model or the policy may have to be asked.
    #[inline(never)]
    fn rung_out(&mut self, block: BlockId, good: bool, level: u8, retries: u8) -> Sensed {
        if self.model.is_none() {
            if self.hot[block.index()].reads >= CARRY {
                self.carry(block);
            }
            return Sensed { good, rings: false, level, retries };
        }
        self.ask_model(block);
        self.set_alarm(block);
        Sensed { good, rings: true, level, retries }
    }

    /// Records that the next read of a host request begins with this level.
    pub(crate) fn record_begin(&mut self, level: u8) {
        if level > 0 {
            self.record(NandOp::Begin { level });
        }
    }

    /// Senses the page of a read again, for each of its retries after a level. Each sensing
    /// deposits the dose of a read.
    pub(in crate::flash) fn sense_again(&mut self, read: PhysRead, level: u8) {
        let PhysRead { ppn, cause, fill, retries, .. } = read;
        if retries > 0 && cause == Cause::Host && !fill {
            self.counts.retried[usize::from(retries)] += 1;
        }
        self.counts.soft_errors += u64::from(retries > 0);
        for attempt in level + 1..=level + retries {
            self.count_sensing(ppn, Cause::Retry, cause);
            self.record(NandOp::Retry {
                src: ppn,
                attempt,
                cause,
                of_request: cause == Cause::Host && !fill,
                coding: self.read_coding(ppn),
            });
        }
    }

    /// Returns whether the data of a page is past its limit and cannot be read any more.
    fn is_past_limit(&mut self, block: BlockId, page: PageInBlock) -> bool {
        if !self.hot[block.index()].has(SUSPECT) {
            return false;
        }
        if self.draws.has_noise() {
            return self
                .with_block_view(block, |model, view| self.draws.is_gone(model, view, page));
        }
        let ppn = self.geometry.first_page(block) + page;
        self.health_of_tired(
            block,
            (self.geometry.wordline_in(block, ppn), self.geometry.kind_of(ppn)),
            Quarters::ZERO,
        )
        .is_lost
    }

    /// Decides whether the data of a page of a suspect block, which was just sensed, could be read,
    /// and with how many retries. Also returns the expected number of lost codewords of it, if this
    /// number is wanted. Dose deposited after the sensing does not count.
    #[inline]
    fn health(&mut self, block: BlockId, ppn: Ppn) -> (PageHealth, Option<f64>) {
        let wordline = self.geometry.wordline_of(ppn);
        let kind = ppn.number() - wordline * self.geometry.cell.bits();
        let own = self.dose_of(ppn);
        if self.draws.has_noise() {
            return self.before_sensing(ppn, own, |flash, model, view, page| {
                flash.draws.judge(model, view, page, ppn)
            });
        }
        let health = self.health_of_tired(
            block,
            (WordlineInBlock::new(wordline - self.geometry.first_wordline(block)), kind),
            own,
        );
        let lost = if self.draws.is_at_risk(health.retries) {
            self.before_sensing(ppn, own, |flash, model, view, page| {
                flash.draws.lost_codewords(model, view, page)
            })
        } else {
            None
        };
        (health, lost)
    }

    /// Asks about a page as it was before its last sensing, which has deposited this dose.
    #[inline(never)]
    fn before_sensing<T>(
        &mut self,
        ppn: Ppn,
        own: Quarters,
        ask: impl FnOnce(&Self, &ErrorModel, &BlockView, PageInBlock) -> T,
    ) -> T {
        let (block, wordline) =
            (self.geometry.block_of(ppn), self.geometry.wordline_of(ppn) as usize);
        let page = self.geometry.page_in(block, ppn);
        self.hot[block.index()].reads -= own;
        self.wordlines[wordline].reads -= own;
        let said = self.with_block_view(block, |model, view| ask(self, model, view, page));
        self.hot[block.index()].reads += own;
        self.wordlines[wordline].reads += own;
        said
    }

    /// Frees space in the counter of a block without an error model.
    fn carry(&mut self, block: BlockId) {
        self.hot[block.index()].reads -= CARRY;
        self.cold[block.index()].carries += 1;
    }

    /// Senses the cells of a page whose data is not used.
    pub(crate) fn sense_for_nobody(&mut self, ppn: Ppn, cause: Cause) {
        let block = self.geometry.block_of(ppn);
        let rings = self.count_sensing(ppn, cause, cause);
        self.touch(block);
        self.note_read(PhysRead::good(NO_OWNER, ppn, cause));
        if rings {
            self.model_alarm(block);
        }
    }

    /// At the end of a run, counts the failing fill of a page that is known to be past its limit.
    pub(crate) fn sense_failing(&mut self, lpn: Lpn, ppn: Ppn) {
        self.count_sensing(ppn, Cause::Host, Cause::Host);
        let most = self.model.as_ref().map_or(0, |model| model.max_retries());
        let retries = most - self.levels.of(self.geometry.block_of(ppn));
        let result = ReadResult::Uncorrectable;
        self.note_read(PhysRead {
            result,
            fill: true,
            retries,
            ..PhysRead::good(lpn, ppn, Cause::Host)
        });
        self.counts.soft_errors += 1;
        for _ in 0..retries {
            self.count_sensing(ppn, Cause::Retry, Cause::Host);
        }
    }

    /// Returns the first valid page of a block, from `page` on, whose data is past its limit.
    pub(crate) fn next_past_limit(
        &mut self,
        block: BlockId,
        page: PageInBlock,
    ) -> Option<PageInBlock> {
        if !self.hot[block.index()].has(SUSPECT) {
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
