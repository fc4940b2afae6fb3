//! Gears: how a workload drives the drive. Untimed for endurance, timed for latency; policies do not know which.

mod split;
mod timed;
mod untimed;

pub use timed::TimedEngine;
pub use untimed::{end_warm_up, run_untimed, serve_untimed, warm_up};

use crate::drive::Drive;
use crate::request::SourceError;

/// How a run ended before its workload did.
#[derive(Debug)]
pub enum RunError {
    /// The workload could not go on.
    Source(SourceError),
    /// The user interrupted it.
    Interrupted,
}

/// Called now and then with the number of requests served and the drive as it stands; false ends the run.
pub type Progress<'a> = &'a mut dyn FnMut(u64, &Drive) -> bool;
