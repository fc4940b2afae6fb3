//! `[workload.stripes]`: its keys, and what is checked before anything runs.

use serde::{Deserialize, Serialize};
use vpass_core::base::units::Bytes;
use vpass_core::config::ConfigError;

use crate::synthetic::{Distribution, HotSets, WorkloadConfig, require};
use crate::traces::MAX_REQUEST_BYTES;

/// `[workload.stripes]`: requests begin in stripes, and writes come back to those written last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StripesConfig {
    /// Pages of a stripe.
    pub pages: u32,
    /// Size of such a page, in which requests are counted; a page of the drive where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<Bytes>,
    /// How many of the stripes written last are come back to.
    pub recent: u32,
    /// Share of the writes that do so.
    pub recent_share: f64,
    /// Share of the writes that go on where the last one ended.
    pub sequential: f64,
    /// Mean pages of a write, before the cut.
    pub write_pages: f64,
    /// Mean pages of a read, before the cut.
    pub read_pages: f64,
    /// Pages that a request is cut at.
    pub most_pages: u32,
}

impl Default for StripesConfig {
    /// Calibration: Financial1's excerpt hits the 16 stripes written last with 0.70 and the last 64
    /// with 0.91. All else is an assumption.
    fn default() -> Self {
        Self {
            pages: 8,
            page: None,
            recent: 32,
            recent_share: 0.8,
            sequential: 0.0,
            write_pages: 3.0,
            read_pages: 1.8,
            most_pages: 8,
        }
    }
}

/// Largest mean of pages, and largest cut.
const PAGES_MAX: u32 = 1024;

impl StripesConfig {
    pub(super) fn check(&self, workload: &WorkloadConfig) -> Result<(), ConfigError> {
        for (key, pages, max) in [
            ("pages", self.pages, PAGES_MAX),
            ("recent", self.recent, 1 << 16),
            ("most_pages", self.most_pages, PAGES_MAX),
        ] {
            require((1..=max).contains(&pages), || {
                format!("workload.stripes.{key} = {pages} is outside 1 to {max}")
            })?;
        }
        for (key, mean) in [("write_pages", self.write_pages), ("read_pages", self.read_pages)] {
            require((1.0..=f64::from(PAGES_MAX)).contains(&mean), || {
                format!("workload.stripes.{key} = {mean} is outside 1 to {PAGES_MAX}")
            })?;
        }
        for (key, share) in [("recent_share", self.recent_share), ("sequential", self.sequential)] {
            require((0.0..=1.0).contains(&share), || {
                format!("workload.stripes.{key} = {share} is outside 0 to 1")
            })?;
        }
        if let Some(page) = self.page {
            require(page.0.is_power_of_two() && (512..=1 << 20).contains(&page.0), || {
                format!(
                    "workload.stripes.page = \"{page}\" is not a power of two between 512B and 1MiB"
                )
            })?;
        }
        require(
            matches!(workload.distribution, Distribution::Uniform | Distribution::Zipf { .. }),
            || {
                format!(
                    "workload.distribution = \"{}\" with workload.stripes: \"uniform\" or \"zipf:0.9\" is expected, over stripes",
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
                "workload.stripes: lengths and addresses follow from it; block_size, block_sizes, run, write_distribution and hot_sets do not \
             go with it"
                .into()
            },
        )
    }

    /// Checks what depends on the drive: the footprint, and the page in use.
    pub(super) fn check_drive(&self, footprint: u64, page: u64) -> Result<(), ConfigError> {
        let most = u64::from(self.most_pages) * page;
        require(most <= MAX_REQUEST_BYTES, || {
            format!(
                "workload.stripes.most_pages = {}: of pages of {} a request has at most 16MiB",
                self.most_pages,
                Bytes(page)
            )
        })?;
        let stripe = u64::from(self.pages) * page;
        require(footprint / stripe >= 2 && footprint >= most, || {
            format!(
                "workload.stripes: stripes of {} leave fewer than two in the {footprint} bytes that are addressed",
                Bytes(stripe)
            )
        })
    }
}
