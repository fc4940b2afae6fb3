//! Replays a workload in passes. A source of requests stops at the end of each pass. [`Passes`]
//! joins all passes into one stream.

use std::cell::Cell;
use std::num::NonZeroU32;

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;

use crate::fio::FioSource;
use crate::traces::TraceReport;

/// Source of requests that can be replayed. At the end of each pass, `fill` appends no request.
pub trait PassSource: RequestSource + Send {
    /// Starts the next pass. Arrival times continue from those of the previous pass, and a
    /// generator draws new random numbers.
    ///
    /// # Errors
    /// Returns an error if a trace can no longer be opened.
    fn next_pass(&mut self) -> Result<(), SourceError>;

    /// Returns the number of bytes that the source occupies in memory. Data that the source shares
    /// with other sources is not counted.
    fn memory(&self) -> u64;

    /// Returns whether the pass has another stage. The next stage begins when all earlier requests
    /// are complete ([`RequestSource::next_stage`]).
    fn has_next_stage(&self) -> bool {
        false
    }

    /// Returns facts about the trace so far; `None` for other workloads.
    fn trace_report(&self) -> Option<TraceReport> {
        None
    }

    /// Returns the source itself if the requests come from fio jobs.
    fn as_fio(&self) -> Option<&FioSource> {
        None
    }
}

#[deny(clippy::missing_trait_methods)]
impl RequestSource for Box<dyn PassSource> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        (**self).fill(out, max)
    }

    fn arrival(&self) -> Arrival {
        (**self).arrival()
    }

    fn tell_time(&mut self, now: Ns) {
        (**self).tell_time(now);
    }

    fn completed(&mut self, origin: u16) {
        (**self).completed(origin);
    }

    fn waits_until(&self) -> Option<Ns> {
        (**self).waits_until()
    }

    fn ends_at(&self) -> Option<Ns> {
        (**self).ends_at()
    }

    fn take_flushes(&mut self) -> Vec<(usize, Ns)> {
        (**self).take_flushes()
    }

    fn next_stage(&mut self) -> bool {
        (**self).next_stage()
    }

    fn len_hint(&self) -> Option<u64> {
        (**self).len_hint()
    }
}

impl PassSource for Box<dyn PassSource> {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        (**self).next_pass()
    }

    fn memory(&self) -> u64 {
        (**self).memory()
    }

    fn has_next_stage(&self) -> bool {
        (**self).has_next_stage()
    }

    fn trace_report(&self) -> Option<TraceReport> {
        (**self).trace_report()
    }

    fn as_fio(&self) -> Option<&FioSource> {
        (**self).as_fio()
    }
}

/// Stream that joins the passes of a workload and counts the requests. The stream ends after its
/// last pass, after a number of requests, or when the flag of [`Self::until`] is set.
///
/// A stream may consist of parts, such as a warm-up and the measured part. [`Self::begin`] starts
/// the next part. The clock of the next part begins at the last arrival time of the previous part.
#[derive(Debug)]
pub struct Passes<'a, S> {
    source: S,
    /// Number of further passes that the stream will start by itself.
    to_begin: u32,
    requests_left: u64,
    ends: Option<&'a Cell<bool>>,
    /// Time on the source's clock at which the stream's clock shows 0.
    origin: Ns,
    requests: u64,
    last_arrival: Ns,
    /// Whether every request so far has an arrival time of its own.
    open: bool,
}

impl<'a, S: PassSource> Passes<'a, S> {
    /// Makes a stream of `passes` passes over a source of requests.
    pub fn new(source: S, passes: NonZeroU32) -> Self {
        let (to_begin, open) = (passes.get() - 1, true);
        Self {
            source,
            to_begin,
            requests_left: u64::MAX,
            ends: None,
            origin: 0,
            requests: 0,
            last_arrival: 0,
            open,
        }
    }

    /// Ends the stream when the flag `ends` becomes true.
    #[must_use]
    pub fn until(self, ends: &'a Cell<bool>) -> Self {
        Self { ends: Some(ends), ..self }
    }

    /// Ends the stream after at most `requests` more requests.
    pub fn end_after(&mut self, requests: u64) {
        self.requests_left = requests;
    }

    /// Begins the next part of the stream, with `passes` passes. The new part starts its count of
    /// requests at 0. The clock of the part begins at the last arrival time of the previous part.
    pub fn begin(&mut self, passes: NonZeroU32) {
        self.origin += self.last_arrival;
        (self.to_begin, self.requests_left) = (passes.get() - 1, u64::MAX);
        (self.requests, self.last_arrival, self.open) = (0, 0, true);
    }

