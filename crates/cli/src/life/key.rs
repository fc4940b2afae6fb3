//! The key that `--find` turns: numbers in its own unit, and as `--set` takes them.

use vpass_core::base::span::{SECOND, Span};
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::keys;
use vpass_lab::plan::RunPlan;

/// Values go from the drive's own divided by this to its own times this, where nobody says.
const REACH: f64 = 16.0;

/// A numeric key.
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
    /// In seconds.
    Span,
}

impl Knob {
    /// The key of this path, between these values.
    pub(super) fn new(path: &str, (from, to): (Option<&str>, Option<&str>), plan: &RunPlan) -> Result<Self, Failure> {
        let key = keys::all().into_iter().find(|key| key.path == path && key.settable && key.file == "drive");
        let key = key.ok_or_else(|| {
            Failure::usage(format!(
                "--find {path}: no such key of a drive; one of `vpass list keys` with a number or a span of time is expected"
            ))
        })?;
        let default = key.default.as_ref().map(ToString::to_string);
        let own = own_value(path, plan)?.or(default).unwrap_or_default();
        let own = own.trim_matches('"').to_owned();
        let given = from.or(to).unwrap_or(&own);
        let kind = kind_of(given, &own)
            .ok_or_else(|| Failure::usage(format!("--find {path}: its value is {own}, and a number or a span of time is expected")))?;
        let read = |name: &str, text: Option<&str>, otherwise: f64| match text {
            None => Ok(otherwise),
            Some(text) => number(kind, text)
                .filter(|value| *value > 0.0)
                .ok_or_else(|| Failure::usage(format!("--{name} {text}: a value of {path} above 0 is expected, such as {own}"))),
        };
        let own = number(kind, &own).unwrap_or(0.0);
        if own <= 0.0 && (from.is_none() || to.is_none()) {
            return Err(Failure::usage(format!("--find {path}: the drive has no value of it above 0 to begin at; give --from and --to")));
        }
        let (from, to) = (read("from", from, own / REACH)?, read("to", to, own * REACH)?);
        let from = if kind == Kind::Whole { from.max(1.0) } else { from };
        if from >= to {
            return Err(Failure::usage(format!("--find {path}: --from must be below --to")));
        }
        Ok(Self { path: path.into(), kind, from, to })
    }

    /// A value as `--set` takes it.
    pub(super) fn text(&self, value: f64) -> String {
        match self.kind {
            Kind::Whole => format!("{}", value.round().max(1.0) as u64),
            Kind::Real => format!("{value:.6}"),
            Kind::Span => Span((value.round() as u64).max(1) * SECOND).to_string(),
        }
    }

    /// What that text stands for.
    pub(super) fn value(&self, text: &str) -> f64 {
        number(self.kind, text).unwrap_or(f64::NAN)
    }
}

/// The value of a key in the drive of a plan; none where that does not have it.
fn own_value(path: &str, plan: &RunPlan) -> Result<Option<String>, Failure> {
    let config = as_json::value(&plan.drive.config)?;
    let found = path.split('.').try_fold(&config, |value, part| value.get(part));
    Ok(found.filter(|value| !value.is_null()).map(ToString::to_string))
}

fn kind_of(given: &str, own: &str) -> Option<Kind> {
    let is_whole = |text: &str| text.parse::<u64>().is_ok();
    let is_real = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    match () {
        () if is_whole(own) && is_whole(given) => Some(Kind::Whole),
        () if is_real(own) && is_real(given) => Some(Kind::Real),
        () if Span::parse(given).is_ok() => Some(Kind::Span),
        () => None,
    }
}

fn number(kind: Kind, text: &str) -> Option<f64> {
    match kind {
        Kind::Whole | Kind::Real => text.parse().ok().filter(|value: &f64| value.is_finite()),
        Kind::Span => Span::parse(text).ok().map(|span| span.0 as f64 / SECOND as f64),
    }
}
