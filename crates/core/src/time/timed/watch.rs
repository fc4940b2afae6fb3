//! What whoever watches is told of time: busy stretches of dies and channels, and every event where it wants them.

use super::TimedEngine;
use super::dies::Dies;
use crate::base::units::{Ns, Ppn};
use crate::drive::Drive;
use crate::watch::time_event::{OpId, TimeEvent};

/// Told at a time.
const TOLD: usize = 256;

/// A busy stretch: number of a unit or, after those, of a channel; from, to.
pub(super) type Interval = (u32, Ns, Ns);

impl Dies {
    /// Notes an event for whoever wants to hear of each.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "without a watcher it is a comparison, several times a page read")]
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
}

impl TimedEngine {
    /// Sees who watches, and tells that time begins to count.
    pub(super) fn begin_watch(&mut self, drive: &mut Drive) {
        self.hand_over_all(drive);
        let wants_time = drive.observer_wants_time();
        let events = || wants_time.then(Vec::new);
        self.dies.intervals = drive.is_watched().then(Vec::new);
        (self.dies.events, self.host.told) = (events(), events());
        let now = self.now;
        if wants_time {
            drive.tell(|o| o.run_began(now, &self.metrics));
        }
    }

    /// Tells what has gathered, once there is enough of it.
    #[inline]
    pub(super) fn hand_over(&mut self, drive: &mut Drive) {
        if self.dies.intervals.as_ref().is_some_and(|intervals| intervals.len() > TOLD) {
            self.hand_over_all(drive);
        }
    }

    /// Tells all that has gathered.
    #[cold]
    pub(super) fn hand_over_all(&mut self, drive: &mut Drive) {
        let Some(intervals) = &mut self.dies.intervals else { return };
        drive.tell(|o| o.occupied(intervals));
        intervals.clear();
        for events in [&mut self.dies.events, &mut self.host.told].into_iter().flatten() {
            drive.tell(|o| o.time(events));
            events.clear();
        }
    }

    /// Tells the rest, and what is still to be done.
    pub(super) fn end_watch(&mut self, drive: &mut Drive) {
        self.hand_over_all(drive);
        if self.host.told.is_some() {
            let pending: Vec<OpId> = self.dies.pending().chain(self.wordlines.pending()).collect();
            drive.tell(|o| o.run_ended(&pending, &self.metrics));
        }
    }
}
