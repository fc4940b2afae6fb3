//! Keys of the `[statistics]` table of a workload file. The table contains statistics of a disk,
//! and options for using these statistics.

use serde::{Deserialize, Serialize};
use vpass_drive::base::units::Bytes;
use vpass_drive::config::ConfigError;
use vpass_drive::config::keys::{Keys, Range};

use super::percentiles::usual;
use crate::synthetic::{MAX_QUEUE_DEPTH, require};
use crate::traces::MAX_REQUEST_BYTES;

/// Workload file that contains a one-line description and a `[statistics]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatisticsFile {
    /// One line that describes the disk and says where the numbers come from.
    #[serde(default)]
    pub description: String,
    /// `[statistics]`: statistics of one disk.
    pub statistics: StatisticsConfig,
    /// `[[hints.range]]`: latencies that the host accepts for reads of its data. This field keeps
    /// the table unparsed; `vpass_lab::hints` parses the table.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub hints: toml::Table,
}

impl StatisticsFile {
    /// Parses a workload file.
    ///
    /// # Errors
    /// Returns an error with the line number if the text is not valid TOML, or if a key is invalid.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|e| ConfigError::new(e.to_string()))
    }
}

/// `[statistics]`: statistics of one disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
#[keys(table = "statistics")]
pub struct StatisticsConfig {
    /// Name that the disk has in the source of the statistics.
    #[key(range = Words("text"))]
    pub disk: String,
    /// Source of the statistics.
    #[serde(default = "StatisticsConfig::default_source")]
    #[key(range = Words("text"), default = String::new())]
    pub source: String,
    /// Size of the pages that the numbers of this table count.
    #[serde(default = "StatisticsConfig::default_page")]
    #[key(
        unit = "size",
        range = PowerOfTwo(SECTOR_BYTES, 1 << 20),
        default = Bytes(4096),
        source = "page size of every common operating system, and of the published statistics"
    )]
    pub page: Bytes,
    /// Number of different pages that were read or written.
    #[key(unit = "pages", range = Whole(1, MOST_PAGES))]
    pub footprint_pages: u64,
    /// Share of the disk's pages for which requests are generated. The number of requests per page
    /// and the times of requests stay the same.
    #[serde(default = "StatisticsConfig::default_scale")]
    #[key(unit = "share", range = Above(0.0, 1.0), default = 1.0)]
    pub scale: f64,
    /// Replay speed as a multiple of the recorded speed.
    #[serde(default = "StatisticsConfig::default_speed")]
    #[key(range = Real(1e-6, 1e9), default = 1.0)]
    pub speed: f64,
    /// Length of a run of neighbouring pages with similar popularity. Runs are scattered over the
    /// drive.
    #[serde(default = "StatisticsConfig::default_extent")]
    #[key(
        unit = "size",
        range = Words("a multiple of statistics.page up to 1GiB"),
        default = Bytes(1 << 20),
        source = "assumption: typical extent of a file on a fragmented file system"
    )]
    pub extent: Bytes,
    /// Number of outstanding requests at any time. If this key is given, the times of the windows
    /// have no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "requests", range = Whole(1, MAX_QUEUE_DEPTH as u64))]
    pub queue_depth: Option<u32>,
    /// Number of pages that are read and written in each window of time.
    #[key(range = Words("a table"))]
    pub windows: WindowsConfig,
    /// Statistics of the reads; absent if there are no reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(range = Words("a table"))]
    pub reads: Option<SideConfig>,
    /// Statistics of the writes; absent if there are no writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(range = Words("a table"))]
    pub writes: Option<SideConfig>,
}

/// `[statistics.windows]`: three lists with one entry per window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
pub struct WindowsConfig {
    /// End of each window, in seconds from the start of the first window.
    #[key(unit = "s", range = Words("ascending, up to 3.2e9, one for each window"))]
    pub ends_s: Vec<f64>,
    /// Number of pages read in each window. A page counts once for each request that reads it.
    #[key(unit = "pages", range = PAGES)]
    pub read_pages: Vec<u64>,
    /// Number of pages written in each window. A page counts once for each request that writes it.
    #[key(unit = "pages", range = PAGES)]
    pub write_pages: Vec<u64>,
}

