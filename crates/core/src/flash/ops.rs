//! The log of physical work: what a change of state comes to on dies and channels.

use crate::base::units::{BlockId, Cause, DieId, Ppn};

/// Physical work that a change of state implies; the timed gear books it on dies and channels, in
/// this order. Where a page is read, the coding of its cells and the `level` that the read began
/// with are those of the time when it is recorded: the block may be erased when it is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NandOp {
    /// Read a page for a read-modify-write, program elsewhere follows.
    Fill { src: Ppn, coding: u8, level: u8 },
    /// What a host's request reads next begins with this level, not with the first.
    Begin { level: u8 },
    /// What is read here next is sensed again, at the level that `attempt` names. A host's request
    /// waits for it where it is `of_request`.
    Retry { src: Ppn, attempt: u8, cause: Cause, of_request: bool, coding: u8 },
    /// Program a host page.
    Program { dst: Ppn },
    /// Read here for a wordline to come, which the timed gear knows by this serial number.
    Load { src: Ppn, coding: u8, level: u8, serial: u32, cause: Cause },
    /// Program a wordline, which begins with this page and holds so many, once what was read for it
    /// is there.
    ProgramWordline { dst: Ppn, pages: u32, serial: u32, cause: Cause },
    /// Program a page of a stripe that is written together, which the timed gear knows by this
    /// serial number; once what was read for it is there, if it waits for that.
    Striped { dst: Ppn, serial: u32, waits: bool, cause: Cause },
    /// Read here and, unless it was lost, program there.
    Copy { src: Ppn, coding: u8, level: u8, dst: Option<Ppn>, cause: Cause },
    /// Sense so many wordlines of a block for their errors.
    Probe { block: BlockId, wordlines: u32 },
    /// Read here, for the states of the cells.
    Read { src: Ppn, coding: u8, level: u8, cause: Cause },
    /// Program the most significant page of a wordline of this block over what it holds, for this
    /// coding.
    Merge { block: BlockId, cause: Cause, coding: u8 },
    /// Erase a block that has endured so many P/E cycles before.
    Erase { block: BlockId, cause: Cause, pec: u32 },
    /// What follows up to the matching end is one job in the foreground of this die.
    JobBegin { die: DieId, cause: Cause },
    /// End of the job.
    JobEnd,
}

impl NandOp {
    /// Whether it reads a page for what has this serial number.
    pub(crate) fn loads_for(&self, number: u32) -> bool {
        matches!(self, Self::Load { serial, .. } if *serial == number)
    }
}
