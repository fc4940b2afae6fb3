//! Duration that a user writes with its unit, such as `90s` or `1.5h`.

use std::str::FromStr;

/// Duration in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Duration {
    pub(crate) ns: u64,
}

const UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("m", 60e9),
    ("h", 3600e9),
    ("d", 86_400e9),
];

impl FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "a time with its unit is expected, such as 90s, 1.5h or 200ms (ns, us, ms, s, min, h, \
             d)"
            .to_owned()
        };
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text[number.len()..].trim();
        let value: f64 = number.trim().parse().map_err(|_| wrong())?;
        let (_, factor) = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .filter(|_| value >= 0.0)
            .ok_or_else(wrong)?;
        let ns = value * factor;
        if ns < 2f64.powi(64) {
            Ok(Self { ns: ns as u64 })
        } else {
            Err("a time below 584 years is expected".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let ns = |text: &str| text.parse::<Duration>().map(|d| d.ns);
        assert_eq!(
            [ns("0s"), ns("90s"), ns("1.5h"), ns("200 ms")],
            [Ok(0), Ok(90_000_000_000), Ok(5_400_000_000_000), Ok(200_000_000)]
        );
        assert_eq!([ns("2min"), ns("7d")], [Ok(120_000_000_000), Ok(604_800_000_000_000)]);
        for text in ["", "90", "s", "-1s", "1 year", "1e99d", "nans", "infs"] {
            assert!(ns(text).is_err(), "{text}");
        }
    }
}
