//! Checks the drive's map at the end of a run that began with a computed start. Only changes since
//! the start are examined.
//!
//! The start puts each page of the host, and of parity, into one flash page. The drive's map shows
//! which pages have left their place. Stamps and valid bits show which flash pages do not hold
//! their first page any more. Both must be the same pages. Each side is counted and summed up in
//! one number. A wrong map has the right sum in one case of 2^64.
//!
//! The drive computes the map entry of an untouched page when it is needed. The oracle checks the
//! entries of all touched pages, and of a sample of the others.

use vpass_drive::base::units::{BlockId, Lpn, Ppn};
use vpass_drive::drive::Drive;

use crate::begun::Begun;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::stamps::Stamp;

/// Number of pages that are skipped together if none of them was touched.
const RUN: usize = 256;
/// Number of untouched pages that are checked.
const SAMPLE: u32 = 4096;

/// Side of the comparison: map or flash.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Side {
    /// Host pages that are not where the start put them: their number and their sum.
    left: (u64, u64),
    /// Sum of stamps and places of data that is not at its first place.
    elsewhere: u64,
    /// Number of pages with data in each block.
    valid: Vec<u32>,
}

impl Side {
    fn new(blocks: u32) -> Self {
        Self { left: (0, 0), elsewhere: 0, valid: vec![0; blocks as usize] }
    }

    /// Adds a host page that has left its place.
    fn leaves(&mut self, lpn: Lpn) {
        self.left =
            (self.left.0 + 1, self.left.1.wrapping_add(Stamp::first(lpn).fingerprint(Ppn::FIRST)));
    }

    /// Adds a flash page with data that the start did not put there.
    fn has(&mut self, stamp: Stamp, ppn: Ppn) {
        self.elsewhere = self.elsewhere.wrapping_add(stamp.fingerprint(ppn));
    }
}

impl Oracle {
    /// Returns whether the map is right, by the changes since a computed start. It may return false
    /// although the map is right.
    pub(crate) fn is_right_since_start(&self, drive: &Drive) -> bool {
        let Some(begun) = self.truth.medium.begun() else { return false };
        if drive.any_is_lost() || !self.is_sample_right(drive, begun) {
            return false;
        }
        let Some(by_map) = self.side_of_map(drive, begun) else { return false };
        let Some(by_flash) = self.side_of_flash(drive, begun) else { return false };
        by_map == by_flash && by_map.valid == drive.whole_pages()
    }

    /// Returns whether evenly spread untouched pages lie where the start put them.
    fn is_sample_right(&self, drive: &Drive, begun: &Begun) -> bool {
        let pages = begun.pages();
        let nth = |n: u32| u64::from(n) * u64::from(pages) / u64::from(SAMPLE.min(pages));
        let sample = (0..SAMPLE.min(pages)).map(|n| begun.nth(nth(n) as u32));
        let is_right = |lpn: Lpn| {
            let is_good = |entry| self.check_entry(entry, |ppn| drive.owner(ppn)).is_ok();
            drive.map_row(lpn).is_some_and(is_good)
        };
        sample.filter(|lpn| drive.is_as_begun(*lpn)).all(is_right)
    }

    /// Returns the host page that the start put into a flash page, if the flash page still holds it
    /// unchanged.
    fn carries_start(&self, ppn: Ppn) -> Option<Lpn> {
        let put = self.truth.medium.put_by_start(ppn)?;
        (self.truth.medium.stamp(At::new(&self.truth.geometry, ppn)) == Stamp::first(put))
            .then_some(put)
    }

    /// Returns what the drive's map says about its blocks, as one side of the comparison. Returns
    /// `None` if a single entry is wrong.
    fn side_of_map(&self, drive: &Drive, begun: &Begun) -> Option<Side> {
        let pages = self.truth.geometry.logical_pages();
        let (mut side, mut count) = (Side::new(self.truth.geometry.blocks), 0u64);
        for first in (0..pages).step_by(RUN) {
            let run = first..pages.min(first + RUN as u32);
            if drive.are_as_begun(run.clone()) && self.truth.stamps.are_as_begun(run.clone()) {
                count += u64::from(begun.pages_in(run));
                continue;
            }
            for lpn in Lpn::range(run) {
                count += u64::from(self.weigh_entry(drive, lpn, begun.has(lpn), &mut side)?);
            }
        }
        // Pages that are still at their first place are valid there.
        for block in self.truth.geometry.block_ids() {
            side.valid[block.index()] +=
                self.kept(drive, begun, block).map(u64::count_ones).sum::<u32>();
        }
        (count == self.truth.stamps.present()).then_some(side)
    }

