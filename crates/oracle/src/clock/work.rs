//! Physical work of a die in time: its stages, and how long each of them must take.

use vpass_drive::base::units::{Cause, Ns, Ppn};
use vpass_drive::watch::time_event::Work;

use super::expected::Taken;
use super::lengths::{How, Lengths};

/// Work on one die: first the array and then the channel, or the reverse.
#[derive(Clone, Copy, Debug, Default)]
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// The work waits for its die.
    #[default]
    Waiting,
    /// The program waits until its pages are read.
    Loading,
    /// The work uses its array since this time.
    Array(Ns),
    /// The work uses its channel until this time.
    Bus(Ns),
    Suspended,
}

/// Read among the host's reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostRead {
    /// Request that gets the page, and its bytes; `None` if another sensing counts instead, or if
    /// no request gets the page.
    pub(super) part: Option<(u32, u32)>,
    /// Array that senses the page.
    pub(super) unit: u32,
    pub(super) came: Ns,
    /// Whether reclaim was active on the die when the read arrived.
    pub(super) met_reclaim: bool,
    /// Request whose page this read cannot decode. The pages for its rebuild are read after it.
    pub(super) to_repair: Option<u32>,
}

/// Work under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) half: Half,
    /// Program of a copy, after its read.
    pub(super) then: Option<Half>,
    pub(super) stage: Stage,
    pub(super) cause: Cause,
    pub(super) host_read: Option<HostRead>,
    /// Start of the half that is under way.
    pub(super) begun: Ns,
    /// Array time so far, and number of suspensions.
    pub(super) worked: Ns,
    pub(super) suspended: u32,
    /// Serial number of the wordline, stripe or rebuild that this work loads a page for.
    pub(super) load_for: Option<u32>,
    /// Serial number of the stripe that this program belongs to.
    pub(super) stripe: Option<u32>,
    /// Number of host pages that the work brings to flash, and the request that waits for them.
    pub(super) host_pages: u32,
    pub(super) request: Option<u32>,
}

impl UnderWay {
    fn new(half: Half, cause: Cause) -> Self {
        Self {
            half,
            then: None,
            stage: Stage::default(),
            cause,
            host_read: None,
            begun: 0,
            worked: 0,
            suspended: 0,
            load_for: None,
            stripe: None,
            host_pages: 0,
            request: None,
        }
    }

    /// Returns a read among the host's reads, at its level or as this retry. Its page takes
    /// `transfer` on the channel at level 0.
    pub(super) fn read(
        (ppn, how): (Ppn, How),
        retry: Option<u8>,
        transfer: Ns,
        part: Option<(u32, u32)>,
        (came, lengths): (Ns, &Lengths),
    ) -> Self {
        let (array, bus) = lengths.sensing(ppn, how, retry, transfer);
        let half =
            Half { die: lengths.die(ppn), array, bus: Some(bus), out: true, suspension: None };
        let host_read =
            HostRead { part, unit: lengths.unit(ppn), came, met_reclaim: false, to_repair: None };
        Self { host_read: Some(host_read), ..Self::new(half, Cause::Host) }
    }

    /// Returns the work of an operation that is not a part of a piece.
    pub(super) fn of(work: &Work, taken: Taken, lengths: &Lengths) -> Self {
        let how = taken.how;
        let read = |src, retry| {
            let (array, bus) = lengths.sensing(src, how, retry, lengths.pages(1));
            Half { die: lengths.die(src), array, bus: Some(bus), out: true, suspension: None }
        };
        let program = |dst, pages| Half {
            die: lengths.die(dst),
            array: lengths.program(dst),
            bus: Some(lengths.pages(pages)),
            out: false,
            suspension: Some(lengths.speed.suspend_program),
        };
        let by_host = |cause, pages| if cause == Cause::Host { pages } else { 0 };
        match *work {
            Work::Copy { src, dst: None, cause } => Self::new(read(src, None), cause),
            Work::Retry { src, attempt, cause } => Self::new(read(src, Some(attempt)), cause),
            Work::Copy { src, dst: Some(dst), cause } => Self {
                then: Some(program(dst, 1)),
                host_pages: by_host(cause, 1),
                ..Self::new(read(src, None), cause)
            },
            Work::Load { src, wordline, cause } => {
                Self { load_for: Some(wordline), ..Self::new(read(src, None), cause) }
            }
            Work::Program { dst, pages, cause, .. } => {
                Self { host_pages: by_host(cause, pages), ..Self::new(program(dst, pages), cause) }
            }
            Work::Striped { dst, stripe, cause, .. } => {
                Self { stripe: Some(stripe), ..Self::new(program(dst, 1), cause) }
            }
            Work::Merge { block, cause } => {
                let die = lengths.die_of_block(block);
                let half = Half { die, array: lengths.merge(how.coding), ..program(Ppn::FIRST, 1) };
                Self::new(half, cause)
            }
            Work::Erase { block, cause } => {
                let half = Half {
                    die: lengths.die_of_block(block),
                    array: lengths.speed.erase(taken.endured),
                    suspension: Some(lengths.speed.suspend_erase),
                    ..Half::default()
                };
                Self::new(half, cause)
            }
            Work::Probe { block, .. } => {
                let ns = part_ns(work, taken, lengths);
                Self::piece(lengths.die_of_block(block), ns, Cause::Reclaim)
            }
        }
    }

    /// Returns a piece of a job, which nothing interrupts.
    pub(super) fn piece(die: u32, ns: Ns, cause: Cause) -> Self {
        Self::new(Half { die, array: ns, ..Half::default() }, cause)
    }

    /// Returns the array time that the work must take.
    pub(super) fn array(&self) -> Ns {
        self.half.array + u64::from(self.suspended) * self.half.suspension.unwrap_or(0)
    }
}

/// Returns the time that this work adds to its piece of a job. All steps follow one another without
/// a break.
pub(super) fn part_ns(work: &Work, taken: Taken, lengths: &Lengths) -> Ns {
    let how = taken.how;
    let program = |dst, pages| lengths.pages(pages) + lengths.program(dst);
    let sensing = |src, retry| {
        let (array, channel) = lengths.sensing(src, how, retry, lengths.pages(1));
        array + channel
    };
    match *work {
        Work::Copy { src, dst, .. } => {
            sensing(src, None) + lengths.speed.ecc + dst.map_or(0, |dst| program(dst, 1))
        }
        Work::Load { src, .. } => sensing(src, None) + lengths.speed.ecc,
        Work::Retry { src, attempt, .. } => sensing(src, Some(attempt)),
        Work::Program { dst, pages, .. } => program(dst, pages),
        Work::Striped { dst, .. } => program(dst, 1),
        Work::Merge { .. } => lengths.pages(1) + lengths.merge(how.coding),
        Work::Erase { .. } => lengths.speed.erase(taken.endured),
        Work::Probe { wordlines, .. } => u64::from(wordlines) * lengths.speed.probe,
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
