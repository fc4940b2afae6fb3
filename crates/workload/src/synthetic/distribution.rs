//! Parses address distributions in a configuration: `"uniform"`, `"zipf:0.99"`, `"sequential"` and
//! `"hot-cold:0.1/0.9"`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vpass_drive::config::keys::{KeyValue, Type};

/// Distribution of request addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Distribution {
    /// All blocks have the same chance.
    #[default]
    Uniform,
    /// The chance of rank k is proportional to 1 / k^`theta`.
    Zipf {
        /// Exponent of Zipf's law, above 0 and at most 10.
        theta: f64,
    },
    /// Blocks follow each other in the order of their addresses.
    Sequential,
    /// The footprint has two parts. The hot part gets most of the accesses.
    HotCold {
        /// Share of the addresses that are hot, between 0 and 1.
        addresses: f64,
        /// Share of the accesses that go to the hot part, from 0 to 1.
        accesses: f64,
    },
}

/// Name of each distribution, with an example of the notation for error messages.
const FORMS: [(&str, &str); 4] = [
    ("uniform", "uniform"),
    ("zipf", "zipf:0.99"),
    ("sequential", "sequential"),
    ("hot-cold", "hot-cold:0.1/0.9"),
];
/// Largest exponent of zipf. With a larger exponent, almost all accesses would go to the first
/// rank. Real traces are less uneven.
const MAX_THETA: f64 = 10.0;

const ZIPF_HOLDS: &str = "theta should be a number above 0 and at most 10, as in \"zipf:0.99\"";
const HOT_COLD_HOLDS: &str = "the hot share of the addresses (between 0 and 1) and the share of \
    accesses to the hot addresses (0 to 1) are expected, as in \"hot-cold:0.1/0.9\"";

impl Distribution {
    /// Returns whether the parameters of the distribution are in their valid ranges.
    fn is_possible(&self) -> bool {
        match *self {
            Self::Uniform | Self::Sequential => true,
            Self::Zipf { theta } => theta > 0.0 && theta <= MAX_THETA,
            Self::HotCold { addresses, accesses } => {
                addresses > 0.0 && addresses < 1.0 && (0.0..=1.0).contains(&accesses)
            }
        }
    }

    /// Checks a distribution that does not come from a file. The check formats the distribution as
    /// text and parses the text.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.to_string().parse::<Self>().map(|_| ())
    }
}

/// Notations of all distributions, for lists of configuration keys.
pub(crate) const IN_WORDS: &str = "uniform, sequential, zipf:THETA, hot-cold:ADDRESSES/ACCESSES";

impl KeyValue for Distribution {
    const TYPE: Type = Type::Text;
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, numbers) =
            text.split_once(':').map_or((text, None), |(name, numbers)| (name, Some(numbers)));
        match (name, numbers) {
            ("uniform", None) => Ok(Self::Uniform),
            ("sequential", None) => Ok(Self::Sequential),
            ("zipf", Some(theta)) => {
                checked(text, theta.parse().ok().map(|theta| Self::Zipf { theta }), ZIPF_HOLDS)
            }
            ("hot-cold", Some(shares)) => {
                let shares = shares
                    .split_once('/')
                    .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                checked(
                    text,
                    shares.map(|(addresses, accesses)| Self::HotCold { addresses, accesses }),
                    HOT_COLD_HOLDS,
                )
            }
            _ => Err(unknown(text, name)),
        }
    }
}

fn checked(
    text: &str,
    distribution: Option<Distribution>,
    expected: &str,
) -> Result<Distribution, String> {
    distribution.filter(Distribution::is_possible).ok_or_else(|| format!("\"{text}\": {expected}"))
}

fn unknown(text: &str, name: &str) -> String {
    let nearest = crate::nearest::nearest(name, FORMS.iter().map(|(name, _)| *name));
    let example = FORMS.iter().find(|(name, _)| Some(*name) == nearest);
    let hint =
        example.map_or_else(String::new, |(_, example)| format!(" (did you mean \"{example}\"?)"));
    let all: Vec<_> = FORMS.iter().map(|(_, example)| format!("\"{example}\"")).collect();
    format!("\"{text}\" is not a distribution{hint}; known forms: {}", all.join(", "))
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipf { theta } => write!(f, "zipf:{theta}"),
            Self::Sequential => f.write_str("sequential"),
            Self::HotCold { addresses, accesses } => write!(f, "hot-cold:{addresses}/{accesses}"),
        }
    }
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_and_print() {
        for text in
            ["uniform", "zipf:0.99", "zipf:10", "sequential", "hot-cold:0.1/0.9", "hot-cold:0.2/0"]
        {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn errors_name_what_is_expected() {
        let error = |text: &str| text.parse::<Distribution>().unwrap_err();
        assert_eq!(
            error("zip:1"),
            "\"zip:1\" is not a distribution (did you mean \"zipf:0.99\"?); known forms: \
             \"uniform\", \"zipf:0.99\", \"sequential\", \"hot-cold:0.1/0.9\""
        );
        assert_eq!(
            error("qqq"),
            "\"qqq\" is not a distribution; known forms: \"uniform\", \"zipf:0.99\", \
             \"sequential\", \"hot-cold:0.1/0.9\""
        );
        assert_eq!(
            error("zipf:11"),
            "\"zipf:11\": theta should be a number above 0 and at most 10, as in \"zipf:0.99\""
        );
        for text in [
            "zipf",
            "zipf:0",
            "zipf:-1",
            "zipf:nan",
            "zipf:",
            "uniform:1",
            "hot-cold:1/0.9",
            "hot-cold:0/1",
            "hot-cold:0.1/1.1",
            "",
        ] {
            error(text);
        }
        assert_eq!(
            error("hot-cold:0.1"),
            "\"hot-cold:0.1\": the hot share of the addresses (between 0 and 1) and the share of \
             accesses to the hot addresses (0 to 1) are expected, as in \"hot-cold:0.1/0.9\""
        );
    }
}
