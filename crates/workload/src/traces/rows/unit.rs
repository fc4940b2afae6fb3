//! Units of the times in a trace. The unit comes from the format's definition, from the user, or
//! from an assumption of vpass.

use std::fmt;
use std::str::FromStr;

/// Unit of the times in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// The times are in seconds.
    Seconds,
    /// The times are in milliseconds.
    Milliseconds,
    /// The times are in microseconds.
    Microseconds,
    /// The times are in nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    /// Names of the units for the option `--time-unit`.
    pub const NAMES: [&'static str; 4] = ["s", "ms", "us", "ns"];
    const ALL: [Self; 4] =
        [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

    /// Returns the length of the unit in ns.
    pub fn ns(self) -> u64 {
        [1_000_000_000, 1_000_000, 1_000, 1][self as usize]
    }

    /// Returns the unit with the given length in ns.
    pub(in crate::traces) fn of_ns(ns: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.ns() == ns)
    }

    /// Returns the name of the unit in words, such as "microseconds".
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
        unit.ok_or_else(|| format!("\"{name}\" is not a unit of time; s, ms, us or ns is expected"))
    }
}

/// Unit of the times in a trace, according to the definition of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// The format has no times.
    None,
    /// The format defines the unit, which the text names.
    Fixed(&'static str),
    /// The unit differs between files, or the definition of the format names no unit. If the user
    /// gives no unit, vpass assumes the unit in this field.
    Usual(TimeUnit),
}

/// Unit in which the times of a file are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitTaken {
    /// Name of the unit in words, such as "microseconds" or "ticks of 100 ns".
    pub words: &'static str,
    /// Reason why the times are read in this unit.
    pub because: UnitBasis,
}

/// Reason why vpass reads the times of a file in a certain unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitBasis {
    /// The definition of the format fixes the unit.
    Format,
    /// vpass assumes the unit that files of this format usually have.
    Assumed,
    /// The user has given the unit.
    Said,
}

impl UnitBasis {
    /// Returns the word that stands for the reason in results.
    pub fn name(self) -> &'static str {
        ["format", "assumed", "said"][self as usize]
    }
}

impl Times {
    /// Returns whether the format has no times.
    pub(in crate::traces) fn is_none(self) -> bool {
        self == Self::None
    }

    /// Returns the unit in which a file is read, or `None` if the format has no times. `said` is
    /// the unit that the user gave.
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
            Err("\"min\" is not a unit of time; s, ms, us or ns is expected".into())
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