/// `[statistics.reads]` or `[statistics.writes]`: statistics of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
pub struct SideConfig {
    /// Number of requests of this direction.
    #[key(unit = "requests", range = Words("1 to the number of pages in all windows"))]
    pub requests: u64,
    /// Sum of the bytes of all requests.
    #[key(unit = "bytes", range = Words("1 to 16 MiB a request"))]
    pub bytes: u64,
    /// Number of different pages that requests of this direction touch.
    #[key(unit = "pages", range = Words("1 to the number of pages in all windows"))]
    pub pages: u64,
    /// Percentiles for which the lists `accesses` and `sizes` have values. If absent, the
    /// percentiles are 1 and all multiples of 5 up to 100.
    #[serde(default = "SideConfig::default_percentiles")]
    #[key(unit = "%", range = Above(0.0, 100.0), note = ", ascending", default = usual())]
    pub percentiles: Vec<f64>,
    /// Number of requests that touch the page at each percentile of popularity.
    #[key(unit = "requests", range = Words("ascending, one for each percentile"))]
    pub accesses: Vec<u64>,
    /// Size of the request at each percentile of size, in bytes.
    #[key(unit = "bytes", range = Words("ascending, up to 16 MiB, one for each percentile"))]
    pub sizes: Vec<u64>,
}

impl StatisticsConfig {
    /// Makes a `[statistics]` table with default options and without statistics.
    pub(super) fn blank() -> Self {
        Self {
            disk: String::new(),
            source: Self::default_source(),
            page: Self::default_page(),
            footprint_pages: 0,
            scale: Self::default_scale(),
            speed: Self::default_speed(),
            extent: Self::default_extent(),
            queue_depth: None,
            windows: WindowsConfig { ends_s: vec![], read_pages: vec![], write_pages: vec![] },
            reads: None,
            writes: None,
        }
    }
}

/// Largest number of pages. A page number has 32 bits.
const MOST_PAGES: u64 = u32::MAX as u64;
/// Largest number of page accesses. No drive serves this number in its life, and sums of such
/// numbers stay far below 2^64.
const MOST_ACCESSES: u64 = 1 << 48;
/// Smallest unit of a drive's addresses, in bytes.
pub(super) const SECTOR_BYTES: u64 = 512;
/// Length of the longest window in seconds. This is about a century.
const MOST_SECONDS: f64 = 3.2e9;
/// Description of valid values for the lists `read_pages` and `write_pages`.
const PAGES: Range = Range::Words("one for each window, up to 2^48 in sum");

impl StatisticsConfig {
    /// Checks all keys that can be checked without the drive.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let page = self.page.0;
        self.check_ranges()?;
        require(
            self.extent.0.is_multiple_of(page) && (page..=1 << 30).contains(&self.extent.0),
            || {
                format!(
                    "statistics.extent = {} is invalid; it must be a multiple of the page size {}, \
                     up to 1GiB",
                    self.extent, self.page
                )
            },
        )?;
        self.windows.check()?;
        let sides = [
            ("reads", &self.reads, &self.windows.read_pages),
            ("writes", &self.writes, &self.windows.write_pages),
        ];
        for (name, side, pages) in sides {
            let accesses = pages.iter().sum::<u64>();
            match side {
                Some(side) => side.check(name, accesses)?,
                None => require(accesses == 0, || {
                    format!(
                        "statistics.windows hold {accesses} pages of {name}, but the table \
                         [statistics.{name}] is missing"
                    )
                })?,
            }
        }
        require(self.reads.is_some() || self.writes.is_some(), || {
            "statistics: neither [statistics.reads] nor [statistics.writes] is given; at least one \
             is expected"
                .into()
        })?;
        self.check_footprint()
    }

    fn check_footprint(&self) -> Result<(), ConfigError> {
        let pages = |side: &Option<SideConfig>| side.as_ref().map_or(0, |s| s.pages);
        let (read, written, both) = (pages(&self.reads), pages(&self.writes), self.footprint_pages);
        require((read.max(written)..=read + written).contains(&both), || {
            format!(
                "statistics.footprint_pages = {both} contradicts the {read} pages that are read \
                 and the {written} pages that are written: {} to {} pages are possible",
                read.max(written),
                read + written
            )
        })
    }
}

