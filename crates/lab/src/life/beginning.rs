//! Drives that have no life left when it is to begin.
//!
//! ```text
//! start.pec = 15,000, rated_pec = 15,006; writing the content takes 9.3 cycles: 15,009.3 at the start, and the drive is refused
//! ```

use crate::failure::Failure;
use crate::plan::RunPlan;

/// Refuses a drive whose mean block, with its content written, has as many P/E cycles as it is
/// rated for.
pub(super) fn require_life(plan: &RunPlan, worn: f64) -> Result<(), Failure> {
    let (start, rated) = (plan.drive.config.start.pec, plan.drive.config.drive.rated_pec);
    if worn < f64::from(rated) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "drive {}: its mean block has {worn:.1} P/E cycles once the content is written, and drive.rated_pec is {rated}: no life is left. \
         start.pec is {start}; set a smaller start.pec, or drive.rated_pec to {} or more",
        plan.drive.name,
        worn.floor() as u64 + 1
    )))
}
