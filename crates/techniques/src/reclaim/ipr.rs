//! # IPR
//! Finds read-hot pages and gathers them in blocks of a pool. When such a block reaches its limit,
//! it is reprogrammed in place with guard levels. Then it endures ten times the reads, and only a
//! third of its pages had to move.
//!
//! - **Paper:** ipr-2018 III, complete.
//! - **Acts at:** `block`'s threshold. A read-hot block in the pool has a lower threshold, because
//!   reprogramming takes more reads than moving. For low-density blocks (with guard levels), the
//!   limits in the threshold are `density.limit_factor` times as large.
//! - **Costs:** 12 bytes per block: its reads, and the times of its last refresh and of its last
//!   reprogramming. A monitor block takes 2 more bytes per page (III-E).
//! - **Departs from the paper:** the pool is reserved for read-hot blocks (`density.keep_pool`).
//!   The safety page lists all departures.
//! - **Does not help:** even reads, and read-hot data that is much larger than the pool.
//! - **Safety:** no page is lost under any reads (`docs/reclaim/ipr.md`).
//!
//! ```text
//! regular --sooner than B_avg--> monitor --pages above P_avg--> read-hot --at its limit, in the pool--> low density, in place
//!                                        --the others--------> regular           outside of it -------> read-hot, elsewhere
//! low density --at its limit--> read-hot        --the least read, when there are too many--> regular
//! 24 pages of 8 wordlines, alpha 1, limit 1,000:   in the pool T = 1,000 - 8 x (3 + 1) = 968   low density T = 10 x 1,000 - 24 = 9,976
//! 24 read-hot pages in one block:   968 reads -> 8 pages move, 8 wordlines are merged   9,976 reads since its erase -> 16 pages move
//! ```

use super::Technique;
use super::shared::low_density::LowDensity;
use super::shared::read_hot::{HOT, ReadHot};
use super::{Action, GUARDED, Policy, Promise, Rewrite, StreamSpec, Threshold, View};
use vpass_drive::api::card::{About, Card, InBulk, Needs, New, Protection};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, Reads};
use vpass_drive::config::DriveConfig;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "ipr",
        summary: "like `hotld`, but makes guard levels in place by reprogramming (ipr-2018)",
        paper: "IPR, DATE 2018",
        protects: Protection::Sound,
        keeps_apart: true,
        lowers_density: true,
        needs: Needs { limits: true, counters: false, retries: false },
        in_bulk: InBulk::MeanClock,
        ..About::PLAIN
    },
    new: New::Listed(|_, config, _| Box::new(Ipr::new(config))),
};

pub(super) struct Ipr {
    read_hot: ReadHot,
    low: LowDensity,
    /// Number of read-hot blocks that were moved instead of reprogrammed because they lay outside
    /// the pool.
    outside: u64,
}

impl Ipr {
    pub(super) fn new(config: &DriveConfig) -> Self {
        Self { read_hot: ReadHot::new(config), low: LowDensity::new(config), outside: 0 }
    }

    /// Returns the rewrite of a full-density, read-hot block that has reached its limit.
    fn reprogram(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Rewrite {
        if !view.geometry.is_in_pool(block) {
            self.outside += 1;
            return Rewrite::all_to(block, HOT);
        }
        if !self.read_hot.gains(view, block) {
            return Rewrite::all_to(block, HOT);
        }
        if !self.low.has_room(view, block)
            && let Some(coldest) = self.low.revert_coldest(view, block)
        {
            out.push(Rewrite::all(coldest).into());
        }
        if !self.low.has_room(view, block) || !view.can_spare() {
            return Rewrite::all_to(block, HOT);
        }
        self.low.add(view, block);
        Rewrite::recode(block, GUARDED, HOT)
    }

    fn threshold(&self, view: &View, block: BlockId) -> Reads {
        let may_merge = view.stream(block) == HOT && view.mode(block) == 0;
        if may_merge {
            self.read_hot.merging_threshold(view, block)
        } else {
            self.read_hot.threshold(view, block)
        }
    }
}

impl Policy for Ipr {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.read_hot.opened(view, block);
        self.threshold(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let threshold = self.threshold(view, block);
        if view.reads(block) < threshold {
            return threshold;
        }
        let rewrite = if view.stream(block) != HOT {
            self.read_hot.refresh(view, block, HOT)
        } else if view.mode(block) > 0 {
            Rewrite::all_to(block, HOT)
        } else {
            self.reprogram(view, block, out)
        };
        out.push(rewrite.into());
        ReadHot::deadline(view, block)
    }

