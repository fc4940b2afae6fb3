//! # IPR
//! Finds the read-hot pages, gathers them in blocks of a pool, and gives those blocks guard levels in place when they come to their limit: then
//! they endure ten times the reads, and only a third of their pages had to move.
//!
//! **Paper** ipr-2018 III, all of it.
//! **Acts at** `block`'s threshold; of a read-hot block in the pool at one lower by what reprogramming reads more than moving; of a block of
//! low density at that with `density.limit_factor` times the limits.
//! **Costs** 12 bytes a block (reads, times of the last refresh and of the last reprogramming) and 2 for each page of a monitor block (III-E).
//! **Departs from the paper** the time of refreshes is counted in page operations of the host, so that it means the same untimed; the first
//! refresh of a block that begins with reads (`start.reads`) has no interval; the pool is the highest addresses of each plane. The paper takes
//! blocks of the pool "through garbage collection", which skips three kinds of block, and writes from "the global pool", which contains all
//! blocks; it does not say whether a full block is cleaned, and what keeps other data out. Here full blocks are evicted, and other data goes to the
//! pool only where nothing else is free (`density.keep_pool`). A block of low density that is younger than they are on average is not
//! reverted, and GC weighs one that was not full by the pages that it was left with; most significant pages without current data are not
//! backed up; the drive bounds the pages that low density may take away (`density.spare_share`), and where it must, a read-hot block is
//! refreshed instead.
//! **Does not help** where reads are even, or where the read-hot data is much larger than the pool.
//!
//! ```text
//! regular --sooner than B_avg--> monitor --pages above P_avg--> read-hot --at its limit, in the pool--> low density, in place
//!                                        --the others--------> regular           outside of it -------> read-hot, elsewhere
//! low density --at its limit--> read-hot        --the least read, when there are too many--> regular
//! ```
//!
//! **Why it is safe.** No page of a block is read more often than `block`'s threshold allows before its limits have grown: that threshold
//! counts the reads of the reprogramming itself. From then on the larger limits hold for every page that is left; where they are not so
//! much larger that the job's own reads leave room (`density.limit_factor` near 1), the block is refreshed instead.

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
        name: "ipr",
        summary: "hotld, with guard levels made in place by reprogramming (ipr-2018)",
        paper: "IPR, DATE 2018",
        protects: Protection::Sound,
        keeps_apart: true,
        lowers_density: true,
        needs: Needs { limits: true, counters: false },
        ..About::PLAIN
    },
    new: |_, config, _| Box::new(Ipr::new(config)),
};

pub(super) struct Ipr {
    read_hot: ReadHot,
    low: LowDensity,
    /// Read-hot blocks that were refreshed because they did not lie in the pool.
    outside: u64,
}

impl Ipr {
    pub(super) fn new(config: &DriveConfig) -> Self {
        Self { read_hot: ReadHot::new(config), low: LowDensity::new(config), outside: 0 }
    }

    /// What becomes of a read-hot block of full density.
    fn reprogram(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Action {
        if !view.geometry.is_in_pool(block) {
            self.outside += 1;
            return whole(view, block, HOT);
        }
        if !self.read_hot.gains(view, block) {
            return whole(view, block, HOT);
        }
        if !self.low.has_room()
            && let Some(coldest) = self.low.revert_coldest(view)
        {
            out.push(Action::Relocate { block: coldest });
        }
        if !self.low.has_room() || !view.can_spare() {
            return whole(view, block, HOT);
        }
        self.low.add(view, block);
        Action::Reprogram { block, backup: HOT }
    }

    fn threshold(&self, view: &View, block: BlockId) -> Reads {
        let may_merge = view.stream(block) == HOT && view.mode(block) == 0;
        if may_merge { self.read_hot.merging_threshold(view, block) } else { self.read_hot.threshold(view, block) }
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
        let action = if view.stream(block) != HOT {
            self.read_hot.refresh(view, block, HOT)
        } else if view.mode(block) > 0 {
            whole(view, block, HOT)
        } else {
            self.reprogram(view, block, out)
        };
        out.push(action);
        ReadHot::deadline(view, block)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        ReadHot::streams(StreamSpec { purpose: "read-hot", mode: 0, pool: true, most_pages: None, counts_pages: false })
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
        let merging = if self.low.is_possible() { self.read_hot.merging_budgets(view, pec) } else { vec![] };
        Promise::within(self.read_hot.budgets(view, pec).into_iter().chain(merging))
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let merging = self.read_hot.explain_merging(view, pec);
        self.read_hot.explain(view, pec).into_iter().chain(merging).collect()
    }
}
