//! Random seed of a plan: plans that repeat a run with a larger seed, and plans whose results do
//! not depend on the seed.

use vpass_drive::base::phrase::Opt;
use vpass_drive::config::ErrorLaw;

use super::{RunPlan, Workload};
use crate::failure::Failure;

impl RunPlan {
    /// Returns this plan with a random seed that is larger by `n`.
    ///
    /// # Errors
    /// Returns an error if the seed would be 2^64 or more.
    pub fn with_later_seed(&self, n: u64) -> Result<Self, Failure> {
        let seed = self.seed.checked_add(n).ok_or_else(|| {
            Failure::usage(format!("seed {} plus {n} is 2^64 or more", self.seed))
                .with_remedy("a smaller seed is expected")
                .at(Opt::Seed.to(self.seed))
        })?;
        Ok(Self { seed, ..self.clone() })
    }

    /// Returns whether every seed gives the same results. The requests must be recorded, and
    /// neither the start of the drive, nor retries, nor techniques may be drawn.
    pub fn ignores_seed(&self) -> bool {
        let start = &self.drive.config.start;
        let starts_alike = start.overwrite == 0.0
            && (start.pec_spread, start.reads) == (0, 0)
            && start.worn_share == 0.0
            && self.drive.config.error.model == ErrorLaw::None;
        let draws = [self.reclaim.draws, self.gc.draws, self.refresh.draws, self.parity.draws]
            .contains(&true);
        matches!(self.workload, Workload::Trace { .. })
            && self.before.is_none()
            && starts_alike
            && !draws
    }
}
