//! Wordlines that refresh adjusts in place (ida-coding-2018 III): what is sensed before and after,
//! which pages are corrupted, and that these are written elsewhere. By what the seed says, drawn
//! here once more.

use std::collections::{BTreeMap, BTreeSet};

use vpass_core::base::page_set::PageSet;
use vpass_core::base::units::{BlockId, Moment, PageInBlock, Ppn};
use vpass_core::config::{DriveConfig, Number};
use vpass_core::watch::observer::{PhysRead, ReadResult};

use crate::codings::FASTER;
use crate::doses::Truth;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::oracle::end_scan::words;
use crate::report::Kind;

/// What is known of adjusted wordlines.
#[derive(Debug, Default)]
pub(crate) struct Adjusted {
    /// Share of pages that are corrupted, and the seed; none where nothing is adjusted.
    error_rate: Option<(f64, u64)>,
    /// Wordlines are adjusted in blocks that are not due, too, where no page has to move for it.
    pub(crate) between: bool,
    /// Pages of each block's wordline that was adjusted last, and whether it was corrupted.
    unverified: BTreeMap<Ppn, bool>,
    /// Pages that were, until they are written elsewhere.
    corrupted: BTreeSet<Ppn>,
    /// By block under a job: the wordlines that it has adjusted, and when it began with that.
    by_job: BTreeMap<BlockId, (Moment, BTreeSet<u32>)>,
    /// Since the measured phase began.
    wordlines: u64,
    pages: u64,
}

impl Adjusted {
    /// Data is refreshed by this technique.
    pub(crate) fn expect(&mut self, config: &DriveConfig, refresh: &str, seed: u64) {
        let rate = config.refresh.params.get(Some("ida"), "error_rate").map_or(0.2, Number::value);
        self.error_rate = (refresh == "ida").then_some((rate, seed));
        let is_on = |key: &str| {
            config.refresh.params.get(Some("ida"), key).is_some_and(|number| number.value() > 0.0)
        };
        self.between = refresh == "ida" && (is_on("at_reclaim") || is_on("at_gc"));
    }

    /// Whether merging into a coding is such an adjustment.
    pub(crate) fn is_one(&self, coding: u8) -> bool {
        self.error_rate.is_some() && coding >= FASTER
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        (self.wordlines, self.pages) = (0, 0);
    }

    /// The clock is set back by so much.
    pub(crate) fn set_back(&mut self, passed: Moment) {
        self.by_job.values_mut().for_each(|(first, _)| *first -= passed);
    }

    /// Whether nothing waits to be verified or to be written elsewhere.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.unverified.is_empty() && self.corrupted.is_empty()
    }

    /// What a page held was taken from the controller's memory.
    pub(crate) fn written_elsewhere(&mut self, from: Ppn) {
        if !self.corrupted.is_empty() {
            self.corrupted.remove(&from);
        }
    }
}

