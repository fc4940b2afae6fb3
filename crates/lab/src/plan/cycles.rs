//! Length of a run that ends after a given number of block cycles.

/// Length of a run, measured in P/E cycles of the blocks that the workload reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Number of blocks that are needed to hold all pages that the workload reads.
    pub blocks: f64,
    /// Number of cycles in the warm-up. The warm-up also ends when
    /// [`RunPlan::warm_up`](super::RunPlan::warm_up) requests have been served. `None` if only the
    /// number of requests ends the warm-up.
    pub warm_up: Option<f64>,
    /// Number of cycles in the counted part. `None` if the counted part ends after its last
    /// request.
    pub counted: Option<f64>,
}
