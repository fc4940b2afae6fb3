//! Length of a run that ends after a number of block cycles.

/// Length of a run in cycles of the blocks that it reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Number of blocks that all pages which the workload reads would fill.
    pub blocks: f64,
    /// Number of cycles of the warm-up. The warm-up ends earlier if
    /// [`RunPlan::warm_up`](super::RunPlan::warm_up) requests are served first. If absent, only
    /// these requests end it.
    pub warm_up: Option<f64>,
    /// Number of cycles of the counted part. If absent, only its requests end it.
    pub counted: Option<f64>,
}
