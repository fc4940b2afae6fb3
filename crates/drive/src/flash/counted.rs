//! Numbers of the kinds of counting. The read path is compiled for each kind.

/// Counting of blocks only.
pub(crate) const BLOCKS: u8 = 0;
/// Counting of blocks and wordlines.
pub(crate) const WORDLINES: u8 = 1;
/// Counting of blocks, wordlines, and the technique's counters.
pub(crate) const TRACKED: u8 = 2;
/// Counting of blocks and wordlines, and of the pages of some blocks.
pub(crate) const PAGES: u8 = 3;
/// Counting of any kind except the first, if the dose of a read depends on the coding of its
/// wordline. The kind is looked up for each read.
pub(crate) const CODED: u8 = 4;
