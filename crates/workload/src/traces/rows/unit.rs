//! Units of time: what the times of a format are in, where its definition says so, and what is
//! assumed where it does not.

use std::fmt;
use std::str::FromStr;

/// A unit that the times of a trace may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    /// The names that `--time-unit` takes.
    pub const NAMES: [&'static str; 4] = ["s", "ms", "us", "ns"];
    const ALL: [Self; 4] =
        [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

    /// Its length in ns.
    pub fn ns(self) -> u64 {
        [1_000_000_000, 1_000_000, 1_000, 1][self as usize]
    }

    /// "microseconds".
    pub fn in_words(self) -> &'static str {
        ["seconds", "milliseconds", "microseconds", "nanoseconds"][self as usize]
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let unit = Self::ALL
            .into_iter()
            .find(|unit| [Self::NAMES[*unit as usize], unit.in_words()].contains(&name));
        unit.ok_or_else(|| format!("\"{name}\" is no unit of time; expected s, ms, us or ns"))
    }
}

/// What a format's definition says of the unit of its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// There are no times.
    None,
    /// This one, in words.
    Fixed(&'static str),
    /// Files differ, or the definition names none: this one, unless the user says another.
    Usual(TimeUnit),
}

/// The unit in which a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitTaken {
    /// "microseconds", "ticks of 100 ns".
    pub words: &'static str,
    /// Why that one.
    pub because: UnitBasis,
}

/// Why a file is read in a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitBasis {
    /// The format's definition fixes it.
    Format,
    /// Nothing says it: what such files usually hold.
    Assumed,
    /// The user said so.
    Said,
}

impl UnitBasis {
    /// One word for results.
    pub fn name(self) -> &'static str {
        ["format", "assumed", "said"][self as usize]
    }
}

impl Times {
    /// The unit in which a file is read; none where it keeps no times.
    pub fn taken(self, said: Option<TimeUnit>) -> Option<UnitTaken> {
        Some(match (self, said) {
            (Self::None, _) => return None,
            (Self::Fixed(words), _) => UnitTaken { words, because: UnitBasis::Format },
            (Self::Usual(unit), None) => {
                UnitTaken { words: unit.in_words(), because: UnitBasis::Assumed }
            }
            (Self::Usual(_), Some(unit)) => {
                UnitTaken { words: unit.in_words(), because: UnitBasis::Said }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_and_print() {
        for (name, unit) in TimeUnit::NAMES.into_iter().zip(TimeUnit::ALL) {
            assert_eq!(
                (name.parse(), unit.to_string().as_str(), unit.in_words().parse()),
                (Ok(unit), name, Ok(unit))
            );
        }
        assert_eq!(
            "min".parse::<TimeUnit>(),
            Err("\"min\" is no unit of time; expected s, ms, us or ns".into())
        );
        assert_eq!([1_000_000_000, 1_000_000, 1000, 1], TimeUnit::ALL.map(TimeUnit::ns));
    }

    #[test]
    fn only_a_unit_that_files_differ_in_is_assumed() {
        let usual = Times::Usual(TimeUnit::Nanoseconds);
        let taken = |words, because| Some(UnitTaken { words, because });
        assert_eq!(usual.taken(None), taken("nanoseconds", UnitBasis::Assumed));
        assert_eq!(
            usual.taken(Some(TimeUnit::Microseconds)),
            taken("microseconds", UnitBasis::Said)
        );
        assert_eq!(Times::Fixed("seconds").taken(None), taken("seconds", UnitBasis::Format));
        assert_eq!(Times::None.taken(None), None);
    }
}
