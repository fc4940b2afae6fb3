//! How the command ends: its exit codes.

use std::process::ExitCode;

use vpass_lab::failure::{Failure, Kind};

/// The exit codes of `vpass`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    /// It failed, a generated workload misses the statistics that it was made after, or the oracle found a bug of the drive.
    Failed = 1,
    /// Wrong usage, configuration or trace.
    Usage = 2,
    /// The run completed and data was lost.
    Lost = 3,
    /// As a shell reports a process ended by SIGINT.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        match failure.kind {
            Kind::Usage => Self::Usage,
            Kind::Failed => Self::Failed,
            Kind::Interrupted => Self::Interrupted,
        }
    }
}
