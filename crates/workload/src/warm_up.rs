//! A workload in two parts: what is served before the measured phase, and the rest on a clock that begins there.

use vpass_core::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_core::base::units::Ns;

use crate::pass::PassSource;

/// The first requests of a source, in its place.
#[derive(Debug)]
pub struct First<'a, S> {
    inner: &'a mut S,
    left: u64,
    last_arrival: Ns,
}

impl<'a, S: RequestSource> First<'a, S> {
    /// At most so many requests of `inner`, which then goes on behind them.
    pub fn new(inner: &'a mut S, requests: u64) -> Self {
        Self { inner, left: requests, last_arrival: 0 }
    }

    /// When the last of them arrived; 0 before.
    pub fn last_arrival(&self) -> Ns {
        self.last_arrival
    }
}

impl<S: RequestSource> RequestSource for First<'_, S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let before = out.len();
        let max = self.left.min(max as u64) as usize;
        if max > 0 {
            self.inner.fill(out, max)?;
        }
        self.left -= (out.len() - before) as u64;
        self.last_arrival = out.last().map_or(self.last_arrival, |request| request.at);
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.inner.arrival()
    }
}

/// A source whose clock begins `origin` later.
#[derive(Debug)]
pub struct Since<S> {
    inner: S,
    origin: Ns,
}

impl<S> Since<S> {
    /// `origin`: the time of the source that is 0 from now on; nothing that is still to come lies before it.
    pub fn new(inner: S, origin: Ns) -> Self {
        Self { inner, origin }
    }

    /// The source itself, for its report.
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

impl<S: RequestSource> RequestSource for Since<S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let before = out.len();
        self.inner.fill(out, max)?;
        if self.origin > 0 {
            out[before..].iter_mut().for_each(|request| request.at -= self.origin);
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.inner.arrival()
    }

    fn tell_time(&mut self, now: Ns) {
        self.inner.tell_time(now + self.origin);
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

    fn len_hint(&self) -> Option<u64> {
        self.inner.len_hint()
    }
}

impl<S: PassSource> PassSource for Since<S> {
    fn memory(&self) -> u64 {
        self.inner.memory()
    }

    fn next_pass(&mut self) -> Result<(), SourceError> {
        self.inner.next_pass()
    }

    fn has_next_stage(&self) -> bool {
        self.inner.has_next_stage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{SyntheticSource, WorkloadConfig};

    #[test]
    fn the_rest_goes_on_where_the_first_part_ends() {
        let config = WorkloadConfig { requests: 1000, rate: Some(1e6), ..WorkloadConfig::default() };
        let source = || SyntheticSource::new(&config, 1 << 30, 4096, 7).unwrap();
        let all = |source: &mut dyn RequestSource| {
            let mut out = vec![];
            while {
                let before = out.len();
                source.fill(&mut out, 64).unwrap();
                out.len() > before
            } {}
            out
        };
        let whole = all(&mut source());
        let mut cut = source();
        let mut first = First::new(&mut cut, 300);
        assert_eq!(all(&mut first), whole[..300]);
        let origin = first.last_arrival();
        assert_eq!(origin, whole[299].at);
        let rest = all(&mut Since::new(cut, origin));
        assert_eq!(rest.len(), 700);
        assert!(rest.iter().zip(&whole[300..]).all(|(r, w)| (r.at + origin, r.offset) == (w.at, w.offset)));
    }
}
