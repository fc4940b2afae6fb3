//! Rows of a table of events: the facts of the medium, each as a kind and a few numbers.

use crate::base::units::{BlockId, Cause, Lpn, Ppn, WordlineInBlock};
use crate::watch::observer::Event;

/// Value of a row for a job of a whole block, or for a change of all wordlines of a block.
pub const WHOLE_BLOCK: u64 = u32::MAX as u64;

/// Row of a table of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Number of the kind, which is its place in [`Row::KINDS`].
    pub kind: u8,
    /// Cause of the event.
    pub cause: Option<Cause>,
    /// Block of the event.
    pub block: Option<BlockId>,
    /// Page on flash. Without a block, its block is that of the event.
    pub ppn: Option<Ppn>,
    /// Page of the host, or parity page of a stripe.
    pub lpn: Option<Lpn>,
    /// Number that the kind explains: nanoseconds, pages, a wordline, a stripe or a stage.
    pub value: u64,
}

impl Row {
    /// Names of all kinds. The place of a name is the number of its kind.
    pub const KINDS: [&'static str; 21] = [
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

    /// Returns the row of an event; `None` if it is no fact of the medium: reads, the start-up
    /// state, and inputs of the oracle's own arithmetic.
    pub fn of(event: &Event<'_>) -> Option<Self> {
        Some(match *event {
            Event::MeasuredPhase => Self::new(0),
            Event::ClockRestarted { passed } => Self { value: passed, ..Self::new(1) },
            Event::Wrote { lpn, whole, .. } => {
                Self { value: whole.into(), ..Self::new(2).of_host(lpn) }
            }
            Event::Trimmed { lpn } => Self::new(3).of_host(lpn),
            Event::Lost { lpn } => Self::new(4).of_host(lpn),
            Event::Rebuilt { lpn, .. } => Self::new(5).of_host(lpn),
            Event::Superseded { lpn } => Self::new(6).of_host(lpn),
            Event::Programmed { ppn, lpn, cause, .. } => {
                Self { ppn: Some(ppn), ..Self::new(7).of_host(lpn).by(cause) }
            }
            Event::Padded { ppn, cause, .. } => Self { ppn: Some(ppn), ..Self::new(8).by(cause) },
            Event::Merged { block, wordline, cause, .. } => {
                Self { value: wordline.number().into(), ..Self::new(9).at(block).by(cause) }
            }
            Event::Recoded { block, wordline, .. } => {
                let wordline = wordline.map(WordlineInBlock::number);
                Self { value: wordline.map_or(WHOLE_BLOCK, u64::from), ..Self::new(10).at(block) }
            }
            Event::Alarm { block } => Self::new(11).at(block),
            Event::JobBegan { block, pages, cause } => {
                let pages = pages.map_or(WHOLE_BLOCK, |pages| pages.len().into());
                Self { value: pages, ..Self::new(12).at(block).by(cause) }
            }
            Event::JobEnded { block } => Self::new(13).at(block),
            Event::Erased { block, cause } => Self::new(14).at(block).by(cause),
            Event::Failed { pages } => {
                let mut pages = pages.pages();
                let ppn = pages.next();
                Self {
                    ppn,
                    value: u64::from(ppn.is_some()) + pages.count() as u64,
                    ..Self::new(15)
                }
            }
            Event::RebuildDone => Self::new(16),
            Event::Unprotected { stripe } => Self { value: stripe.into(), ..Self::new(17) },
            Event::AwaitsParity { stripe } => Self { value: stripe.into(), ..Self::new(18) },
            Event::NeedsNoParity { stripe } => Self { value: stripe.into(), ..Self::new(19) },
            Event::LivesIn { stage } => Self { value: stage.into(), ..Self::new(20) },
            _ => return None,
        })
    }

    fn new(kind: u8) -> Self {
        Self { kind, ..Self::default() }
    }

    fn of_host(self, lpn: Lpn) -> Self {
        Self { lpn: Some(lpn), ..self }
    }

    fn at(self, block: BlockId) -> Self {
        Self { block: Some(block), ..self }
    }

    fn by(self, cause: Cause) -> Self {
        Self { cause: Some(cause), ..self }
    }
}

/// Returns the number of page reads that an event reports. Retries do not count.
pub fn reads_of(event: &Event<'_>) -> u64 {
    match *event {
        Event::Reads { batch } => batch.len() as u64,
        Event::ReadInBulk { reads, .. } => reads,
        Event::ReadInBulkWithRetries(bulk) => bulk.reads.iter().map(|n| u64::from(*n)).sum(),
        Event::ReadOffFlash(reads) => reads.sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
