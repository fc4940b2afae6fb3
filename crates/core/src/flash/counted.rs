//! What a sensing may count, by number: the read path is compiled for each.

/// Blocks only.
pub(crate) const BLOCKS: u8 = 0;
/// Blocks and wordlines.
pub(crate) const WORDLINES: u8 = 1;
/// These, and the technique's counters.
pub(crate) const TRACKED: u8 = 2;
/// Blocks, wordlines and, of some blocks, pages.
pub(crate) const PAGES: u8 = 3;
/// One of these but the first, where what a read deposits depends on the coding of its wordline:
/// looked up for each.
pub(crate) const CODED: u8 = 4;
