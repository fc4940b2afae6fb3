//! # Read leveling
//! Keeps only a few read-hot pages in a block, which is then called a shadow block. When a shadow
//! block reaches its limit, its pages are written again to free pages of the same block. Newly
//! written pages have no dose yet. When no free pages are left, the pages move to another block,
//! and the shadow block is erased.
//!
//! - **Paper:** Liu, Chang, Chang, SYSTOR 2015, as ipr-2018 II-B and IV describe it ("RL").
//! - **Acts at:** `block`'s threshold. Reads of a shadow block count only from the time when its
//!   pages were last written.
//! - **Costs:** 8 bytes per block, 2 per page of a monitor block, and 10 per shadow block. These 10
//!   bytes are its opening time, and the read count and the page at which its pages were last
//!   written. Shadow blocks also leave pages unused.
//! - **Departs from the paper:** as `redftl`. The pages of a wordline share one dose, so pages that
//!   are written again begin on a new wordline.
//! - **Does not help:** flash in which reads disturb a page before it is programmed
//!   (`disturb.preprogram_weight` above 0). On such flash it works as `redftl`.
//! - **Safety:** no page is lost under any reads (`docs/reclaim/read-leveling.md`).
//!
//! ```text
//! 192 pages, 30 in a shadow block: pages 0 to 29, 30 to 59, .. 150 to 179: 6 fillings, so a block is reused 5 times
//! alpha 1, limit 10,000: T = 10,000 - 192 = 9,808; the 30 reads of a job's copies count for the next filling
//! reads   9,808 -> 30 copies, no erase     4 x 9,778 more -> 30 copies each     9,778 more -> 30 copies to another block, one erase
//! ```

use std::collections::BTreeMap;

use super::Technique;
use super::block::Block;
use super::shared::read_hot::{HOT, ReadHot};
use super::shared::shadow::Shadows;
use super::{Action, Policy, Promise, Rewrite, StreamSpec, Threshold, View};
use vpass_drive::api::card::{About, Card, InBulk, Needs, New, Protection};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, PageInBlock, Reads};
use vpass_drive::config::DriveConfig;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "read-leveling",
        summary: "like `redftl`, but rewrites read-hot pages within their block until this block \
            is full (Liu et al., 2015)",
        paper: "Read Leveling, SYSTOR 2015, as ipr-2018 describes it",
        protects: Protection::Sound,
        keeps_apart: true,
        needs: Needs { limits: true, counters: false, retries: false },
        in_bulk: InBulk::MeanClock,
        ..About::PLAIN
    },
    new: New::Listed(|_, config, _| Box::new(ReadLeveling::new(config))),
};

/// Pages of a shadow block that were written together.
#[derive(Clone, Copy, Default)]
struct Filling {
    /// First page of the filling.
    first: PageInBlock,
    /// Lower bound of the block's read count at the time when the filling was written.
    from: u32,
}

/// Fillings of a shadow block: the one that holds its data now, and the one that has been
/// requested.
#[derive(Clone, Copy, Default)]
struct Fillings {
    serving: Filling,
    wanted: Option<Filling>,
}

pub(super) struct ReadLeveling {
    block: Block,
    shadows: Shadows,
    fillings: BTreeMap<BlockId, Fillings>,
    /// Whether reads of a block leave its free pages without a dose.
    forgets: bool,
    reuses: u64,
}

impl ReadLeveling {
    pub(super) fn new(config: &DriveConfig) -> Self {
        Self {
            block: Block::new(config),
            shadows: Shadows::new(config),
            fillings: BTreeMap::new(),
            forgets: config.disturb.preprogram_weight == 0.0,
            reuses: 0,
        }
    }

    /// Returns the filling that holds the block's data now. When the requested filling has been
    /// written, no page of the earlier filling is valid, and the requested one takes its place.
    fn serving(&mut self, view: &View, block: BlockId) -> Filling {
        let fillings = self.fillings.entry(block).or_default();
        if let Some(wanted) = fillings.wanted
            && !view.holds_before(block, wanted.first)
        {
            *fillings = Fillings { serving: wanted, wanted: None };
            self.reuses += 1;
        }
        fillings.serving
    }

