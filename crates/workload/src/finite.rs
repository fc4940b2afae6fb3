//! Source of requests whose passes all have the same number of requests. It joins an endless
//! generator with the rules by which requests arrive.

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};

use crate::pass::PassSource;
use crate::synthetic::Arrivals;
use crate::synthetic::arrivals::ArrivalClock;
use crate::synthetic::random::Random;

/// Number of requests in a batch. A batch takes 12 KiB, so it stays in the first-level cache during
/// all steps.
const BATCH: usize = 512;

/// Endless generator of requests. Generators without times of their own leave the arrival times to
/// [`Finite`].
pub trait Draw: Send {
    /// Appends `count` requests, at most 512.
    ///
    /// # Errors
    /// Returns an error if requests cannot be read.
    fn draw(&mut self, out: &mut Vec<Request>, count: usize) -> Result<(), SourceError>;

    /// Prepares the requests of the next pass. By default, the generator simply goes on.
    fn begin_pass(&mut self) {}

    /// Returns the number of bytes that the generator occupies in memory.
    fn memory(&self) -> u64;
}

/// Source of a fixed number of requests per pass.
pub struct Finite<D> {
    draw: D,
    arrival: Arrival,
    /// Clock that sets arrival times, with its random numbers.
    clock: Option<(ArrivalClock, Random)>,
    requests: u64,
    left: u64,
}

impl<D: Draw> Finite<D> {
    /// Makes a source of `requests` requests per pass.
    pub(crate) fn of(draw: D, requests: u64, arrival: Arrival) -> Self {
        Self { draw, arrival, clock: None, requests, left: requests }
    }

    /// Sets the arrival times of all requests, if the workload has a rate.
    pub(crate) fn at_rate(
        self,
        rate: Option<f64>,
        arrivals: Option<Arrivals>,
        random: Random,
    ) -> Self {
        let clock = |rate| (ArrivalClock::new(arrivals.unwrap_or_default(), rate), random);
        Self { clock: rate.map(clock), ..self }
    }
}

impl<D: Draw> RequestSource for Finite<D> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let mut wanted = self.left.min(max as u64) as usize;
        self.left -= wanted as u64;
        while wanted > 0 {
            let (start, count) = (out.len(), wanted.min(BATCH));
            self.draw.draw(out, count)?;
            if let Some((clock, random)) = &mut self.clock {
                clock.stamp(random, &mut out[start..]);
            }
            wanted -= count;
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.requests)
    }
}

impl<D: Draw> PassSource for Finite<D> {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        self.left = self.requests;
        self.draw.begin_pass();
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.draw.memory()
    }
}
