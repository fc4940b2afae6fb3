//! File `expected.toml` of a recipe. The file has the paper's numbers, the way to compare each
//! number, and the results that vpass does not reproduce.
use serde::Deserialize;

use super::figure::{Figure, Mean};
use crate::failure::Failure;

/// Content of `expected.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiments::paper) struct Expectations {
    #[serde(default)]
    pub(in crate::experiments::paper) expected: Vec<Expected>,
    #[serde(default)]
    pub(in crate::experiments::paper) not_reproduced: Vec<NotReproduced>,
}

/// Number that the paper prints. By default, this number is the mean over the workloads of a
/// figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiments::paper) struct Expected {
    /// Figure, table or page of the paper that has the number.
    pub(in crate::experiments::paper) source: String,
    pub(in crate::experiments::paper) what: String,
    pub(in crate::experiments::paper) figure: String,
    pub(in crate::experiments::paper) variant: String,
    /// Workload whose number is compared. Default: the mean that `mean` selects.
    pub(in crate::experiments::paper) workload: Option<String>,
    /// Kind of mean that is compared.
    #[serde(default)]
    pub(in crate::experiments::paper) mean: Mean,
    /// Name of the technique. The technique is of the kind that the group of the figure compares,
    /// such as reclaim or refresh.
    #[serde(alias = "refresh", alias = "parity")]
    pub(in crate::experiments::paper) reclaim: String,
    /// Value in the paper. Absent if the available text of the paper lacks the value. In this case,
    /// the entry needs `below` or `above`.
    pub(in crate::experiments::paper) value: Option<f64>,
    /// Largest difference with which the vpass number still agrees with the paper's value. The
    /// difference is given as a share of the paper's value. Absent if only the direction is
    /// compared.
    pub(in crate::experiments::paper) tolerance: Option<f64>,
    /// Second criterion for figures that show ratios. A ratio of 0.9 is a change of -0.1. The
    /// criterion limits the difference between the change in vpass and the change in the paper.
    ///
    /// The change in vpass agrees with the change in the paper if the difference is at most this
    /// share of the paper's change. If the difference is larger, the two changes can still agree in
    /// direction.
    ///
    /// `tolerance` is not enough for small changes: if the paper's change is small, `tolerance`
    /// accepts a change of 0.
    pub(in crate::experiments::paper) change_within: Option<f64>,
    /// Whether a parameter of the drive was fitted to this number. For such a number, agreement
    /// proves nothing.
    #[serde(default)]
    pub(in crate::experiments::paper) calibrated: bool,
    /// Whether only the direction of a change is compared, and not the size of the change. By
    /// default, the vpass number and the paper's number must both be above 1, or both be below 1.
    ///
    /// With `below` or `above`, the paper's number is not used. The vpass number is then compared
    /// with the vpass number of another technique.
    #[serde(default)]
    pub(in crate::experiments::paper) direction_only: bool,
    /// Technique whose vpass number must be larger than the vpass number of this entry. The key
    /// `above` names a technique whose number must be smaller. Both keys need `direction_only`.
    pub(in crate::experiments::paper) below: Option<String>,
    pub(in crate::experiments::paper) above: Option<String>,
    /// Variant of the technique that `below` or `above` names. Default: the variant of this entry.
    pub(in crate::experiments::paper) than: Option<String>,
}

impl Expected {
    /// Checks that the entry defines how its number is compared.
    ///
    /// # Errors
    /// Returns an error if a key is missing, or if two keys exclude each other.
    pub(in crate::experiments::paper) fn check(&self, figure: &Figure) -> Result<(), Failure> {
        let named = usize::from(self.below.is_some()) + usize::from(self.above.is_some());
        let needs_side = self.change_within.is_some() || self.direction_only && named == 0;
        let wrong = match self.direction_only {
            false if self.tolerance.is_none() => {
                "a `tolerance`, or `direction_only = true`, is expected"
            }
            false if named > 0 => "`below` and `above` need `direction_only = true`",
            true if self.tolerance.is_some() || self.calibrated => {
                "`direction_only` excludes `tolerance` and `calibrated`"
            }
            true if self.change_within.is_some() => "`direction_only` excludes `change_within`",
            false if self.change_within.is_some_and(|share| !(share > 0.0 && share < 1.0)) => {
                "`change_within` is a share of the paper's change; it must be above 0 and below 1"
            }
            false if self.change_within.is_some() && figure.divisor().is_none() => {
                "the figure has no divisor (`over`), so leave out `change_within`"
            }
            false if self.value.is_none() => "a `value` is expected",
            true if named == 0 && self.value.is_none() => "give a `value`, `below` or `above`",
            _ if self.mean != Mean::All && self.workload.is_some() => {
                "give either `workload` or `mean`"
            }
            _ if figure.means().iter().all(|(mean, _)| *mean != self.mean) => {
                "the figure has no `mean` of this name"
            }
            _ if self.than.is_some() && named == 0 => "`than` needs `below` or `above`",
            true if named > 1 => "give either `below` or `above`",
            true if named == 0 && figure.divisor().is_none() => {
                "the figure has no divisor (`over`), so give `below` or `above`"
            }
            _ if needs_side
                && self.value.is_some_and(|value| (value - 1.0).abs() < f64::EPSILON) =>
            {
                "a value of 1 means no change, so there is no direction to compare"
            }
            _ => return Ok(()),
        };
        Err(Failure::usage(format!(
            "expected \"{}\" of figure {}: {wrong}",
            self.what, self.figure
        )))
    }
}

/// Result in the paper, and the reason why vpass does not reproduce the result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiments::paper) struct NotReproduced {
    pub(in crate::experiments::paper) what: String,
    pub(in crate::experiments::paper) why: String,
}
