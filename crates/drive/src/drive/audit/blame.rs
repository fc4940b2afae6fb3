//! Attribution of reclaim to host pages. The copies of each job are divided among the host pages
//! whose reads made the job necessary.
//!
//! When a job begins, its pages have a dose, to which every wordline of the block has contributed.
//! If a job moves a set S of wordlines, the reads of wordline j have the weight `RC[j] x (number of
//! S other than j + sum of alpha - 1 over S beside j)`. If a job moves a whole block, the weight is
//! `RC[j]`. The copies are divided in these proportions. Each part counts for the range of logical
//! pages that owns, or last owned, the data on wordline j. Reads by movers count for the range
//! whose data they read.
//!
//! ```text
//! alpha 9; S = {1}; reads of wordlines 0, 1, 2: 80, 300, 10.  weights 80 x 9, 300 x 0, 10 x 9: of 3 copies 2.67 and 0.33
//! ```

use crate::base::dose::Quarters;
use crate::base::page_set::{PageSet, holds_any};
use crate::base::reciprocal::Reciprocal;
use crate::base::units::{BlockId, Lpn, WordlineInBlock};
use crate::config::DisturbModel;
use crate::flash::Flash;

/// Number of equal ranges of the capacity. The last range may be shorter.
const RANGES: usize = 64;

/// Number of copies by range of logical pages.
pub(crate) struct Blame {
    range_pages: Reciprocal,
    host_pages: u32,
    /// Whether a wordline's own reads disturb it like other wordlines, as under the model `count`.
    own_reads_disturb: bool,
    copies: [f64; RANGES],
}

/// Number of copies that reads of one range of host pages caused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlamedRange {
    /// First page of the range.
    pub first: Lpn,
    /// Number of pages of the range.
    pub pages: u32,
    /// Number of pages that reclaim copied because of the range. The number is not whole because
    /// ranges share a job.
    pub copies: f64,
}

impl Blame {
    pub(crate) fn new(host_pages: u32, model: DisturbModel) -> Self {
        let range_pages = Reciprocal::new(host_pages.div_ceil(RANGES as u32).max(1));
        Self {
            range_pages,
            host_pages,
            own_reads_disturb: model.own_reads_disturb(),
            copies: [0.0; RANGES],
        }
    }

