//! Host side of a device: the link in both directions, requests in progress, and their completions
//! in order of time.

use std::collections::VecDeque;

use super::timeline::{Event, Timeline};
use super::{Command, Tag};
use crate::base::metrics::TimedMetrics;
use crate::base::request::Request;
use crate::base::units::{Ns, transfer_ns};
use crate::watch::time_event::TimeEvent;

/// Unit of a [`Timeline`] event at which the data of a write arrives. At other events, a request
/// completes, and the unit is its tag.
const ARRIVAL: u32 = Tag::NONE.0;

/// Value of [`ReadPart::owner`] for reads that no request receives. No request has this tag.
const NO_OWNER: u32 = Tag::NONE.0;

/// Page that is read for a request, completely or in part.
#[derive(Clone, Copy)]
pub(super) struct ReadPart {
    /// Start time of the request's latency.
    pub(super) start: Ns,
    /// Place of the request among the requests of several parts. If this page is the whole request,
    /// its tag instead.
    pub(super) owner: u32,
    /// Number of the request. If no request receives the page, it is the number of the rebuild that
    /// waits for it.
    pub(super) number: u32,
    pub(super) bytes: u32,
    /// Origin of the request.
    pub(super) origin: u16,
    /// Whether this page is the whole request. If no request receives the page, this says whether
    /// nothing waits for it.
    pub(super) is_all: bool,
    /// Whether the die had work of reclaim when the read was queued.
    pub(super) met_reclaim: bool,
}

impl ReadPart {
    /// Creates the part of a request that reads one page.
    #[inline]
    pub(super) fn all_of(request: &Request, tag: Tag, number: u32) -> Self {
        let Request { at, bytes, origin, .. } = *request;
        Self { start: at, owner: tag.0, number, bytes, origin, is_all: true, met_reclaim: false }
    }

    /// Returns the part as a read that no request receives and nothing waits for.
    pub(super) fn undelivered(self) -> Self {
        Self { owner: NO_OWNER, is_all: true, ..self }
    }

    /// Creates a page that no request receives, for which a rebuild with this number waits.
    pub(super) fn for_rebuild(serial: u32) -> Self {
        Self {
            start: 0,
            owner: NO_OWNER,
            number: serial,
            bytes: 0,
            origin: 0,
            is_all: false,
            met_reclaim: false,
        }
    }

    /// Returns the number of the rebuild that waits for the page, if there is one.
    pub(super) fn rebuild(&self) -> Option<u32> {
        (!self.is_delivered() && !self.is_all).then_some(self.number)
    }

    /// Returns whether a request receives the page.
    #[inline]
    pub(super) fn is_delivered(&self) -> bool {
        self.owner != NO_OWNER
    }

    /// Creates a part of a page for a request at this place among those of several parts.
    pub(super) fn of(command: &Command, place: u32, bytes: u32) -> Self {
        let Command { request, number, .. } = *command;
        Self {
            start: request.at,
            owner: place,
            number,
            bytes,
            origin: request.origin,
            is_all: false,
            met_reclaim: false,
        }
    }
}

/// Kind of latency of a request.
#[derive(Clone, Copy)]
pub(super) enum Measured {
    Read,
    /// Read that met reclaim.
    ReadDuringReclaim,
    Write,
    /// Trim, which has no measured latency.
    Not,
}

/// Request of several parts that end one by one.
#[derive(Clone, Copy)]
struct InParts {
    request: Known,
    parts_left: u32,
    /// Latest end of a part so far.
    end: Ns,
}

/// Facts about a request before it is complete.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) start: Ns,
    pub(super) tag: Tag,
    pub(super) number: u32,
    pub(super) origin: u16,
    pub(super) measured: Measured,
}

impl Known {
    pub(super) fn of(command: &Command, measured: Measured) -> Self {
        let Command { request, tag, number } = *command;
        Self { start: request.at, tag, number, origin: request.origin, measured }
    }
}

/// Next event at the host side.
pub(super) enum HostEvent {
    /// Arrival of the data of a write, or of a trim that follows the writes before it.
    Arrived(Command),
    /// Completion of a request.
    Completed(Tag),
}

/// Requests between their submission and completion.
pub(super) struct Host {
    in_parts: Vec<InParts>,
    /// Unused places in `in_parts`.
    unused: Vec<u32>,
    /// Completions to come, and arrivals of data.
    events: Timeline,
    /// Writes whose data is on the link, and trims between these writes.
    arriving: VecDeque<Command>,
    last_arrival: Ns,
    read_link_free: Ns,
    write_link_free: Ns,
    pub(super) outstanding: u32,
    pub(super) last_end: Ns,
    /// Size and link time of the last page. A workload has few sizes, often one.
    last_transfer: (u32, Ns),
    /// Rate of the link; 0 if it does not limit.
    link_mb_s: f64,
    pub(super) metrics: TimedMetrics,
    /// Requests that are complete, for the host, with the time.
    pub(super) done: Vec<(Tag, Ns)>,
    /// Events for the observer, if there is one.
    pub(super) told: Option<Vec<TimeEvent>>,
}

