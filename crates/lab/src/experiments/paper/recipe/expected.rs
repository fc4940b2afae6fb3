//! `expected.toml`: the paper's numbers, the way to compare each number, and the results that are
//! left out.
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

/// Number that the paper prints. By default, the number is the mean over the workloads of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiments::paper) struct Expected {
    /// Place of the number in the paper, such as a figure or a page.
    pub(in crate::experiments::paper) source: String,
    pub(in crate::experiments::paper) what: String,
    pub(in crate::experiments::paper) figure: String,
    pub(in crate::experiments::paper) variant: String,
    /// Workload whose number is compared. Default: the mean that `mean` selects.
    #[serde(default)]
    pub(in crate::experiments::paper) workload: Option<String>,
    /// Kind of mean that is compared.
    #[serde(default)]
    pub(in crate::experiments::paper) mean: Mean,
    /// Name of the technique. The technique belongs to the slot that the figure's group compares.
    #[serde(alias = "refresh", alias = "parity")]
    pub(in crate::experiments::paper) reclaim: String,
    /// Value in the paper. Absent if the value is missing in the text of the paper that is
    /// available. The entry then needs `below` or `above`.
    #[serde(default)]
    pub(in crate::experiments::paper) value: Option<f64>,
    /// Largest difference that counts as agreement, as a share of the paper's value. Absent if only
    /// the direction is compared.
    #[serde(default)]
    pub(in crate::experiments::paper) tolerance: Option<f64>,
    /// Second criterion for figures of ratios: how close the change in vpass must be to the paper's
    /// change. The change of a ratio is its difference from 1.
    ///
    /// The change in vpass agrees if it differs from the paper's change by at most this share of
    /// the paper's change. Otherwise, a change in the same direction agrees in direction only.
    ///
    /// Without this criterion, `tolerance` would accept a change of 0 if the paper's change is
    /// small.
    #[serde(default)]
    pub(in crate::experiments::paper) change_within: Option<f64>,
    /// Whether the number follows from a parameter that was fitted to this number. Agreement then
    /// proves nothing.
    #[serde(default)]
    pub(in crate::experiments::paper) calibrated: bool,
    /// Whether only the direction is compared, because the size cannot be compared or proves
    /// nothing. By default, the vpass number and the paper's number must be on the same side of 1.
    ///
    /// With `below` or `above`, the vpass number is compared with that of another technique
    /// instead.
    #[serde(default)]
    pub(in crate::experiments::paper) direction_only: bool,
    /// Technique whose number must be larger, for `direction_only`. The key `above` names a
    /// technique whose number must be smaller.
    #[serde(default)]
    pub(in crate::experiments::paper) below: Option<String>,
    #[serde(default)]
    pub(in crate::experiments::paper) above: Option<String>,
    /// Variant of the technique that `below` or `above` names. Default: the variant of this entry.
    #[serde(default)]
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
                "a `change_within` above 0 and below 1 is expected, a share of the paper's change"
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
                "a value of 1 means no change, so it has no direction"
            }
            _ => return Ok(()),
        };
        Err(Failure::usage(format!(
            "expected \"{}\" of figure {}: {wrong}",
            self.what, self.figure
        )))
    }
}

/// Result of the paper that vpass does not reproduce, with the reason.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiments::paper) struct NotReproduced {
    pub(in crate::experiments::paper) what: String,
    pub(in crate::experiments::paper) why: String,
}
