//! Position on a drive: a percentage of the drive's capacity, such as "25%", or a number of bytes
//! from the start, such as "140GiB".

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vpass_drive::base::units::Bytes;
use vpass_drive::config::keys::{KeyValue, Type};

/// Position on a drive, in percent of the capacity or in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Position {
    /// Percentage of the drive's capacity, from 0 to 100.
    Percent(f64),
    /// Number of bytes from the start of the drive.
    At(Bytes),
}

/// Description of the text that gives a position, for error messages and lists of keys.
pub(super) const POSITION: &str = "0% to 100%, or a size such as \"140GiB\"";

impl Position {
    /// Returns the page at this position of a drive with `of_drive` pages. Returns `None` if the
    /// position lies beyond the end of the drive.
    pub(super) fn page(self, of_drive: u64, page_bytes: u64) -> Option<u64> {
        match self {
            Self::Percent(percent) => {
                Some(((of_drive as f64 * percent / 100.0) as u64).min(of_drive))
            }
            Self::At(bytes) => Some(bytes.0 / page_bytes).filter(|page| *page <= of_drive),
        }
    }
}

impl KeyValue for Position {
    const TYPE: Type = Type::Text;
}

impl FromStr for Position {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = text.strip_suffix('%').map(|number| number.trim_end().parse().ok());
        match percent {
            Some(Some(percent)) if (0.0..=100.0).contains(&percent) => Ok(Self::Percent(percent)),
            None if text.parse::<f64>().is_err() => Bytes::parse(text).map(Self::At),
            _ => Err(format!("\"{text}\" is not a position; {POSITION} is expected")),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::At(bytes) => write!(f, "{bytes}"),
        }
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_read_print_and_lie_on_pages() {
        for (text, page) in [("0%", 0), ("12.5%", 125), ("100%", 1000), ("64KiB", 16)] {
            let position: Position = text.parse().unwrap();
            assert_eq!(
                (position.to_string().as_str(), position.page(1000, 4096)),
                (text, Some(page))
            );
        }
        assert_eq!("4MiB".parse::<Position>().unwrap().page(1000, 4096), None);
        for text in ["0.5", "101%", "-1%", "%", "half", ""] {
            assert!(text.parse::<Position>().is_err(), "{text}");
        }
    }
}