impl Host {
    pub(super) fn new(link_mb_s: f64) -> Self {
        Self {
            in_parts: vec![],
            unused: vec![],
            events: Timeline::new(),
            arriving: VecDeque::new(),
            last_arrival: 0,
            read_link_free: 0,
            write_link_free: 0,
            outstanding: 0,
            last_end: 0,
            last_transfer: (0, 0),
            link_mb_s,
            metrics: TimedMetrics::default(),
            done: vec![],
            told: None,
        }
    }

    /// Adds a request of several parts, and returns its place.
    pub(super) fn begin_parts(&mut self, request: Known, parts_left: u32) -> u32 {
        let in_parts = InParts { request, parts_left, end: 0 };
        if let Some(place) = self.unused.pop() {
            self.in_parts[place as usize] = in_parts;
            place
        } else {
            self.in_parts.push(in_parts);
            self.in_parts.len() as u32 - 1
        }
    }

    /// Sends data for the host over the link. The data is ready in the controller at `at`, and the
    /// request may then be complete.
    #[inline(always)]
    // Called for each page read; otherwise its arguments would go through memory.
    pub(super) fn deliver(&mut self, part: ReadPart, at: Ns, now: Ns) {
        let ReadPart { start, owner, number, bytes, origin, is_all, met_reclaim } = part;
        let end = if self.link_mb_s > 0.0 {
            if bytes != self.last_transfer.0 {
                self.last_transfer = (bytes, self.on_link(bytes));
            }
            let free = self.read_link_free;
            self.read_link_free = free.max(at) + self.last_transfer.1;
            self.read_link_free
        } else {
            at
        };
        if !is_all {
            if met_reclaim {
                self.in_parts[owner as usize].request.measured = Measured::ReadDuringReclaim;
            }
            return self.finish_part(owner, end, now);
        }
        let measured = if met_reclaim { Measured::ReadDuringReclaim } else { Measured::Read };
        self.complete(Known { start, tag: Tag(owner), number, origin, measured }, end, now);
    }

    /// Returns the time of data on the link.
    #[inline]
    fn on_link(&self, bytes: u32) -> Ns {
        transfer_ns(u64::from(bytes), self.link_mb_s)
    }

    /// Returns the time at which the data of a write that arrives at `at` is in the controller.
    pub(super) fn receive(&mut self, at: Ns, bytes: u32) -> Ns {
        if self.link_mb_s <= 0.0 {
            return at;
        }
        let free = self.write_link_free;
        self.write_link_free = free.max(at) + self.on_link(bytes);
        self.write_link_free
    }

    /// Ends a part of the request at this place at `end`. The last part completes the request.
    #[inline(never)]
    pub(super) fn finish_part(&mut self, place: u32, end: Ns, now: Ns) {
        let in_parts = &mut self.in_parts[place as usize];
        in_parts.parts_left -= 1;
        in_parts.end = in_parts.end.max(end);
        if in_parts.parts_left == 0 {
            let InParts { request, end, .. } = *in_parts;
            self.unused.push(place);
            self.complete(request, end, now);
        }
    }

    /// Completes a request at its end, now or later.
    #[inline(always)]
    // Once a request; its arguments would go through memory.
    pub(super) fn complete(&mut self, request: Known, end: Ns, now: Ns) {
        let Known { start, tag, number, origin, measured } = request;
        let latency = end - start;
        match measured {
            Measured::Read => self.metrics.note_read(end, latency),
            Measured::ReadDuringReclaim => self.metrics.note_read_during_reclaim(end, latency),
            Measured::Write => self.metrics.note_write(end, latency),
            Measured::Not => {}
        }
        if let Some(group) = self.metrics.groups.of(origin) {
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
            self.outstanding -= 1;
            self.done.push((tag, end));
        } else {
            self.events.push(Event { at: end, order: 0, unit: tag.0 });
        }
    }

    #[cold]
    #[inline(never)]
    fn note_completion(&mut self, request: u32, start: Ns, end: Ns) {
        self.told.as_mut().expect("the caller saw it").push(TimeEvent::Completed {
            request,
            start,
            end,
        });
    }

    /// Returns whether data is on the link.
    pub(super) fn receives(&self) -> bool {
        !self.arriving.is_empty()
    }

    /// Notes that a write or trim can be handled at `at`, or together with the writes and trims
    /// before it.
    pub(super) fn arrives(&mut self, command: Command, at: Ns) {
        self.last_arrival = self.last_arrival.max(at);
        self.arriving.push_back(command);
        self.events.push(Event { at: self.last_arrival, order: 0, unit: ARRIVAL });
    }

    /// Returns the time of the next completion or arrival.
    #[inline]
    pub(super) fn next_event(&self) -> Ns {
        self.events.next()
    }

    /// Takes the next event, which must exist. A completed request leaves the device with it.
    #[inline]
    pub(super) fn take_event(&mut self) -> HostEvent {
        let event = self.events.pop();
        if event.unit == ARRIVAL {
            return HostEvent::Arrived(self.arriving.pop_front().expect("its arrival was to come"));
        }
        self.outstanding -= 1;
        HostEvent::Completed(Tag(event.unit))
    }
}
