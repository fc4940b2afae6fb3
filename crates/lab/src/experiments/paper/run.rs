//! Run of a recipe. A run has a plan before the simulation, and results afterwards.
use serde_json::Value;

use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::series::Part;

/// One run of a recipe, with the results of the run.
pub(super) struct Run {
    pub(super) group: String,
    pub(super) variant: String,
    pub(super) workload: String,
    /// Whether the run replays a real trace beside the generated workloads. Such a run is left out
    /// of averages.
    pub(super) is_beside: bool,
    /// Technique whose name stands for the run in figures. The group of the run determines the kind
    /// of this technique, such as reclaim or refresh.
    pub(super) technique: &'static str,
    pub(super) plan: RunPlan,
    /// Summary of the results; null until the run has ended.
    pub(super) summary: Value,
    /// Two counts for every block at the end of the run: the P/E cycles, and the effective P/E
    /// cycles in thousandths of a cycle. Recorded only if a plot shows blocks.
    pub(super) blocks: Vec<(u32, u64)>,
    /// Data of each week. The data is needed for plots by week, and for counts of long reads.
    pub(super) weeks: Vec<Part>,
    /// Whether the drive could not keep up with the requests. The latencies of such a run never
    /// settle.
    pub(super) fell_behind: bool,
}

/// Key of an entry in the summary of a run. The entry has the number of P/E cycles after which the
/// run ended.
pub(super) const CYCLES: &str = "cycles";
/// Key of an entry in the summary of a run. The entry has the number of blocks in use at the end of
/// the run. The entry is present only if data is refreshed.
pub(super) const BLOCKS: &str = "blocks";
/// Text that replaces a number if the drive could not keep up with the requests.
pub(super) const REFUSED: &str = "refused: could not keep up";

impl Run {
    /// Returns the name of the run, formed from the names of its group, variant, workload and
    /// technique.
    pub(super) fn name(&self) -> String {
        format!("{} {} {} {}", self.group, self.variant, self.workload, self.technique)
    }

    /// Returns a number from the summary of the run. `figure` names the figure that needs the
    /// number. If the pointer begins with a minus sign, returns the number with its sign changed.
    ///
    /// # Errors
    /// Returns an error if a JSON pointer does not lead to a number.
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
