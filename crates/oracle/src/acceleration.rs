//! How many P/E cycles an erase counts as where a life is simulated faster than it passes.

use vpass_core::base::units::Cause;
use vpass_core::config::DriveConfig;

/// Cycles of an erase.
#[derive(Debug)]
pub(crate) struct Acceleration {
    /// `wear.acceleration`, which counts from the measured phase on.
    configured: u32,
    /// Cycles that an erase counts as now.
    pub(crate) now: u32,
}

impl Acceleration {
    /// Acceleration of a drive that is being prepared.
    pub(crate) fn new(config: &DriveConfig) -> Self {
        Self { configured: config.wear.acceleration, now: 1 }
    }

    /// Cycles of an erase with this cause: levelling wear is never accelerated.
    pub(crate) fn of_erase(&self, cause: Cause) -> u32 {
        if cause == Cause::Wear { 1 } else { self.now }
    }

    /// Begins the measured phase.
    pub(crate) fn begin_measured_phase(&mut self) {
        self.now = self.configured;
    }
}