    /// Returns the rewrite of a shadow block that has reached its limit.
    fn reuse(&mut self, view: &View, block: BlockId) -> Rewrite {
        match view.next_filling(block) {
            Some(first) if self.forgets => {
                let wanted = Filling { first, from: view.dose(block).whole_down().0 };
                self.fillings.entry(block).or_default().wanted = Some(wanted);
                Rewrite::within(block)
            }
            _ => Rewrite::all_to(block, HOT),
        }
    }
}

impl Policy for ReadLeveling {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.shadows.opened(view, block);
        self.shadows.read_hot.threshold(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        if !Shadows::is_shadow(view, block) {
            self.shadows.refresh(view, block, out);
            return ReadHot::deadline(view, block);
        }
        let threshold = self.shadows.read_hot.threshold(view, block);
        let due = Reads(threshold.0.saturating_add(self.serving(view, block).from));
        if view.reads(block) < due {
            return due;
        }
        out.push(self.reuse(view, block).into());
        ReadHot::deadline(view, block)
    }

    fn compares_with(&self, view: &View, block: BlockId) -> Vec<BlockId> {
        self.shadows.compared_with(view, block)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        self.shadows.streams()
    }

    fn erased(&mut self, view: &View, block: BlockId, cause: Cause) {
        self.shadows.erased(view, block, cause);
        self.fillings.remove(&block);
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.shadows.counts().into_iter().chain([("shadow_reuses", self.reuses)]).collect()
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.shadows.controller_ram(geometry, 10)
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        self.block.promise(view, pec)
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        self.shadows.explain(
            self.block.explain(view, pec),
            "rewrite of read-hot pages within a shadow block",
            ", counted from their last rewrite",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::shadow::tests::{
        copied_and_erased, drive_with_a_full_shadow, drive_with_a_shadow, read, read_thirty,
    };

    #[test]
    fn worked_example() {
        let (threshold, fillings) = (10_000 - 3 * 64, 192 / 30);
        assert_eq!((threshold, fillings), (9_808, 6));
        let mut drive = drive_with_a_full_shadow("read-leveling");
        read_thirty(&mut drive, threshold - 1);
        assert_eq!(copied_and_erased(&drive), (0, 0));
        read_thirty(&mut drive, 1);
        assert_eq!(copied_and_erased(&drive), (30, 0));
        for used_again in 2..fillings {
            read_thirty(&mut drive, threshold - 30 - 1);
            assert_eq!(copied_and_erased(&drive), (30 * (used_again - 1), 0));
            read_thirty(&mut drive, 1);
            assert_eq!(copied_and_erased(&drive), (30 * used_again, 0));
        }
        read_thirty(&mut drive, threshold - 30);
        assert_eq!(copied_and_erased(&drive), (30 * fillings, 1));
        assert_eq!(drive.lost_pages(), 0);
    }

    /// The shadow block has eight wordlines and one page of data, which goes to pages 0, 3, 6, ..
    /// 21 in turn. Each time, two copies complete the previous wordline, and a third copy begins
    /// the next one. The three reads of these copies count.
    #[test]
    fn a_shadow_block_is_used_until_it_is_full() {
        let mut drive = drive_with_a_shadow("read-leveling", "");
        read(&mut drive, 976);
        assert_eq!(copied_and_erased(&drive), (3, 0));
        read(&mut drive, 972);
        assert_eq!(copied_and_erased(&drive), (3, 0));
        read(&mut drive, 1);
        assert_eq!(copied_and_erased(&drive), (6, 0));
        read(&mut drive, 5 * 973);
        assert_eq!(copied_and_erased(&drive), (21, 0), "seven uses more");
        read(&mut drive, 973);
        assert_eq!(copied_and_erased(&drive), (22, 1));
        let counts = drive.technique_counts();
        let count = |wanted| counts.iter().find(|(name, _)| *name == wanted).unwrap().1;
        assert_eq!((count("shadow_reuses"), count("shadow_erases")), (7, 1));
        assert_eq!(drive.lost_pages(), 0);
    }
}
