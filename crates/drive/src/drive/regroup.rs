//! Regrouping: data that lies among data of a stricter hint budget moves to blocks of its own
//! budget, in the background (`hints.regroup`).
//!
//! A block uses the strictest hint of its data. Blocks of the start-up state hold data with any
//! hints. So do blocks that were opened when only the reserve was free. Without regrouping, such
//! data waits for its next move.
//!
//! ```text
//! hints.regroup = 0.5, a block with the hint "smallest":    2 valid pages of 6 are "idle"     it stays
//!                                                           3 of 6 are                        all of it moves, each page by its own hint
//! ```

use crate::api::rewrite::Rewrite;
use crate::base::streams::GC;
use crate::base::units::{BlockId, Cause, PageInBlock, Reads};
use crate::drive::Drive;
use crate::flash::block::{BlockState, MOVING};

/// Number of blocks that are checked together.
const LOOKS: u32 = 16;
/// Share of all blocks, as a divisor, that must be erased before the next pass begins, after a pass
/// that found no block.
const REST: u32 = 16;

/// State of the passes over all blocks.
#[derive(Clone, Debug)]
pub(super) struct Regroup {
    /// Share of a block's valid pages that must have a more relaxed hint than the block.
    least: f64,
    next: u32,
    /// Number of blocks to check before a pass has found no block.
    left: u32,
    /// Number of erases of the drive at which the next pass begins.
    rests_until: u64,
}

impl Regroup {
    pub(super) fn new(least: f64, blocks: u32) -> Self {
        Self { least, next: 0, left: blocks, rests_until: 0 }
    }
}

impl Drive {
    /// Checks the next blocks, and begins to move the first block that needs regrouping. Only one
    /// block moves at a time. Returns whether more blocks may need regrouping before another block
    /// is erased.
    #[inline]
    pub(crate) fn regroup(&mut self) -> bool {
        let Some(mut turn) = self.regroup.take() else { return false };
        let goes_on = self.regroup_on(&mut turn);
        self.regroup = Some(turn);
        goes_on
    }

    #[cold]
    fn regroup_on(&mut self, turn: &mut Regroup) -> bool {
        let erases = self.flash.erases_total;
        let is_busy = self.ftl.jobs.iter().flatten().any(|job| job.cause == Cause::Hint);
        if erases < turn.rests_until || is_busy {
            return is_busy;
        }
        for _ in 0..LOOKS {
            let block = BlockId::new(turn.next);
            turn.next = (turn.next + 1) % self.geometry.blocks;
            if self.is_worth_regrouping(block, turn.least) {
                turn.left = self.geometry.blocks;
                let (ftl, mut cx) = self.parts();
                ftl.rewrite(&mut cx, Rewrite::all_to(block, GC), Cause::Hint, Reads::NEVER);
                ftl.level_wear(&mut cx);
                return true;
            }
            turn.left -= 1;
            if turn.left == 0 {
                turn.left = self.geometry.blocks;
                turn.rests_until = erases + u64::from(self.geometry.blocks / REST).max(1);
                return false;
            }
        }
        true
    }

    /// Returns whether enough of a block's valid pages have a more relaxed hint than the block.
    fn is_worth_regrouping(&self, block: BlockId, least: f64) -> bool {
        let hot = self.flash.hot(block);
        if hot.state != BlockState::Closed
            || hot.valid == 0
            || hot.has(MOVING)
            || self.flash.is_protected(block)
        {
            return false;
        }
        let (goes_by, first) = (self.flash.cold(block).budget, self.geometry.first_page(block));
        let Some(hinted) = &self.ftl.hinted else { return false };
        let next = |page: &PageInBlock| self.flash.contents.next_valid(block, *page + 1);
        let valid =
            std::iter::successors(self.flash.contents.next_valid(block, PageInBlock::FIRST), next);
        let relaxed = valid
            .filter(|page| hinted.of(self.flash.contents.owner(first + *page)) > goes_by)
            .count();
        relaxed > 0 && relaxed as f64 >= least * f64::from(hot.valid)
    }
}
