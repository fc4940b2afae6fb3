//! Drives that are already worn out at the start.
//!
//! ```text
//! start.pec = 15,000, rated_pec = 15,006; writing the content costs 9.3 cycles:
//! 15,009.3 at the start, so the drive is refused
//! ```

use crate::failure::Failure;
use crate::plan::RunPlan;

/// Refuses a drive that is worn out before its life begins. Its mean block reaches the rated P/E
/// cycles while the content is written.
pub(super) fn require_life(plan: &RunPlan, worn: f64) -> Result<(), Failure> {
    let (start, rated) = (plan.drive.config.start.pec, plan.drive.config.drive.rated_pec);
    if worn < f64::from(rated) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "drive {}: after its start-up data is written, its mean block has {worn:.1} P/E cycles, \
         and drive.rated_pec = {rated}, so no life is left. start.pec is {start}; set a smaller \
         start.pec, or a drive.rated_pec of {} or more",
        plan.drive.name,
        worn.floor() as u64 + 1
    )))
}
