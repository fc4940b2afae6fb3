//! Statistics of a disk as plain numbers. Requested statistics and measured statistics have the
//! same type.

use vpass_drive::base::units::Ns;
use vpass_drive::config::ConfigError;

use super::sampled::{sampled_accesses, sampled_counts};
use super::statistics_config::{SideConfig, StatisticsConfig};

/// Statistics of the requests to a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskStatistics {
    /// Size in bytes of the pages that these statistics count.
    pub page_bytes: u64,
    /// Number of different pages that are read or written.
    pub footprint_pages: u64,
    /// End of each window in ns, counted from the start of the first window.
    pub window_ends_ns: Vec<Ns>,
    /// Statistics of the reads; `None` without reads.
    pub reads: Option<SideStatistics>,
    /// Statistics of the writes; `None` without writes.
    pub writes: Option<SideStatistics>,
}

/// Statistics of one direction, which is reads or writes.
#[derive(Clone, Debug, PartialEq)]
pub struct SideStatistics {
    /// Number of requests of this direction.
    pub requests: u64,
    /// Sum of the bytes of all requests.
    pub bytes: u64,
    /// Number of different pages that the requests touch.
    pub pages: u64,
    /// Number of page accesses in each window. A page counts once for each request that touches it.
    pub window_pages: Vec<u64>,
    /// Percentiles of popularity in ascending order, up to 100. Each percentile comes with the
    /// number of requests that touch the page at this percentile.
    pub accesses: Vec<(f64, u64)>,
    /// Percentiles of the request size. Each percentile comes with a size in bytes.
    pub sizes: Vec<(f64, u64)>,
}

impl SideStatistics {
    /// Returns the statistics of one direction of a `[statistics]` table. The scale of the table is
    /// not applied.
    pub(super) fn at_full_scale(side: &SideConfig, window_pages: &[u64]) -> Self {
        let points =
            |values: &[u64]| side.percentiles.iter().copied().zip(values.iter().copied()).collect();
        Self {
            requests: side.requests,
            bytes: side.bytes,
            pages: side.pages,
            window_pages: window_pages.to_vec(),
            accesses: points(&side.accesses),
            sizes: points(&side.sizes),
        }
    }

    /// Returns the number of page accesses in all windows. A page counts once for each request that
    /// touches it.
    pub fn page_accesses(&self) -> u64 {
        self.window_pages.iter().sum()
    }
}

impl DiskStatistics {
    /// Returns the statistics that a `[statistics]` table requests, at its scale and speed.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if numbers contradict each other.
    pub fn of(config: &StatisticsConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let page_bytes = config.page.0;
        let side = |name, side: &Option<SideConfig>, pages: &[u64]| {
            side.as_ref().map(|s| side_at(name, s, pages, config.scale, page_bytes)).transpose()
        };
        let reads = side("reads", &config.reads, &config.windows.read_pages)?
            .filter(|s| s.page_accesses() > 0);
        let writes = side("writes", &config.writes, &config.windows.write_pages)?
            .filter(|s| s.page_accesses() > 0);
        let pages = |side: Option<u64>| side.unwrap_or(0);
        let both = pages(config.reads.as_ref().map(|s| s.pages))
            + pages(config.writes.as_ref().map(|s| s.pages))
            - config.footprint_pages;
        let (read, written) =
            (pages(reads.as_ref().map(|s| s.pages)), pages(writes.as_ref().map(|s| s.pages)));
        if read + written == 0 {
            return Err(ConfigError::new(format!(
                "statistics.scale = {} leaves no request; a larger scale is expected",
                config.scale
            )));
        }
        let both = scaled(both, config.scale).min(read).min(written);
        let ns = |end: &f64| (end / config.speed * 1e9).round() as Ns;
        Ok(Self {
            page_bytes,
            footprint_pages: read + written - both,
            window_ends_ns: config.windows.ends_s.iter().map(ns).collect(),
            reads,
            writes,
        })
    }

    /// Returns the number of pages that are both read and written.
    pub fn shared_pages(&self) -> u64 {
        let pages = |side: &Option<SideStatistics>| side.as_ref().map_or(0, |s| s.pages);
        pages(&self.reads) + pages(&self.writes) - self.footprint_pages
    }
}

fn scaled(n: u64, scale: f64) -> u64 {
    (n as f64 * scale).round() as u64
}

fn side_at(
    name: &str,
    side: &SideConfig,
    window_pages: &[u64],
    scale: f64,
    page_bytes: u64,
) -> Result<SideStatistics, ConfigError> {
    let whole = SideStatistics::at_full_scale(side, window_pages);
    if scale >= 1.0 {
        return Ok(whole);
    }
    let window_pages = sampled_counts(window_pages, scale);
    let accesses: u64 = window_pages.iter().sum();
    let requests = scaled(side.requests, scale).clamp(1, accesses.max(1));
    Ok(SideStatistics {
        requests,
        bytes: (side.bytes as f64 / side.requests as f64 * requests as f64).round() as u64,
        pages: scaled(side.pages, scale).clamp(1, accesses.max(1)),
        accesses: sampled_accesses(name, &whole, scale, page_bytes)?,
        window_pages,
        ..whole
    })
}
