//! Events of a drive as data: facts of the medium, each with its time.

use crate::base::units::{BlockId, Cause, Lpn, Ns, Ppn, WordlineInBlock};
use crate::watch::observer::Origin;

/// Event of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time of the drive. The clock is set back to 0 when counting begins.
    pub at: Ns,
    /// Number of requests that the host had announced.
    pub requests: u64,
    /// Number of page reads before the event, for any cause. Retries do not count. In the fluid
    /// gear, reads of a block count when their number is drawn.
    pub reads: u64,
    /// Fact that the event reports.
    pub fact: Fact,
}

/// Fact of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Counting begins.
    MeasuredPhase,
    /// The clock is set back to 0.
    ClockRestarted {
        /// Time that had passed.
        passed: Ns,
    },
    /// The host wrote a page, or a part of it.
    Wrote {
        /// Number of the request.
        request: u64,
        /// Page of the host.
        lpn: Lpn,
        /// Whether the whole page is new.
        whole: bool,
    },
    /// The host trimmed a page.
    Trimmed {
        /// Page of the host.
        lpn: Lpn,
    },
    /// The drive reported the data of a page as lost.
    Lost {
        /// Page of the host.
        lpn: Lpn,
    },
    /// The data of a page that could not be read was rebuilt from its stripe.
    Rebuilt {
        /// Page of the host.
        lpn: Lpn,
    },
    /// A page that could not be read is given up, because newer data of it is in memory.
    Superseded {
        /// Page of the host.
        lpn: Lpn,
    },
    /// A page was programmed.
    Programmed {
        /// Page on flash.
        ppn: Ppn,
        /// Page of the host, or parity page of a stripe.
        lpn: Lpn,
        /// Origin of the content.
        origin: Origin,
        /// Cause of the program.
        cause: Cause,
    },
    /// An empty page was programmed, because its wordline could not wait for data.
    Padded {
        /// Page on flash.
        ppn: Ppn,
        /// Cause of the program.
        cause: Cause,
    },
    /// A wordline was programmed again, with fewer states.
    Merged {
        /// Block of the wordline.
        block: BlockId,
        /// Wordline.
        wordline: WordlineInBlock,
        /// Number of the coding mode.
        mode: u8,
        /// Cause of the program.
        cause: Cause,
    },
    /// A wordline has the limits of another coding mode from now on.
    Recoded {
        /// Block of the wordline.
        block: BlockId,
        /// Wordline; `None` for the whole block.
        wordline: Option<WordlineInBlock>,
        /// Number of the coding mode.
        mode: u8,
    },
    /// The reclaim technique is about to be asked about a block, which GC or wear levelling may be
    /// moving already.
    Alarm {
        /// Block that reached its alarm.
        block: BlockId,
    },
    /// A job begins to move the data of a block.
    JobBegan {
        /// Block that the job moves.
        block: BlockId,
        /// Number of pages that the job moves; `None` for all of the block.
        pages: Option<u32>,
        /// Cause of the job.
        cause: Cause,
    },
    /// A job has ended and left data in its block. A job that leaves no data ends with the erase.
    JobEnded {
        /// Block of the job.
        block: BlockId,
    },
    /// A block was erased.
    Erased {
        /// Block.
        block: BlockId,
        /// Cause of the erase.
        cause: Cause,
    },
    /// Pages of the flash have failed and cannot be read any more.
    Failed {
        /// First of the pages.
        first: Ppn,
        /// Number of consecutive pages.
        pages: u32,
    },
    /// All data on failed flash is now rebuilt or lost.
    RebuildDone,
    /// The parity of a stripe is given up.
    Unprotected {
        /// Number of the stripe.
        stripe: u32,
    },
    /// A stripe waits for its parity.
    AwaitsParity {
        /// Number of the stripe.
        stripe: u32,
    },
    /// A stripe has no parity from now on, and waits for none.
    NeedsNoParity {
        /// Number of the stripe.
        stripe: u32,
    },
    /// A stage of the drive's life begins.
    LivesIn {
        /// Number of the stage: 2 or 3.
        stage: u8,
    },
}

impl Fact {
    /// Names of all facts. The place of a name is the number of its fact.
    pub const NAMES: [&'static str; 21] = [
        "measured_phase",
        "clock_restarted",
        "wrote",
        "trimmed",
        "lost",
        "rebuilt",
        "superseded",
        "programmed",
        "padded",
        "merged",
        "recoded",
        "alarm",
        "job_began",
        "job_ended",
        "erased",
        "failed",
        "rebuild_done",
        "unprotected",
        "awaits_parity",
        "needs_no_parity",
        "lives_in",
    ];

    /// Returns the number of the fact's kind.
    pub const fn number(&self) -> u8 {
        match self {
            Self::MeasuredPhase => 0,
            Self::ClockRestarted { .. } => 1,
            Self::Wrote { .. } => 2,
            Self::Trimmed { .. } => 3,
            Self::Lost { .. } => 4,
            Self::Rebuilt { .. } => 5,
            Self::Superseded { .. } => 6,
            Self::Programmed { .. } => 7,
            Self::Padded { .. } => 8,
            Self::Merged { .. } => 9,
            Self::Recoded { .. } => 10,
            Self::Alarm { .. } => 11,
            Self::JobBegan { .. } => 12,
            Self::JobEnded { .. } => 13,
            Self::Erased { .. } => 14,
            Self::Failed { .. } => 15,
            Self::RebuildDone => 16,
            Self::Unprotected { .. } => 17,
            Self::AwaitsParity { .. } => 18,
            Self::NeedsNoParity { .. } => 19,
            Self::LivesIn { .. } => 20,
        }
    }

    /// Returns the name of the fact's kind.
    pub const fn name(&self) -> &'static str {
        Self::NAMES[self.number() as usize]
    }
}
