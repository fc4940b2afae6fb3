//! # Page type
//! Counts the reads of each block like `block`, but moves only pages of those kinds whose limits
//! could be exceeded. Pages of the weakest kind move first, and pages of stronger kinds later.
//! After pages of the strongest kind have moved, the block is empty and is erased.
//!
//! - **Paper:** Han et al., "Page Type-Aware Data Migration Technique for Read Disturb Management
//!   of NAND Flash Memory", IEEE TVLSI 2023 (its abstract; doi 10.1109/TVLSI.2023.3240172).
//!   straw-2024 IV describes it ("PAGETYPE" of Fig. 8).
//! - **Acts at:** one threshold for each page kind. It is `block`'s threshold, with the limit
//!   `factor(kind) ERC_MAX` instead of `ERC_MAX` (`disturb.kind_factor`).
//! - **Costs:** 3 bytes per block.
//! - **Departs from the paper:** the paper's thresholds are not public, so vpass computes
//!   thresholds from the limits. Read-hot data is spread over dies only by the striping of the
//!   reclaim stream.
//! - **Does not help:** flash whose page kinds have equal limits, on which it works like `block`.
//!   On other flash, it leaves invalid pages in blocks.
//! - **Safety:** no page is lost if `block` loses none under the same settings
//!   (`docs/reclaim/page-type.md`).
//!
//! ```text
//! 192 pages, alpha 1, limit 10,000, factors LSB 1.5, CSB 1.5, MSB 1:      D_move = 192
//! reads   0 ... 9,807   9,808 -> the valid MSB pages move   ...   14,808 -> the other pages move, the block is erased
//! ```

use super::Technique;
use super::block::Block;
use super::{Action, Policy, Promise, Rewrite, Threshold, View};
use vpass_drive::api::card::{About, Card, Needs, New, Protection};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Bytes, PageInBlock, Reads};
use vpass_drive::config::DriveConfig;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "page-type",
        summary: "like `block`, but rewrites the page kind with the lowest limit first (Han et \
            al., 2023)",
        paper: "Han et al., TVLSI 2023",
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: false, retries: false },
        ..About::PLAIN
    },
    new: New::Listed(|_, config, _| Box::new(PageType::new(config))),
};

pub(super) struct PageType {
    block: Block,
    /// Classes of page kinds with equal limits; the weakest class comes first. Each class has one
    /// bit per page kind, and the lowest bit stands for LSB pages.
    classes: Vec<u32>,
}

impl PageType {
    pub(super) fn new(config: &DriveConfig) -> Self {
        Self {
            block: Block::new(config),
            classes: classes(&config.disturb.kind_factor, config.geometry.cell.bits()),
        }
    }

    /// Returns the page kinds whose pages must have moved by `count` reads. These are the kinds
    /// with a threshold of at most `count`. Also returns the next larger threshold.
    fn due(&self, view: &View, pec: u32, count: u32) -> (u32, Reads) {
        let (mut due, mut next) = (0, u32::MAX);
        for class in &self.classes {
            let threshold =
                self.block.threshold(view, pec, *class).map_or(u32::MAX, |(reads, _)| reads);
            if threshold <= count {
                due |= class;
            } else {
                next = next.min(threshold.saturating_add(0));
            }
        }
        (due, Reads(next))
    }
}

/// Groups page kinds with equal factors into classes, and returns the classes; the weakest comes
/// first. Without factors, all kinds form one class.
fn classes(kind_factor: &[f64], kinds: u32) -> Vec<u32> {
    let factor = |kind: u32| kind_factor.get(kind as usize).copied().unwrap_or(1.0);
    let mut factors: Vec<f64> = (0..kinds).map(factor).collect();
    factors.sort_by(f64::total_cmp);
    factors.dedup();
    factors
        .into_iter()
        .map(|f| {
            (0..kinds)
                .filter(|kind| factor(*kind).total_cmp(&f).is_eq())
                .map(|kind| 1 << kind)
                .sum()
        })
        .collect()
}

/// Returns the set of all pages in a block that are of these kinds.
fn pages_of(kinds: u32, geometry: &Geometry) -> PageSet {
    let mut pages = PageSet::none(geometry.pages_per_block);
    let bits = geometry.cell.bits();
    for page in PageInBlock::range(0..geometry.pages_per_block)
        .filter(|page| kinds >> page.kind(bits) & 1 == 1)
    {
        pages.insert(page, 1);
    }
    pages
}