    /// Returns the ranges with copies, by address.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = BlamedRange> + '_ {
        let pages = self.range_pages.divisor();
        (0u32..).zip(self.copies).filter(|(_, copies)| *copies > 0.0).map(move |(range, copies)| {
            let first = range * pages;
            BlamedRange {
                first: Lpn::new(first),
                pages: pages.min(self.host_pages - first),
                copies,
            }
        })
    }

    /// Sets all copies to 0.
    pub(crate) fn clear(&mut self) {
        self.copies = [0.0; RANGES];
    }

    /// Attributes the copies of a reclaim job that is about to begin. `pages` has the pages that
    /// the job moves; `None` means the whole block.
    pub(crate) fn book(&mut self, flash: &Flash, block: BlockId, pages: Option<&PageSet>) {
        let valid = flash.contents.valid_words(block);
        let copies: u32 = match pages {
            None => flash.hot(block).valid.into(),
            Some(pages) => valid
                .iter()
                .zip(pages.words())
                .map(|(valid, wanted)| (valid & wanted).count_ones())
                .sum(),
        };
        let weights = self.weights_by_range(flash, block, pages);
        let total = weights.iter().sum::<f64>();
        if total > 0.0 {
            for (booked, weight) in self.copies.iter_mut().zip(weights) {
                *booked += f64::from(copies) * weight / total;
            }
        }
    }

    /// Returns the effect of each range's reads on the wordlines that will move.
    fn weights_by_range(
        &self,
        flash: &Flash,
        block: BlockId,
        pages: Option<&PageSet>,
    ) -> [f64; RANGES] {
        let g = &flash.geometry;
        let bits = g.cell.bits();
        let (first_page, written) = (g.first_page(block), flash.hot(block).written_to());
        let share = pages.map(|pages| self.shares(flash, block, pages));
        let mut weights = [0.0; RANGES];
        for wordline in g.wordlines_in_block() {
            let reads =
                flash.wordlines.get(g.row_of(block, wordline)).map_or(Quarters::ZERO, |w| w.reads);
            let weight = f64::from(reads.count())
                * share.as_ref().map_or(1.0, |share| share[wordline.index()]);
            if weight == 0.0 {
                continue;
            }
            // A page whose data has moved still has its last owner. A page that never held data has
            // no owner.
            let pages = wordline.pages(bits).filter(|page| *page < written);
            let owners = || {
                pages
                    .clone()
                    .map(|page| flash.contents.owner(first_page + page))
                    .filter(|lpn| lpn.number() < g.host_pages)
            };
            let each = weight / owners().count().max(1) as f64;
            owners().for_each(|lpn| {
                weights[self.range_pages.quotient(lpn.number()) as usize % RANGES] += each;
            });
        }
        weights
    }

    /// Returns the dose that one read of each wordline of a block adds to the wordlines of these
    /// pages together.
    fn shares(&self, flash: &Flash, block: BlockId, pages: &PageSet) -> Vec<f64> {
        let g = &flash.geometry;
        let stride = g.neighbour_stride;
        let bits = g.cell.bits();
        let moving: Vec<u64> = flash
            .contents
            .valid_words(block)
            .iter()
            .zip(pages.words())
            .map(|(valid, wanted)| valid & wanted)
            .collect();
        let moves = |w: &WordlineInBlock| holds_any(&moving, *w, bits);
        let mut shares = vec![
            g.wordlines_in_block().filter(moves).count() as f64;
            g.wordlines_per_block as usize
        ];
        let own = if self.own_reads_disturb { 0.0 } else { 1.0 };
        let pec = flash.limit_pec(block);
        let limits = flash.limits();
        let alpha =
            |w: WordlineInBlock| limits.map_or(1.0, |l| l.truth(l.group_of(w), pec).alpha.weight());
        for victim in g.wordlines_in_block().filter(moves) {
            shares[victim.index()] -= own;
            let beside = [
                victim.checked_sub(stride),
                Some(victim + stride).filter(|w| w.number() < g.wordlines_per_block),
            ];
            for neighbour in beside.into_iter().flatten() {
                shares[neighbour.index()] += alpha(victim) - 1.0;
            }
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::PageInBlock;
    use crate::config::DriveConfig;
    use crate::drive::Drive;
    use crate::testing::without_reclaim;

    /// Returns a drive with one page per wordline and three wordlines per block. It has 64 ranges
    /// of one page each, so range n is page n. Blocks hold pages 0 to 2, 3 to 5, and so on. Alpha is
    /// 9 at the blocks' wear.
    fn drive() -> Drive {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 3, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { capacity = "256KiB" }
            start = { pec = 100 }
            disturb = { model = "wordline", table = [{ pec = 0, limit = [90000], alpha = [3.0] }, { pec = 100, limit = [90000], alpha = [9.0] }] }
        "#;
        let config = toml::from_str::<DriveConfig>(text).unwrap().resolve().unwrap();
        let mut drive = Drive::new(config, &without_reclaim(), false).unwrap();
        drive.precondition(1);
        for (lpn, times) in [(0, 80), (1, 300), (2, 10)] {
            (0..times).for_each(|_| drive.read_pages(&[Lpn::new(lpn)]));
        }
        drive
    }

    fn blamed(drive: &Drive) -> Vec<(u32, f64)> {
        drive
            .blamed_ranges()
            .inspect(|r| assert_eq!(r.pages, 1))
            .map(|r| (r.first.number(), (r.copies * 1e6).round() / 1e6))
            .collect()
    }

    fn book(drive: &mut Drive, block: BlockId, pages: Option<&PageSet>) {
        drive.blame.book(&drive.flash, block, pages);
    }

    fn block(drive: &Drive) -> BlockId {
        drive.geometry.block_of(drive.ftl.place_of(Lpn::new(0)).expect("on flash"))
    }

    #[test]
    fn a_whole_block_is_shared_out_by_reads() {
        let mut drive = drive();
        let block = block(&drive);
        book(&mut drive, block, None);
        // Three copies are divided by 80, 300 and 10 of 390 reads.
        assert_eq!(blamed(&drive), [(0, 0.615_385), (1, 2.307_692), (2, 0.076_923)]);
        drive.begin_measurement();
        assert_eq!(blamed(&drive), []);
    }

    #[test]
    fn a_wordline_is_the_fault_of_those_that_disturbed_it() {
        let mut drive = drive();
        let block = block(&drive);
        let mut one = PageSet::none(3);
        one.insert(PageInBlock::new(1), 1);
        // Wordline 1 gets 80 x 9 from wordline 0, 0 from itself, and 10 x 9 from wordline 2.
        book(&mut drive, block, Some(&one));
        assert_eq!(blamed(&drive), [(0, 0.888_889), (2, 0.111_111)]);
        // For wordlines 0 and 1 together, wordline 0 gives 80 x 9 to wordline 1. Wordline 1 gives
        // 300 x 9 to wordline 0. Wordline 2 gives 10 x 1 to wordline 0 and 10 x 9 to wordline 1.
        one.insert(PageInBlock::FIRST, 1);
        drive.begin_measurement();
        book(&mut drive, block, Some(&one));
        let of = |weight: f64| (2.0 * weight / 3520.0 * 1e6).round() / 1e6;
        assert_eq!(blamed(&drive), [(0, of(720.0)), (1, of(2700.0)), (2, of(100.0))]);
    }

    #[test]
    fn data_that_went_elsewhere_is_still_blamed() {
        let mut drive = drive();
        let block = block(&drive);
        drive.write_page(Lpn::new(1), u64::MAX);
        drive.drain_buffer();
        book(&mut drive, block, None);
        // Two pages are left to copy. Most of the dose came from the page that was rewritten.
        assert_eq!(blamed(&drive), [(0, 0.410_256), (1, 1.538_462), (2, 0.051_282)]);
    }
}
