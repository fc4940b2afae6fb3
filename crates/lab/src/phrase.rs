//! Text in which arguments of a run are data. A dialect words them, because only the caller knows
//! how a user names an argument: `--gear untimed` on a command line, `gear=untimed` in a program.

use std::borrow::Cow;
use std::fmt::Display;

/// Declares the arguments, each with its name.
macro_rules! arguments {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Argument of a run or of a command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Argument {
            $($(#[$doc])* $variant,)*
        }

        impl Argument {
            /// All arguments.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name, with `_` between its words.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

arguments! {
    /// P/E cycles of further drives.
    Ages = "ages",
    /// Drive.
    Drive = "drive",
    /// Failures to inject.
    Fail = "fail",
    /// Gear.
    Gear = "gear",
    /// Hints of the host.
    Hints = "hints",
    /// Oracle.
    Oracle = "oracle",
    /// Queue depth.
    QueueDepth = "queue_depth",
    /// Refresh technique.
    Refresh = "refresh",
    /// Number of passes.
    Repeat = "repeat",
    /// Rung of the ladder of accuracy.
    Rung = "rung",
    /// Sample of the drive.
    Sample = "sample",
    /// Number of seeds.
    Seeds = "seeds",
    /// Settings of keys.
    Set = "set",
    /// UBER that ends a life.
    Uber = "uber",
    /// Condition that ends a repeated run.
    Until = "until",
    /// Requests before counting begins.
    WarmUp = "warm_up",
    /// Generated workload.
    Workload = "workload",
    /// Years that end a life.
    Years = "years",
}

impl Argument {
    /// Returns the choice of a value for this argument.
    pub fn to(self, value: impl Display) -> Part {
        Part::Choice(self, value.to_string())
    }
}

/// Returns the setting of a key of a drive or workload file.
pub fn set(key: impl Into<String>, value: impl Display) -> Part {
    Part::Setting { key: key.into(), value: value.to_string() }
}

/// Part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words that are the same for all callers.
    Text(Cow<'static, str>),
    /// Name of an argument.
    Name(Argument),
    /// Argument with a value.
    Choice(Argument, String),
    /// Key of a drive or workload file, with a value.
    Setting {
        /// Path of the key, such as `bch.target`.
        key: String,
        /// Value as a user writes it.
        value: String,
    },
}

impl From<&'static str> for Part {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Argument> for Part {
    fn from(argument: Argument) -> Self {
        Self::Name(argument)
    }
}

/// Text made of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase(pub Vec<Part>);

impl<T: Into<Part>> From<T> for Phrase {
    fn from(part: T) -> Self {
        Self(vec![part.into()])
    }
}

impl Phrase {
    /// Returns the arguments and settings that the text names.
    pub fn named(&self) -> impl Iterator<Item = &Part> {
        self.0.iter().filter(|part| !matches!(part, Part::Text(_)))
    }

    /// Returns the text in the words of a dialect.
    pub fn in_dialect(&self, dialect: &dyn Dialect) -> String {
        let word = |part: &Part| match part {
            Part::Text(text) => text.to_string(),
            Part::Name(argument) => dialect.name(*argument),
            Part::Choice(argument, value) => dialect.choice(*argument, value),
            Part::Setting { key, value } => dialect.setting(key, value),
        };
        self.0.iter().map(word).collect()
    }
}

/// Makes a [`Phrase`] of texts, arguments and settings.
macro_rules! phrase {
    ($($part:expr),+ $(,)?) => {
        $crate::phrase::Phrase(vec![$($crate::phrase::Part::from($part)),+])
    };
}
pub(crate) use phrase;

/// Words of a caller for arguments and settings.
pub trait Dialect {
    /// Returns the name of an argument.
    fn name(&self, argument: Argument) -> String;

    /// Returns an argument with its value.
    fn choice(&self, argument: Argument, value: &str) -> String;

    /// Returns a key of a drive or workload file with its value.
    fn setting(&self, key: &str, value: &str) -> String;
}

/// Dialect of a program that passes arguments by their names: `gear=untimed`.
#[derive(Clone, Copy, Debug)]
pub struct Keywords;

impl Dialect for Keywords {
    fn name(&self, argument: Argument) -> String {
        argument.name().into()
    }

    fn choice(&self, argument: Argument, value: &str) -> String {
        format!("{}={value}", argument.name())
    }

    fn setting(&self, key: &str, value: &str) -> String {
        format!("{key}={value}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{Failure, Kind};
    use crate::overrides::Override;
    use crate::plan::few::require_few;

    #[test]
    fn a_failure_has_kind_place_and_remedy_as_data() {
        let failure = require_few(9, 2000).unwrap_err();
        assert_eq!(failure.kind, Kind::Usage);
        assert_eq!(failure.place, Some(Argument::Seeds.to(2000).into()));
        let remedies: Vec<&Part> = failure.remedies().collect();
        assert_eq!(remedies, [&Argument::Seeds.to(1111)]);
        let setting = Override::parse("capacity").unwrap_err();
        assert_eq!(setting.remedies().next(), Some(&set("drive.capacity", "16GiB")));
    }

    #[test]
    fn a_failure_has_key_and_value_as_data() {
        let wrong = Override::parse("workload.requests=1.5k5").and_then(|set| {
            crate::load::drive("tiny", &[Override::parse("geometry.channels=four")?, set])
        });
        let key = wrong.map(drop).unwrap_err().key.expect("a wrong value of a key");
        assert_eq!((&*key.key, &*key.value), ("geometry.channels", "\"four\""));
    }

    #[test]
    fn the_remedy_of_several_sentences_is_a_sentence() {
        let of = |what| Failure::refused(what).remedy(phrase!["use ", Argument::Gear.to("fluid")]);
        assert_eq!(of("no time").at(Argument::Gear).sentence(), "gear: no time; use gear=fluid");
        assert_eq!(of("No time.").sentence(), "No time. use gear=fluid");
    }
}
