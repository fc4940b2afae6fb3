//! A run of a recipe, before and after it ends.

use serde_json::Value;
use vpass_lab::failure::Failure;
use vpass_lab::plan::RunPlan;
use vpass_lab::series::Part;

/// One run of a recipe.
pub(super) struct Run {
    pub(super) group: String,
    pub(super) variant: String,
    pub(super) workload: String,
    /// Whether it replays a real trace beside the generated workloads; averages leave it out.
    pub(super) is_beside: bool,
    /// Technique that distinguishes the runs in figures: of parity or refresh if the group compares
    /// those, else of reclaim.
    pub(super) technique: &'static str,
    pub(super) plan: RunPlan,
    /// Null until the run has ended.
    pub(super) summary: Value,
    /// P/E cycles and thousandths of effective P/E cycles of every block at the end, for plots that
    /// show them.
    pub(super) blocks: Vec<(u32, u64)>,
    /// Data of each week, for plots that show it and for counts of long reads.
    pub(super) weeks: Vec<Part>,
    /// Whether the drive could not keep up with the requests, so that its latencies do not settle.
    pub(super) fell_behind: bool,
}

/// Key of a summary with the length of a run by cycles.
pub(super) const CYCLES: &str = "cycles";
/// Key of a summary with the number of blocks in use at the end, if data is refreshed.
pub(super) const BLOCKS: &str = "blocks";
/// Text instead of a number for a run that could not keep up.
pub(super) const REFUSED: &str = "refused: could not keep up";

impl Run {
    /// Returns group, variant, workload and technique.
    pub(super) fn name(&self) -> String {
        format!("{} {} {} {}", self.group, self.variant, self.workload, self.technique)
    }

    /// Returns a number of the summary, for the figure of this name.
    ///
    /// # Errors
    /// Reports something that is not a number.
    pub(super) fn number_at(&self, figure: &str, pointer: &str) -> Result<f64, Failure> {
        if let Some(taken_off) = pointer.strip_prefix('-') {
            return self.number_at(figure, taken_off).map(|n| -n);
        }
        match self.summary.pointer(pointer) {
            // No read waited, or none was requested: a missing number counts as 0.
            Some(Value::Null) => Ok(0.0),
            Some(Value::Number(n)) => Ok(n.as_f64().unwrap_or_default()),
            _ => Err(Failure::usage(format!(
                "figure {figure}: {pointer} is not a number of a summary"
            ))),
        }
    }
}
