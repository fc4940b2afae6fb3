//! Keys of the table `[workload.stripes]`, and their checks before a run.

use serde::{Deserialize, Serialize};
use vpass_drive::base::units::Bytes;
use vpass_drive::config::ConfigError;
use vpass_drive::config::keys::{self, Keys, Range};

use crate::synthetic::{Distribution, HotSets, WorkloadConfig, require};
use crate::traces::MAX_REQUEST_BYTES;

/// `[workload.stripes]`: stripes in which requests begin. Some writes return to a recently written
/// stripe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "workload.stripes")]
pub struct StripesConfig {
    /// Number of pages in a stripe.
    #[key(unit = "pages", range = Whole(1, PAGES_MAX), default = 8, source = "assumption")]
    pub pages: u32,
    /// Size of the pages that the other keys count; the drive's page size if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = PowerOfTwo(512, 1 << 20))]
    pub page: Option<Bytes>,
    /// Number of stripes that count as recently written.
    #[key(
        unit = "stripes",
        range = Whole(1, 1 << 16),
        default = 32,
        source = "calibration: in the excerpt of Financial1, 0.70 of the writes hit the 16 stripes \
                  written last, and 0.91 of the writes hit the 64 stripes written last"
    )]
    pub recent: u32,
    /// Share of the non-sequential writes that return to a recently written stripe.
    #[key(unit = "share", range = keys::SHARE, default = 0.8, source = "calibration, as recent")]
    pub recent_share: f64,
    /// Share of the writes that continue where the last write ended.
    #[key(unit = "share", range = keys::SHARE, default = 0.0, source = "assumption")]
    pub sequential: f64,
    /// Mean number of pages of a write, before writes are cut to `most_pages`.
    #[key(unit = "pages", range = MEAN, default = 3.0, source = "assumption")]
    pub write_pages: f64,
    /// Mean number of pages of a read, before reads are cut to `most_pages`.
    #[key(unit = "pages", range = MEAN, default = 1.8, source = "assumption")]
    pub read_pages: f64,
    /// Largest number of pages of a request.
    #[key(unit = "pages", range = Whole(1, PAGES_MAX), default = 8, source = "assumption")]
    pub most_pages: u32,
}

/// Largest number of pages that a key may give to a stripe or a request.
const PAGES_MAX: u64 = 1024;
/// Range of the keys `write_pages` and `read_pages`, which are mean numbers of pages per request.
const MEAN: Range = Range::Real(1.0, PAGES_MAX as f64);

impl StripesConfig {
    pub(super) fn check(&self, workload: &WorkloadConfig) -> Result<(), ConfigError> {
        self.check_ranges()?;
        require(
            matches!(workload.distribution, Distribution::Uniform | Distribution::Zipf { .. }),
            || {
                format!(
                    "workload.distribution = \"{}\" with workload.stripes: \"uniform\" or \
                     \"zipf:0.9\" is expected, as the distribution over stripes",
                    workload.distribution
                )
            },
        )?;
        let sizes = workload.block_size.is_none()
            && workload.block_sizes.is_empty()
            && workload.run.is_none();
        require(
            sizes && workload.write_distribution.is_none() && workload.hot_sets == HotSets::Shared,
            || {
                "workload.stripes sets lengths and addresses; remove block_size, block_sizes, run, \
                 write_distribution and hot_sets"
                    .into()
            },
        )
    }

    /// Checks that the largest request has at most 16 MiB. Also checks that the footprint has space
    /// for two stripes and for the largest request.
    pub(super) fn check_drive(&self, footprint: u64, page: u64) -> Result<(), ConfigError> {
        let most = u64::from(self.most_pages) * page;
        require(most <= MAX_REQUEST_BYTES, || {
            format!(
                "workload.stripes.most_pages = {}: with pages of {}, the largest request would \
                 exceed 16MiB",
                self.most_pages,
                Bytes(page)
            )
        })?;
        let stripe = u64::from(self.pages) * page;
        require(footprint / stripe >= 2 && footprint >= most, || {
            format!(
                "workload.stripes: the footprint of {footprint} bytes holds fewer than two stripes \
                 of {}",
                Bytes(stripe)
            )
        })
    }
}
