//! `[hints]`: read latencies for the words of a host's hints. The file of the run's `hints` option
//! has the data that they apply to.

use serde::{Deserialize, Serialize};

use super::error::{ConfigError, require};
use super::keys::{Keys, Range};
use crate::hints::HintRange;

/// `[hints]`. A latency is that of a read of one page on an idle drive, from the die to the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "hints")]
pub struct HintsConfig {
    /// Longest read of data with the hint "smallest" or no hint; if absent, `reclaim.retries`
    /// limits the retries.
    #[key(unit = "us", range = LATENCY)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest_us: Option<f64>,
    /// Longest read of data with the hint "typical".
    #[key(
        unit = "us",
        range = LATENCY,
        default = 400.0,
        source = "assumption: NVMe names access latencies without giving times; \
            read-latency-relaxation-2021 calls reads long from 400 us on"
    )]
    pub typical_us: f64,
    /// Longest read of data with the hint "idle".
    #[key(unit = "us", range = LATENCY, default = 5000.0, source = "assumption")]
    pub idle_us: f64,
    /// Share of the dose limit that every hint keeps in reserve.
    #[key(
        unit = "share",
        range = Real(0.0, 0.9),
        default = 0.1,
        source = "assumption",
        random = [0.0, 0.1, 0.5]
    )]
    pub margin: f64,
    /// The drive regroups a block in the background if at least this share of its valid pages has a
    /// more relaxed hint than the block. If absent, data reaches a block of its hint only at its
    /// next move.
    #[key(
        unit = "share",
        range = Real(LEAST_SHARE, 1.0),
        random = [None, None, None, Some(0.01), Some(0.5), Some(1.0)]
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regroup: Option<f64>,
    /// Hints of the host, if any. A file cannot set these hints; the run's `hints` option does.
    #[serde(skip)]
    pub said: Option<Vec<HintRange>>,
}

/// Range of latencies, up to a second.
const LATENCY: Range = Range::Real(1e-3, 1e6);
/// Smallest share: less than a page of the largest block.
const LEAST_SHARE: f64 = 1e-4;

impl HintsConfig {
    /// Returns whether no key is set.
    pub fn is_default(&self) -> bool {
        Self { said: None, ..self.clone() } == Self::default()
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        let smallest = self.smallest_us.map(|us| ("hints.smallest_us", us));
        let latencies = smallest
            .into_iter()
            .chain([("hints.typical_us", self.typical_us), ("hints.idle_us", self.idle_us)]);
        let latencies: Vec<_> = latencies.collect();
        for pair in latencies.windows(2) {
            let ((tight, less), (relaxed, more)) = (pair[0], pair[1]);
            require(less <= more, || {
                format!(
                    "{relaxed} ({more}) is below {tight} ({less}); a more relaxed hint must not \
                     allow less time"
                )
            })?;
        }
        Ok(())
    }
}
