//! The host's side of time: the link in both directions, requests under way, completions in order.

use std::collections::VecDeque;

use super::speed::Speed;
use crate::metrics::TimedMetrics;
use crate::units::Ns;

/// Where a completion comes from; completions of one kind come in order of time.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A flash page arrived.
    Flash = 0,
    /// Answered from the controller: buffered, unmapped, lost, trim.
    Controller = 1,
    /// A write acknowledged.
    Write = 2,
}

/// A page of a read that is ready in the controller at `at`.
#[derive(Clone, Copy)]
pub(super) struct Page {
    pub(super) request: u32,
    pub(super) at: Ns,
    pub(super) bytes: u32,
    pub(super) kind: Kind,
}

/// Whose latency a request's is.
#[derive(Clone, Copy)]
pub(super) enum Measured {
    Read,
    Write,
    /// Nobody's: a trim.
    Not,
}

#[derive(Clone, Copy)]
struct Slot {
    start: Ns,
    pages_left: u32,
    measured: Measured,
    during_reclaim: bool,
    /// Latest completion among its pages.
    end: Ns,
}

/// Requests between arrival and completion.
pub(super) struct Host {
    slots: Vec<Slot>,
    unused: Vec<u32>,
    done: [VecDeque<Ns>; 3],
    read_link_free: Ns,
    write_link_free: Ns,
    pub(super) outstanding: u32,
    pub(super) last_end: Ns,
    /// The earliest of the pending completions.
    next_done: Ns,
    /// Size and link time of the last page; a workload has few sizes, often one.
    last_transfer: (u32, Ns),
}

impl Host {
    pub(super) fn new() -> Self {
        Self {
            slots: vec![],
            unused: vec![],
            done: [VecDeque::new(), VecDeque::new(), VecDeque::new()],
            read_link_free: 0,
            write_link_free: 0,
            outstanding: 0,
            last_end: 0,
            next_done: Ns::MAX,
            last_transfer: (0, 0),
        }
    }

    /// Opens a request of so many pages (or parts that complete one by one).
    #[inline]
    pub(super) fn open(&mut self, start: Ns, pages: u32, measured: Measured) -> u32 {
        self.outstanding += 1;
        let slot = Slot { start, pages_left: pages, measured, during_reclaim: false, end: 0 };
        if let Some(i) = self.unused.pop() {
            self.slots[i as usize] = slot;
            i
        } else {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        }
    }

    pub(super) fn mark_during_reclaim(&mut self, request: u32) {
        self.slots[request as usize].during_reclaim = true;
    }

    /// Data for the host is ready in the controller at `at`: over the link, and the request may be complete.
    #[inline]
    pub(super) fn deliver(&mut self, page: Page, now: Ns, speed: &Speed, metrics: &mut TimedMetrics) {
        let Page { request, at, bytes, kind } = page;
        let end = if speed.has_link() {
            if bytes != self.last_transfer.0 {
                self.last_transfer = (bytes, speed.host(bytes));
            }
            self.read_link_free = self.read_link_free.max(at) + self.last_transfer.1;
            self.read_link_free
        } else {
            at
        };
        self.finish_page(request, end, now, kind, metrics);
    }

    /// When the data of a write that arrives at `at` is in the controller.
    pub(super) fn receive(&mut self, at: Ns, bytes: u32, speed: &Speed) -> Ns {
        if !speed.has_link() {
            return at;
        }
        self.write_link_free = self.write_link_free.max(at) + speed.host(bytes);
        self.write_link_free
    }

    /// A page of a request is done at `end`; with its last the request is.
    #[inline]
    pub(super) fn finish_page(&mut self, request: u32, end: Ns, now: Ns, kind: Kind, metrics: &mut TimedMetrics) {
        let slot = &mut self.slots[request as usize];
        slot.pages_left -= 1;
        slot.end = slot.end.max(end);
        if slot.pages_left > 0 {
            return;
        }
        let latency = slot.end - slot.start;
        match slot.measured {
            Measured::Read => metrics.read.record(latency),
            Measured::Write => metrics.write.record(latency),
            Measured::Not => {}
        }
        if slot.during_reclaim {
            metrics.read_during_reclaim.record(latency);
        }
        self.last_end = self.last_end.max(slot.end);
        self.unused.push(request);
        if slot.end <= now {
            self.outstanding -= 1;
            return;
        }
        // A request whose last page comes from the controller may still wait for one from flash: keep each list in order.
        let queue = &mut self.done[kind as usize];
        let at = queue.back().map_or(slot.end, |last| slot.end.max(*last));
        queue.push_back(at);
        self.next_done = self.next_done.min(at);
    }

    /// When the next request completes.
    #[inline]
    pub(super) fn next_completion(&self) -> Ns {
        self.next_done
    }

    /// Takes the next completion: the request leaves the drive.
    #[inline]
    pub(super) fn take_completion(&mut self) {
        let head = |q: &VecDeque<Ns>| q.front().copied().unwrap_or(Ns::MAX);
        let at = self.next_done;
        let queue = self.done.iter_mut().find(|q| q.front() == Some(&at)).expect("a completion is pending");
        queue.pop_front();
        self.next_done = head(&self.done[0]).min(head(&self.done[1])).min(head(&self.done[2]));
        self.outstanding -= 1;
    }
}
