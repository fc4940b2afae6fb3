//! Reports to observers: busy times of dies and channels, and every event if the observer wants
//! them.

use super::Device;
use super::dies::Dies;
use crate::base::units::{Cause, Ns, Ppn};
use crate::drive::Drive;
use crate::time::drive::NandOp;
use crate::watch::observer::Event;
use crate::watch::time_event::{OpId, TimeEvent, Work};

/// Number of busy times that are reported together.
const TOLD: usize = 256;

/// Busy time of a unit or channel: its number, the start and the end. Channels have the numbers
/// after the units.
pub(super) type Interval = (u32, Ns, Ns);

impl Dies {
    /// Notes an event for an observer that wants each event.
    #[inline(always)]
    // Without a watcher it is a comparison, several times a page read.
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

    /// Notes that a host read will be queued.
    #[cold]
    pub(super) fn note_read(&mut self, request: u32, ppn: Ppn, bytes: u32, at: Ns) {
        let op = self.next_read();
        self.note(|| TimeEvent::Read { op, request, ppn, bytes, at });
    }

    /// Notes that a retry of a host read will be queued.
    #[cold]
    pub(super) fn note_retry(&mut self, request: u32, ppn: Ppn, bytes: u32, attempt: u8, at: Ns) {
        let op = self.next_read();
        self.note(|| TimeEvent::Retry { op, request, ppn, bytes, attempt, at });
    }
}

impl Device {
    /// Begins a run: finds out whether there is an observer, and reports that time begins to count.
    /// A host whose drive has no observer need not call this.
    pub fn begin_run(&mut self, drive: &mut Drive) {
        self.tell_all(drive);
        let wants_time = drive.flash.watch.wants_time();
        let events = || wants_time.then(Vec::new);
        self.dies.intervals = drive.flash.is_watched().then(Vec::new);
        (self.dies.events, self.host.told) = (events(), events());
        let now = self.now;
        if wants_time {
            drive.flash.tell(Event::RunBegan { at: now, latencies: &self.host.metrics });
        }
    }

    /// Ends a run in which every request is complete: reports the rest, and the remaining work of
    /// the device.
    pub fn end_run(&mut self, drive: &mut Drive) {
        self.tell_all(drive);
        if self.host.told.is_some() {
            let pending: Vec<OpId> = self.dies.pending().chain(self.wordlines.pending()).collect();
            drive.flash.tell(Event::RunEnded { pending: &pending, latencies: &self.host.metrics });
        }
    }

    /// Reports how requests arrive: by their own clock (`open`), or each one when another
    /// completes. At most `depth` requests are outstanding.
    pub fn note_arrival(&mut self, open: bool, depth: u32) {
        let at = self.now;
        self.dies.note(|| TimeEvent::Paced { open, depth, at });
    }

    /// Reports the collected events if there are enough of them.
    #[inline]
    pub(super) fn tell_if_many(&mut self, drive: &mut Drive) {
        if self.dies.intervals.as_ref().is_some_and(|intervals| intervals.len() > TOLD) {
            self.tell_all(drive);
        }
    }

    /// Reports all collected events.
    #[cold]
    pub(super) fn tell_all(&mut self, drive: &mut Drive) {
        let Some(intervals) = &mut self.dies.intervals else { return };
        drive.flash.tell(Event::Occupied { intervals });
        intervals.clear();
        for events in [&mut self.dies.events, &mut self.host.told].into_iter().flatten() {
            drive.flash.tell(Event::Time { events });
            events.clear();
        }
    }

    /// Reports recorded work: as part of the piece of its job or by itself. A fill is reported with
    /// the program after it. Probes by themselves are also a piece.
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

/// Returns recorded work as it is reported to an observer. A fill is reported with its program.
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