    /// Returns whether the drive's map has data of a page, which the start may have loaded. Returns
    /// `None` if the entry is wrong by itself.
    fn weigh_entry(
        &self,
        drive: &Drive,
        lpn: Lpn,
        is_in_start: bool,
        side: &mut Side,
    ) -> Option<bool> {
        if drive.is_as_begun(lpn) {
            return self.truth.stamps.is_as_begun(lpn).then_some(is_in_start);
        }
        let newest = self.truth.stamps.newest(lpn).filter(|newest| newest.is_present());
        let Some(entry) = drive.map_row(lpn) else {
            if is_in_start {
                side.leaves(lpn);
            }
            return newest.is_none().then_some(false);
        };
        let newest = newest?;
        let is_on_flash = self.truth.geometry.has_page(entry.ppn);
        let is_possible = if entry.buffered {
            self.check_entry(entry, |ppn| drive.owner(ppn)).is_ok()
        } else {
            is_on_flash
        };
        if is_on_flash && self.carries_start(entry.ppn) == Some(lpn) {
            let is_newest = entry.buffered || newest.on_flash() == Stamp::first(lpn).tag;
            return (is_possible && is_newest).then_some(true);
        }
        if is_in_start {
            side.leaves(lpn);
        }
        if is_on_flash {
            side.valid[self.truth.geometry.block_of(entry.ppn).index()] += 1;
            let stamp = if entry.buffered {
                self.truth.carried(entry.ppn)?
            } else {
                Stamp { lpn, tag: newest.on_flash() }
            };
            side.has(stamp, entry.ppn);
        }
        is_possible.then_some(true)
    }

    /// Returns the side of the flash, from the pages that the drive keeps as valid. Returns `None`
    /// if such a page is wrong by itself.
    fn side_of_flash(&self, drive: &Drive, begun: &Begun) -> Option<Side> {
        let mut side = Side::new(self.truth.geometry.blocks);
        for block in self.truth.geometry.block_ids() {
            let (first, valid) = (self.truth.geometry.first_page(block), drive.valid_words(block));
            side.valid[block.index()] = valid.iter().map(|word| word.count_ones()).sum();
            let kept: Vec<u64> = self.kept(drive, begun, block).collect();
            if begun.is_loaded(block) {
                let gone = begun.chosen(block).iter().zip(&kept).map(|(put, kept)| put & !kept);
                pages_of(gone).for_each(|page| {
                    side.leaves(begun.page_at(block, page).expect("a chosen page"))
                });
            }
            if begun.stands(block) && !drive.owners_are_as_begun(block) {
                return None;
            }
            for page in pages_of(valid.iter().zip(&kept).map(|(valid, kept)| valid & !kept)) {
                let stamp = self.truth.carried(first + page)?;
                if stamp.lpn != drive.owner(first + page) {
                    return None;
                }
                side.has(stamp, first + page);
            }
        }
        Some(side)
    }

    /// Returns the valid pages of a block that still hold their first page, as bits.
    fn kept(&self, drive: &Drive, begun: &Begun, block: BlockId) -> impl Iterator<Item = u64> {
        let (first, altered) = (self.truth.geometry.first_page(block), begun.is_altered(block));
        let stands = if begun.stands(block) { u64::MAX } else { 0 };
        let words = begun.chosen(block).iter().zip(drive.valid_words(block));
        (0..).step_by(64).zip(words).map(move |(page, (put, valid))| {
            let both = put & valid & stands;
            if !altered {
                return both;
            }
            let carries = |bit: &u32| {
                both >> bit & 1 == 1 && self.carries_start(first + (page + bit)).is_some()
            };
            (0..64).filter(carries).fold(0, |word, bit| word | 1 << bit)
        })
    }
}

/// Returns the numbers of the bits that are set in words.
fn pages_of(words: impl Iterator<Item = u64>) -> impl Iterator<Item = u32> {
    (0..).step_by(64).zip(words).flat_map(|(first, word)| {
        let next = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest > 0);
        std::iter::successors(Some(word).filter(|word| *word > 0), next)
            .map(move |word| first + word.trailing_zeros())
    })
}

#[cfg(test)]
mod tests {
    use std::any::Any;

    use vpass_drive::api::parity::STRIPE;
    use vpass_drive::config::DriveConfig;
    use vpass_drive::drive::Techniques;
    use vpass_techniques::{card, resolve, usual};

    use super::*;

