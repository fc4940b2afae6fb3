//! Defines units of time. A format defines its unit, or vpass assumes one.

use std::fmt;
use std::str::FromStr;

/// Unit of the times of a trace.
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
    /// Names for `--time-unit`.
    pub const NAMES: [&'static str; 4] = ["s", "ms", "us", "ns"];
    const ALL: [Self; 4] =
        [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

    /// Length of the unit in ns.
    pub fn ns(self) -> u64 {
        [1_000_000_000, 1_000_000, 1_000, 1][self as usize]
    }

    /// Returns the name in words, such as "microseconds".
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

/// Unit of a format's times, according to its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// The format has no times.
    None,
    /// The format defines this unit, in words.
    Fixed(&'static str),
    /// Files differ, or the definition names no unit. vpass assumes this unit, unless the user
    /// gives another.
    Usual(TimeUnit),
}

/// Unit in which a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitTaken {
    /// Unit in words, such as "microseconds" or "ticks of 100 ns".
    pub words: &'static str,
    /// Reason for this unit.
    pub because: UnitBasis,
}

/// Reason why a file is read in a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitBasis {
    /// The format's definition fixes the unit.
    Format,
    /// Neither the format nor the user gives a unit. Such files usually have this unit.
    Assumed,
    /// The user gave the unit.
    Said,
}

impl UnitBasis {
    /// Returns one word for results.
    pub fn name(self) -> &'static str {
        ["format", "assumed", "said"][self as usize]
    }
}

impl Times {
    /// Returns the unit in which a file is read, or `None` if the format has no times.
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
