//! Physical work of a die in time: its stages, and how long each of them must take.

use vpass_drive::base::units::{Cause, Ns, Ppn};
use vpass_drive::watch::time_event::Work;

use super::expected::Taken;
use super::lengths::Lengths;

/// Work on one die: first the array and then the channel, or the reverse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub(super) die: u32,
    pub(super) array: Ns,
    /// Time on the channel; `None` for work without a transfer.
    pub(super) bus: Option<Ns>,
    /// Whether the work is a read, whose data leaves the die. Data of a program enters it.
    pub(super) out: bool,
    /// Time that each suspension adds; `None` if the work cannot be suspended.
    pub(super) suspension: Option<Ns>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The work waits for its die.
    Waiting,
    /// The work uses its array since this time.
    Array(Ns),
    /// The work uses its channel until this time.
    Bus(Ns),
    Suspended,
}

/// Work under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) half: Half,
    /// Program of a copy, after its read.
    pub(super) then: Option<Half>,
    pub(super) stage: Stage,
    /// Whether the work is a piece of a job, which nothing interrupts.
    pub(super) is_piece: bool,
    pub(super) cause: Cause,
    /// Start of the half that is under way.
    pub(super) begun: Ns,
    /// Array time so far, and number of suspensions.
    pub(super) worked: Ns,
    pub(super) suspended: u32,
    /// Serial number of the wordline that this work loads a page for.
    pub(super) load_for: Option<u32>,
    /// Serial number of the stripe that this program belongs to.
    pub(super) stripe: Option<u32>,
    /// Number of host pages that the work brings to flash, and the request that waits for them.
    pub(super) host_pages: u32,
    pub(super) request: Option<u32>,
}

impl UnderWay {
    fn new(half: Half) -> Self {
        Self {
            half,
            then: None,
            stage: Stage::Waiting,
            is_piece: false,
            cause: Cause::Host,
            begun: 0,
            worked: 0,
            suspended: 0,
            load_for: None,
            stripe: None,
            host_pages: 0,
            request: None,
        }
    }

    /// Returns the work of an operation that is not a part of a piece.
    pub(super) fn of(work: &Work, taken: &Taken, lengths: &Lengths) -> Self {
        let cause = match *work {
            Work::Copy { cause, .. }
            | Work::Load { cause, .. }
            | Work::Retry { cause, .. }
            | Work::Program { cause, .. }
            | Work::Striped { cause, .. }
            | Work::Merge { cause, .. }
            | Work::Erase { cause, .. } => cause,
            Work::Probe { .. } => Cause::Reclaim,
        };
        Self { cause, ..Self::stages(work, taken, lengths) }
    }

    fn stages(work: &Work, taken: &Taken, lengths: &Lengths) -> Self {
        let how = taken.how;
        let read = |src| {
            let (array, channel) = lengths.begin(src, lengths.pages(1), how);
            Half { die: lengths.die(src), array, bus: Some(channel), out: true, suspension: None }
        };
        let program = |dst, pages| Half {
            die: lengths.die(dst),
            array: lengths.program(dst),
            bus: Some(lengths.pages(pages)),
            out: false,
            suspension: Some(lengths.suspend_program),
        };
        let by_host = |cause, pages| if cause == Cause::Host { pages } else { 0 };
        match *work {
            Work::Copy { src, dst: None, .. } => Self::new(read(src)),
            Work::Retry { src, attempt, .. } => Self::new(Half {
                array: lengths.retry(src, how.coding, attempt),
                bus: Some(lengths.retry_transfer(lengths.pages(1), attempt)),
                ..read(src)
            }),
            Work::Copy { src, dst: Some(dst), cause } => Self {
                then: Some(program(dst, 1)),
                host_pages: by_host(cause, 1),
                ..Self::new(read(src))
            },
            Work::Load { src, wordline, .. } => {
                Self { load_for: Some(wordline), ..Self::new(read(src)) }
            }
            Work::Program { dst, pages, cause, .. } => {
                Self { host_pages: by_host(cause, pages), ..Self::new(program(dst, pages)) }
            }
            Work::Merge { block, .. } => Self::new(Half {
                die: lengths.die_of_block(block),
                array: lengths.merge(how.coding),
                ..program(Ppn::new(0), 1)
            }),
            Work::Striped { dst, stripe, .. } => {
                Self { stripe: Some(stripe), ..Self::new(program(dst, 1)) }
            }
            Work::Erase { block, .. } => Self::new(Half {
                die: lengths.die_of_block(block),
                array: lengths.erase(taken.endured),
                bus: None,
                out: false,
                suspension: Some(lengths.suspend_erase),
            }),
            Work::Probe { .. } => Self::piece(
                die_of_part(work, lengths).unwrap_or(0),
                part_ns(work, taken, lengths),
                Cause::Reclaim,
            ),
        }
    }

    /// Returns a piece of a job.
    pub(super) fn piece(die: u32, ns: Ns, cause: Cause) -> Self {
        Self {
            is_piece: true,
            cause,
            ..Self::new(Half { die, array: ns, bus: None, out: false, suspension: None })
        }
    }

    /// Returns whether the work is the program of a copy. In idle gaps, the number of such programs
    /// is limited.
    pub(super) fn is_copy_program(&self) -> bool {
        self.cause != Cause::Host
            && self.stripe.is_none()
            && !self.half.out
            && self.half.bus.is_some()
    }

    /// Returns the array time that the work must take.
    pub(super) fn array(&self) -> Ns {
        self.half.array + u64::from(self.suspended) * self.half.suspension.unwrap_or(0)
    }
}

/// Returns the time that this work adds to its piece of a job. All steps follow one another without
/// a break.
pub(super) fn part_ns(work: &Work, taken: &Taken, lengths: &Lengths) -> Ns {
    let how = taken.how;
    let program = |dst, pages| lengths.pages(pages) + lengths.program(dst);
    match *work {
        Work::Copy { src, dst, .. } => {
            lengths.whole_read(src, how) + dst.map_or(0, |dst| program(dst, 1))
        }
        Work::Load { src, .. } => lengths.whole_read(src, how),
        Work::Retry { src, attempt, .. } => {
            lengths.retry(src, how.coding, attempt)
                + lengths.retry_transfer(lengths.pages(1), attempt)
        }
        Work::Program { dst, pages, .. } => program(dst, pages),
        Work::Striped { dst, .. } => program(dst, 1),
        Work::Merge { .. } => lengths.pages(1) + lengths.merge(how.coding),
        Work::Erase { .. } => lengths.erase(taken.endured),
        Work::Probe { wordlines, .. } => u64::from(wordlines) * lengths.probe,
    }
}

/// Returns the die of the pages that a job moves. Programs, and reads for parity, do not show it.
pub(super) fn die_of_part(work: &Work, lengths: &Lengths) -> Option<u32> {
    match *work {
        Work::Load { cause: Cause::Parity, .. }
        | Work::Retry { cause: Cause::Parity, .. }
        | Work::Program { .. }
        | Work::Striped { .. } => None,
        Work::Copy { src, .. } | Work::Load { src, .. } | Work::Retry { src, .. } => {
            Some(lengths.die(src))
        }
        Work::Merge { block, .. } | Work::Erase { block, .. } | Work::Probe { block, .. } => {
            Some(lengths.die_of_block(block))
        }
    }
}
