//! What the timed gear tells of its time, for whoever checks it: every request, every piece of
//! physical work, and when each stage of it began and ended. Events come in the order of time; what
//! they say is the device's word, and says nothing that could not be seen on the pins of dies,
//! channels and host link.

use crate::base::units::{BlockId, Cause, DieId, Ns, Ppn};

/// Names a piece of physical work while it is under way. Works other than host reads have the
/// highest bit set.
pub type OpId = u32;

/// Physical work of dies, host reads apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Read here and, unless there is no place for it, program there.
    Copy {
        /// What is sensed and comes out over its channel.
        src: Ppn,
        /// Where it is programmed then, in over that channel.
        dst: Option<Ppn>,
        /// Why.
        cause: Cause,
    },
    /// Read here for a wordline to come, which is known by this serial number.
    Load {
        /// What is sensed and comes out over its channel.
        src: Ppn,
        /// Serial number.
        wordline: u32,
        /// Why.
        cause: Cause,
    },
    /// A page whose data could not be decoded is sensed again and comes out over its channel.
    Retry {
        /// What is sensed.
        src: Ppn,
        /// At which level of retries; 1 follows on the first level.
        attempt: u8,
        /// Why it is read.
        cause: Cause,
    },
    /// So many pages in over the channel, then one program, of a page or of a wordline that begins
    /// with it.
    Program {
        /// The first page.
        dst: Ppn,
        /// Pages with data.
        pages: u32,
        /// Serial number of a wordline, whose loads come first.
        wordline: Option<u32>,
        /// Why.
        cause: Cause,
    },
    /// A page in over the channel, then its program, of a stripe that is written together; the
    /// buffer is free of it when all of it is done.
    Striped {
        /// The page.
        dst: Ppn,
        /// Serial number of what is written together.
        stripe: u32,
        /// It waits for the loads of that number.
        waits: bool,
        /// Why.
        cause: Cause,
    },
    /// The most significant page of a wordline of this block programmed anew.
    Merge {
        /// The block.
        block: BlockId,
        /// Why.
        cause: Cause,
    },
    /// An erase.
    Erase {
        /// The block.
        block: BlockId,
        /// Why.
        cause: Cause,
    },
    /// So many wordlines of a block sensed for their errors.
    Probe {
        /// The block.
        block: BlockId,
        /// Wordlines.
        wordlines: u32,
    },
}

/// Something that happened in time. Times are in ns; requests are numbered as in
/// [`crate::watch::observer::Observer::requests`], modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are what the variants' sentences name")]
pub enum TimeEvent {
    /// From now on requests come by their own clock, or the next one when one completes; at most
    /// `depth` are in the drive, `u32::MAX` where the source sees to that.
    Paced { open: bool, depth: u32, at: Ns },
    /// The drive takes a request over from the host's queue.
    Submitted { request: u32, at: Ns },
    /// So many bytes of it come from the drive's memory.
    FromMemory { request: u32, bytes: u32, at: Ns },
    /// So many bytes of it are rebuilt: they come when the last page is in the controller that is
    /// read under this number.
    Rebuilding { request: u32, bytes: u32, stripe: u32, at: Ns },
    /// A write or trim is carried out in memory: what it says holds from now on.
    Accepted { request: u32, at: Ns },
    /// A request is complete at `end`, and its latency counts from `start`. Told when that is
    /// known, which may be before `end`.
    Completed { request: u32, start: Ns, end: Ns },
    /// So many bytes of a page are to be read for a request: a host read waits from now on.
    Read { op: OpId, request: u32, ppn: Ppn, bytes: u32, at: Ns },
    /// The same bytes are to be read once more, because the data cannot be decoded otherwise;
    /// `attempt` is the level of retries, of which 1 follows on the first. What is decoded counts
    /// as read by the [`Self::Read`] that follows.
    Retry { op: OpId, request: u32, ppn: Ppn, bytes: u32, attempt: u8, at: Ns },
    /// A page is to be read for a rebuild that a host read waits for, known by this number: it
    /// waits among host reads from now on. With `retry` that is sensed in vain, at the level of
    /// retries that it names.
    Load { op: OpId, ppn: Ppn, stripe: u32, retry: Option<u8>, at: Ns },
    /// A page is to be read for a rebuild as soon as a host read has failed, the next to be told
    /// with this number by [`Self::ToRepair`]; then it is told as a [`Self::Load`].
    Held { ppn: Ppn, stripe: u32, retry: Option<u8> },
    /// So many bytes of a page are to be read for a request, in vain: they come when the last page
    /// is in the controller that is read under this number.
    ToRepair { op: OpId, request: u32, ppn: Ppn, bytes: u32, stripe: u32, at: Ns },
    /// Work waits at its die from now on; the program of a wordline for its loads first.
    Work { op: OpId, work: Work, at: Ns },
    /// Work that is part of a piece of a job, which a die does as a whole. Told before the piece.
    Part { op: OpId, work: Work },
    /// The piece waits at this die from now on. Not told of one that takes no time.
    Piece { op: OpId, die: DieId, cause: Cause, at: Ns },
    /// An array (of a die, with independent planes and a host read of a plane, numbered through)
    /// begins with it or goes on.
    Begun { op: OpId, unit: u32, at: Ns },
    /// The array leaves it for a read.
    Suspended { op: OpId, at: Ns },
    /// It is ready for its channel now, and has it from `from` to `to`.
    Transfer { op: OpId, channel: u32, at: Ns, from: Ns, to: Ns },
    /// It has left its die. A copy that goes to another place waits there from now on.
    Ended { op: OpId, at: Ns },
    /// The deferred job that moves this block may have steps at a die from now on, or is known to
    /// be done.
    Job { die: DieId, block: BlockId, cause: Cause, on: bool, at: Ns },
    /// An urgent job keeps a die's next reads waiting, or does no longer.
    Urgent { die: DieId, on: bool, at: Ns },
}
