//! The rules of NAND, as aborts: in-order program, erase before program, no read of an erased page,
//! no use of one that the block's coding takes away. A drive that breaks one has a bug; there is
//! nothing sensible to go on with.

use super::block::{BlockHot, BlockState};
use crate::base::geometry::Geometry;
use crate::base::units::{BlockId, PageInBlock, Ppn};

/// The next program of a block must hit its write pointer.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a few comparisons, for every page written")]
pub fn program(block: BlockId, hot: &BlockHot, page: PageInBlock, geometry: &Geometry) {
    let next = geometry.next_kept(hot.written_to(), hot.mode);
    let is_next =
        hot.state == BlockState::Open && page == next && page.number() < geometry.pages_per_block;
    if !is_next || !geometry.keeps(hot.mode, geometry.first_page(block) + page) {
        refuse_program(block, hot, page, geometry);
    }
}

#[cold]
fn refuse_program(block: BlockId, hot: &BlockHot, page: PageInBlock, geometry: &Geometry) -> ! {
    assert!(hot.state == BlockState::Open, "program of block {block}, which is {:?}", hot.state);
    let next = geometry.next_kept(hot.written_to(), hot.mode);
    assert!(page == next, "block {block}: page {page} programmed, but page {next} is next");
    assert!(
        page.number() < geometry.pages_per_block,
        "block {block}: program beyond its last page"
    );
    panic!("block {block}: page {page} is not there in mode {}", hot.mode);
}

/// Only a block without current data may be erased.
#[inline]
pub fn erase(block: BlockId, hot: &BlockHot) {
    assert!(hot.state == BlockState::Closed, "erase of block {block}, which is {:?}", hot.state);
    assert!(hot.valid == 0, "erase of block {block}, which holds {} valid pages", hot.valid);
}

/// Only a programmed page may be read, and no longer than its block keeps it.
#[inline]
pub fn read(ppn: Ppn, page: PageInBlock, hot: &BlockHot, geometry: &Geometry) {
    debug_assert!(page < hot.written_to(), "read of page {ppn}, which is erased");
    debug_assert!(
        geometry.keeps(hot.mode, ppn),
        "read of page {ppn}, which is not there in mode {}",
        hot.mode
    );
}
