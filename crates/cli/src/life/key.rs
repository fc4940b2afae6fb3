//! Numeric key whose best value `--find` searches. The values are numbers for the search, and text
//! for `--set`.

use vpass_drive::base::span::{SECOND, Span};
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::keys;
use vpass_lab::numbers::counted;
use vpass_lab::plan::RunPlan;

/// Factor for the default range of the search. The range begins at the drive's own value divided by
/// this factor, and ends at the drive's own value times this factor.
const REACH: f64 = 16.0;

/// Only workload key that `--find` accepts, and only with `--lasts`. All other keys are drive keys.
const RATE: &str = "workload.rate";

/// Numeric key, with the range of values to search.
#[derive(Clone, Debug)]
pub(super) struct Knob {
    pub(super) path: String,
    kind: Kind,
    pub(super) from: f64,
    pub(super) to: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Whole,
    Real,
    /// Time in seconds.
    Span,
}

impl Knob {
    /// Looks up the key with this path. `from` and `to` are the ends of the range to search.
    pub(super) fn new(
        path: &str,
        (from, to): (Option<&str>, Option<&str>),
        plan: &RunPlan,
        may_be_rate: bool,
    ) -> Result<Self, Failure> {
        if may_be_rate && path == RATE {
            return Self::of_rate((from, to));
        }
        let key = keys::all()
            .into_iter()
            .find(|key| key.path == path && key.settable && key.file == "drive");
        let key = key.ok_or_else(|| {
            Failure::usage(format!(
                "--find {path}: no such drive key; a key of `vpass list keys` with a number or a \
                 time is expected"
            ))
        })?;
        let default = key.default.as_ref().map(ToString::to_string);
        let own = own_value(path, plan)?.or(default).unwrap_or_default();
        let own = own.trim_matches('"').to_owned();
        let given = [("from", from), ("to", to)];
        let said = given.into_iter().find_map(|(name, text)| Some((name, text?)));
        let kind = match (kind_of(&own), said) {
            (Some(kind), _) => kind,
            (None, Some((name, text))) if own.is_empty() => kind_of(text).ok_or_else(|| {
                Failure::usage(format!(
                    "--{name} {text}: a value of {path} is expected, a number or a time"
                ))
            })?,
            _ => {
                return Err(Failure::usage(format!(
                    "--find {path}: the value of this key is {own}; a key whose value is a number \
                     or a time is expected"
                )));
            }
        };
        let read = |name: &str, text: Option<&str>, otherwise: f64| match text {
            None => Ok(otherwise),
            Some(text) => number(kind, text).filter(|value| *value > 0.0).ok_or_else(|| {
                let such_as =
                    if own.is_empty() { String::new() } else { format!(", such as {own}") };
                Failure::usage(format!(
                    "--{name} {text}: a value of {path} above 0 is expected{such_as}"
                ))
            }),
        };
        let first = number(kind, &own).unwrap_or(0.0);
        if first <= 0.0 && (from.is_none() || to.is_none()) {
            return Err(Failure::usage(format!(
                "--find {path}: the drive has no value above 0 for this key, so the search cannot \
                 start there; give --from and --to"
            )));
        }
        let (from, to) = (read("from", from, first / REACH)?, read("to", to, first * REACH)?);
        let from = if kind == Kind::Whole { from.max(1.0) } else { from };
        if from >= to {
            return Err(Failure::usage(format!("--find {path}: --from must be below --to")));
        }
        Ok(Self { path: path.into(), kind, from, to })
    }

    /// Makes the key for a search over the request rate of the workload.
    fn of_rate((from, to): (Option<&str>, Option<&str>)) -> Result<Self, Failure> {
        let read = |name: &str, text: Option<&str>| {
            let value = text.and_then(a_rate).filter(|rate| *rate > 0.0);
            value.ok_or_else(|| {
                Failure::usage(format!(
                    "--find {RATE} --lasts: --{name} is {}; a number of requests a second is \
                     expected, such as 1M",
                    text.unwrap_or("missing")
                ))
            })
        };
        let (from, to) = (read("from", from)?, read("to", to)?);
        if from >= to {
            return Err(Failure::usage(format!("--find {RATE}: --from must be below --to")));
        }
        Ok(Self { path: RATE.into(), kind: Kind::Real, from, to })
    }

