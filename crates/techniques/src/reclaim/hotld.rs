//! # `HotLD`
//! Finds read-hot pages and writes them to low-density blocks, which have guard levels. A
//! low-density block endures ten times the reads and holds two thirds of the pages.
//!
//! - **Paper:** ipr-2018 III-B, III-C; `HotLD` in section IV, which is IPR without in-place
//!   reprogramming.
//! - **Acts at:** `block`'s threshold. For low-density blocks, this threshold is computed with
//!   limits that are `density.limit_factor` times as large.
//! - **Costs:** 12 bytes per block: its reads, the time of its last refresh, and the time at which
//!   it became a low-density block. A monitor block takes 2 more bytes per page. In a low-density
//!   block, two pages take the programs of three.
//! - **Departs from the paper:** times are counted in page operations of the host, so no clock is
//!   needed. A low-density block at its limit moves to another low-density block; the paper says
//!   this only for IPR. `density.spare_share` bounds the pages that guard levels take. With parity,
//!   each die has its own low-density blocks and its own bounds. Parity pages can be read-hot too.
//! - **Does not help:** even reads. All blocks then reach their limits at about the same time, so
//!   no page is read-hot.
//! - **Safety:** no page is lost under any reads (`docs/reclaim/hotld.md`).
//!
//! ```text
//! regular --sooner than B_avg--> monitor --pages above P_avg--> low density --at its limit--> low density
//!                                        --the others--------> regular      --the least read, when there are too many--> regular
//! 24 pages, alpha 1, limit 1,000: T = 1,000 - 24 = 976      low density: T = 10 x 1,000 - 24 = 9,976
//! one page is read: 976 reads -> monitor, 976 -> low density, 9,976 -> low density again: 1 page copied, 1 block erased
//! ```

use super::Technique;
use super::shared::low_density::LowDensity;
use super::shared::read_hot::{HOT, MONITOR, ReadHot};
use super::{Action, GUARDED, Policy, Promise, Rewrite, StreamSpec, Threshold, View};
use vpass_drive::api::card::{About, Card, InBulk, Needs, New, Protection};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, Reads};
use vpass_drive::config::DriveConfig;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "hotld",
        summary: "finds read-hot blocks and their read-hot pages, and moves these pages to blocks \
            with guard levels (ipr-2018)",
        paper: "IPR, DATE 2018",
        protects: Protection::Sound,
        keeps_apart: true,
        lowers_density: true,
        needs: Needs { limits: true, counters: false, retries: false },
        in_bulk: InBulk::MeanClock,
        ..About::PLAIN
    },
    new: New::Listed(|_, config, _| Box::new(HotLd::new(config))),
};

pub(super) struct HotLd {
    read_hot: ReadHot,
    low: LowDensity,
}

impl HotLd {
    pub(super) fn new(config: &DriveConfig) -> Self {
        Self { read_hot: ReadHot::new(config), low: LowDensity::new(config) }
    }

    /// Returns whether the read-hot pages of a block may go to a new low-density block. If there
    /// are too many low-density blocks, the least-read one is first moved back to a regular block.
    fn has_room(&mut self, view: &View, of: BlockId, out: &mut Vec<Action>) -> bool {
        if !self.low.has_room(view, of)
            && let Some(block) = self.low.revert_coldest(view, of)
        {
            out.push(Rewrite::all(block).into());
        }
        self.low.has_room(view, of)
    }
}

impl Policy for HotLd {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.read_hot.opened(view, block);
        if view.mode(block) > 0 {
            self.low.add(view, block);
        }
        self.read_hot.threshold(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let refreshed = if self.low.holds(block) {
            Rewrite::all_to(block, HOT)
        } else {
            self.read_hot.refresh(view, block, HOT)
        };
        let wants_low = refreshed.named_for(HOT).is_some() && !self.low.holds(block);
        let full = wants_low && !self.has_room(view, block, out);
        out.push(if full { Rewrite::all(block) } else { refreshed }.into());
        ReadHot::deadline(view, block)
    }

    fn compares_with(&self, view: &View, block: BlockId) -> Vec<BlockId> {
        if view.stream(block) == MONITOR { self.low.compared(view, block) } else { vec![] }
    }