    /// Starts one more pass, after the stream has made all passes that it starts by itself.
    ///
    /// # Errors
    /// Returns an error if the source of requests cannot start another pass.
    pub fn next_pass(&mut self) -> Result<(), SourceError> {
        self.source.next_pass()
    }

    /// Returns the source of requests, so that the caller can report about this source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Returns the number of requests of the current part so far. Also returns the last arrival
    /// time, if every request has an arrival time of its own.
    pub fn numbers(&self) -> (u64, Option<Ns>) {
        (self.requests, self.open.then_some(self.last_arrival))
    }

    fn is_over(&self) -> bool {
        self.requests_left == 0 || self.ends.is_some_and(Cell::get)
    }

    fn fill_from_passes(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let before = out.len();
        loop {
            self.source.fill(out, max)?;
            let may_end = || !self.source.has_next_stage() && self.source.waits_until().is_none();
            if out.len() > before || self.to_begin == 0 || max == 0 || !may_end() {
                return Ok(());
            }
            self.to_begin -= 1;
            self.source.next_pass()?;
        }
    }
}

impl<S: PassSource> RequestSource for Passes<'_, S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        self.open &= self.source.arrival() == Arrival::Open;
        if self.is_over() {
            return Ok(());
        }
        let before = out.len();
        self.fill_from_passes(out, self.requests_left.min(max as u64) as usize)?;
        let new = &mut out[before..];
        if self.origin > 0 {
            for request in new.iter_mut() {
                request.at -= self.origin;
            }
        }
        self.requests_left -= new.len() as u64;
        self.requests += new.len() as u64;
        self.last_arrival = new.last().map_or(self.last_arrival, |request| request.at);
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.source.arrival()
    }

    fn tell_time(&mut self, now: Ns) {
        self.source.tell_time(now + self.origin);
    }

    fn completed(&mut self, origin: u16) {
        self.source.completed(origin);
    }

    fn waits_until(&self) -> Option<Ns> {
        self.source.waits_until().filter(|_| !self.is_over())
    }

    fn ends_at(&self) -> Option<Ns> {
        self.source.ends_at()?.checked_sub(self.origin).filter(|_| !self.is_over())
    }

    fn take_flushes(&mut self) -> Vec<(usize, Ns)> {
        let mut flushes = self.source.take_flushes();
        for (_, at) in &mut flushes {
            *at = at.saturating_sub(self.origin);
        }
        flushes
    }

    fn next_stage(&mut self) -> bool {
        !self.is_over() && self.source.next_stage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{SyntheticSource, WorkloadConfig};

    /// Makes a source of 1,000 requests with arrival times.
    fn source() -> SyntheticSource {
        let config =
            WorkloadConfig { requests: 1000, rate: Some(1e6), ..WorkloadConfig::default() };
        SyntheticSource::new(&config, 1 << 30, 4096, 7).unwrap()
    }

    fn all(source: &mut dyn RequestSource) -> Vec<Request> {
        let mut out = vec![];
        while {
            let before = out.len();
            source.fill(&mut out, 64).unwrap();
            out.len() > before
        } {}
        out
    }

    #[test]
    fn the_rest_goes_on_where_the_first_part_ends() {
        let whole = all(&mut source());
        let mut passes = Passes::new(source(), NonZeroU32::MIN);
        passes.end_after(300);
        assert_eq!(all(&mut passes), whole[..300]);
        assert_eq!(passes.numbers(), (300, Some(whole[299].at)));
        passes.begin(NonZeroU32::MIN);
        assert_eq!(passes.numbers(), (0, Some(0)));
        let rest = all(&mut passes);
        assert_eq!(passes.numbers(), (700, Some(whole[999].at - whole[299].at)));
        assert!(
            rest.iter()
                .zip(&whole[300..])
                .all(|(r, w)| (r.at + whole[299].at, r.offset) == (w.at, w.offset))
        );
    }

    #[test]
    fn it_ends_when_the_flag_is_set_and_counts_what_it_handed_out() {
        let ends = Cell::new(false);
        let mut passes = Passes::new(source(), NonZeroU32::new(3).unwrap()).until(&ends);
        let mut out = vec![];
        (0..20).for_each(|_| passes.fill(&mut out, 64).unwrap());
        assert!(out.len() > 1000, "the second pass began by itself");
        ends.set(true);
        let before = out.len();
        passes.fill(&mut out, 64).unwrap();
        assert_eq!(
            (out.len(), passes.numbers()),
            (before, (before as u64, Some(out[before - 1].at)))
        );
    }
}
