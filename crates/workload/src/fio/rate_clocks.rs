//! Arrival times of a fio job with a `rate`. As in fio, each direction (read, write or trim) has
//! its own clock. The rates decide the mix of reads and writes, and `rwmixread` has no effect.
//!
//! `rate` is in bytes per second. `rate_iops` is the number of requests per second if all requests
//! have the smallest block size. A larger request counts as several such requests. With
//! `rate_process=poisson`, the gaps between requests are exponentially distributed and do not
//! depend on the request size.
//!
//! Requests arrive at the rate even if the drive cannot keep up (open loop). In contrast, fio stops
//! at `iodepth` outstanding requests and catches up later.

use vpass_drive::base::units::Ns;

use super::job::Job;
use crate::synthetic::Arrivals;
use crate::synthetic::arrivals::ArrivalClock;
use crate::synthetic::random::Random;

/// Clocks of a clone, one for each direction.
pub(super) struct RateClocks {
    by_op: [Option<ArrivalClock>; 3],
    /// Number of bytes that count as one request; `None` if each request counts as one, whatever
    /// its size.
    unit: [Option<f64>; 3],
    start_ns: Ns,
}

impl RateClocks {
    /// Makes the clocks of a job, if the job has a rate.
    pub(super) fn new(job: &Job) -> Option<Self> {
        let rate = job.rate?;
        let smallest = |op: usize| job.blocks[op].ends().0 as f64;
        let clock = |op: usize| {
            rate.bytes_per_s[op].map(|bytes| ArrivalClock::new(rate.arrivals, bytes / smallest(op)))
        };
        let unit = |op: usize| (rate.arrivals == Arrivals::Constant).then(|| smallest(op));
        Some(Self {
            by_op: [0, 1, 2].map(clock),
            unit: [0, 1, 2].map(unit),
            start_ns: job.start_ns,
        })
    }

    /// Returns the time and direction of the next request. The time is counted from the start of
    /// the stage.
    pub(super) fn due(&self) -> (Ns, usize) {
        let due = self
            .by_op
            .iter()
            .enumerate()
            .filter_map(|(op, clock)| clock.as_ref().map(|c| (c.due(), op)))
            .min();
        let (at, op) = due.unwrap_or((Ns::MAX, 0));
        (at.saturating_add(self.start_ns), op)
    }

    /// Advances the clock of a direction after a request of `bytes` bytes.
    pub(super) fn arrived(&mut self, op: usize, bytes: u32, random: &mut Random) {
        if let Some(clock) = &mut self.by_op[op] {
            clock.arrived(random, self.unit[op].map_or(1.0, |unit| f64::from(bytes) / unit));
        }
    }
}
