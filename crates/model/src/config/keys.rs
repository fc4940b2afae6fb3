//! Keys of drive and workload files, as fields declare them with `#[derive(Keys)]`.

use std::fmt;

use serde::ser::SerializeMap;
pub use vpass_keys::Keys;

use super::error::{ConfigError, require};
use crate::base::span::Span;
use crate::base::units::{Bytes, Lpn};

/// Key, as its field declares it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Name in the table.
    pub name: &'static str,
    /// Meaning for a user, in a sentence.
    pub meaning: &'static str,
    /// Unit; empty without one.
    pub unit: &'static str,
    /// Values that are accepted.
    pub range: Range,
    /// Words that follow the range in lists.
    pub note: &'static str,
    /// Source of the default; empty without one.
    pub source: &'static str,
    /// Whether a table without the key is rejected.
    pub required: bool,
    /// Type of the value.
    pub of: Type,
}

/// Table of a file, or row of a list of tables.
pub trait Keys {
    /// All keys, in the order of the fields.
    const KEYS: &'static [Key];

    /// Checks all numbers against their ranges. The error has the table's name.
    ///
    /// # Errors
    /// The first number outside its range.
    fn check_in(&self, table: &str) -> Result<(), ConfigError>;

    /// Writes the declared defaults.
    ///
    /// # Errors
    /// Errors of the map.
    fn write_defaults<M: SerializeMap>(map: &mut M) -> Result<(), M::Error>;
}

/// Type that a key may have.
pub trait KeyValue {
    /// Type, as data.
    const TYPE: Type;

    /// Checks the numbers in the value against the range of a key.
    ///
    /// # Errors
    /// The first number outside the range.
    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        let _ = (path, key);
        Ok(())
    }
}

