//! Failure of a task. A failure has a kind of cause, a place, a description of the error, and a
//! correction. A dialect turns options and settings into the words of the user's program.

use std::fmt;

use vpass_drive::base::phrase::{Dialect, Neutral, Part, Phrase};
use vpass_drive::base::request::SourceError;
use vpass_drive::config::ConfigError;
use vpass_drive::time::RunError;

/// Kind of cause of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The user's request is invalid.
    Usage,
    /// The task failed, and the user's request is not the cause.
    Failed,
    /// The simulated drive stopped because of a failure inside the drive.
    Stopped,
    /// The user interrupted the task.
    Interrupted,
}

/// Failure of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Kind of cause of the failure.
    pub kind: Kind,
    /// Option, setting or file that caused the failure. Absent if the description in `what` already
    /// names the option, setting or file.
    pub place: Option<Phrase>,
    /// Description of what is wrong.
    pub what: Phrase,
    /// Description of what would be right. Absent if the correct value is unknown, or if the
    /// description in `what` already contains the correction.
    pub remedy: Option<Phrase>,
    /// Key and its wrong value. Absent if the failure is not about a key.
    pub entry: Option<Box<Entry>>,
}

/// Key or option, and the value that the user gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path of the key, such as `geometry.channels`, or name of the option.
    pub key: String,
    /// Value as the user wrote it; absent if the user gave no value.
    pub value: Option<String>,
}

impl Failure {
    fn new(kind: Kind, what: impl Into<Phrase>) -> Self {
        Self { kind, place: None, what: what.into(), remedy: None, entry: None }
    }

    /// Makes a failure for an invalid request of the user.
    pub fn usage(what: impl Into<Phrase>) -> Self {
        Self::new(Kind::Usage, what)
    }

    /// Makes a failure that was not caused by the user's request.
    pub fn failed(what: impl Into<Phrase>) -> Self {
        Self::new(Kind::Failed, what)
    }

    /// Makes a failure for a simulated drive that stopped.
    pub fn stopped(what: impl Into<Phrase>) -> Self {
        Self::new(Kind::Stopped, what)
    }

    /// Makes a failure for an interruption by the user.
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted; nothing was written")
    }

    /// Adds the option, setting or file that caused the failure.
    #[must_use]
    pub fn at(self, place: impl Into<Phrase>) -> Self {
        Self { place: Some(place.into()), ..self }
    }

    /// Adds the description of what would be right.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<Phrase>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Adds a key and its wrong value.
    #[must_use]
    pub fn with_entry(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        let entry = Entry { key: key.into(), value: Some(value.into()) };
        Self { entry: Some(Box::new(entry)), ..self }
    }

    /// Adds the wrong option or setting. Needed only if the description does not begin with the
    /// option or setting.
    #[must_use]
    pub fn about(self, wrong: &Part) -> Self {
        Self { entry: entry_of_part(wrong).map(Box::new), ..self }
    }

    /// Returns the wrong key or option, and the value that the user gave. Returns `None` if the
    /// failure is not about a key or an option.
    pub fn entry(&self) -> Option<Entry> {
        let of_option = || self.place.as_ref().and_then(entry_of).or_else(|| entry_of(&self.what));
        self.entry.as_deref().cloned().or_else(of_option)
    }

    /// Returns the place of the failure in the words of a dialect. Returns `None` if the failure
    /// has no place.
    pub fn place_in(&self, dialect: &dyn Dialect) -> Option<String> {
        self.place.as_ref().map(|place| place.in_dialect(dialect))
    }

    /// Returns the correction in the words of a dialect. Returns `None` if the failure has no
    /// correction.
    pub fn remedy_in(&self, dialect: &dyn Dialect) -> Option<String> {
        self.remedy.as_ref().map(|remedy| remedy.in_dialect(dialect))
    }

    /// Returns the sentence that the user sees, in the words of a dialect.
    pub fn in_dialect(&self, dialect: &dyn Dialect) -> String {
        let place = self.place_in(dialect).map_or_else(String::new, |place| place + ": ");
        let what = self.what.in_dialect(dialect);
        // After a full stop, the correction is a separate sentence.
        let mark = if what.ends_with('.') { " " } else { "; " };
        let remedy =
            self.remedy_in(dialect).map_or_else(String::new, |remedy| mark.to_owned() + &remedy);
        place + &what + &remedy
    }

    /// Returns whether the simulated drive stopped. Other drives of the same command may continue.
    pub fn is_stop(&self) -> bool {
        self.kind == Kind::Stopped
    }

    /// Returns whether the user interrupted the task.
    pub fn is_interruption(&self) -> bool {
        self.kind == Kind::Interrupted
    }
}

