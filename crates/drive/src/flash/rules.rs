//! Rules of NAND, checked with assertions: program in order and erase before program. No erased
//! page is read, and no page is used that the block's coding takes away. A drive that breaks a rule
//! has a bug, so the run stops.

use super::block::{BlockHot, BlockState};
use crate::base::geometry::Geometry;
use crate::base::units::{BlockId, PageInBlock, Ppn};

/// Checks that a program hits the write pointer of its block.
#[inline(always)]
// A few comparisons, for every page written.
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
    panic!("block {block}: page {page} does not exist in a wordline of mode {}", hot.mode);
}

/// Checks that an erased block has no current data.
#[inline]
pub fn erase(block: BlockId, hot: &BlockHot) {
    assert!(hot.state == BlockState::Closed, "erase of block {block}, which is {:?}", hot.state);
    assert!(hot.valid == 0, "erase of block {block}, which holds {} valid pages", hot.valid);
}

/// Checks that a read page is programmed and that its block still keeps it.
#[inline]
pub fn read(ppn: Ppn, hot: &BlockHot, geometry: &Geometry) {
    let page = geometry.page_in(geometry.block_of(ppn), ppn);
    debug_assert!(page < hot.written_to(), "read of page {ppn}, which is erased");
    debug_assert!(
        geometry.keeps(hot.mode, ppn),
        "read of page {ppn}, which does not exist in a wordline of mode {}",
        hot.mode
    );
}
