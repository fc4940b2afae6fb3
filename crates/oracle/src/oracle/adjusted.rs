//! Checks wordlines that refresh adjusts in place (ida-coding-2018 III): the sensings before and
//! after, and that corrupted pages are written elsewhere. The oracle draws the corrupted pages
//! itself, from the same seed.

use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::base::codings::FASTER;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Moment, PageInBlock, Ppn};
use vpass_drive::config::{DriveConfig, Number};
use vpass_drive::watch::observer::{PhysRead, ReadResult};

use crate::doses::Stress;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::oracle::end_scan::words;
use crate::report::Kind;

/// Knowledge about adjusted wordlines.
#[derive(Debug, Default)]
pub(crate) struct Adjusted {
    /// Share of pages that are corrupted, and the seed. `None` if nothing is adjusted.
    error_rate: Option<(f64, u64)>,
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
        self.error_rate = (refresh == "ida").then_some((rate, seed));
        let is_on = |key: &str| {
            config.refresh.params.get(Some("ida"), key).is_some_and(|number| number.value() > 0.0)
        };
        self.between = refresh == "ida" && (is_on("at_reclaim") || is_on("at_gc"));
    }

    /// Returns whether a merge into this coding is an adjustment.
    pub(crate) fn is_one(&self, coding: u8) -> bool {
        self.error_rate.is_some() && coding >= FASTER
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

/// Returns the number of splitmix64 that follows this state by `steps` steps, in 53 bits.
fn chance(seed: u64, steps: u64) -> f64 {
    let mut z = seed.wrapping_add(steps.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    for (shift, by) in [(30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB)] {
        z = (z ^ (z >> shift)).wrapping_mul(by);
    }
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

impl Oracle {
    /// Records that a merged wordline is read with this coding from now on.
    pub(crate) fn adjusted_wordline(&mut self, block: BlockId, wordline: u32, coding: u8) {
        self.end_verifying(block);
        let Some((rate, seed)) = self.adjusted.error_rate.filter(|_| coding >= FASTER) else {
            return;
        };
        let bits = self.truth.geometry.cell.bits();
        let first = (self.truth.geometry.first_wordline(block) + wordline) * bits;
        let cycles = u64::from(self.truth.doses.cycles_of(block)) << 32;
        let kept = |ppn: &Ppn| self.truth.geometry.keeps(coding, *ppn);
        for ppn in Ppn::new(first).run(bits).filter(kept) {
            let is_corrupted = chance(seed, cycles + u64::from(ppn.number()) + 1) < rate;
            self.adjusted.unverified.insert(ppn, is_corrupted);
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

    /// Checks a read while some page is corrupted or waits for its verification.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_adjusted(&mut self, read: &PhysRead, stress: Stress) {
        let in_memory = read.result == ReadResult::InMemory;
        let (what, is_wrong) = match self.adjusted.unverified.remove(&read.ppn) {
            Some(is_corrupted) => {
                if in_memory {
                    self.adjusted.corrupted.insert(read.ppn);
                    self.adjusted.pages += 1;
                }
                let may_be = is_corrupted
                    || self.truth.doses.may_be_lost(
                        &self.truth.medium,
                        At::new(&self.truth.geometry, read.ppn),
                        stress,
                    );
                if in_memory {
                    (
                        "was given up after its wordline was merged, but the merge did not corrupt \
                         it",
                        !may_be,
                    )
                } else {
                    (
                        "was accepted after its wordline was merged, but the merge corrupted it",
                        is_corrupted,
                    )
                }
            }
            None if in_memory => ("was reported to be in memory", true),
            None => (
                "was read, but merging its wordline corrupted it",
                self.adjusted.corrupted.contains(&read.ppn),
            ),
        };
        if is_wrong {
            let place = self.truth.place(read.ppn);
            self.findings.add(Kind::Stamp, || {
                format!(
                    "{} read of lpn {}: {place} {what}: {}",
                    read.cause.name(),
                    read.lpn,
                    words(stress)
                )
            });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_even_and_those_of_neighbours_have_nothing_in_common() {
        let hits = |step: u64| (0..100_000).filter(|n| chance(7, n * step + 1) < 0.2).count();
        for step in [1, 3, 1 << 32] {
            assert!(hits(step).abs_diff(20_000) < 500, "{}", hits(step));
        }
        let both = (0..100_000).filter(|n| chance(7, *n) < 0.2 && chance(7, n + 1) < 0.2).count();
        assert!(both.abs_diff(4_000) < 300, "{both}");
        let first = (0xE220_A839_7B1D_CDAF_u64 >> 11) as f64 / (1u64 << 53) as f64;
        assert_eq!(chance(0, 1).to_bits(), first.to_bits(), "splitmix64's first number");
    }
}