    /// Makes a watched drive that began with a computed start and served these requests. Each has a
    /// page and a kind: 0 is a read, 1 a write, 2 a trim.
    fn served(
        parity: &str,
        requests: impl IntoIterator<Item = (u32, u32)>,
    ) -> (Box<Oracle>, Drive) {
        let text = r#"
            geometry = { channels = 4, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 20, wordlines_per_block = 32, cell = "tlc", page_size = "16KiB" }
            timing = { sense_us = 50, program_us = 200, erase_us = 3000, channel_mb_s = 1200 }
            drive = { spare = 0.5 }
            start = { fill = 0.9, overwrite = 2.0 }
            disturb = { model = "wordline", table = [{ pec = 0, limit = [50000], alpha = [9.0] }] }
        "#;
        let mut config = toml::from_str::<DriveConfig>(text).unwrap();
        config.parity.params.set(None, STRIPE.key, STRIPE.number(3.0));
        let techniques = Techniques { parity: card(parity), ..usual() };
        let mut drive = Drive::new(resolve(config).unwrap(), &techniques, false).unwrap();
        let oracle = Oracle::new(drive.geometry(), drive.config()).at(crate::Level::On);
        drive.observe(Box::new(oracle));
        drive.precondition_computed(5);
        drive.begin_measurement();
        for (kind, lpn) in requests {
            match kind {
                0 => {
                    drive.read_page(Lpn::new(lpn));
                }
                1 => drive.write_page(Lpn::new(lpn), u64::MAX),
                _ => drive.trim_page(Lpn::new(lpn)),
            }
        }
        let watcher: Box<dyn Any> = drive.end_observation().unwrap();
        (watcher.downcast().unwrap(), drive)
    }

    fn begun_with(oracle: &Oracle, lpn: Lpn) -> bool {
        oracle.truth.medium.begun().is_some_and(|begun| begun.has(lpn))
    }

    /// Makes `count` requests to random host pages, with these kinds in turn.
    fn requests(count: u32, kinds: &'static [u32]) -> impl Iterator<Item = (u32, u32)> {
        (0..count)
            .map(|n| (kinds[n as usize % kinds.len()], (n.wrapping_mul(2_654_435_761) >> 7) % 3000))
    }

    #[test]
    fn a_right_map_is_right_whatever_was_touched() {
        for parity in ["none", "raid5", "ppc"] {
            for (count, kinds) in
                [(0, &[0][..]), (3000, &[0]), (50, &[1]), (40_000, &[1, 0]), (9000, &[1, 2, 0])]
            {
                let (oracle, drive) = served(parity, requests(count, kinds));
                let is_right = oracle.is_right_since_start(&drive);
                assert!(is_right, "{parity}, {count} requests of the kinds {kinds:?}");
                let report = oracle.conclude(&drive);
                // The drive does not count a trim of a single page as a request.
                assert!(!report.is_bug() || kinds.contains(&2), "{parity}: {report:?}");
            }
        }
    }

    #[test]
    fn data_that_went_or_came_behind_the_drives_back_is_seen() {
        for parity in ["none", "raid5"] {
            check_that_changes_are_seen(parity);
        }
    }

    fn check_that_changes_are_seen(parity: &str) {
        let touched = || served(parity, requests(200, &[0, 1]));
        let untouched = |oracle: &Oracle, drive: &Drive| {
            let is_untouched =
                |lpn: &Lpn| drive.is_as_begun(*lpn) && oracle.truth.stamps.is_as_begun(*lpn);
            // The last page is of parity, if there are stripes.
            Lpn::range(0..drive.geometry().logical_pages())
                .rev()
                .find(|lpn| begun_with(oracle, *lpn) && is_untouched(lpn))
                .unwrap()
        };
        let (mut oracle, drive) = touched();
        let ppn = drive.map_row(untouched(&oracle, &drive)).unwrap().ppn;
        oracle.truth.medium.set_stamp(At::new(&oracle.truth.geometry, ppn), Stamp::DEAD);
        assert!(!oracle.is_right_since_start(&drive), "a page that no longer carries data");
        let (mut oracle, drive) = touched();
        oracle.truth.medium.erase(oracle.truth.geometry.block_of(ppn));
        assert!(!oracle.is_right_since_start(&drive), "a block that was erased");
        let (mut oracle, drive) = touched();
        let lpn = untouched(&oracle, &drive);
        oracle.truth.stamps.trimmed(lpn).unwrap();
        assert!(!oracle.is_right_since_start(&drive), "a page that the host has trimmed");
        let (mut oracle, drive) = touched();
        oracle.truth.stamps.host_wrote(lpn, true).unwrap();
        assert!(!oracle.is_right_since_start(&drive), "a page that the host has written");
        assert!(oracle.conclude(&drive).is_bug(), "and the verdict says so");
    }
}
