//! Time: what carries requests to the drive. [`run_untimed`] serves them one after another in no
//! time, for endurance; a [`Device`] has a clock, dies, channels and a link, for latency, and
//! [`Replay`] drives one with a workload. Policies do not know which.

mod device;
mod drive;
mod fluid;
mod replay;
mod split;
mod untimed;

pub use device::{Device, Tag};
pub use fluid::{FluidRun, FluidSource};
pub use replay::Replay;
pub use untimed::{end_warm_up, run_untimed, serve_untimed, warm_up};

use crate::base::request::{Request, SourceError};
use crate::base::units::{END_OF_TIME, Ns};
use crate::drive::Drive;

/// How a run ended before its workload did.
#[derive(Debug)]
pub enum RunError {
    /// The workload could not go on.
    Source(SourceError),
    /// The user interrupted it.
    Interrupted,
    /// The drive could not go on, and why.
    Stopped(String),
}

/// Refuses requests that arrive after the end of time, of which the last arrives last.
fn check_arrivals(requests: &[Request]) -> Result<(), RunError> {
    requests
        .last()
        .map_or(Ok(()), |last| before_the_end("a request of the workload arrives", last.at))
}

/// Whether so long after its beginning a run may go on.
fn before_the_end(what: &str, at: Ns) -> Result<(), RunError> {
    if at <= END_OF_TIME {
        return Ok(());
    }
    Err(RunError::Source(SourceError(format!(
        "{what} after 2^62 ns, which is 146 years; simulated time ends there"
    ))))
}

/// Called now and then with the number of requests served and the drive as it stands; false ends
/// the run.
pub type Progress<'a> = &'a mut dyn FnMut(u64, &Drive) -> bool;