impl Policy for PageType {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.due(view, view.pec(block), 0).1
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let (pec, now) = (view.pec(block), view.reads(block).0);
        let (due, next) = self.due(view, pec, now);
        if due == 0 {
            return next;
        }
        let deadline = now.saturating_add(view.late_reads.max(1));
        let (due, next) = self.due(view, pec, deadline + 1 + self.block.overshoot());
        if due.count_ones() == view.geometry.cell.bits() {
            out.push(Rewrite::all(block).into());
            return Reads(deadline);
        }
        let pages = pages_of(due, view.geometry);
        // If a block is still open, more pages of the kinds that are due would be written to it. So
        // the move closes the block.
        if view.pages_to_come(block) == 0 && !view.holds_any(block, &pages) {
            return next;
        }
        out.push(Rewrite::pages(block, pages).into());
        Reads(deadline)
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.block.controller_ram(geometry)
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        // The weakest page kind has the smallest threshold, so its guarantee covers all kinds.
        self.block.promise(view, pec)
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let names = view.geometry.cell.kinds();
        let of_class = |class: &u32| {
            let kinds: Vec<&str> = names
                .iter()
                .enumerate()
                .filter(|(kind, _)| class >> kind & 1 == 1)
                .map(|(_, name)| *name)
                .collect();
            let (reads, terms) = self.block.threshold(view, pec, *class)?;
            Some(Threshold {
                name: format!("{} pages rewritten", kinds.join(" and ")),
                reads,
                because: self.block.because(view, &terms),
            })
        };
        self.classes.iter().filter_map(of_class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::classes;
    use crate::testing::drive;
    use vpass_drive::base::units::{Cause, Lpn};

    #[test]
    fn kinds_that_endure_alike_are_a_class() {
        assert_eq!(classes(&[1.8, 1.8, 1.0], 3), [0b100, 0b011]);
        assert_eq!(classes(&[1.0, 4.0, 1.3, 1.8], 4), [0b0001, 0b0100, 0b1000, 0b0010]);
        assert_eq!(classes(&[], 2), [0b11]);
    }

    #[test]
    fn worked_example() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 64, cell = "tlc", page_size = "4KiB" }
            reclaim = { schedule = "foreground" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            disturb = { model = "count", kind_factor = [1.5, 1.5, 1.0], table = [{ pec = 0, limit = [10000] }] }
        "#;
        let (wordlines, limit) = (64, 10_000);
        let (weak, strong) = (limit - 3 * wordlines, limit + limit / 2 - 3 * wordlines);
        assert_eq!((weak, strong), (9_808, 14_808));
        let mut drive = drive(text, "page-type");
        drive.begin_measurement();
        // Page 0 of block 0 is an LSB page.
        let mut after = |reads| {
            (0..reads).for_each(|_| drive.read_pages(&[Lpn::new(0)]));
            (
                drive.reclaim_counts().pages_copied,
                drive.flash_counts().erases[Cause::Reclaim as usize],
            )
        };
        assert_eq!(after(weak - 1), (0, 0));
        assert_eq!(
            after(1),
            (wordlines, 0),
            "the MSB pages move; each copy is a read of the block"
        );
        assert_eq!(after(strong - weak - wordlines - 1), (wordlines, 0));
        assert_eq!(after(1), (3 * wordlines, 1));
        assert_eq!(drive.lost_pages(), 0);
    }

    #[test]
    fn the_weak_kind_moves_first_and_the_rest_when_it_must() {
        // D_move = 6 + 2 x 8 x 2 = 38. MSB pages move at floor((900 - 38) / 9) = 95, and LSB pages
        // at floor((1800 - 38) / 9) = 195.
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 3, cell = "mlc", page_size = "4KiB" }
            reclaim = { schedule = "foreground" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            disturb = { model = "wordline", kind_factor = [2.0, 1.0], table = [{ pec = 0, limit = [900], alpha = [9.0] }] }
        "#;
        let mut drive = drive(text, "page-type");
        drive.begin_measurement();
        // Page 2 of block 0 is the LSB page of its middle wordline.
        let mut after = |reads| {
            (0..reads).for_each(|_| drive.read_pages(&[Lpn::new(2)]));
            let counts = drive.reclaim_counts();
            (
                counts.alarms,
                counts.pages_copied,
                drive.flash_counts().erases[Cause::Reclaim as usize],
            )
        };
        assert_eq!(after(94), (0, 0, 0));
        assert_eq!(after(1), (1, 3, 0), "the MSB pages move; their reads make it 98");
        assert_eq!(after(96), (2, 3, 0), "asked once more at the next read, to no effect: 194");
        assert_eq!(after(1), (3, 6, 1), "195: the LSB pages move");
        assert_eq!(drive.lost_pages(), 0);
    }
}