/// Type of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Type {
    /// A whole number, 0 up to this one.
    Whole(u64),
    /// Any number.
    Real,
    /// `true` or `false`.
    Bool,
    /// Text, whose form the range describes.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number of bytes, or text such as "16KiB".
    Size,
    /// Text such as "30d"; 0 goes without a unit.
    Time,
    /// A value, or a list of such values.
    OneOrList(&'static Type),
    /// A list.
    List(&'static Type),
    /// A table.
    Table(&'static [Key]),
}

/// Values that a key accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// A whole number, first to last; takes `k`, `M`, `G`, `T`.
    Whole(u64, u64),
    /// A number, first to last.
    Real(f64, f64),
    /// A number above the first, up to the last.
    Above(f64, f64),
    /// 0, or a number from the first to the last.
    ZeroOr(f64, f64),
    /// Requests a second, first to last; takes `k`, `M`, `G`, `T`.
    Rate(f64, f64),
    /// A size, first to last.
    Size(u64, u64),
    /// A size that is a power of two, first to last.
    PowerOfTwo(u64, u64),
    /// A size that is a multiple of the first, up to the last.
    Multiple(u64, u64),
    /// A span of time above 0, up to this one.
    Time(Span),
    /// Values that only words describe.
    Words(&'static str),
    /// Every value of the key's type.
    OfType,
}

/// Share of a whole.
pub const SHARE: Range = Range::Real(0.0, 1.0);
/// Any number of 32 bits.
pub const U32: Range = Range::Whole(0, u32::MAX as u64);

impl Key {
    /// Returns the accepted values in words.
    pub fn values(&self) -> String {
        let words = match (self.range, self.of) {
            (Range::OfType, Type::Bool) => "true, false".into(),
            (Range::OfType, Type::Word(words)) => words.join(", "),
            (range, _) => range.to_string(),
        };
        words + self.note
    }

    /// Returns the keys of the table that the key holds, or of the rows of its list.
    pub const fn inner(&self) -> Option<&'static [Key]> {
        match self.of {
            Type::Table(keys) => Some(keys),
            Type::List(Type::Table(keys)) => Some(*keys),
            _ => None,
        }
    }
}

impl Range {
    /// Returns whether a number of the range may be written `1M`.
    pub const fn takes_suffixes(self) -> bool {
        matches!(self, Self::Whole(..) | Self::Rate(..))
    }

    /// Returns whether the range has a number.
    pub fn holds(self, number: f64) -> bool {
        match self {
            Self::Real(low, high) | Self::Rate(low, high) => number >= low && number <= high,
            Self::Above(low, high) => number > low && number <= high,
            Self::ZeroOr(low, high) => number == 0.0 || number >= low && number <= high,
            Self::Whole(..)
            | Self::Size(..)
            | Self::PowerOfTwo(..)
            | Self::Multiple(..)
            | Self::Time(_) => {
                number >= 0.0 && number.fract() == 0.0 && self.holds_whole(number as u64)
            }
            Self::Words(_) | Self::OfType => true,
        }
    }

    /// Returns whether the range has a whole number.
    pub fn holds_whole(self, number: u64) -> bool {
        match self {
            Self::Whole(low, high) | Self::Size(low, high) => (low..=high).contains(&number),
            Self::PowerOfTwo(low, high) => {
                number.is_power_of_two() && (low..=high).contains(&number)
            }
            Self::Multiple(step, most) => {
                number.is_multiple_of(step) && (step..=most).contains(&number)
            }
            Self::Time(most) => number > 0 && number <= most.0,
            Self::Words(_) | Self::OfType => true,
            _ => self.holds(number as f64),
        }
    }

    /// Returns what is wrong with a value outside the range, such as "is outside 1 to 256".
    pub fn refusal(self) -> String {
        match self {
            Self::Whole(low, u64::MAX) => format!("is less than {low}"),
            Self::Above(low, high) => {
                format!("must be above {} and at most {}", short_number(low), short_number(high))
            }
            Self::PowerOfTwo(..) => format!("is not a {self}"),
            Self::Multiple(step, most) => {
                format!("must be a multiple of {}, up to {}", Bytes(step), Bytes(most))
            }
            Self::Time(most) => format!("must be above 0 and at most {most}"),
            _ => format!("is outside {self}"),
        }
    }

    fn require(
        self,
        ok: bool,
        path: &str,
        value: impl FnOnce() -> String,
    ) -> Result<(), ConfigError> {
        require(ok, || format!("{path} = {} {}", value(), self.refusal()))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, n) = (|n: &u64| Bytes(*n), |n: &f64| short_number(*n));
        match self {
            Self::Whole(low, u64::MAX) => write!(f, "{low} or more"),
            Self::Whole(low, high) => write!(f, "{low} to {high}"),
            Self::Real(low, high) | Self::Rate(low, high) => write!(f, "{} to {}", n(low), n(high)),
            Self::Above(low, high) => write!(f, "above {} to {}", n(low), n(high)),
            Self::ZeroOr(low, high) => write!(f, "{} to {}, or 0", n(low), n(high)),
            Self::Size(low, high) => write!(f, "{} to {}", size(low), size(high)),
            Self::PowerOfTwo(low, high) => {
                write!(f, "power of two, {} to {}", size(low), size(high))
            }
            Self::Multiple(step, most) => {
                write!(f, "{0} to {1}, a multiple of {0}", size(step), size(most))
            }
            Self::Time(most) => write!(f, "above 0 to {most}"),
            Self::Words(words) => f.write_str(words),
            Self::OfType => Ok(()),
        }
    }
}

/// Returns a number in the fewest digits: 0.001, 1000000, 1e12.
pub fn short_number(n: f64) -> String {
    let (plain, exponent) = (n.to_string(), format!("{n:e}"));
    if plain.len() <= 7 { plain } else { exponent }
}

/// Returns the path of a key in a table.
pub fn path(table: &str, key: &str) -> String {
    if table.is_empty() { key.into() } else { format!("{table}.{key}") }
}

