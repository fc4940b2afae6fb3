//! # Redftl
//! Finds read-hot pages and writes only a few of them to a block, which is then called a shadow
//! block. When a shadow block reaches its limit, only a few pages must move, not those of a full
//! block.
//!
//! - **Paper:** Ha, Jeong, Kim, ACM `APSys` 2013, as ipr-2018 II-B and IV describe it (`RedFTL`).
//! - **Acts at:** `block`'s threshold. The `density.shadow_pages` pages of a shadow block move to
//!   another shadow block.
//! - **Costs:** 8 bytes per block, 2 per page of a monitor block, and 4 per shadow block. Shadow
//!   blocks also leave pages unused.
//! - **Departs from the paper:** read-hot pages are found as in ipr-2018. If `density.shadow` or
//!   `density.spare_share` allows no more shadow blocks, pages of the least-read shadow blocks
//!   return to regular blocks. If this is not enough, the new read-hot pages go to regular blocks.
//!   With parity, each die has its own shadow blocks and its own bounds. Parity pages can be
//!   read-hot too.
//! - **Does not help:** the number of erases, because a block endures as many reads as before. Only
//!   the jobs for which reads wait become shorter.
//! - **Safety:** no page is lost under any reads (`docs/reclaim/redftl.md`).
//!
//! ```text
//! 192 pages, 30 in a shadow block, alpha 1, limit 10,000: T = 10,000 - 192 = 9,808
//! reads   9,808 of the 30 -> 30 copies and an erase, not 192 copies and an erase
//! ```

use super::Technique;
use super::block::Block;
use super::shared::read_hot::{HOT, ReadHot};
use super::shared::shadow::Shadows;
use super::{Action, Policy, Promise, Rewrite, StreamSpec, Threshold, View};
use vpass_drive::api::card::{About, Card, InBulk, Needs, New, Protection};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, Reads};
use vpass_drive::config::DriveConfig;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "redftl",
        summary: "moves read-hot pages to shadow blocks, which hold only a few pages each (Ha et \
            al., 2013)",
        paper: "RedFTL, APSys 2013, as ipr-2018 describes it",
        protects: Protection::Sound,
        keeps_apart: true,
        needs: Needs { limits: true, counters: false, retries: false },
        in_bulk: InBulk::MeanClock,
        ..About::PLAIN
    },
    new: New::Listed(|_, config, _| Box::new(RedFtl::new(config))),
};

pub(super) struct RedFtl {
    block: Block,
    shadows: Shadows,
}

impl RedFtl {
    pub(super) fn new(config: &DriveConfig) -> Self {
        Self { block: Block::new(config), shadows: Shadows::new(config) }
    }
}

impl Policy for RedFtl {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.shadows.opened(view, block);
        self.shadows.read_hot.threshold(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        if Shadows::is_shadow(view, block) {
            out.push(Rewrite::all_to(block, HOT).into());
        } else {
            self.shadows.refresh(view, block, out);
        }
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
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.shadows.counts()
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.shadows.controller_ram(geometry, 4)
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        self.block.promise(view, pec)
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        self.shadows.explain(
            self.block.explain(view, pec),
            "shadow block of read-hot pages moved",
            "",
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
        let threshold = 10_000 - 3 * 64;
        assert_eq!(threshold, 9_808);
        let mut drive = drive_with_a_full_shadow("redftl");
        read_thirty(&mut drive, threshold - 1);
        assert_eq!(copied_and_erased(&drive), (0, 0));
        read_thirty(&mut drive, 1);
        assert_eq!(copied_and_erased(&drive), (30, 1));
        assert_eq!(drive.lost_pages(), 0);
    }

    #[test]
    fn a_shadow_block_at_its_limit_moves_few_pages() {
        let mut drive = drive_with_a_shadow("redftl", "");
        read(&mut drive, 976);
        assert_eq!(copied_and_erased(&drive), (1, 1));
        read(&mut drive, 9 * 976);
        assert_eq!(copied_and_erased(&drive), (10, 10));
        assert_eq!(
            drive.technique_counts().iter().find(|(name, _)| *name == "shadow_erases"),
            Some(&("shadow_erases", 10))
        );
        assert_eq!(drive.lost_pages(), 0);
    }
}
