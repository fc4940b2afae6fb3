//! Events of the timed gear for a checker: every request, every piece of physical work, and the
//! beginning and end of each of its stages. Events come in the order of time. They come from the
//! device itself, and contain only facts that are visible at the pins of dies, channels and host
//! link.

use crate::base::units::{BlockId, Cause, DieId, Ns, Ppn};

/// Number of a piece of physical work while it is in progress. Works other than host reads have the
/// highest bit set.
pub type OpId = u32;

/// Physical work of dies, without host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Read of a page and, unless it has no destination, its program.
    Copy {
        /// Page that is sensed and transferred over its channel.
        src: Ppn,
        /// Page that is then programmed, transferred over its channel.
        dst: Option<Ppn>,
        /// Cause of the copy.
        cause: Cause,
    },
    /// Read of a page for a wordline to come with this serial number.
    Load {
        /// Page that is sensed and transferred over its channel.
        src: Ppn,
        /// Serial number of the wordline.
        wordline: u32,
        /// Cause of the read.
        cause: Cause,
    },
    /// Further sensing and transfer of a page whose data could not be decoded.
    Retry {
        /// Page that is sensed.
        src: Ppn,
        /// Level of the retry; 1 comes after level 0.
        attempt: u8,
        /// Cause of the read.
        cause: Cause,
    },
    /// Transfer of a number of pages over the channel, then one program: of a page, or of a
    /// wordline that begins with it.
    Program {
        /// First page.
        dst: Ppn,
        /// Number of pages with data.
        pages: u32,
        /// Serial number of a wordline, whose loads come first.
        wordline: Option<u32>,
        /// Cause of the program.
        cause: Cause,
    },
    /// Transfer of a page over the channel, then its program, for a stripe that is written
    /// together. The page leaves the buffer when the whole stripe is done.
    Striped {
        /// Page that is programmed.
        dst: Ppn,
        /// Serial number of the stripe.
        stripe: u32,
        /// Whether it waits for the loads with this number.
        waits: bool,
        /// Cause of the program.
        cause: Cause,
    },
    /// Program of the most significant page of a wordline of this block in place.
    Merge {
        /// Block of the wordline.
        block: BlockId,
        /// Cause of the program.
        cause: Cause,
    },
    /// Erase of a block.
    Erase {
        /// Block that is erased.
        block: BlockId,
        /// Cause of the erase.
        cause: Cause,
    },
    /// Sensing of some wordlines of a block to count their errors.
    Probe {
        /// Block of the wordlines.
        block: BlockId,
        /// Number of wordlines.
        wordlines: u32,
    },
}

/// Event in time. Times are in ns. Requests are numbered as in
/// [`crate::watch::observer::Event::Requests`], modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the sentence of a variant explains its fields")]
pub enum TimeEvent {
    /// Requests come by their own clock from now on, or each when another completes. At most
    /// `depth` are in the drive; `u32::MAX` if the source limits them.
    Paced { open: bool, depth: u32, at: Ns },
    /// The drive takes over a request from the host's queue.
    Submitted { request: u32, at: Ns },
    /// Some bytes of a request come from the drive's memory.
    FromMemory { request: u32, bytes: u32, at: Ns },
    /// Some bytes of a request are rebuilt. They come when the last page that is read under this
    /// number is in the controller.
    Rebuilding { request: u32, bytes: u32, stripe: u32, at: Ns },
    /// A write or trim takes effect in memory.
    Accepted { request: u32, at: Ns },
    /// A request is complete at `end`, and its latency counts from `start`. It is reported when
    /// this is known, which may be before `end`.
    Completed { request: u32, start: Ns, end: Ns },
    /// Some bytes of a page will be read for a request: a host read waits from now on.
    Read { op: OpId, request: u32, ppn: Ppn, bytes: u32, at: Ns },
    /// These bytes will be read again, because the data cannot be decoded otherwise. `attempt` is
    /// the level of the retry; 1 comes after level 0. The data counts as read by the [`Self::Read`]
    /// that follows.
    Retry { op: OpId, request: u32, ppn: Ppn, bytes: u32, attempt: u8, at: Ns },
    /// A page will be read for a rebuild with this number that a host read waits for. It waits
    /// among host reads from now on. With `retry`, it is sensed at this level and cannot be
    /// decoded.
    Load { op: OpId, ppn: Ppn, stripe: u32, retry: Option<u8>, at: Ns },
    /// A page will be read for a rebuild if a host read fails: the next [`Self::ToRepair`] with
    /// this number. It is then reported as a [`Self::Load`].
    Held { ppn: Ppn, stripe: u32, retry: Option<u8> },
    /// Some bytes of a page will be read for a request, but cannot be decoded. They come when the
    /// last page that is read under this number is in the controller.
    ToRepair { op: OpId, request: u32, ppn: Ppn, bytes: u32, stripe: u32, at: Ns },
    /// Work waits at its die from now on. The program of a wordline first waits for its loads.
    Work { op: OpId, work: Work, at: Ns },
    /// Work is part of a piece of a job, which a die does as a whole. It is reported before the
    /// piece.
    Part { op: OpId, work: Work },
    /// The piece waits at this die from now on. A piece that takes no time is not reported.
    Piece { op: OpId, die: DieId, cause: Cause, at: Ns },
    /// An array begins or continues the work. With independent planes, a host read uses the array
    /// of a plane. Arrays are numbered in sequence.
    Begun { op: OpId, unit: u32, at: Ns },
    /// The array suspends the work for a read.
    Suspended { op: OpId, at: Ns },
    /// The work is ready for its channel now, and uses it from `from` to `to`.
    Transfer { op: OpId, channel: u32, at: Ns, from: Ns, to: Ns },
    /// The work has left its die. A copy to another place waits there from now on.
    Ended { op: OpId, at: Ns },
    /// The deferred job that moves this block may run steps at a die from now on, or is known to be
    /// done.
    Job { die: DieId, block: BlockId, cause: Cause, on: bool, at: Ns },
    /// An urgent job holds back a die's next reads, or does not any more.
    Urgent { die: DieId, on: bool, at: Ns },
}
