//! The host's side of time: the link in both directions, requests under way, completions in order.

use std::collections::VecDeque;

use super::Asked;
use super::speed::Speed;
use super::timeline::{Event, Timeline};
use crate::base::metrics::TimedMetrics;
use crate::base::units::Ns;
use crate::bugs::{Bug, Bugs, planted};
use crate::watch::time_event::TimeEvent;

/// Requests from here on are reads of a single page, which need no slot: what exceeds it is their origin.
const SINGLE: u32 = u32::MAX - u16::MAX as u32;

/// A read of a single page as a request.
#[inline]
pub(super) fn single(origin: u16) -> u32 {
    SINGLE + u32::from(origin)
}

/// A [`Timeline`]'s unit where data arrives; elsewhere a request is complete, and the unit is its origin.
const ARRIVAL: u32 = u32::MAX;

/// A page of a read that is ready in the controller at `at`.
#[derive(Clone, Copy)]
pub(super) struct Page {
    /// The request, or [`single`] where this page is all of it.
    pub(super) request: u32,
    /// The request's number.
    pub(super) number: u32,
    pub(super) at: Ns,
    pub(super) bytes: u32,
    /// When the request's latency began.
    pub(super) start: Ns,
    /// Reclaim was at work on its die.
    pub(super) during_reclaim: bool,
}

/// Whose latency a request's is.
#[derive(Clone, Copy)]
pub(super) enum Measured {
    Read,
    /// A read that met reclaim.
    ReadDuringReclaim,
    Write,
    /// Nobody's: a trim.
    Not,
}

/// A request of several parts that complete one by one.
#[derive(Clone, Copy)]
struct Slot {
    number: u32,
    start: Ns,
    parts_left: u32,
    measured: Measured,
    origin: u16,
    /// Latest completion among its parts.
    end: Ns,
}

/// A request of which everything is known.
#[derive(Clone, Copy)]
pub(super) struct Done {
    pub(super) number: u32,
    pub(super) start: Ns,
    pub(super) end: Ns,
    pub(super) measured: Measured,
    pub(super) origin: u16,
}

/// Requests between arrival and completion.
pub(super) struct Host {
    slots: Vec<Slot>,
    unused: Vec<u32>,
    /// Completions that have still to come, and arrivals of data.
    events: Timeline,
    /// Writes of which the data is on the link, and the trims between them.
    arriving: VecDeque<Asked>,
    last_arrival: Ns,
    read_link_free: Ns,
    write_link_free: Ns,
    pub(super) outstanding: u32,
    pub(super) last_end: Ns,
    /// Size and link time of the last page; a workload has few sizes, often one.
    last_transfer: (u32, Ns),
    pub(super) bugs: Bugs,
    /// Origins of requests that are complete, for a source that wants to hear of them.
    pub(super) completed: Option<Vec<u16>>,
    /// Where somebody watches.
    pub(super) told: Option<Vec<TimeEvent>>,
}

impl Host {
    pub(super) fn new() -> Self {
        Self {
            slots: vec![],
            unused: vec![],
            events: Timeline::new(),
            arriving: VecDeque::new(),
            last_arrival: 0,
            read_link_free: 0,
            write_link_free: 0,
            outstanding: 0,
            last_end: 0,
            last_transfer: (0, 0),
            bugs: Bugs::default(),
            completed: None,
            told: None,
        }
    }

    /// Opens a request of so many parts.
    pub(super) fn open(&mut self, asked: &Asked, parts: u32, measured: Measured) -> u32 {
        let slot = Slot { number: asked.number, start: asked.start, parts_left: parts, measured, origin: asked.request.origin, end: 0 };
        if let Some(i) = self.unused.pop() {
            self.slots[i as usize] = slot;
            i
        } else {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        }
    }

    /// Data for the host is ready in the controller: over the link, and the request may be complete.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a page read; its arguments would go through memory")]
    pub(super) fn deliver(&mut self, page: Page, now: Ns, speed: &Speed, metrics: &mut TimedMetrics) {
        let Page { request, number, at, bytes, start, during_reclaim } = page;
        let end = if speed.has_link() {
            if bytes != self.last_transfer.0 && !(planted(Bug::LinkMemoStale) && bytes < self.last_transfer.0) {
                self.last_transfer = (bytes, speed.host(bytes));
            }
            let free = if self.bugs.has(Bug::LinkUnqueued) { 0 } else { self.read_link_free };
            self.read_link_free = free.max(at) + self.last_transfer.1;
            self.read_link_free
        } else {
            at
        };
        if request < SINGLE {
            if during_reclaim {
                self.slots[request as usize].measured = Measured::ReadDuringReclaim;
            }
            return self.finish_part(request, end, now, metrics);
        }
        let measured = if during_reclaim { Measured::ReadDuringReclaim } else { Measured::Read };
        self.complete(Done { number, start, end, measured, origin: (request - SINGLE) as u16 }, now, metrics);
    }

