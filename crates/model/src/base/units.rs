//! Units and numbers of all modules: addresses, time, sizes, causes. Each quantity has its own
//! type, so that plain integers do not cross module borders.

mod address;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::named::named;

pub use address::{Address, BlockId, Lpn, Lpns, PageInBlock, Ppn, WordlineInBlock};

/// Number of a die over the whole drive.
pub type DieId = u16;
/// Index of a stream in the drive's stream table.
pub type StreamId = u8;
/// Simulated time, or a span of it, in nanoseconds.
pub type Ns = u64;
/// Point in simulated time, in nanoseconds after time 0. Moments before the clock began are below
/// 0.
pub type Moment = i64;
/// End of simulated time, 146 years after its beginning. A delay of up to three times this span
/// beyond the end still fits [`Ns`].
pub const END_OF_TIME: Ns = 1 << 62;
/// Rising number of a page program. Recovery of a live drive uses this order.
pub type Seq = u64;

/// Number of reads of a block, in dose units. One unit is one ordinary page read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reads(pub u32);

impl Reads {
    /// Alarm that is never reached.
    pub const NEVER: Self = Self(u32::MAX);
}

named! {
    /// Reason for a flash operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[repr(u8)]
    pub enum Cause {
        /// Request of the host.
        Host = "host",
        /// Garbage collection.
        Gc = "gc",
        /// Rewriting because of reads.
        Reclaim = "reclaim",
        /// Rewriting because of age.
        Refresh = "refresh",
        /// Wear levelling.
        Wear = "wear",
        /// Parity of a stripe.
        Parity = "parity",
        /// Further sensing of a page whose first decoding failed.
        Retry = "retry",
        /// Regrouping of data by the hints of the host.
        Hint = "hint",
    }
}

/// Size in bytes. In configurations, it is a number of bytes or a string such as `"16KiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Bytes(pub u64);

/// Largest number of characters of an exact size. Longer sizes are rounded for readers.
const LONGEST_EXACT: usize = 8;

const UNITS: [(&str, u64); 10] = [
    ("PiB", 1 << 50),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

impl Bytes {
    /// Reads a size such as `"16KiB"`, `"1.5 GiB"` or `"4096"`. The units are KiB to PiB (1024) and
    /// KB to TB (1000). A fraction of a unit is rounded to the nearest byte.
    ///
    /// # Errors
    /// Reports a text that is not a size. The sentence quotes the text and gives an example.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "invalid size `{text}`: expected a size such as \"16KiB\" or \"1.5GiB\", or a \
                 plain number in bytes"
            )
        };
        let t = text.trim();
        let lower = t.to_ascii_lowercase();
        for (name, factor) in UNITS {
            if let Some(number) = lower.strip_suffix(&name.to_ascii_lowercase()) {
                return Self::scaled(number.trim(), factor).ok_or_else(bad);
            }
        }
        // Binary prefixes without "B", as fio and dd write them: "16k", "1g".
        for (letter, factor) in [('k', 1u64 << 10), ('m', 1 << 20), ('g', 1 << 30), ('t', 1 << 40)]
        {
            if let Some(number) = lower.strip_suffix(letter) {
                return Self::scaled(number.trim(), factor).ok_or_else(bad);
            }
        }
        Self::scaled(t, 1).ok_or_else(bad)
    }

    /// Formats the size for readers, who do not need the last digits. A short size is exact. A
    /// longer size is rounded to a tenth of the largest unit.
    pub fn rounded(self) -> String {
        let exact = self.to_string();
        let unit = UNITS[..5].iter().find(|(_, factor)| self.0 >= *factor);
        match unit {
            Some((name, factor)) if exact.len() > LONGEST_EXACT => {
                format!("{:.1} {name}", self.0 as f64 / *factor as f64)
            }
            _ => exact,
        }
    }

    fn scaled(number: &str, factor: u64) -> Option<Self> {
        if let Ok(n) = number.parse::<u64>() {
            return n.checked_mul(factor).map(Self);
        }
        let n: f64 = number.parse().ok()?;
        // A size such as 32.91 GiB is not a whole number of bytes, so it is rounded. A size of 1.3
        // bytes is an error.
        let bytes = if factor > 1 { (n * factor as f64).round() } else { n };
        (number.starts_with(|c: char| c.is_ascii_digit())
            && bytes.is_finite()
            && bytes < 2f64.powi(63)
            && bytes.fract() == 0.0)
            .then_some(Self(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, factor) in &UNITS[..5] {
            if self.0 >= *factor && self.0.is_multiple_of(factor / 64) {
                return write!(f, "{}{name}", self.0 as f64 / *factor as f64);
            }
        }
        write!(f, "{}B", self.0)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl serde::de::Visitor<'_> for V {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"16KiB\", or a plain number in bytes")
            }
            fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<Bytes, E> {
                Bytes::parse(v).map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<Bytes, E> {
                u64::try_from(v)
                    .map(Bytes)
                    .map_err(|_| E::custom(format!("invalid size {v}: it must not be negative")))
            }
            fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<Bytes, E> {
                Ok(Bytes(v))
            }
        }
        d.deserialize_any(V)
    }
}

/// Converts microseconds from a configuration to nanoseconds, rounded to the nearest.
pub fn us(microseconds: f64) -> Ns {
    (microseconds * 1e3).round() as Ns
}

/// Returns the time to move `bytes` over a link of `mb_s` (10^6 B/s), rounded up to a nanosecond. A
/// link of 0 is infinitely fast.
pub fn transfer_ns(bytes: u64, mb_s: f64) -> Ns {
    if mb_s <= 0.0 { 0 } else { (bytes as f64 * 1e3 / mb_s).ceil() as Ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_and_print() {
        assert_eq!(Bytes::parse("16KiB").unwrap().0, 16384);
        assert_eq!(Bytes::parse("1.5 GiB").unwrap().0, 3 << 29);
        assert_eq!(Bytes::parse("2TiB").unwrap().to_string(), "2TiB");
        assert_eq!(Bytes::parse("128GB").unwrap().0, 128_000_000_000);
        assert_eq!(Bytes::parse("4k").unwrap().0, 4096);
        assert_eq!(Bytes::parse("1.3KiB").unwrap().0, 1331, "1331.2");
        assert_eq!(Bytes(1000).to_string(), "1000B");
        for text in ["", "KiB", "-1KiB", "nanGiB", "1e400GiB", "1.3B", "16 KiBs", "infB"] {
            assert!(Bytes::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn long_sizes_are_rounded_for_reading() {
        assert_eq!(
            [1 << 46, 3 << 29, 999].map(|n| Bytes(n).rounded()),
            ["64TiB", "1.5GiB", "999B"]
        );
        assert_eq!(Bytes(954_724 * (1 << 30) + 7 * (1 << 25)).to_string(), "954724.21875GiB");
        assert_eq!(Bytes(954_724 * (1 << 30) + 7 * (1 << 25)).rounded(), "932.3 TiB");
        assert_eq!(Bytes(123_456_789).rounded(), "117.7 MiB");
    }

    #[test]
    fn printed_sizes_read_back() {
        for n in [0u64, 1, 511, 16384, 16384 * 3, (1 << 40) + (1 << 34), 999_999_999] {
            assert_eq!(Bytes::parse(&Bytes(n).to_string()).unwrap().0, n);
        }
    }
}
