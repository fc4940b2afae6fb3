//! Reason why a command failed: the kind of cause, and a sentence for the user.

use std::fmt::Display;

use vpass_core::base::request::SourceError;
use vpass_core::config::ConfigError;
use vpass_core::time::RunError;

use crate::keys::wrong::KeyError;

/// Cause of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Invalid request of the user.
    Usage,
    /// Fault that the user did not cause.
    Failed,
    /// Simulated drive that stopped because of a failure in the drive.
    Stopped,
    /// Interruption by the user.
    Interrupted,
}

/// Failure of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Cause of the failure.
    pub kind: Kind,
    /// Sentence for the user.
    pub sentence: String,
    /// Key whose value is wrong; absent if the cause is not a key.
    pub key: Option<Box<KeyError>>,
}

impl Failure {
    fn new(kind: Kind, sentence: impl Display) -> Self {
        Self { kind, sentence: sentence.to_string(), key: None }
    }

    /// Makes a failure for an invalid request of the user.
    pub fn usage(sentence: impl Display) -> Self {
        Self::new(Kind::Usage, sentence)
    }

    /// Makes a failure for a fault that the user did not cause.
    pub fn failed(sentence: impl Display) -> Self {
        Self::new(Kind::Failed, sentence)
    }

    /// Makes a failure for a simulated drive that stopped.
    pub fn stopped(sentence: impl Display) -> Self {
        Self::new(Kind::Stopped, sentence)
    }

    /// Makes a failure for an interruption by the user.
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted; nothing was written")
    }

    /// Returns whether the simulated drive stopped. Other drives may go on.
    pub fn is_stop(&self) -> bool {
        self.kind == Kind::Stopped
    }

    /// Returns whether the user interrupted the command.
    pub fn is_interruption(&self) -> bool {
        self.kind == Kind::Interrupted
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
            RunError::Stopped(why) => Self::stopped(why),
        }
    }
}

impl From<SourceError> for Failure {
    fn from(e: SourceError) -> Self {
        Self::usage(e)
    }
}
