//! Length of a run that ends after a number of block cycles.

/// Length of a run in cycles of the blocks that it reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Number of blocks that the pages which the workload reads would fill.
    pub blocks: f64,
    /// Number of cycles before counting begins, within
    /// [`RunPlan::warm_up`](super::RunPlan::warm_up) requests. If absent, all of these requests are
    /// served.
    pub warm_up: Option<f64>,
    /// Number of cycles of the counted part. If absent, all requests of the counted part are
    /// served.
    pub counted: Option<f64>,
}