/// The next number of splitmix64 behind a state, in 53 bits.
fn chance(seed: u64, steps: u64) -> f64 {
    let mut z = seed.wrapping_add(steps.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    for (shift, by) in [(30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB)] {
        z = (z ^ (z >> shift)).wrapping_mul(by);
    }
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

impl Oracle {
    /// A wordline that was just merged is read with a coding of its own from now on.
    pub(crate) fn adjusted_wordline(&mut self, block: BlockId, wordline: u32, coding: u8) {
        self.end_verifying(block);
        let Some((rate, seed)) = self.adjusted.error_rate.filter(|_| coding >= FASTER) else {
            return;
        };
        let bits = self.geometry.cell.bits();
        let first = (self.geometry.first_wordline(block) + wordline) * bits;
        let cycles = u64::from(self.doses.cycles_of(block)) << 32;
        for ppn in (first..first + bits).filter(|ppn| self.density.codings.keeps(coding, *ppn)) {
            self.adjusted
                .unverified
                .insert(Ppn::new(ppn), chance(seed, cycles + u64::from(ppn) + 1) < rate);
        }
        self.adjusted.wordlines += 1;
        let now = self.ageing.now();
        self.adjusted.by_job.entry(block).or_insert((now, BTreeSet::new())).1.insert(wordline);
    }

    /// Whether a job that moves these pages of a block, or all of it, finds no data there.
    pub(crate) fn moves_nothing(&self, block: BlockId, pages: Option<&PageSet>) -> bool {
        let first = self.geometry.first_page(block);
        let is_live = |page: PageInBlock| {
            self.carried(first + page).is_some_and(|stamp| self.stamps.is_live(stamp))
        };
        pages.is_some_and(|pages| !pages.iter().any(is_live))
    }

    /// All of the block's wordline that was adjusted last was to be sensed again by now.
    fn end_verifying(&mut self, block: BlockId) {
        let first = self.geometry.first_page(block);
        let pages = first..first + self.geometry.pages_per_block;
        let left: Vec<Ppn> = self.adjusted.unverified.range(pages).map(|(ppn, _)| *ppn).collect();
        for ppn in left {
            self.adjusted.unverified.remove(&ppn);
            if self.carried(ppn).is_some_and(|stamp| self.stamps.is_live(stamp)) {
                let place = self.place(ppn);
                self.findings.add(Kind::Protocol, || {
                    format!(
                        "{place} was reprogrammed, and not verified before block {block} continued"
                    )
                });
            }
        }
    }

    /// A read while some page is to be verified, or is corrupted.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_adjusted(&mut self, read: &PhysRead, truth: Truth) {
        let in_memory = read.result == ReadResult::InMemory;
        let (what, is_wrong) = match self.adjusted.unverified.remove(&read.ppn) {
            Some(is_corrupted) => {
                if in_memory {
                    self.adjusted.corrupted.insert(read.ppn);
                    self.adjusted.pages += 1;
                }
                let may_be = is_corrupted
                    || self.doses.may_be_lost(
                        &self.medium,
                        At::new(&self.geometry, read.ppn),
                        truth,
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
            let place = self.place(read.ppn);
            self.findings.add(Kind::Stamp, || {
                format!(
                    "{} read of lpn {}: {place} {what}: {}",
                    read.cause.name(),
                    read.lpn,
                    words(truth)
                )
            });
        }
    }

    /// A job ends that leaves data in its block, or has emptied it.
    pub(crate) fn end_adjusting(&mut self, block: BlockId) {
        self.adjusted.by_job.remove(&block);
        if self.adjusted.is_quiet() {
            return;
        }
        self.end_verifying(block);
        let first = self.geometry.first_page(block);
        let pages = first..first + self.geometry.pages_per_block;
        let left = self.adjusted.corrupted.range(pages).copied();
        let left: Vec<Ppn> = left
            .filter(|ppn| self.carried(*ppn).is_some_and(|stamp| self.stamps.is_live(stamp)))
            .collect();
        for ppn in left {
            let place = self.place(ppn);
            self.findings.add(Kind::Stamp, || {
                format!(
                    "{place} was corrupted by merging its wordline, and was not written elsewhere"
                )
            });
        }
    }

    /// A block is erased.
    pub(crate) fn forget_adjusted(&mut self, block: BlockId) {
        self.end_adjusting(block);
        let (geometry, corrupted) = (&self.geometry, &mut self.adjusted.corrupted);
        if !corrupted.is_empty() {
            corrupted.retain(|ppn| geometry.block_of(*ppn) != block);
        }
    }

    /// The drive says that all which a block holds was adjusted, the first of it at this time.
    pub(crate) fn renew(&mut self, block: BlockId, since: Moment) -> Result<(), String> {
        let Some((first, adjusted)) = self.adjusted.by_job.get(&block) else {
            return Err(format!(
                "the drive counts the age of block {block} from {since} ns on, but nothing in it \
                 was merged"
            ));
        };
        let start = self.geometry.first_wordline(block);
        let holds = |index: &u32| {
            self.medium.stamps(start + index).any(|stamp| self.stamps.is_live(stamp))
                || self.keeps_any(start + index)
        };
        let old = (0..self.geometry.wordlines_per_block)
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
        self.ageing.renew(block, since);
        Ok(())
    }

    /// What the drive reports, against what was seen.
    pub(crate) fn check_adjusted(&mut self, wordlines: u64, pages: u64) {
        let lines = [
            ("merged wordlines", wordlines, self.adjusted.wordlines),
            ("corrupted pages", pages, self.adjusted.pages),
        ];
        for (what, claimed, seen) in lines.into_iter().filter(|(_, claimed, seen)| claimed != seen)
        {
            self.findings.add(Kind::Books, || {
                format!("the drive reports {claimed} {what}; {seen} were seen")
            });
        }
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
