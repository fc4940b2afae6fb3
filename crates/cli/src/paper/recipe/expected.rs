//! `expected.toml`: what the paper says, how each of its numbers is compared, and what is left out.

use serde::Deserialize;
use vpass_lab::failure::Failure;

use super::figure::{Figure, Mean};

/// `expected.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::paper) struct Expectations {
    #[serde(default)]
    pub(in crate::paper) expected: Vec<Expected>,
    #[serde(default)]
    pub(in crate::paper) not_reproduced: Vec<NotReproduced>,
}

/// One number of the paper: the mean over the workloads of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::paper) struct Expected {
    /// Where the paper has it.
    pub(in crate::paper) source: String,
    pub(in crate::paper) what: String,
    pub(in crate::paper) figure: String,
    pub(in crate::paper) variant: String,
    /// What `mean` says where absent.
    #[serde(default)]
    pub(in crate::paper) workload: Option<String>,
    /// Which of the figure's means.
    #[serde(default)]
    pub(in crate::paper) mean: Mean,
    /// The technique: of reclaim, or of refresh or parity where the figure's group goes by that.
    #[serde(alias = "refresh", alias = "parity")]
    pub(in crate::paper) reclaim: String,
    /// Absent where the paper's text has lost it, and `below` or `above` has what is left of it.
    #[serde(default)]
    pub(in crate::paper) value: Option<f64>,
    /// Largest difference that counts as agreement, as a share of the value; absent where only the
    /// direction is compared.
    #[serde(default)]
    pub(in crate::paper) tolerance: Option<f64>,
    /// Beside `tolerance`, of a figure that divides by something: the value is then a change, of
    /// itself from 1. Ours agrees if it also lies within this share of the paper's change, and is a
    /// direction only if its side is right. Where effects are small, a tolerance alone would let
    /// none agree.
    #[serde(default)]
    pub(in crate::paper) change_within: Option<f64>,
    /// Follows from a number that was chosen to give it: no success of its own.
    #[serde(default)]
    pub(in crate::paper) calibrated: bool,
    /// Its size is no independent success, or cannot be compared. It agrees where both numbers lie
    /// on the same side of 1, that is of the technique that the figure divides by; or as `below` or
    /// `above` has it.
    #[serde(default)]
    pub(in crate::paper) direction_only: bool,
    /// For `direction_only`, in the place of that technique: one that the paper has it below, or
    /// above.
    #[serde(default)]
    pub(in crate::paper) below: Option<String>,
    #[serde(default)]
    pub(in crate::paper) above: Option<String>,
    /// The variant of the number that `below` or `above` compares with; the same where absent.
    #[serde(default)]
    pub(in crate::paper) than: Option<String>,
}

impl Expected {
    /// Checks that it says how it is to be compared.
    ///
    /// # Errors
    /// What is missing, or too much.
    pub(in crate::paper) fn check(&self, figure: &Figure) -> Result<(), Failure> {
        let named = usize::from(self.below.is_some()) + usize::from(self.above.is_some());
        let needs_side = self.change_within.is_some() || self.direction_only && named == 0;
        let wrong = match self.direction_only {
            false if self.tolerance.is_none() => {
                "a `tolerance`, or `direction_only = true`, is expected"
            }
            false if named > 0 => "`below` and `above` are for `direction_only = true`",
            true if self.tolerance.is_some() || self.calibrated => {
                "with `direction_only`, no `tolerance` and no `calibrated` are expected"
            }
            true if self.change_within.is_some() => {
                "with `direction_only`, no `change_within` is expected"
            }
            false if self.change_within.is_some_and(|share| !(share > 0.0 && share < 1.0)) => {
                "a `change_within` above 0 and below 1 is expected, a share of the paper's change"
            }
            false if self.change_within.is_some() && figure.divisor().is_none() => {
                "its figure divides by nothing: no `change_within` is expected"
            }
            false if self.value.is_none() => "a `value` is expected",
            true if named == 0 && self.value.is_none() => {
                "a `value`, `below` or `above` is expected"
            }
            _ if self.mean != Mean::All && self.workload.is_some() => {
                "one of `workload` and `mean` is expected"
            }
            _ if figure.means().iter().all(|(mean, _)| *mean != self.mean) => {
                "its figure has no such `mean`"
            }
            _ if self.than.is_some() && named == 0 => "`than` is for `below` and `above`",
            true if named > 1 => "one of `below` and `above` is expected",
            true if named == 0 && figure.divisor().is_none() => {
                "its figure divides by nothing: `below` or `above` is expected"
            }
            _ if needs_side
                && self.value.is_some_and(|value| (value - 1.0).abs() < f64::EPSILON) =>
            {
                "a value of 1 has no direction"
            }
            _ => return Ok(()),
        };
        Err(Failure::usage(format!(
            "expected \"{}\" of figure {}: {wrong}",
            self.what, self.figure
        )))
    }
}

/// What is left out, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::paper) struct NotReproduced {
    pub(in crate::paper) what: String,
    pub(in crate::paper) why: String,
}
