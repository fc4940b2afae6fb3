//! Reuse of a block without an erase: its valid data is written again to empty pages of the block.
//! Data that was just written has no dose, so the block's reads start at 0 for it.
//!
//! The dose of a wordline counts from its first page. So the new filling begins at a new wordline.
//! If the old filling ends within a wordline, this wordline is completed first, with copies of a
//! page that moves on at once.
//!
//! ```text
//! TLC, 12 pages, A to D valid in pages 0 to 3:     A B C | D . . | . . . | . . .
//! pages 4 and 5 complete the wordline, with D:     A B C | - - D | . . . | . . .
//! all valid pages move to pages 6 and later:       - - - | - - - | A B C | D . .
//! ```

use crate::api::Context;
use crate::base::page_set::PageSet;
use crate::base::units::{BlockId, PageInBlock, Ppn};
use crate::flash::Flash;
use crate::flash::block::{BlockState, next_filling};
use crate::flash::operate::program::NewPage;
use crate::ftl::Ftl;
use crate::ftl::job::Job;

/// Returns the pages of a block that are written again within it: all pages before its next
/// filling. Returns `None` if there is no space for a filling.
pub(super) fn before_next_filling(flash: &Flash, block: BlockId) -> Option<PageSet> {
    let first = next_filling(&flash.geometry, flash.hot(block))?;
    let mut old = PageSet::none(flash.geometry.pages_per_block);
    old.insert(PageInBlock::FIRST, first.number());
    Some(old)
}

impl Ftl {
    /// Moves one page of a job that writes within its block. `page` is the first page that must
    /// still move.
    pub(crate) fn recycle_page(&mut self, cx: &mut Context, job: &mut Job, page: PageInBlock) {
        let is_complete =
            job.within.is_some_and(|first| cx.flash.hot(job.block).written_to() >= first);
        let page = if is_complete {
            job.cursor = page + 1;
            page
        } else {
            cx.flash.contents.last_valid(job.block).expect("a page is still to move")
        };
        self.move_page(cx, job, page, None);
    }

    /// Writes a page at the next place of a block whose data moves within itself.
    pub(crate) fn place_within(&mut self, flash: &mut Flash, block: BlockId, data: NewPage) -> Ppn {
        let page = flash.hot(block).written_to();
        // The block belongs to no stream, so it is open only for this program.
        flash.set_state(block, BlockState::Open);
        self.program(flash, block, page, data);
        flash.set_state(block, BlockState::Closed);
        flash.geometry.first_page(block) + page
    }
}