/// Returns the option or setting with which a phrase begins. Returns `None` if the phrase begins
/// with plain words.
fn entry_of(phrase: &Phrase) -> Option<Entry> {
    phrase.first().and_then(entry_of_part)
}

/// Returns the key and the value of an option or of a setting. Returns `None` for a part that is
/// plain text.
fn entry_of_part(part: &Part) -> Option<Entry> {
    match part {
        Part::Text(_) => None,
        Part::Option(option) => Some(Entry { key: option.name().into(), value: None }),
        Part::Choice(option, value) => {
            Some(Entry { key: option.name().into(), value: Some(value.clone()) })
        }
        Part::Setting(setting) => Some(match setting.split_once('=') {
            Some((key, value)) => Entry { key: key.into(), value: Some(value.into()) },
            None => Entry { key: setting.clone(), value: None },
        }),
    }
}

/// Formats the failure in neutral words that belong to no dialect.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_dialect(&Neutral))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;
    use crate::overrides::Override;
    use crate::plan::require_few;
    use vpass_drive::base::phrase::{Opt, set};

    fn parts(phrase: Option<&Phrase>) -> Vec<Part> {
        phrase.iter().flat_map(|phrase| phrase.named()).cloned().collect()
    }

    #[test]
    fn a_failure_has_kind_place_and_remedy_as_data() {
        let failure = require_few(9, 2000).unwrap_err();
        assert_eq!(failure.kind, Kind::Usage);
        assert_eq!(parts(failure.place.as_ref()), [Opt::Seeds.to(2000)]);
        assert_eq!(parts(failure.remedy.as_ref()), [Opt::Seeds.to(1111)]);
        let entry = failure.entry().unwrap();
        assert_eq!((&*entry.key, entry.value.as_deref()), ("seeds", Some("2000")));
    }

    #[test]
    fn a_wrong_value_has_key_value_place_and_remedy() {
        let channels = Override::parse("geometry.channels=-1").unwrap();
        let failure = load::drive("tiny", &[channels]).map(drop).unwrap_err();
        let entry = failure.entry().unwrap();
        assert_eq!(entry.key, "geometry.channels");
        assert_eq!(entry.value.as_deref(), Some("-1"));
        assert_eq!(parts(failure.place.as_ref()), [set("geometry.channels", -1)]);
        assert!(failure.remedy_in(&Neutral).unwrap().starts_with("it must be a whole number"));
    }

    #[test]
    fn an_unknown_name_and_an_unknown_key_are_data() {
        let entry = |failure: Failure| {
            let Entry { key, value } = failure.entry().unwrap();
            (key, value.unwrap())
        };
        let drive = load::drive("tniy", &[]).map(drop).unwrap_err();
        assert_eq!(entry(drive), ("drive".into(), "tniy".into()));
        let policy = crate::plan::gc_named("gredy").map(drop).unwrap_err();
        assert_eq!(entry(policy), ("gc".into(), "gredy".into()));
        let set = load::overrides(&["geometry.chanels=4".into()]).map(drop).unwrap_err();
        assert_eq!(entry(set), ("geometry.chanels".into(), "4".into()));
    }

    #[test]
    fn after_a_full_stop_the_remedy_is_a_sentence() {
        let of = |what| Failure::usage(what).with_remedy("Use another drive").to_string();
        assert_eq!(of("There is no space."), "There is no space. Use another drive");
        assert_eq!(of("no space"), "no space; Use another drive");
    }
}
