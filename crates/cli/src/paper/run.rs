//! A run of a recipe, before and after.

use serde_json::Value;
use vpass_lab::failure::Failure;
use vpass_lab::plan::RunPlan;
use vpass_lab::series::Part;

/// One run of a recipe.
pub(super) struct Run {
    pub(super) group: String,
    pub(super) variant: String,
    pub(super) workload: String,
    /// It is of a real trace beside the generated workloads, which no mean counts.
    pub(super) is_beside: bool,
    /// What figures tell its runs apart by: a technique of reclaim, or of refresh where its group
    /// goes by that.
    pub(super) technique: &'static str,
    pub(super) plan: RunPlan,
    /// Null until it has run.
    pub(super) summary: Value,
    /// P/E cycles and thousandths of effective ones of every block at the end, where a plot asks
    /// for them.
    pub(super) blocks: Vec<(u32, u64)>,
    /// What came week by week, where a plot asks for it or long reads are counted.
    pub(super) weeks: Vec<Part>,
    /// Requests came faster than the drive could serve them: its latencies are of no state that
    /// lasts.
    pub(super) fell_behind: bool,
}

/// Where a summary has how long a run by cycles was.
pub(super) const CYCLES: &str = "cycles";
/// Where a summary has how many blocks hold anything at the end, of a drive whose data is
/// refreshed.
pub(super) const BLOCKS: &str = "blocks";
/// What stands in the place of a number of a run that fell behind.
pub(super) const REFUSED: &str = "refused: could not keep up";

impl Run {
    /// What it is, in words.
    pub(super) fn name(&self) -> String {
        format!("{} {} {} {}", self.group, self.variant, self.workload, self.technique)
    }

    /// A number of its summary, for the figure of this name.
    ///
    /// # Errors
    /// It is no number.
    pub(super) fn number_at(&self, figure: &str, pointer: &str) -> Result<f64, Failure> {
        if let Some(taken_off) = pointer.strip_prefix('-') {
            return self.number_at(figure, taken_off).map(|n| -n);
        }
        match self.summary.pointer(pointer) {
            // Nothing waited, or nothing was asked for: there is no number, which counts as none of
            // it.
            Some(Value::Null) => Ok(0.0),
            Some(Value::Number(n)) => Ok(n.as_f64().unwrap_or_default()),
            _ => {
                Err(Failure::usage(format!("figure {figure}: {pointer} is no number of a summary")))
            }
        }
    }
}
