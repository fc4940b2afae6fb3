//! How long a run is to be whose end depends on what its blocks have lived through.

/// How long a run is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Blocks' worth of pages that the workload reads.
    pub blocks: f64,
    /// Before anything is counted, [`RunPlan::warm_up`](super::RunPlan::warm_up) requests at most;
    /// all of these where absent.
    pub warm_up: Option<f64>,
    /// In the part that counts; all of its requests where absent.
    pub counted: Option<f64>,
}
