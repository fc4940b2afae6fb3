//! Run of a recipe, with its plan and, after the simulation, its results.
use serde_json::Value;

use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::series::Part;

/// One run of a recipe, with its results.
pub(super) struct Run {
    pub(super) group: String,
    pub(super) variant: String,
    pub(super) workload: String,
    /// Whether the run replays a real trace beside the generated workloads. Averages exclude such a
    /// run.
    pub(super) is_beside: bool,
    /// Technique that names the run in figures. The technique belongs to the slot whose techniques
    /// the group compares.
    pub(super) technique: &'static str,
    pub(super) plan: RunPlan,
    /// Summary of the results; null until the run has ended.
    pub(super) summary: Value,
    /// Number of P/E cycles of every block at the end, and effective P/E cycles in thousandths.
    /// Recorded only if a plot shows blocks.
    pub(super) blocks: Vec<(u32, u64)>,
    /// Data of each week, needed by plots of weeks and by counts of long reads.
    pub(super) weeks: Vec<Part>,
    /// Whether the drive could not keep up with the requests. The latencies of such a run never
    /// settle.
    pub(super) fell_behind: bool,
}

/// Key in the summary for the number of P/E cycles after which a run ended.
pub(super) const CYCLES: &str = "cycles";
/// Key in the summary for the number of blocks in use at the end, if data is refreshed.
pub(super) const BLOCKS: &str = "blocks";
/// Text shown instead of a number if the drive could not keep up.
pub(super) const REFUSED: &str = "refused: could not keep up";

impl Run {
    /// Returns the names of group, variant, workload and technique.
    pub(super) fn name(&self) -> String {
        format!("{} {} {} {}", self.group, self.variant, self.workload, self.technique)
    }

    /// Returns a number of the summary. `figure` names the figure that needs the number. A pointer
    /// that begins with a minus sign returns the negative number.
    ///
    /// # Errors
    /// Reports a JSON pointer that does not lead to a number.
    pub(super) fn number_at(&self, figure: &str, pointer: &str) -> Result<f64, Failure> {
        if let Some(taken_off) = pointer.strip_prefix('-') {
            return self.number_at(figure, taken_off).map(|n| -n);
        }
        match self.summary.pointer(pointer) {
            // Null means that no read was counted, so null is treated as 0.
            Some(Value::Null) => Ok(0.0),
            Some(Value::Number(n)) => Ok(n.as_f64().unwrap_or_default()),
            _ => Err(Failure::usage(format!(
                "figure {figure}: {pointer} does not point to a number in a summary"
            ))),
        }
    }
}
