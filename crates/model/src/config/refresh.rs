//! `[refresh]`: when old data is rewritten. The run's `refresh` technique rewrites it.

use serde::{Deserialize, Serialize};

use super::error::{ConfigError, require};
use super::keys::Keys;
use super::params::Params;
use crate::base::span::{DAY, Span};

/// `[refresh]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(default)]
#[keys(table = "refresh")]
pub struct RefreshConfig {
    /// Largest age that data reaches before refresh rewrites it, such as "30d".
    #[key(
        unit = "time",
        range = Words("above 0, with a unit: ns, us, ms, s, min, h, d, y"),
        default = Span(30 * DAY),
        source = "assumption: a month; vendors publish no figure"
    )]
    pub period: Span,
    /// Whether a technique refreshes data on this drive. A file cannot set this value; the run's
    /// `refresh` option does.
    #[serde(skip)]
    #[key(skip)]
    pub at_work: bool,
    /// Parameters of techniques.
    #[serde(flatten)]
    #[key(skip)]
    pub params: Params,
}

impl RefreshConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        require(!self.period.is_zero(), || {
            "refresh.period is 0; a span of time such as \"30d\" is expected".into()
        })
    }
}
