//! Checks wordlines that refresh adjusts in place (ida-coding-2018 III): the sensings before and
//! after, and that corrupted pages are written elsewhere. The seed decides which pages are
//! corrupted (`Adjusting::corrupts`).

use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::api::refresh::Adjusting;
use vpass_drive::base::codings::FASTER;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Moment, PageInBlock, Ppn};
use vpass_drive::config::{DriveConfig, Number};
use vpass_drive::watch::observer::{PhysRead, ReadResult};

use crate::oracle::Oracle;
use crate::report::Kind;

/// Knowledge about adjusted wordlines.
#[derive(Debug, Default)]
pub(crate) struct Adjusted {
    /// Corrupted pages. `None` if nothing is adjusted.
    adjusting: Option<Adjusting>,
    /// Whether wordlines are also adjusted in blocks that are not due, if no page has to move for
    /// this.
    pub(crate) between: bool,
    /// Pages of the wordline that was adjusted last in each block, and whether each page was
    /// corrupted.
    unverified: BTreeMap<Ppn, bool>,
    /// Pages that were corrupted, until they are written elsewhere.
    corrupted: BTreeSet<Ppn>,
    /// Wordlines that each block's job has adjusted, and the time of the first adjustment.
    by_job: BTreeMap<BlockId, (Moment, BTreeSet<u32>)>,
    /// Adjusted wordlines and corrupted pages since the measured phase began.
    wordlines: u64,
    pages: u64,
}

impl Adjusted {
    /// Sets the refresh technique of the drive.
    pub(crate) fn expect(&mut self, config: &DriveConfig, refresh: &str, seed: u64) {
        let rate = config.refresh.params.get(Some("ida"), "error_rate").map_or(0.2, Number::value);
        self.adjusting = (refresh == "ida").then(|| Adjusting::new(rate, seed, 0));
        let is_on = |key: &str| {
            config.refresh.params.get(Some("ida"), key).is_some_and(|number| number.value() > 0.0)
        };
        self.between = refresh == "ida" && (is_on("at_reclaim") || is_on("at_gc"));
    }

    /// Returns whether a merge into this coding is an adjustment.
    pub(crate) fn is_one(&self, coding: u8) -> bool {
        self.adjusting.is_some() && coding >= FASTER
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        (self.wordlines, self.pages) = (0, 0);
    }

    /// Sets the clock back by this time.
    pub(crate) fn set_back(&mut self, passed: Moment) {
        self.by_job.values_mut().for_each(|(first, _)| *first -= passed);
    }

    /// Returns whether no page waits for its verification or for its move.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.unverified.is_empty() && self.corrupted.is_empty()
    }

    /// Records that the data of a page was written elsewhere from the controller's memory.
    pub(crate) fn written_elsewhere(&mut self, from: Ppn) {
        if !self.corrupted.is_empty() {
            self.corrupted.remove(&from);
        }
    }
}

impl Oracle {
    /// Records that a merged wordline is read with this coding from now on.
    pub(crate) fn adjusted_wordline(&mut self, block: BlockId, wordline: u32, coding: u8) {
        self.end_verifying(block);
        let Some(adjusting) = self.adjusted.adjusting.filter(|_| coding >= FASTER) else { return };
        let bits = self.truth.geometry.cell.bits();
        let first = (self.truth.geometry.first_wordline(block) + wordline) * bits;
        let cycles = self.truth.doses.cycles_of(block);
        let kept = |ppn: &Ppn| self.truth.geometry.keeps(coding, *ppn);
        for ppn in Ppn::new(first).run(bits).filter(kept) {
            self.adjusted.unverified.insert(ppn, adjusting.corrupts(ppn, cycles));
        }
        self.adjusted.wordlines += 1;
        let now = self.truth.ages.now();
        self.adjusted.by_job.entry(block).or_insert((now, BTreeSet::new())).1.insert(wordline);
    }

    /// Returns whether a job that moves these pages of a block, or all pages, finds no data there.
    pub(crate) fn moves_nothing(&self, block: BlockId, pages: Option<&PageSet>) -> bool {
        let first = self.truth.geometry.first_page(block);
        let is_live = |page: PageInBlock| self.truth.is_live(first + page);
        pages.is_some_and(|pages| !pages.iter().any(is_live))
    }