    /// When the data of a write that arrives at `at` is in the controller.
    pub(super) fn receive(&mut self, at: Ns, bytes: u32, speed: &Speed) -> Ns {
        if !speed.has_link() {
            return at;
        }
        let free = if self.bugs.has(Bug::WriteLinkUnqueued) { 0 } else { self.write_link_free };
        self.write_link_free = free.max(at) + speed.host(bytes);
        self.write_link_free
    }

    /// A part of a request is done at `end`; with its last the request is.
    #[inline(never)]
    pub(super) fn finish_part(&mut self, request: u32, end: Ns, now: Ns, metrics: &mut TimedMetrics) {
        let slot = &mut self.slots[request as usize];
        slot.parts_left -= 1;
        if !(self.bugs.has(Bug::EndsWithFirstPage) && matches!(slot.measured, Measured::Read) && slot.end > 0) {
            slot.end = slot.end.max(end);
        }
        if slot.parts_left == 0 {
            let Slot { number, start, end, measured, origin, .. } = *slot;
            self.unused.push(request);
            self.complete(Done { number, start, end, measured, origin }, now, metrics);
        }
    }

    /// A request is complete at its end, now or later.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a request; its arguments would go through memory")]
    pub(super) fn complete(&mut self, done: Done, now: Ns, metrics: &mut TimedMetrics) {
        let Done { number, start, end, measured, origin } = done;
        let latency = end - start;
        match measured {
            Measured::Read => metrics.read.record(latency),
            Measured::ReadDuringReclaim => {
                metrics.read.record(latency);
                metrics.read_during_reclaim.record(latency);
            }
            Measured::Write => metrics.write.record(latency),
            Measured::Not => {
                if planted(Bug::TrimsMeasured) {
                    metrics.write.record(latency);
                }
            }
        }
        if let Some(group) = metrics.groups.of(origin) {
            match measured {
                Measured::Read => group.read(start, end, false),
                Measured::ReadDuringReclaim => group.read(start, end, true),
                Measured::Write => group.write(start, end),
                Measured::Not => group.span(start, end),
            }
        }
        if self.told.is_some() {
            self.note_completion(number, start, end);
        }
        self.last_end = self.last_end.max(end);
        if end <= now {
            self.left(u32::from(origin));
        } else {
            self.events.push(Event { at: end, order: 0, unit: u32::from(origin) });
        }
    }

    #[cold]
    #[inline(never)]
    fn note_completion(&mut self, request: u32, start: Ns, end: Ns) {
        self.told.as_mut().expect("the caller saw it").push(TimeEvent::Completed { request, start, end });
    }

    /// Whether data is on its way.
    pub(super) fn receives(&self) -> bool {
        !self.arriving.is_empty()
    }

    /// A write or trim can be taken in at `at`, or with what came before it.
    pub(super) fn arrives(&mut self, asked: Asked, at: Ns) {
        self.last_arrival = self.last_arrival.max(at);
        self.arriving.push_back(asked);
        self.events.push(Event { at: self.last_arrival, order: 0, unit: ARRIVAL });
    }

    /// When the next request completes, or arrives.
    #[inline]
    pub(super) fn next_event(&self) -> Ns {
        self.events.next()
    }

    /// Takes the next completion, with which the request leaves the drive; or the request that has arrived.
    #[inline]
    pub(super) fn take_event(&mut self) -> Option<Asked> {
        let event = self.events.pop();
        if event.unit == ARRIVAL {
            return self.arriving.pop_front();
        }
        self.left(event.unit);
        None
    }

    /// A request of this origin has left the drive.
    #[inline]
    fn left(&mut self, origin: u32) {
        self.outstanding -= 1;
        if let Some(completed) = &mut self.completed {
            completed.push(origin as u16);
        }
    }
}
