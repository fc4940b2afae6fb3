//! The rules of NAND, as aborts: in-order program, erase before program, no read of an erased page.
//! A drive that breaks one has a bug; there is nothing sensible to go on with.

use super::block::{BlockHot, BlockState};
use crate::units::{BlockId, Ppn};

/// The next program of a block must hit its write pointer.
#[inline]
pub fn program(block: BlockId, hot: &BlockHot, page: u32, pages_per_block: u32) {
    assert!(hot.state == BlockState::Open, "program of block {block}, which is {:?}", hot.state);
    assert!(page == u32::from(hot.write_ptr), "block {block}: page {page} programmed, but page {} is next", hot.write_ptr);
    assert!(page < pages_per_block, "block {block}: program beyond its last page");
}

/// Only a block without current data may be erased.
#[inline]
pub fn erase(block: BlockId, hot: &BlockHot) {
    assert!(hot.state == BlockState::Closed, "erase of block {block}, which is {:?}", hot.state);
    assert!(hot.valid == 0, "erase of block {block}, which holds {} valid pages", hot.valid);
}

/// Only a programmed page may be read.
#[inline]
pub fn read(ppn: Ppn, page: u32, hot: &BlockHot) {
    debug_assert!(page < u32::from(hot.write_ptr), "read of page {ppn}, which is erased");
}
