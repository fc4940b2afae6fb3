//! # `HotLD`
//! Finds the read-hot pages and writes them to blocks with guard levels, which endure ten times the reads and hold two pages of three.
//!
//! **Paper** ipr-2018 III-B, III-C; `HotLD` of IV: the paper's approach without in-place reprogramming.
//! **Acts at** `block`'s threshold, for blocks of low density with `density.limit_factor` times the limits.
//! **Costs** 12 bytes a block (reads, time of the last refresh, time since when its density is low) and 2 for each page of a monitor block; a
//! block of low density takes three programs for two pages.
//! **Departs from the paper** the time of refreshes is counted in page operations of the host, so that it means the same untimed; a block of
//! low density at its limit moves to another one, the paper's own word for that is only about IPR; the drive bounds the pages
//! that low density may take away (`density.spare_share`).
//! **Does not help** where reads are even: every block comes to its limit as late as the average, and nothing is hot.
//!
//! ```text
//! regular --sooner than B_avg--> monitor --pages above P_avg--> low density --at its limit--> low density
//!                                        --the others--------> regular      --the least read, when there are too many--> regular
//! ```
//!
//! **Why it is safe.** Every block moves as a whole at `block`'s threshold for its own limits, whatever it holds.

use super::Technique;
use super::shared::low_density::LowDensity;
use super::shared::read_hot::{HOT, ReadHot, whole};
use super::{Action, Policy, Promise, StreamSpec, Threshold, View};
use crate::base::geometry::Geometry;
use crate::base::units::{BlockId, Bytes, Cause, Reads};
use crate::config::DriveConfig;
use crate::slots::card::{About, Card, Needs, Protection};

pub(super) const CARD: Technique = Card {
    about: About {
        name: "hotld",
        summary: "read-hot pages in blocks with guard levels, found block by block and page by page (ipr-2018)",
        paper: "IPR, DATE 2018",
        protects: Protection::Sound,
        keeps_apart: true,
        lowers_density: true,
        needs: Needs { limits: true, counters: false },
        ..About::PLAIN
    },
    new: |_, config, _| Box::new(HotLd::new(config)),
};

pub(super) struct HotLd {
    read_hot: ReadHot,
    low: LowDensity,
}

impl HotLd {
    pub(super) fn new(config: &DriveConfig) -> Self {
        Self { read_hot: ReadHot::new(config), low: LowDensity::new(config) }
    }

    /// A hot block's pages may go to a new block of low density; where there are too many, the least read one goes.
    fn has_room(&mut self, view: &View, out: &mut Vec<Action>) -> bool {
        if !self.low.has_room()
            && let Some(block) = self.low.revert_coldest(view)
        {
            out.push(Action::Relocate { block });
        }
        self.low.has_room()
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
        let refreshed = if self.low.holds(block) { whole(view, block, HOT) } else { self.read_hot.refresh(view, block, HOT) };
        let wants_low = matches!(refreshed, Action::Divide { to: HOT, .. }) && !self.low.holds(block);
        let full = wants_low && !self.has_room(view, out);
        out.push(if full { Action::Relocate { block } } else { refreshed });
        ReadHot::deadline(view, block)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        ReadHot::streams(StreamSpec { purpose: "low density", mode: 1, pool: false, most_pages: None, counts_pages: false })
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
        // Blocks of low density endure more.
        Promise::within(self.read_hot.budgets(view, pec))
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        self.read_hot.explain(view, pec)
    }
}
