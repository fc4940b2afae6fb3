//! Span of time, as in a drive file: `"22.4h"`, `"30d"`, `"1y"`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::units::{END_OF_TIME, Ns};

/// Span of time. In configurations, it is a string with a unit such as `"30d"`. Only 0 needs no
/// unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span(pub Ns);

/// One second.
pub const SECOND: Ns = 1_000_000_000;
/// One hour.
pub const HOUR: Ns = 3600 * SECOND;
/// One day.
pub const DAY: Ns = 24 * HOUR;
/// One year of 365 days.
pub const YEAR: Ns = 365 * DAY;

const UNITS: [(&str, Ns); 8] = [
    ("y", YEAR),
    ("d", DAY),
    ("h", HOUR),
    ("min", 60 * SECOND),
    ("ms", SECOND / 1000),
    ("us", 1000),
    ("ns", 1),
    ("s", SECOND),
];
/// Units in the order in which a span is printed.
const PRINTED: [(&str, Ns); 7] = [
    ("y", YEAR),
    ("d", DAY),
    ("h", HOUR),
    ("min", 60 * SECOND),
    ("s", SECOND),
    ("ms", SECOND / 1000),
    ("us", 1000),
];
/// Largest number of decimal places. A span with more is not plausible.
const LONGEST_FRACTION: usize = 12;

impl Span {
    /// Reads a span such as `"22.4h"`, `"30 d"` or `"1y"`. The units are ns, us, ms, s, min, h, d
    /// and y (365 d). A fraction is rounded to the nearest nanosecond.
    ///
    /// # Errors
    /// Reports a text that is not a span of time. The sentence quotes the text and gives an
    /// example.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "invalid span of time `{text}`: expected a number and a unit (ns, us, ms, s, min, \
                 h, d, y), such as \"22.4h\" or \"30d\""
            )
        };
        let t = text.trim().to_ascii_lowercase();
        if t == "0" {
            return Ok(Self(0));
        }
        let (number, factor) = UNITS
            .iter()
            .find_map(|(name, factor)| Some((t.strip_suffix(name)?, *factor)))
            .ok_or_else(bad)?;
        let ns = scaled(number.trim(), factor).ok_or_else(bad)?;
        if ns > END_OF_TIME {
            return Err(format!(
                "`{text}` is too long: simulated time lasts at most {}",
                Self(100 * YEAR)
            ));
        }
        Ok(Self(ns))
    }

    /// Returns whether the span is 0.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Multiplies a decimal number by a unit, without the rounding of floating point.
fn scaled(number: &str, factor: Ns) -> Option<Ns> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty()
        || !digits(whole)
        || !digits(fraction)
        || number.ends_with('.')
        || fraction.len() > LONGEST_FRACTION
    {
        return None;
    }
    let scale = 10u128.pow(fraction.len() as u32);
    let part = if fraction.is_empty() { 0 } else { fraction.parse::<u128>().ok()? };
    let units = whole.parse::<u64>().ok()?;
    let ns = (u128::from(units) * scale + part).checked_mul(u128::from(factor))?;
    Ns::try_from((ns + scale / 2) / scale).ok()
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, factor) in PRINTED {
            let hundredths = u128::from(self.0) * 100;
            if self.0 >= factor && hundredths.is_multiple_of(u128::from(factor)) {
                let hundredths = hundredths / u128::from(factor);
                let (whole, rest) = (hundredths / 100, hundredths % 100);
                return match rest {
                    0 => write!(f, "{whole}{name}"),
                    rest if rest % 10 == 0 => write!(f, "{whole}.{}{name}", rest / 10),
                    rest => write!(f, "{whole}.{rest:02}{name}"),
                };
            }
        }
        if self.0 == 0 { f.write_str("0") } else { write!(f, "{}ns", self.0) }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl serde::de::Visitor<'_> for V {
            type Value = Span;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a span of time with its unit, such as \"30d\"")
            }
            fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<Span, E> {
                Span::parse(v).map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<Span, E> {
                self.visit_i128(v.into())
            }
            fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<Span, E> {
                self.visit_i128(v.into())
            }
            fn visit_i128<E: serde::de::Error>(self, v: i128) -> Result<Span, E> {
                if v == 0 {
                    return Ok(Span(0));
                }
                Err(E::custom(format!(
                    "{v} has no unit; expected a span of time such as \"{}d\"",
                    v.max(1)
                )))
            }
        }
        d.deserialize_any(V)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_and_print() {
        assert_eq!(Span::parse("22.4h").unwrap().0, 80_640 * SECOND);
        assert_eq!(Span::parse("30 d").unwrap().0, 30 * DAY);
        assert_eq!(Span::parse("1Y").unwrap().0, 365 * DAY);
        assert_eq!(Span::parse("90min").unwrap().to_string(), "1.5h");
        assert_eq!(
            ["5s", "5ms", "5us", "5ns"].map(|t| Span::parse(t).unwrap().0),
            [5_000_000_000, 5_000_000, 5_000, 5]
        );
        assert_eq!(Span::parse("0").unwrap().0, 0);
        assert_eq!(Span::parse("1.3us").unwrap().0, 1300);
        for text in [
            "",
            "d",
            "-1d",
            "1",
            "1e3h",
            ".5h",
            "5.h",
            "1m",
            "nan h",
            "1 week",
            "200y",
            "9999999999999999999999y",
        ] {
            assert!(Span::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn printed_spans_read_back() {
        for n in [
            0,
            1,
            999,
            1_234_567_891,
            80_640 * SECOND,
            30 * DAY,
            YEAR,
            YEAR + DAY,
            3 * YEAR / 2 + 1,
            100 * YEAR + YEAR / 4,
        ] {
            assert_eq!(Span::parse(&Span(n).to_string()).unwrap().0, n, "{}", Span(n));
        }
    }
}
