//! Streams by number: streams that every drive has, and the streams that a technique declares.

use crate::base::units::StreamId;

/// Stream of host writes.
pub const HOST: StreamId = 0;
/// Stream of data moved by garbage collection.
pub const GC: StreamId = 1;
/// Stream of data moved because of reads.
pub const RECLAIM: StreamId = 2;
/// Stream of cold data that static wear levelling moves into worn blocks.
pub const WEAR: StreamId = 3;

/// Number of free blocks that only moves may take. With this reserve, cleaning a block always finds
/// a place for its pages. The reserve is larger if the host's data has several hint budgets.
pub const RESERVE: u32 = 2;

/// Largest number of blocks that a stream of a sample keeps open. A whole drive may keep more.
///
/// GC distributes the pages of a victim over the open blocks of its stream. With several open
/// blocks, each gets pages of several victims, and frequently rewritten data mixes with other data.
/// Four open blocks mix data almost as well as sixteen.
pub const WIDTH_OF_SAMPLE: u32 = 4;

/// Returns the number of blocks that a stream may keep open, for `kinds` kinds of data with
/// `budgets` hint budgets each.
///
/// Open blocks and the reserve together never exceed half the spare blocks, unless each stream has
/// a single block.
pub fn width(spare_blocks: u32, dies: u32, kinds: u32, budgets: u32) -> u32 {
    let reserve = RESERVE + budgets - 1;
    let room = (spare_blocks / 2).saturating_sub(reserve + 1);
    (room / (kinds * budgets)).clamp(1, dies)
}

/// Number of a policy's first own stream. Smaller numbers are streams of the drive.
pub const FIRST_OWN: StreamId = 4;

/// Stream that a policy keeps for its own data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// Data of the stream, for results.
    pub purpose: &'static str,
    /// Coding of the stream's blocks. The drive uses it if it can spare the pages that the coding
    /// gives up.
    pub mode: u8,
    /// Whether its blocks come from the IPR pool if possible.
    pub pool: bool,
    /// Number of pages after which the stream's blocks are closed.
    pub most_pages: Option<u16>,
    /// Whether the drive counts the reads of each page of the stream's blocks.
    pub counts_pages: bool,
}
