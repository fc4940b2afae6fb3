//! Lives that are simulated faster than they pass (`wear.acceleration`): a simulated second stands for K seconds, and what is counted in
//! it for K times as much.

use vpass_core::base::units::Cause;

use super::Lived;
use crate::results::ByCause;

impl Lived {
    /// Returns the life that a simulation stands for in which erases counted as so many cycles.
    pub(super) fn of_simulation(self, acceleration: u32) -> Self {
        let times = u64::from(acceleration);
        let all = |counts: ByCause| ByCause::from(Cause::ALL.map(|cause| counts.of(cause) * times));
        Self {
            years: self.years * f64::from(acceleration),
            programs: all(self.programs),
            erases: all(self.erases),
            host_bytes: self.host_bytes * times,
            read_requests: self.read_requests * times,
            read_pages: self.read_pages * times,
            data_lost_pages: self.data_lost_pages * times,
            ..self
        }
    }
}
