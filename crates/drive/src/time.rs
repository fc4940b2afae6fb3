//! Time: how requests reach the drive. [`run_untimed`] serves them one after another without time,
//! for endurance. A [`Device`] has a clock, dies, channels and a link, for latency. [`Replay`]
//! sends a workload to a device. Policies do not know which gear runs.

mod device;
mod drive;
mod fluid;
mod replay;
mod split;
mod untimed;

pub use device::{Device, Speed, Tag};
pub use fluid::{FluidRun, FluidSource};
pub use replay::Replay;
pub use untimed::{end_warm_up, run_untimed, serve_untimed, warm_up};

use crate::base::request::{Request, SourceError};
use crate::base::units::{END_OF_TIME, Ns};
use crate::drive::Drive;

/// Reason why a run ended before its workload.
#[derive(Debug)]
pub enum RunError {
    /// Failure of the workload.
    Source(SourceError),
    /// Interruption by the user.
    Interrupted,
    /// Stop of the drive, with the reason.
    Stopped(String),
}

/// Refuses requests that arrive after the end of time. The last request arrives last.
fn check_arrivals(requests: &[Request]) -> Result<(), RunError> {
    requests
        .last()
        .map_or(Ok(()), |last| before_the_end("a request of the workload arrives", last.at))
}

/// Returns an error if a run cannot go on at this time after its beginning.
fn before_the_end(event: &str, at: Ns) -> Result<(), RunError> {
    if at <= END_OF_TIME {
        return Ok(());
    }
    Err(RunError::Source(SourceError::new(format!(
        "{event} after 2^62 ns, which is 146 years; simulated time ends there"
    ))))
}

/// Callback that is called from time to time with the number of requests served and the current
/// drive. If it returns false, the run ends.
pub type Progress<'a> = &'a mut dyn FnMut(u64, &Drive) -> bool;