    /// Checks that all pages of the block's last adjusted wordline were sensed again.
    fn end_verifying(&mut self, block: BlockId) {
        let first = self.truth.geometry.first_page(block);
        let pages = first..first + self.truth.geometry.pages_per_block;
        let left: Vec<Ppn> = self.adjusted.unverified.range(pages).map(|(ppn, _)| *ppn).collect();
        for ppn in left {
            self.adjusted.unverified.remove(&ppn);
            if self.truth.is_live(ppn) {
                let place = self.truth.place(ppn);
                self.findings.add(Kind::Protocol, || {
                    format!(
                        "{place} was reprogrammed, and not verified before block {block} continued"
                    )
                });
            }
        }
    }

    /// Checks a read while some page is corrupted or waits for its verification. The drive may keep
    /// a page in memory that is not corrupted.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_adjusted(&mut self, read: &PhysRead) {
        let in_memory = read.result == ReadResult::InMemory;
        let (what, is_wrong) = match self.adjusted.unverified.remove(&read.ppn) {
            Some(_) if in_memory => {
                self.adjusted.corrupted.insert(read.ppn);
                self.adjusted.pages += 1;
                return;
            }
            Some(is_corrupted) => (
                "was accepted after its wordline was merged, but the merge corrupted it",
                is_corrupted,
            ),
            None if in_memory => ("was reported to be in memory", true),
            None => (
                "was read, but merging its wordline corrupted it",
                self.adjusted.corrupted.contains(&read.ppn),
            ),
        };
        if is_wrong {
            let (place, cause) = (self.truth.place(read.ppn), read.cause.name());
            self.findings
                .add(Kind::Stamp, || format!("{cause} read of lpn {}: {place} {what}", read.lpn));
        }
    }

    /// Checks the end of a job, which may leave data in its block.
    pub(crate) fn end_adjusting(&mut self, block: BlockId) {
        self.adjusted.by_job.remove(&block);
        if self.adjusted.is_quiet() {
            return;
        }
        self.end_verifying(block);
        let first = self.truth.geometry.first_page(block);
        let pages = first..first + self.truth.geometry.pages_per_block;
        let left = self.adjusted.corrupted.range(pages).copied();
        let left: Vec<Ppn> = left.filter(|ppn| self.truth.is_live(*ppn)).collect();
        for ppn in left {
            let place = self.truth.place(ppn);
            self.findings.add(Kind::Stamp, || {
                format!(
                    "{place} was corrupted by merging its wordline, and was not written elsewhere"
                )
            });
        }
    }

    /// Forgets the adjustments of a block that is erased.
    pub(crate) fn forget_adjusted(&mut self, block: BlockId) {
        self.end_adjusting(block);
        let (geometry, corrupted) = (&self.truth.geometry, &mut self.adjusted.corrupted);
        if !corrupted.is_empty() {
            corrupted.retain(|ppn| geometry.block_of(*ppn) != block);
        }
    }

    /// Checks the drive's report that all data of a block was adjusted, the first of it at this
    /// time.
    pub(crate) fn renew(&mut self, block: BlockId, since: Moment) -> Result<(), String> {
        let Some((first, adjusted)) = self.adjusted.by_job.get(&block) else {
            return Err(format!(
                "the drive counts the age of block {block} from {since} ns on, but nothing in it \
                 was merged"
            ));
        };
        let start = self.truth.geometry.first_wordline(block);
        let holds = |index: &u32| {
            self.truth.medium.stamps(start + index).any(|stamp| self.truth.stamps.is_live(stamp))
                || self.keeps_any(start + index)
        };
        let old = (0..self.truth.geometry.wordlines_per_block)
            .filter(holds)
            .find(|index| !adjusted.contains(index));
        if let Some(index) = old {
            return Err(format!(
                "the drive counts the age of block {block} from {since} ns on, but its wordline \
                 {index} holds data and was not merged"
            ));
        }
        if since != *first {
            return Err(format!(
                "the drive counts the age of block {block} from {since} ns on; its first wordline \
                 was merged at {first} ns"
            ));
        }
        self.truth.ages.renew(block, since);
        Ok(())
    }

    /// Compares the drive's counts with the oracle's.
    pub(crate) fn check_adjusted(&mut self, wordlines: u64, pages: u64) {
        self.findings.compare(&[
            ("merged wordlines", wordlines, self.adjusted.wordlines),
            ("corrupted pages", pages, self.adjusted.pages),
        ]);
    }
}