impl KeyValue for f64 {
    const TYPE: Type = Type::Real;

    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        key.range.require(key.range.holds(*self), path, || self.to_string())
    }
}

impl KeyValue for u64 {
    const TYPE: Type = Type::Whole(u64::MAX);

    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        key.range.require(key.range.holds_whole(*self), path, || self.to_string())
    }
}

impl KeyValue for u32 {
    const TYPE: Type = Type::Whole(u32::MAX as u64);

    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        u64::from(*self).check(path, key)
    }
}

impl KeyValue for Lpn {
    const TYPE: Type = Type::Whole(u32::MAX as u64);
}

impl KeyValue for Bytes {
    const TYPE: Type = Type::Size;

    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        key.range.require(key.range.holds_whole(self.0), path, || format!("\"{self}\""))
    }
}

impl KeyValue for Span {
    const TYPE: Type = Type::Time;

    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        key.range.require(key.range.holds_whole(self.0), path, || format!("\"{self}\""))
    }
}

impl KeyValue for bool {
    const TYPE: Type = Type::Bool;
}

impl KeyValue for String {
    const TYPE: Type = Type::Text;
}

impl<T: KeyValue> KeyValue for Option<T> {
    const TYPE: Type = T::TYPE;

    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        self.iter().try_for_each(|value| value.check(path, key))
    }
}

impl<T: KeyValue> KeyValue for Vec<T> {
    const TYPE: Type = Type::List(&T::TYPE);

    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        let is_table = matches!(T::TYPE, Type::Table(_));
        (1..).zip(self).try_for_each(|(row, value)| {
            let in_row =
                |e| if is_table { ConfigError::new(format!("{e} in row {row}")) } else { e };
            value.check(path, key).map_err(in_row)
        })
    }
}

impl<T: KeyValue> KeyValue for [T; 2] {
    const TYPE: Type = Type::List(&T::TYPE);

    fn check(&self, path: &str, key: &Key) -> Result<(), ConfigError> {
        self.iter().try_for_each(|value| value.check(path, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_their_borders() {
        let most = Span(10);
        for (range, inside, outside) in [
            (Range::Whole(1, 9), [1.0, 9.0], [0.0, 1.5]),
            (Range::Real(0.5, 2.0), [0.5, 2.0], [0.4, f64::NAN]),
            (Range::Above(0.0, 1.0), [1e-300, 1.0], [0.0, 1.1]),
            (Range::ZeroOr(1.0, 9.0), [0.0, 1.0], [0.5, -1.0]),
            (Range::Rate(1.0, 9.0), [1.0, 9.0], [0.5, 9.5]),
            (Range::Size(2, 9), [2.0, 9.0], [1.0, 10.0]),
            (Range::PowerOfTwo(2, 8), [2.0, 8.0], [6.0, 16.0]),
            (Range::Time(most), [1.0, 10.0], [0.0, 11.0]),
        ] {
            assert!(inside.iter().all(|n| range.holds(*n)), "{range:?}");
            assert!(!outside.iter().any(|n| range.holds(*n)), "{range:?}");
        }
    }

    #[test]
    fn a_range_in_words_and_what_is_wrong_beyond_it() {
        let said = |range: Range| (range.to_string(), range.refusal());
        let both = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(said(Range::Whole(1, 256)), both("1 to 256", "is outside 1 to 256"));
        assert_eq!(said(Range::Whole(1, u64::MAX)), both("1 or more", "is less than 1"));
        assert_eq!(
            said(Range::Above(0.0, 1.0)),
            both("above 0 to 1", "must be above 0 and at most 1")
        );
        assert_eq!(
            said(Range::PowerOfTwo(512, 1 << 20)),
            both("power of two, 512B to 1MiB", "is not a power of two, 512B to 1MiB")
        );
        assert_eq!(said(Range::Rate(1e-6, 1e12)), both("1e-6 to 1e12", "is outside 1e-6 to 1e12"));
    }
}
