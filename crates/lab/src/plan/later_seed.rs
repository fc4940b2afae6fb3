//! Plan of a run that repeats another run with a larger random seed.

use vpass_drive::base::phrase::Opt;

use super::RunPlan;
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
}
