//! Length of a run that ends by the cycles of its blocks.

/// Length of a run in cycles of its blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Pages that the workload reads, in blocks.
    pub blocks: f64,
    /// Cycles before counting begins, within [`RunPlan::warm_up`](super::RunPlan::warm_up)
    /// requests; if absent, all of these requests are served.
    pub warm_up: Option<f64>,
    /// Cycles of the counted part; if absent, all of its requests are served.
    pub counted: Option<f64>,
}
