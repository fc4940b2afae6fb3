//! Log of an observed drive: its operations on flash, and the busy times of its dies.

use std::any::Any;

use vpass_drive::base::request::RequestSource;
use vpass_drive::base::units::{BlockId, Cause, Ns, Ppn};
use vpass_drive::drive::Drive;
use vpass_drive::time::Replay;
use vpass_drive::watch::observer::{Event, Observer, Origin, PhysRead};
use vpass_drive::watch::time_event::TimeEvent;
use vpass_techniques::usual;

use super::config;

/// Event that is logged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Logged {
    Read(PhysRead),
    /// Program elsewhere of a page that was read at this place.
    Copied(Ppn, Cause),
    Erased(BlockId),
}

/// Log of all events, in order.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) events: Vec<Logged>,
    pub(crate) time: Vec<TimeEvent>,
    busy: Vec<(u32, Ns, Ns)>,
}

impl Log {
    /// Returns the log of a [`watched`] drive.
    pub(crate) fn of(drive: &mut Drive) -> Self {
        let log: Box<dyn Any> = drive.end_observation().unwrap();
        *log.downcast::<Log>().unwrap()
    }

    /// Returns the busy times of the first array.
    pub(crate) fn busy(&self) -> impl Iterator<Item = (Ns, Ns)> + '_ {
        self.busy.iter().filter(|(unit, ..)| *unit == 0).map(|(_, from, to)| (*from, *to))
    }

    /// Returns the number of host reads of flash pages below this one, before the first event of a
    /// kind. Without such an event, all of them count.
    pub(crate) fn reads_below(&self, end: Ppn, until: impl Fn(&Logged) -> bool) -> u64 {
        let before = self.events.iter().take_while(|event| !until(event));
        before.filter(|event| matches!(event, Logged::Read(read) if read.cause == Cause::Host && read.ppn < end)).count() as u64
    }
}

impl Observer for Log {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Reads { batch } => self.events.extend(batch.iter().copied().map(Logged::Read)),
            Event::Programmed { origin: Origin::Copy(from), cause, .. } => {
                self.events.push(Logged::Copied(from, cause));
            }
            Event::Erased { block, .. } => self.events.push(Logged::Erased(block)),
            Event::Occupied { intervals } => self.busy.extend(intervals),
            Event::Time { events } => self.time.extend(events),
            _ => {}
        }
    }

    fn wants_time(&self) -> bool {
        true
    }
}

/// Creates a new drive of this description with a log of all events.
pub(crate) fn watched(text: &str) -> Drive {
    let mut drive = Drive::new(config(text), &usual(), true).unwrap();
    drive.observe(Box::new(Log::default()));
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Runs a workload in the timed gear on a new drive of this description. `source` makes the
/// workload for the drive. Also returns the log.
pub(crate) fn run_watched<S: RequestSource>(
    text: &str,
    source: impl FnOnce(&Drive) -> S,
) -> (Drive, Replay, Log) {
    let mut drive = watched(text);
    let mut engine = Replay::new(&drive);
    let mut source = source(&drive);
    engine.run(&mut drive, &mut source, &mut |_, _| true).unwrap();
    let log = Log::of(&mut drive);
    (drive, engine, log)
}
