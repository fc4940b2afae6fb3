//! The statistics of one disk as numbers to meet, or as numbers that a stream of requests was
//! measured to have: the same on both sides.

use vpass_core::base::units::Ns;
use vpass_core::config::ConfigError;

use super::sampled::{sampled_accesses, sampled_counts};
use super::statistics_config::{SideConfig, StatisticsConfig};

/// What is known of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskStatistics {
    /// The page in which pages are counted.
    pub page_bytes: u64,
    /// Different pages that are read or written.
    pub footprint_pages: u64,
    /// The end of each window, from the beginning of the first.
    pub window_ends_ns: Vec<Ns>,
    /// The reads, where there are any.
    pub reads: Option<SideStatistics>,
    /// The writes, where there are any.
    pub writes: Option<SideStatistics>,
}

/// One direction of a [`DiskStatistics`].
#[derive(Clone, Debug, PartialEq)]
pub struct SideStatistics {
    /// Requests.
    pub requests: u64,
    /// Bytes of all requests.
    pub bytes: u64,
    /// Different pages.
    pub pages: u64,
    /// Pages in each window; a page that two requests touch counts twice.
    pub window_pages: Vec<u64>,
    /// Percentiles (rising, to 100) of popularity: requests that touch the page there.
    pub accesses: Vec<(f64, u64)>,
    /// Percentiles of the size of requests, in bytes.
    pub sizes: Vec<(f64, u64)>,
}

impl SideStatistics {
    /// What a table says of a direction, as it stands.
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

    /// Pages of all windows, counted with repetition.
    pub fn page_accesses(&self) -> u64 {
        self.window_pages.iter().sum()
    }
}

impl DiskStatistics {
    /// What a `[statistics]` table asks for, at its scale and speed.
    ///
    /// # Errors
    /// The first key that is wrong, or numbers that contradict each other.
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
            return Err(ConfigError(format!(
                "statistics.scale = {} leaves not a single request",
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

    /// Pages that are both read and written.
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