    fn compares_with(&self, view: &View, block: BlockId) -> Vec<BlockId> {
        if view.stream(block) == HOT && view.mode(block) == 0 {
            self.low.compared(view, block)
        } else {
            vec![]
        }
    }

    fn streams(&self) -> Vec<StreamSpec> {
        ReadHot::streams(StreamSpec {
            purpose: "read-hot",
            mode: 0,
            pool: true,
            most_pages: None,
            counts_pages: false,
        })
    }

    fn erased(&mut self, view: &View, block: BlockId, cause: Cause) {
        self.read_hot.erased(view, block, cause);
        self.low.remove(block);
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let own = [("outside_pool", self.outside)];
        self.read_hot.counts().into_iter().chain(self.low.counts()).chain(own).collect()
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(self.read_hot.controller_ram(geometry).0 + 4 * u64::from(geometry.blocks))
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        let merging =
            if self.low.is_possible() { self.read_hot.merging_budgets(view, pec) } else { vec![] };
        Promise::within(self.read_hot.budgets(view, pec).into_iter().chain(merging))
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let merging = self.read_hot.explain_merging(view, pec);
        self.read_hot.explain(view, pec).into_iter().chain(merging).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{drive, row};
    use vpass_drive::base::units::{BlockId, Cause, Lpn};
    use vpass_drive::drive::Drive;

    fn block_of(drive: &Drive, lpn: u32) -> BlockId {
        let place =
            drive.map_rows().find(|row| row.lpn == Lpn::new(lpn)).expect("all pages hold data");
        drive.geometry().block_of(place.ppn)
    }

    /// Reads these pages in turn until their block becomes a low-density block or is erased.
    /// Returns the read count of the block just before the last read.
    fn reads_until_changed(drive: &mut Drive, block: BlockId, pages: &[u32]) -> u32 {
        let (mode, pec) = (row(drive, block).mode, row(drive, block).pec);
        for page in pages.iter().cycle() {
            let before = row(drive, block).reads as u32;
            drive.read_pages(&[Lpn::new(*page)]);
            if (row(drive, block).mode, row(drive, block).pec) != (mode, pec) {
                return before;
            }
        }
        unreachable!("the pages are read for ever")
    }

    #[test]
    fn worked_example() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
            reclaim = { schedule = "foreground" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            disturb = { model = "count", table = [{ pec = 0, limit = [1000] }] }
            density = { limit_factor = 10 }
        "#;
        let (limit, wordlines) = (1_000, 8);
        let (pages, merging) = (3 * wordlines, (3 + 1) * wordlines);
        let (threshold, in_pool, of_low_density) =
            (limit - pages, limit - merging, 10 * limit - pages);
        assert_eq!((threshold, in_pool, of_low_density), (976, 968, 9_976));
        let mut drive = drive(text, "ipr");
        // Half of the pages of two blocks are read-hot. Both blocks move to monitor blocks, which
        // give 24 pages to one read-hot block.
        let hot: Vec<u32> = (0..12).chain(24..36).collect();
        // Pages are read in turn, so the second block reaches its limits a few reads after the
        // first.
        (0..2 * 2 * threshold as usize + hot.len())
            .for_each(|n| drive.read_pages(&[Lpn::new(hot[n % hot.len()])]));
        let block = block_of(&drive, 0);
        assert!(
            hot.iter().all(|page| block_of(&drive, *page) == block)
                && drive.geometry().is_in_pool(block)
        );
        assert_eq!((row(&drive, block).mode, row(&drive, block).valid), (0, 24));

        drive.begin_measurement();
        let done = |drive: &Drive| {
            let (flash, cause) = (drive.flash_counts(), Cause::Reclaim as usize);
            (drive.reclaim_counts().pages_copied, flash.reprograms[cause], flash.erases[cause])
        };
        assert_eq!(reads_until_changed(&mut drive, block, &hot), in_pool - 1);
        assert_eq!(done(&drive), (8, 8, 0));
        assert_eq!((row(&drive, block).mode, row(&drive, block).valid), (1, 16));
        let left: Vec<u32> =
            hot.into_iter().filter(|page| block_of(&drive, *page) == block).collect();
        assert_eq!(left.len(), 16);
        assert_eq!(reads_until_changed(&mut drive, block, &left), of_low_density - 1);
        assert_eq!(done(&drive), (8 + 16, 8, 1));
        assert_eq!(drive.lost_pages(), 0);
    }
}
