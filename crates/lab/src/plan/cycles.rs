//! Length of a run that ends after a given number of block cycles.

/// Length of a run, measured in P/E cycles of the blocks that the workload reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Number of blocks that are needed to hold all pages that the workload reads.
    pub blocks: f64,
    /// Number of cycles in the warm-up. The warm-up also ends when
    /// [`RunPlan::warm_up`](super::RunPlan::warm_up) requests have been served. If absent, only
    /// this number of requests ends it.
    pub warm_up: Option<f64>,
    /// Number of cycles in the counted part. If absent, the counted part ends with its requests.
    pub counted: Option<f64>,
}