    /// Formats a value as text for `--set`, rounded to a few digits.
    pub(super) fn text(&self, value: f64) -> String {
        match self.kind {
            Kind::Whole => format!("{}", value.round().max(1.0) as u64),
            Kind::Real => plain(rounded(value, 6)),
            Kind::Span => {
                let (seconds, unit) =
                    UNITS.into_iter().find(|(seconds, _)| value >= *seconds).unwrap_or((1.0, "s"));
                format!("{}{unit}", rounded(value / seconds, 4))
            }
        }
    }

    /// Parses a text that [`Self::text`] formatted.
    pub(super) fn value(&self, text: &str) -> f64 {
        number(self.kind, text).unwrap_or(f64::NAN)
    }
}

/// Returns the value that this key has in the drive of this plan; `None` if the drive has no value
/// for the key.
fn own_value(path: &str, plan: &RunPlan) -> Result<Option<String>, Failure> {
    let config = as_json::value(&plan.drive.config)?;
    let found = path.split('.').try_fold(&config, |value, part| value.get(part));
    Ok(found.filter(|value| !value.is_null()).map(ToString::to_string))
}

/// Units of time, each with its length in seconds. A time is formatted in the largest unit that is
/// not longer than the time.
const UNITS: [(f64, &str); 4] = [(86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s")];

/// Formats a number in a form that TOML accepts.
fn plain(value: f64) -> String {
    if (1e-4..1e9).contains(&value) { value.to_string() } else { format!("{value:e}") }
}

/// Rounds a number to this many significant digits.
fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// Parses a number such as 500, 20k or 1M.
fn a_rate(text: &str) -> Option<f64> {
    match counted(text) {
        Some(number) => number.ok().map(|number| number as f64),
        None => text.parse().ok().filter(|rate: &f64| rate.is_finite()),
    }
}

fn kind_of(text: &str) -> Option<Kind> {
    match () {
        () if text.parse::<u64>().is_ok() => Some(Kind::Whole),
        () if text.parse::<f64>().is_ok_and(f64::is_finite) => Some(Kind::Real),
        () if Span::parse(text).is_ok() => Some(Kind::Span),
        () => None,
    }
}

fn number(kind: Kind, text: &str) -> Option<f64> {
    match kind {
        Kind::Whole | Kind::Real => text.parse().ok().filter(|value: &f64| value.is_finite()),
        Kind::Span => Span::parse(text).ok().map(|span| span.0 as f64 / SECOND as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_given_in_few_digits() {
        let text =
            |kind, value: f64| Knob { path: "a.key".into(), kind, from: 1.0, to: 2.0 }.text(value);
        let of_kind = |kind, values: &[f64]| {
            values.iter().map(|value| text(kind, *value)).collect::<Vec<_>>()
        };
        assert_eq!(of_kind(Kind::Whole, &[0.2, 62.5, 1e6]), ["1", "63", "1000000"]);
        assert_eq!(
            of_kind(Kind::Real, &[312.5, 382.551_043, 1.0 / 3.0, 1e-16, 3.2e-9]),
            ["312.5", "382.551", "0.333333", "1e-16", "3.2e-9"]
        );
        assert_eq!(
            of_kind(Kind::Span, &[0.5, 90.0, 5400.0, 144_139.0, 86_400.0 * 480.0]),
            ["0.5s", "1.5min", "1.5h", "1.668d", "480d"]
        );
        for (kind, value) in [
            (Kind::Whole, 63.0),
            (Kind::Real, 1e-16),
            (Kind::Real, 0.333_333),
            (Kind::Span, 86_400.0 * 1.668),
        ] {
            let is = number(kind, &text(kind, value)).unwrap();
            assert!((is / value - 1.0).abs() < 1e-12, "{kind:?} {value}: {is}");
        }
    }
}
