//! Streams by number: those that every drive has, and what a technique says of its own.

use crate::base::units::StreamId;

/// Host writes.
pub(crate) const HOST: StreamId = 0;
/// Data moved by garbage collection.
pub(crate) const GC: StreamId = 1;
/// Data moved because of reads.
pub(crate) const RECLAIM: StreamId = 2;
/// Cold data moved by static wear levelling, into worn blocks.
pub(crate) const WEAR: StreamId = 3;

/// Free blocks that only moves may take, so that cleaning a block never lacks a place for its
/// pages; more where the host's data has several budgets.
pub const RESERVE: u32 = 2;

/// Blocks that a stream of a sample keeps open at most, where a larger drive keeps more.
///
/// GC deals the pages of a victim out to the open blocks of its stream. Where these are several,
/// each block gets pages of several victims, and data that is rewritten often mixes with other
/// data. Four mix almost as well as sixteen.
pub const WIDTH_OF_SAMPLE: u32 = 4;

/// Blocks that a stream may keep open, of so many kinds of data of so many budgets each.
///
/// Open blocks and the reserve together never exceed half the spare blocks, unless each stream has
/// a single block.
pub fn width(spare_blocks: u32, dies: u32, kinds: u32, budgets: u32) -> u32 {
    let reserve = RESERVE + budgets - 1;
    let room = (spare_blocks / 2).saturating_sub(reserve + 1);
    (room / (kinds * budgets)).clamp(1, dies)
}

/// Number of a policy's first own stream; those before are the drive's.
pub const FIRST_OWN: StreamId = 4;

/// A stream that a policy keeps for data of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// What it holds, for results.
    pub purpose: &'static str,
    /// The coding of its blocks, where the drive can spare the pages that it gives up.
    pub mode: u8,
    /// Whether its blocks come from the IPR pool where they can.
    pub pool: bool,
    /// Its blocks are closed after so many pages.
    pub most_pages: Option<u16>,
    /// Whether the reads of each page of its blocks are counted.
    pub counts_pages: bool,
}
