//! Replaying a workload: a source that stops at the end of each pass, and an adapter that runs a number of passes as one.
//! Either the caller drives the passes itself ("until the drive is stable"), or it wraps the source in [`Repeated`].

use std::num::NonZeroU32;

use vpass_core::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_core::base::units::Ns;

/// A source that can be run again: `fill` appends nothing at the end of each pass.
pub trait PassSource: RequestSource + Send {
    /// Starts the next pass. Time and chance go on: arrivals keep rising and a generator draws new numbers.
    ///
    /// # Errors
    /// A trace that can no longer be opened.
    fn next_pass(&mut self) -> Result<(), SourceError>;

    /// Bytes of memory that it takes, what is shared with others of its kind apart.
    fn memory(&self) -> u64;

    /// Whether the pass has another stage, which waits for every request so far ([`RequestSource::next_stage`]).
    fn has_next_stage(&self) -> bool {
        false
    }
}

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
}

/// A number of passes over a source, as one stream.
#[derive(Debug)]
pub struct Repeated<S> {
    inner: S,
    passes_left: u32,
    length: Option<u64>,
}

impl<S: PassSource> Repeated<S> {
    /// Runs `inner` `passes` times.
    pub fn new(inner: S, passes: NonZeroU32) -> Self {
        let length = inner.len_hint().and_then(|n| n.checked_mul(u64::from(passes.get())));
        Self { inner, passes_left: passes.get() - 1, length }
    }

    /// The source itself, for its report.
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

impl<S: PassSource> RequestSource for Repeated<S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let before = out.len();
        loop {
            self.inner.fill(out, max)?;
            if out.len() > before || self.passes_left == 0 || max == 0 || self.inner.has_next_stage() || self.inner.waits_until().is_some()
            {
                return Ok(());
            }
            self.passes_left -= 1;
            self.inner.next_pass()?;
        }
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

    fn len_hint(&self) -> Option<u64> {
        self.length
    }
}
