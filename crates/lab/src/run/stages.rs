//! Measurement of the host's page reads in stages. In the timed gear, an observer divides the time
//! of each page read into stages. Reads are grouped by page kind, and by the set of valid pages in
//! the wordline.
//!
//! ```text
//! events of a page read, and the stages between them:
//! Read ------ Begun, first retry ---- Begun ------ Transfer.at ------------ from -------- to
//!      wait                   retries      sensing             channel wait     transfer
//! the times of decoding and of the host link follow the transfer, and are not measured here
//! ```

use std::any::Any;
use std::collections::HashMap;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{Lpn, Ns, Ppn, us};
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::{Event, NO_PPN, Observer};
use vpass_drive::watch::time_event::{OpId, TimeEvent};

use crate::results::page_reads::{PageReads, StagesSum};

/// Number of ways in which the four pages of a wordline can be valid or invalid.
const MASKS: usize = 16;
const KINDS: usize = 4;

/// Page read or retry that is in progress.
struct Under {
    request: u32,
    ppn: Ppn,
    retry: bool,
    kind: usize,
    /// Valid pages of the wordline, with one bit for each page kind.
    valid: usize,
    at: Ns,
    begun: Ns,
}

/// Observer that measures the stages of page reads in the measured phase.
pub(super) struct ReadStages {
    geometry: Geometry,
    /// Address of the physical page with the newest data, for each host page.
    place: Vec<Ppn>,
    /// Valid pages of each wordline, with one bit for each page kind.
    valid: Vec<u8>,
    /// Sensing time of each page kind in a wordline whose pages are all valid, without retries.
    sense: [Ns; KINDS],
    under: HashMap<OpId, Under>,
    /// Time at which the first retry began, for each page that a request reads.
    retried: HashMap<(u32, Ppn), Ns>,
    sums: [[StagesSum; MASKS]; KINDS],
}

impl ReadStages {
    /// Returns an observer that knows the place of all data on the drive.
    pub(super) fn of(drive: &Drive) -> Self {
        let geometry = drive.geometry().clone();
        let (pages, wordlines) = (geometry.host_pages as usize, geometry.wordlines() as usize);
        let per_kind = drive.config().timing.sense_per_kind_us(geometry.cell);
        let mut stages = Self {
            geometry,
            place: vec![NO_PPN; pages],
            valid: vec![0; wordlines],
            sense: std::array::from_fn(|kind| per_kind.get(kind).map_or(0, |time| us(*time))),
            under: HashMap::new(),
            retried: HashMap::new(),
            sums: std::array::from_fn(|_| std::array::from_fn(|_| StagesSum::default())),
        };
        drive
            .map_rows()
            .filter(|row| row.ppn < NO_PPN)
            .for_each(|row| stages.lies_at(row.lpn, row.ppn));
        stages
    }

    /// Returns the stage times measured so far in the host's page reads.
    pub(super) fn conclude(&self) -> PageReads {
        PageReads::of(self.geometry.cell, &self.sums)
    }

    fn lies_at(&mut self, lpn: Lpn, ppn: Ppn) {
        self.lies_nowhere(lpn);
        self.place[lpn.index()] = ppn;
        let (wordline, kind) =
            (self.geometry.wordline_of(ppn) as usize, self.geometry.kind_of(ppn));
        self.valid[wordline] |= 1 << kind;
    }

    fn lies_nowhere(&mut self, lpn: Lpn) {
        let before = std::mem::replace(&mut self.place[lpn.index()], NO_PPN);
        if before < NO_PPN {
            let (wordline, kind) =
                (self.geometry.wordline_of(before) as usize, self.geometry.kind_of(before));
            self.valid[wordline] &= !(1 << kind);
        }
    }

    fn waits(&mut self, op: OpId, request: u32, ppn: Ppn, retry: bool, at: Ns) {
        let kind = self.geometry.kind_of(ppn) as usize;
        let valid = self.valid[self.geometry.wordline_of(ppn) as usize].into();
        self.under.insert(op, Under { request, ppn, retry, kind, valid, at, begun: at });
    }

    fn transferred(&mut self, op: OpId, (ready, from, to): (Ns, Ns, Ns)) {
        let Some(read) = self.under.remove(&op) else { return };
        if read.retry {
            self.retried.entry((read.request, read.ppn)).or_insert(read.begun);
            return;
        }
        let began = self.retried.remove(&(read.request, read.ppn)).unwrap_or(read.begun);
        let sensing = ready - read.begun;
        let sum = &mut self.sums[read.kind][read.valid % MASKS];
        sum.reads += 1;
        sum.faster += u64::from(sensing < self.sense[read.kind]);
        sum.wait += began - read.at;
        sum.sense += sensing;
        sum.channel_wait += from - ready;
        sum.transfer += to - from;
        sum.retry += read.begun - began;
    }
}

impl ReadStages {
    fn time(&mut self, events: &[TimeEvent]) {
        for event in events {
            match *event {
                TimeEvent::Read { op, request, ppn, at, .. } => {
                    self.waits(op, request, ppn, false, at)
                }
                TimeEvent::Retry { op, request, ppn, at, .. } => {
                    self.waits(op, request, ppn, true, at)
                }
                TimeEvent::Begun { op, at, .. } => {
                    if let Some(read) = self.under.get_mut(&op) {
                        read.begun = at;
                    }
                }
                TimeEvent::Transfer { op, at, from, to, .. } => {
                    self.transferred(op, (at, from, to))
                }
                _ => {}
            }
        }
    }
}

impl Observer for ReadStages {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Trimmed { lpn } | Event::Lost { lpn } => self.lies_nowhere(lpn),
            Event::Programmed { ppn, lpn, .. } => self.lies_at(lpn, ppn),
            Event::Time { events } => self.time(events),
            _ => {}
        }
    }

    fn wants_time(&self) -> bool {
        true
    }
}

/// Returns the number of bytes of memory that an observer needs for this drive.
pub(crate) fn memory_of_stages(geometry: &Geometry) -> u64 {
    u64::from(geometry.host_pages) * size_of::<Ppn>() as u64 + u64::from(geometry.wordlines())
}

/// Returns the times that an observer has measured. Returns `None` if the observer does not measure
/// the stages of page reads.
pub(super) fn watched(watcher: Box<dyn Observer>) -> Option<PageReads> {
    let watcher: Box<dyn Any> = watcher;
    watcher.downcast::<ReadStages>().ok().map(|stages| stages.conclude())
}

#[cfg(test)]
mod tests;
