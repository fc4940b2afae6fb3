//! Reason why a command failed, as data: the kind of cause, the place, what is wrong, and what would
//! be right.

use std::fmt::Display;

use vpass_core::base::request::SourceError;
use vpass_core::config::ConfigError;
use vpass_core::time::RunError;

use crate::keys::wrong::KeyError;
use crate::phrase::{Dialect, Keywords, Part, Phrase};

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
    /// Argument, setting or file in which the failure lies; absent if `what` has the place.
    pub place: Option<Phrase>,
    /// Description of what is wrong.
    pub what: Phrase,
    /// Description of what would be right; absent if `what` has it.
    pub remedy: Option<Phrase>,
    /// Key whose value is wrong; absent if the cause is not a key.
    pub key: Option<Box<KeyError>>,
}

impl Failure {
    fn new(kind: Kind, sentence: impl Display) -> Self {
        Self::of(kind, sentence.to_string().into())
    }

    /// Makes a failure with a description that may name arguments.
    pub fn of(kind: Kind, what: Phrase) -> Self {
        Self { kind, place: None, what, remedy: None, key: None }
    }

    /// Makes a failure for an invalid request of the user, with a description that may name
    /// arguments.
    pub fn refused(what: impl Into<Phrase>) -> Self {
        Self::of(Kind::Usage, what.into())
    }

    /// Adds the argument, setting or file in which the failure lies.
    #[must_use]
    pub fn at(self, place: impl Into<Phrase>) -> Self {
        Self { place: Some(place.into()), ..self }
    }

    /// Adds the description of what would be right.
    #[must_use]
    pub fn remedy(self, remedy: impl Into<Phrase>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Returns the arguments and settings that would be right. The user may choose one of them.
    pub fn remedies(&self) -> impl Iterator<Item = &Part> {
        self.remedy.iter().flat_map(Phrase::named)
    }

    /// Returns the sentence for the user in the words of a dialect.
    pub fn in_dialect(&self, dialect: &dyn Dialect) -> String {
        let place = self.place.as_ref().map(|place| format!("{}: ", place.in_dialect(dialect)));
        let what = self.what.in_dialect(dialect);
        // A description of several sentences ends with a full stop, and the remedy is a sentence.
        let mark = if what.ends_with('.') { " " } else { "; " };
        let remedy =
            self.remedy.as_ref().map(|remedy| format!("{mark}{}", remedy.in_dialect(dialect)));
        format!("{}{what}{}", place.unwrap_or_default(), remedy.unwrap_or_default())
    }

    /// Returns the sentence for a program that passes arguments by their names.
    pub fn sentence(&self) -> String {
        self.in_dialect(&Keywords)
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