impl WindowsConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let (ends, reads, writes) =
            (self.ends_s.len(), self.read_pages.len(), self.write_pages.len());
        require(ends > 0 && ends == reads && ends == writes, || {
            format!(
                "statistics.windows: {ends} ends_s, {reads} read_pages and {writes} write_pages; \
                 equally many of each are expected, at least 1"
            )
        })?;
        let mut before = 0.0;
        for (i, end) in self.ends_s.iter().copied().enumerate() {
            let idle = self.read_pages[i] == 0 && self.write_pages[i] == 0;
            // Window ends are converted to ns. A window with requests must last at least 1 us.
            let later = if idle { end >= before } else { end >= before + 1e-6 };
            require(later && end <= MOST_SECONDS, || {
                format!(
                    "statistics.windows.ends_s[{i}] = {end} must be at most {MOST_SECONDS}, and at \
                     least 1 us after {before}, the end of the window before; a window without \
                     requests may end at the same time as the window before"
                )
            })?;
            before = end;
        }
        for (name, pages) in [("read_pages", &self.read_pages), ("write_pages", &self.write_pages)]
        {
            let sum = pages
                .iter()
                .try_fold(0u64, |sum, n| sum.checked_add(*n))
                .filter(|sum| *sum <= MOST_ACCESSES);
            require(sum.is_some(), || {
                format!("statistics.windows.{name}: the pages add up to more than 2^48")
            })?;
        }
        Ok(())
    }
}

impl SideConfig {
    fn check(&self, name: &str, accesses: u64) -> Result<(), ConfigError> {
        let Self { requests, bytes, pages, .. } = *self;
        require(accesses > 0, || {
            format!("statistics.{name} is given, but the windows contain no {name}")
        })?;
        require((1..=accesses).contains(&requests), || {
            format!(
                "statistics.{name}.requests = {requests} is impossible with the {accesses} pages \
                 of all windows: each request touches at least one page"
            )
        })?;
        require((1..=accesses).contains(&pages), || {
            format!(
                "statistics.{name}.pages = {pages} is impossible: the windows hold {accesses} \
                 pages, counted with repetition"
            )
        })?;
        require((requests..=requests.saturating_mul(MAX_REQUEST_BYTES)).contains(&bytes), || {
            format!(
                "statistics.{name}.bytes = {bytes} is impossible for {requests} requests of 1 byte \
                 to 16 MiB"
            )
        })?;
        let count = self.percentiles.len();
        require(count > 0 && count == self.accesses.len() && count == self.sizes.len(), || {
            format!(
                "statistics.{name}: {count} percentiles, {} accesses and {} sizes; equally many of \
                 each are expected, at least 1",
                self.accesses.len(),
                self.sizes.len()
            )
        })?;
        let rising = self.percentiles.windows(2).all(|w| w[0] < w[1]);
        let (first, last) = (self.percentiles[0], self.percentiles[count - 1]);
        require(rising && first > 0.0 && (last - 100.0).abs() < 1e-9, || {
            format!("statistics.{name}.percentiles must rise, begin above 0 and end at 100")
        })?;
        check_rising(name, "accesses", &self.accesses, MOST_ACCESSES)?;
        check_rising(name, "sizes", &self.sizes, MAX_REQUEST_BYTES)
    }
}

fn check_rising(name: &str, key: &str, values: &[u64], most: u64) -> Result<(), ConfigError> {
    for (i, value) in values.iter().copied().enumerate() {
        require((1..=most).contains(&value), || {
            format!("statistics.{name}.{key}[{i}] = {value} is outside 1 to {most}")
        })?;
        let before = if i == 0 { 0 } else { values[i - 1] };
        require(value >= before, || {
            format!(
                "statistics.{name}.{key}[{i}] = {value} is below the value before it, {before}; \
                 values must not fall as percentiles rise"
            )
        })?;
    }
    Ok(())
}
