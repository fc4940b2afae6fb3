//! Number of seeds of a comparison, unless the user names a number.

use crate::compare::pairs::SEEDS;
use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::pool::Job;

/// Largest work of a row that is run with several seeds. The unit is the time that the untimed gear
/// needs for a request; the work takes about ten seconds on two cores.
const MOST_WORK: u64 = 40_000_000;

/// Returns the number of seeds for rows with these plans, which serve the same requests. The number
/// depends only on the plans, never on measured time.
///
/// # Errors
/// Returns an error if the workload is invalid or cannot be read.
pub(super) fn seeds_by_default(rows: &[&RunPlan]) -> Result<u32, Failure> {
    if rows.iter().all(|plan| plan.ignores_seed()) {
        return Ok(1);
    }
    let job = Job { plan: rows[0], requests: rows[0].requests()? };
    let is_short = job.weight().is_some_and(|work| work <= MOST_WORK);
    Ok(if is_short { SEEDS as u32 } else { 1 })
}
