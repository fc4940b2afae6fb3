//! What whoever watches is told: busy stretches of dies and channels, and every event where it
//! wants them.

use super::Device;
use super::dies::Dies;
use crate::base::units::{Cause, Ns, Ppn};
use crate::drive::Drive;
use crate::time::drive::NandOp;
use crate::watch::time_event::{OpId, TimeEvent, Work};

/// Told at a time.
const TOLD: usize = 256;

/// A busy stretch: number of a unit or, after those, of a channel; from, to.
pub(super) type Interval = (u32, Ns, Ns);

impl Dies {
    /// Notes an event for whoever wants to hear of each.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "without a watcher it is a comparison, several times a page read"
    )]
    pub(super) fn note(&mut self, event: impl FnOnce() -> TimeEvent) {
        if self.events.is_some() {
            self.keep(event());
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, event: TimeEvent) {
        self.events.as_mut().expect("the caller saw it").push(event);
    }

    /// A host read is about to be queued.
    #[cold]
    pub(super) fn note_read(&mut self, request: u32, ppn: Ppn, bytes: u32, at: Ns) {
        let op = self.next_read();
        self.note(|| TimeEvent::Read { op, request, ppn, bytes, at });
    }

    /// A retry of a host read is about to be queued.
    #[cold]
    pub(super) fn note_retry(&mut self, request: u32, ppn: Ppn, bytes: u32, attempt: u8, at: Ns) {
        let op = self.next_read();
        self.note(|| TimeEvent::Retry { op, request, ppn, bytes, attempt, at });
    }
}

impl Device {
    /// A run begins: sees who watches, and tells that time begins to count. A host whose drive
    /// nobody watches need not say so.
    pub fn begin_run(&mut self, drive: &mut Drive) {
        self.tell_all(drive);
        (self.bugs, self.dies.bugs, self.host.bugs) = (drive.bugs, drive.bugs, drive.bugs);
        let wants_time = drive.observer_wants_time();
        let events = || wants_time.then(Vec::new);
        self.dies.intervals = drive.is_watched().then(Vec::new);
        (self.dies.events, self.host.told) = (events(), events());
        let now = self.now;
        if wants_time {
            drive.tell(|o| o.run_began(now, &self.metrics));
        }
    }

    /// A run ends, with every request complete: tells the rest, and what the device has still to
    /// do.
    pub fn end_run(&mut self, drive: &mut Drive) {
        self.tell_all(drive);
        if self.host.told.is_some() {
            let pending: Vec<OpId> = self.dies.pending().chain(self.wordlines.pending()).collect();
            drive.tell(|o| o.run_ended(&pending, &self.metrics));
        }
    }

    /// Tells whoever watches how the host goes on: by the clock of its requests (`open`), or with
    /// the next request when one is complete. At most `depth` are outstanding.
    pub fn note_arrival(&mut self, open: bool, depth: u32) {
        let at = self.now;
        self.dies.note(|| TimeEvent::Paced { open, depth, at });
    }

    /// Tells what has gathered, once there is enough of it.
    #[inline]
    pub(super) fn tell_if_many(&mut self, drive: &mut Drive) {
        if self.dies.intervals.as_ref().is_some_and(|intervals| intervals.len() > TOLD) {
            self.tell_all(drive);
        }
    }

    /// Tells all that has gathered.
    #[cold]
    pub(super) fn tell_all(&mut self, drive: &mut Drive) {
        let Some(intervals) = &mut self.dies.intervals else { return };
        drive.tell(|o| o.occupied(intervals));
        intervals.clear();
        for events in [&mut self.dies.events, &mut self.host.told].into_iter().flatten() {
            drive.tell(|o| o.time(events));
            events.clear();
        }
    }

    /// Tells of recorded work: as a part of the piece of a job that it is in or, with a fill that
    /// comes before it, by itself. Probes by themselves are a piece as well.
    #[cold]
    pub(super) fn note_recorded(
        &mut self,
        op: OpId,
        recorded: NandOp,
        in_piece: bool,
        fill: Option<Ppn>,
    ) {
        let work = match (recorded, fill) {
            (NandOp::Program { dst }, Some(src)) => {
                Some(Work::Copy { src, dst: Some(dst), cause: Cause::Host })
            }
            _ => told(recorded),
        };
        let Some(work) = work else { return };
        let at = self.now;
        let is_part = in_piece || matches!(work, Work::Probe { .. });
        self.dies.note(|| {
            if is_part { TimeEvent::Part { op, work } } else { TimeEvent::Work { op, work, at } }
        });
    }
}

/// Recorded work as a watcher is told of it; a fill is told with its program.
fn told(recorded: NandOp) -> Option<Work> {
    Some(match recorded {
        NandOp::Program { dst } => {
            Work::Program { dst, pages: 1, wordline: None, cause: Cause::Host }
        }
        NandOp::Load { src, serial, cause, .. } => Work::Load { src, wordline: serial, cause },
        NandOp::ProgramWordline { dst, pages, serial, cause } => {
            Work::Program { dst, pages, wordline: Some(serial), cause }
        }
        NandOp::Striped { dst, serial, waits, cause } => {
            Work::Striped { dst, stripe: serial, waits, cause }
        }
        NandOp::Copy { src, dst, cause, .. } => Work::Copy { src, dst, cause },
        NandOp::Read { src, cause, .. } => Work::Copy { src, dst: None, cause },
        NandOp::Retry { src, attempt, cause, of_request: false, .. } => {
            Work::Retry { src, attempt, cause }
        }
        NandOp::Probe { block, wordlines } => Work::Probe { block, wordlines },
        NandOp::Merge { block, cause, .. } => Work::Merge { block, cause },
        NandOp::Erase { block, cause, .. } => Work::Erase { block, cause },
        NandOp::Begin { .. }
        | NandOp::Retry { .. }
        | NandOp::Fill { .. }
        | NandOp::JobBegin { .. }
        | NandOp::JobEnd => return None,
    })
}
