//! Log of physical work: the effects of a change of state on dies and channels.

use crate::base::units::{BlockId, Cause, DieId, Ppn};

/// Physical work of a change of state. The timed gear schedules it on dies and channels, in this
/// order. For reads, the coding of the cells and the `level` at which the read began are those at
/// the time of the record. The block may be erased before the work is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NandOp {
    /// Read of a page for a read-modify-write. A program elsewhere follows.
    Fill { src: Ppn, coding: u8, level: u8 },
    /// Start level of the next read of a host request, if it is not level 0.
    Begin { level: u8 },
    /// Further sensing of the next read of this page, at the level that `attempt` names. With
    /// `of_request`, a host request waits for it.
    Retry { src: Ppn, attempt: u8, cause: Cause, of_request: bool, coding: u8 },
    /// Program of a host page.
    Program { dst: Ppn },
    /// Read of a page for a wordline to come, which the timed gear knows by this serial number.
    Load { src: Ppn, coding: u8, level: u8, serial: u32, cause: Cause },
    /// Program of a wordline that begins with this page and holds `pages` pages. It waits for the
    /// reads of these pages.
    ProgramWordline { dst: Ppn, pages: u32, serial: u32, cause: Cause },
    /// Program of a page of a stripe that is written together, which the timed gear knows by this
    /// serial number. If it `waits`, it begins after the reads for it.
    Striped { dst: Ppn, serial: u32, waits: bool, cause: Cause },
    /// Read of `src`, and program of `dst` if the data is not lost and is not only looked at.
    Copy { src: Ppn, coding: u8, level: u8, dst: Option<Ppn>, cause: Cause },
    /// Sensing of some wordlines of a block to count their errors.
    Probe { block: BlockId, wordlines: u32 },
    /// Program of the most significant page of a wordline of this block in place, for this coding.
    Merge { block: BlockId, cause: Cause, coding: u8 },
    /// Erase of a block that had `pec` P/E cycles before.
    Erase { block: BlockId, cause: Cause, pec: u32 },
    /// Start of a job in the foreground of this die, up to the matching end.
    JobBegin { die: DieId, cause: Cause },
    /// End of the job.
    JobEnd,
}

impl NandOp {
    /// Returns whether the operation reads a page for the program with this serial number.
    pub(crate) fn loads_for(&self, number: u32) -> bool {
        matches!(self, Self::Load { serial, .. } if *serial == number)
    }
}
