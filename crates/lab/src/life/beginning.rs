//! Refusal of drives that are worn out before their life begins.
//!
//! ```text
//! start.pec = 15,000 and rated_pec = 15,006; writing the content takes 9.3 P/E cycles
//! the drive has 15,009.3 P/E cycles at the start of its life, so it is refused
//! ```

use crate::failure::Failure;
use crate::plan::RunPlan;

/// Refuses a drive that is worn out before the life begins: writing the start-up content already
/// brings the mean block to the rated P/E cycles.
pub(super) fn require_life(plan: &RunPlan, worn: f64) -> Result<(), Failure> {
    let (start, rated) = (plan.drive.config.start.pec, plan.drive.config.drive.rated_pec);
    if worn < f64::from(rated) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "drive {}: once the start-up data is written, the mean block has {worn:.1} P/E cycles, but \
         drive.rated_pec = {rated}, so no life is left. start.pec is {start}; set a smaller \
         start.pec, or a drive.rated_pec of {} or more",
        plan.drive.name,
        worn.floor() as u64 + 1
    )))
}
