//! A block used again without an erase: what is valid in it is written once more, to pages of the
//! same block that hold nothing yet. Data that was just written has endured nothing, so the block's
//! reads begin anew for it.
//!
//! What a wordline has endured counts from its first page. So the new filling begins on a wordline
//! of its own, and where the old one ends within a wordline, that is completed first, with copies
//! of a page that moves on at once.
//!
//! ```text
//! TLC, 12 pages, A to D valid in pages 0 to 3:     A B C | D . . | . . . | . . .
//! pages 4 and 5 complete the wordline, with D:     A B C | - - D | . . . | . . .
//! all move to the pages from 6 on:                 - - - | - - - | A B C | D . .
//! ```

use crate::base::page_set::PageSet;
use crate::base::units::{BlockId, Cause, Lpn, PageInBlock, Ppn};
use crate::bugs::Bug;
use crate::flash::Flash;
use crate::flash::block::{BlockState, next_filling};
use crate::ftl::Ftl;
use crate::ftl::job::Job;
use crate::slots::Slots;
use crate::watch::observer::Origin;

impl Ftl {
    /// The pages of a block that are written again within it: all before its next filling; none
    /// where there is no room for one.
    pub(super) fn before_next_filling(&self, flash: &Flash, block: BlockId) -> Option<PageSet> {
        let first = next_filling(&flash.geometry, flash.hot(block))?;
        let first = if self.bugs.has(Bug::RecycleSharesWordline) {
            flash.hot(block).written_to()
        } else {
            first
        };
        let mut old = PageSet::none(flash.geometry.pages_per_block);
        old.insert(PageInBlock::FIRST, first.number());
        Some(old)
    }

    /// One page of such a job; `page` is the first that is still to move.
    pub(crate) fn recycle_page(
        &mut self,
        flash: &mut Flash,
        slots: &mut Slots,
        job: &mut Job,
        page: PageInBlock,
    ) {
        let is_complete =
            job.within.is_some_and(|first| flash.hot(job.block).written_to() >= first);
        let page = if is_complete {
            job.cursor = page + 1;
            page
        } else {
            flash.contents().last_valid(job.block).expect("a page is still to move")
        };
        self.move_page(flash, slots, job, page, None);
    }

    /// Writes a page at the next place of a block that is being moved within itself.
    pub(crate) fn place_within(
        &mut self,
        flash: &mut Flash,
        block: BlockId,
        lpn: Lpn,
        origin: Origin,
        cause: Cause,
    ) -> Ppn {
        let page = flash.hot(block).written_to();
        // It is no stream's: open for this program only.
        flash.set_state(block, BlockState::Open);
        self.program(flash, block, page, lpn, origin, cause);
        flash.set_state(block, BlockState::Closed);
        flash.geometry.first_page(block) + page
    }
}
