//! How the command ends: one exit code each, and the one sentence that goes with a failure.

use std::fmt::Display;
use std::process::ExitCode;

use vpass_core::base::request::SourceError;
use vpass_core::config::ConfigError;
use vpass_core::time::RunError;

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

/// Why a command could not do what it was asked to.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) sentence: String,
}

impl Failure {
    /// The user asked for something that cannot be.
    pub(crate) fn usage(sentence: impl Display) -> Self {
        Self { exit: Exit::Usage, sentence: sentence.to_string() }
    }

    /// Something went wrong that the user did not ask for.
    pub(crate) fn failed(sentence: impl Display) -> Self {
        Self { exit: Exit::Failed, sentence: sentence.to_string() }
    }

    /// The user stopped it.
    pub(crate) fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, sentence: "interrupted; nothing was written".into() }
    }
}

impl From<ConfigError> for Failure {
    fn from(e: ConfigError) -> Self {
        Self::usage(e)
    }
}

impl From<RunError> for Failure {
    fn from(e: RunError) -> Self {
        match e {
            RunError::Source(e) => e.into(),
            RunError::Interrupted => Self::interrupted(),
        }
    }
}

impl From<SourceError> for Failure {
    fn from(e: SourceError) -> Self {
        Self::usage(e)
    }
}
