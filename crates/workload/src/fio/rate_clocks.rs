//! When the requests of a job with a `rate` come: each direction keeps its own, so that the rates
//! and not `rwmixread` decide the mix, as in fio.
//!
//! `rate` is bytes a second; `rate_iops` counts requests of the smallest block, and a larger one
//! takes its share of the rate. Under `rate_process=poisson` gaps are exponential and do not depend
//! on the size. The rate holds whether or not the drive keeps up (open loop), while fio would stop
//! at `iodepth` requests and catch up later.

use vpass_core::base::units::Ns;

use super::job::Job;
use crate::synthetic::Arrivals;
use crate::synthetic::arrivals::ArrivalClock;
use crate::synthetic::random::Random;

/// The clocks of a clone.
pub(super) struct RateClocks {
    by_op: [Option<ArrivalClock>; 3],
    /// Bytes of the request that the clock's rate is for; none where all requests count alike.
    unit: [Option<f64>; 3],
    start_ns: Ns,
}

impl RateClocks {
    /// Where the job has a rate.
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

    /// When the next request comes, after the start of the stage, and its direction.
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

    /// A request of so many bytes has come.
    pub(super) fn arrived(&mut self, op: usize, bytes: u32, random: &mut Random) {
        if let Some(clock) = &mut self.by_op[op] {
            clock.arrived(random, self.unit[op].map_or(1.0, |unit| f64::from(bytes) / unit));
        }
    }
}
