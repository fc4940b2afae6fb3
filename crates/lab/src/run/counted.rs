//! A source that counts what it hands out.

use vpass_core::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_core::base::units::Ns;

pub(super) struct Counted<S> {
    pub(super) inner: S,
    requests: u64,
    last_arrival: Ns,
    /// Whether every request so far had a clock of its own.
    open: bool,
}

impl<S: RequestSource> Counted<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner, requests: 0, last_arrival: 0, open: true }
    }

    /// Requests, and the arrival of the last where they all have a clock of their own.
    pub(super) fn numbers(&self) -> (u64, Option<Ns>) {
        (self.requests, self.open.then_some(self.last_arrival))
    }
}

impl<S: RequestSource> RequestSource for Counted<S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let before = out.len();
        self.open &= self.inner.arrival() == Arrival::Open;
        self.inner.fill(out, max)?;
        self.requests += (out.len() - before) as u64;
        self.last_arrival = out[before..].last().map_or(self.last_arrival, |r| r.at);
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.inner.arrival()
    }

    fn tell_time(&mut self, now: Ns) {
        self.inner.tell_time(now);
    }

    fn completed(&mut self, origin: u16) {
        self.inner.completed(origin);
    }

    fn waits_until(&self) -> Option<Ns> {
        self.inner.waits_until()
    }

    fn next_stage(&mut self) -> bool {
        self.inner.next_stage()
    }
}
