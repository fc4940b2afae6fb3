//! Number of P/E cycles that one erase counts as. A simulation may let wear pass faster than a real
//! drive does.

use vpass_drive::base::units::Cause;
use vpass_drive::config::DriveConfig;

/// P/E cycles that one erase counts as.
#[derive(Debug)]
pub(crate) struct Acceleration {
    /// Value of `wear.acceleration`. It takes effect with the measured phase.
    configured: u32,
    /// P/E cycles that an erase counts as at present.
    now: u32,
}

impl Acceleration {
    /// Returns the acceleration of a drive that is still being prepared.
    pub(crate) fn new(config: &DriveConfig) -> Self {
        Self { configured: config.wear.acceleration, now: 1 }
    }

    /// Returns the P/E cycles of an erase with this cause. Erases of wear levelling are never
    /// accelerated.
    pub(crate) fn of_erase(&self, cause: Cause) -> u32 {
        if cause == Cause::Wear { 1 } else { self.now }
    }

    /// Begins the measured phase.
    pub(crate) fn begin_measured_phase(&mut self) {
        self.now = self.configured;
    }
}
