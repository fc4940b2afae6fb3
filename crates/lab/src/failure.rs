//! Why something could not be done: whose doing it was, and a sentence for the user.

use std::fmt::Display;

use vpass_core::base::request::SourceError;
use vpass_core::config::ConfigError;
use vpass_core::time::RunError;

use crate::keys::wrong::KeyError;

/// Whose doing a failure was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The user asked for something that cannot be.
    Usage,
    /// Something went wrong that the user did not ask for.
    Failed,
    /// The simulated drive could not go on, because of what failed in it.
    Stopped,
    /// The user stopped it.
    Interrupted,
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whose doing it was.
    pub kind: Kind,
    /// For the user.
    pub sentence: String,
    /// Key whose value is wrong.
    pub key: Option<Box<KeyError>>,
}

impl Failure {
    fn new(kind: Kind, sentence: impl Display) -> Self {
        Self { kind, sentence: sentence.to_string(), key: None }
    }

    /// The user asked for something that cannot be.
    pub fn usage(sentence: impl Display) -> Self {
        Self::new(Kind::Usage, sentence)
    }

    /// Something went wrong that the user did not ask for.
    pub fn failed(sentence: impl Display) -> Self {
        Self::new(Kind::Failed, sentence)
    }

    /// The simulated drive could not go on.
    pub fn stopped(sentence: impl Display) -> Self {
        Self::new(Kind::Stopped, sentence)
    }

    /// The user stopped it.
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted; nothing was written")
    }

    /// Whether the simulated drive stopped, and others may go on.
    pub fn is_stop(&self) -> bool {
        self.kind == Kind::Stopped
    }

    /// Whether the user stopped it.
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