    fn streams(&self) -> Vec<StreamSpec> {
        ReadHot::streams(StreamSpec {
            purpose: "low density",
            mode: GUARDED,
            pool: false,
            most_pages: None,
            counts_pages: false,
        })
    }

    fn erased(&mut self, view: &View, block: BlockId, cause: Cause) {
        self.read_hot.erased(view, block, cause);
        self.low.remove(block);
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.read_hot.counts().into_iter().chain(self.low.counts()).collect()
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(self.read_hot.controller_ram(geometry).0 + 4 * u64::from(geometry.blocks))
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        // The guarantee depends only on full-density blocks, because low-density blocks endure more
        // reads.
        Promise::within(self.read_hot.budgets(view, pec))
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        self.read_hot.explain(view, pec)
    }
}

#[cfg(test)]
mod tests {
    use crate::{card, usual};
    use vpass_drive::base::units::{Cause, Lpn};
    use vpass_drive::drive::{Drive, Techniques};

    /// Returns the coding of the block that holds page 0, and the number of valid pages of this
    /// block.
    fn mode_and_valid(drive: &Drive) -> (u8, u16) {
        let place = drive.map_rows().next().expect("page 0 holds data");
        let row = drive
            .block_states()
            .nth(drive.geometry().block_of(place.ppn).index())
            .expect("a block of the drive");
        (row.mode, row.valid)
    }

    fn read(drive: &mut Drive, times: u32) {
        (0..times).for_each(|_| drive.read_pages(&[Lpn::new(0)]));
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
        let (pages, limit) = (3 * 8, 1_000);
        let (threshold, of_low_density) = (limit - pages, 10 * limit - pages);
        assert_eq!((threshold, of_low_density), (976, 9_976));
        let mut drive = crate::testing::drive(text, "hotld");
        read(&mut drive, threshold);
        assert_eq!(mode_and_valid(&drive), (0, 24), "a monitor block, with the pages beside");
        read(&mut drive, threshold - 1);
        assert_eq!(mode_and_valid(&drive), (0, 24));
        read(&mut drive, 1);
        assert_eq!(mode_and_valid(&drive), (1, 1), "alone in a block of low density");
        drive.begin_measurement();
        let mut after = |reads| {
            read(&mut drive, reads);
            (
                drive.reclaim_counts().pages_copied,
                drive.flash_counts().erases[Cause::Reclaim as usize],
                mode_and_valid(&drive),
            )
        };
        assert_eq!(after(of_low_density - 1), (0, 0, (1, 1)));
        assert_eq!(after(1), (1, 1, (1, 1)), "in another block of low density");
        assert_eq!(drive.lost_pages(), 0);
    }

    /// If each page has a fixed die, each die has its own low-density blocks, as many as it can
    /// spare. No page leaves its die.
    #[test]
    fn each_die_has_blocks_of_low_density() {
        let text = r#"
            geometry = { channels = 4, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
            reclaim = { schedule = "foreground" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.7 }
            disturb = { model = "count", table = [{ pec = 0, limit = [1000] }] }
            density = { low_density = 0.05, spare_share = 0.5 }
            start = { overwrite = 0 }
            parity.stripe = 3
        "#;
        let config = crate::testing::config(text);
        let techniques = Techniques { reclaim: card("hotld"), parity: card("raid5"), ..usual() };
        let mut drive = Drive::new(config, &techniques, false).unwrap();
        drive.precondition(1);
        let stripes = drive.geometry().stripes.unwrap();
        for _ in 0..4 * 976 {
            (0..12).for_each(|page| drive.read_pages(&[Lpn::new(page)]));
        }
        let mut sparse = [0; 4];
        for (block, row) in drive.geometry().block_ids().zip(drive.block_states()) {
            sparse[usize::from(drive.geometry().die_of(block))] += u32::from(row.mode > 0);
        }
        // The limit is 5 % of 60 blocks.
        assert!(sparse.iter().all(|count| (1..=3).contains(count)), "{sparse:?}");
        let die = |ppn| drive.geometry().die_of(drive.geometry().block_of(ppn));
        assert!(drive.all_map_rows().all(|row| die(row.ppn) == stripes.die(row.lpn)));
        assert_eq!(drive.lost_pages(), 0);
    }
}
