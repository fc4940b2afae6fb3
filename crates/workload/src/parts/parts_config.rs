//! Keys of a `[workload]` table that contains `[[workload.part]]`, and checks of these keys before
//! a run.

use serde::{Deserialize, Serialize};
use vpass_drive::base::daily::DailyHours;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::ConfigError;
use vpass_drive::config::keys::{self, Keys};
use vpass_drive::phrase;

use super::position::{POSITION, Position};
use crate::synthetic::{
    Arrivals, Distribution, GOLDEN, HOURS, HotSets, IN_WORDS, RATE, SECTOR_BYTES, SizeShare,
    WorkloadConfig, WorkloadFileOf, hours, require,
};
use crate::traces::MAX_REQUEST_BYTES;

/// Workload file that describes a workload of parts.
pub type PartsFile = WorkloadFileOf<PartsConfig>;

/// `[workload]`: parts that make their requests at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
#[keys(table = "workload")]
pub struct PartsConfig {
    /// Number of requests per pass, summed over all parts.
    #[serde(default = "PartsConfig::default_requests")]
    #[key(unit = "requests", range = Whole(1, u64::MAX), default = 10_000_000)]
    pub requests: u64,
    /// Number of hours per day in which requests arrive; 24 if absent. These hours begin at the
    /// start of the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "h", range = HOURS)]
    pub hours_per_day: Option<f64>,
    /// `[[workload.part]]`: parts, each with requests of its own.
    #[key(range = Words("rows, at least one"))]
    pub part: Vec<PartConfig>,
}

/// `[[workload.part]]`: one stream of requests to one range of addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
pub struct PartConfig {
    /// Start of the address range, in percent of the capacity or as a size.
    #[serde(default = "PartConfig::default_begin")]
    #[key(range = Words(POSITION), default = Position::Percent(0.0))]
    pub begin: Position,
    /// End of the address range, in percent of the capacity or as a size.
    #[serde(default = "PartConfig::default_end")]
    #[key(range = Words(POSITION), default = Position::Percent(100.0))]
    pub end: Position,
    /// Number of requests of the part per second.
    #[key(unit = "requests/s", range = RATE)]
    pub rate: f64,
    /// Arrival process of the requests of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Share of reads among the requests; all other requests are writes.
    #[serde(default = "PartConfig::default_read_share")]
    #[key(unit = "share", range = keys::SHARE, default = 1.0)]
    pub read_share: f64,
    /// Size of every request; addresses are multiples of this size. 4 KiB if neither `block_size`
    /// nor `block_sizes` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = Multiple(SECTOR_BYTES, MAX_REQUEST_BYTES))]
    pub block_size: Option<Bytes>,
    /// List of request sizes with their shares; replaces `block_size`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[key(range = Words("rows whose shares add up to 1"), default)]
    pub block_sizes: Vec<SizeShare>,
    /// Distribution of the addresses of requests in the address range.
    #[serde(default = "PartConfig::default_distribution")]
    #[key(range = Words(IN_WORDS), default = Distribution::Uniform)]
    pub distribution: Distribution,
    /// Distribution of the addresses of writes; if absent, the same distribution as for reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(range = Words(IN_WORDS))]
    pub write_distribution: Option<Distribution>,
    /// Whether reads and writes have the same hot addresses; used only if both distributions are
    /// hot-cold.
    #[serde(default = "PartConfig::default_hot_sets")]
    #[key(default = HotSets::Shared)]
    pub hot_sets: HotSets,
    /// Length of a run; a page of the drive if absent. In the distributions zipf and hot-cold, all
    /// pages of a run are equally popular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = Words("a multiple of every block size"))]
    pub run: Option<Bytes>,
}

impl PartConfig {
    /// Returns the table of a workload that consists only of this part. The workload has no end.
    pub(super) fn alone(&self) -> WorkloadConfig {
        WorkloadConfig {
            requests: u64::MAX,
            read_share: self.read_share,
            block_size: self.block_size,
            block_sizes: self.block_sizes.clone(),
            queue_depth: None,
            rate: Some(self.rate),
            arrivals: self.arrivals,
            hours_per_day: None,
            distribution: self.distribution,
            write_distribution: self.write_distribution,
            hot_sets: self.hot_sets,
            footprint: 1.0,
            run: self.run,
            stripes: None,
        }
    }

    /// Returns the first page and the number of pages of the address range on a drive. The first
    /// page is a multiple of `align`.
    ///
    /// # Errors
    /// Returns an error if the range is empty, or if the range ends beyond the end of the drive.
    pub(super) fn pages(
        &self,
        of_drive: u64,
        page_bytes: u64,
        align: u64,
    ) -> Result<(u64, u64), ConfigError> {
        let (begin, end) =
            (self.begin.page(of_drive, page_bytes), self.end.page(of_drive, page_bytes));
        let (Some(begin), Some(end)) = (begin, end) else {
            let capacity = Bytes(of_drive * page_bytes);
            return Err(ConfigError::new(format!(
                "the range from {} to {} ends beyond the drive of {capacity}; an end on the drive \
                 is expected",
                self.begin, self.end
            )));
        };
        require(begin < end, || {
            format!(
                "the range from {} to {} holds no page; a `begin` below `end` is expected",
                self.begin, self.end
            )
        })?;
        let first = begin / align * align;
        Ok((first, end - first))
    }
}

impl PartsConfig {
    /// Returns the hours of each day in which requests arrive.
    pub fn hours(&self) -> DailyHours {
        hours(self.hours_per_day)
    }

    /// Returns the number of requests of all parts per second, in the hours with requests.
    pub fn rate(&self) -> f64 {
        self.part.iter().map(|part| part.rate).sum()
    }

    /// Returns the number of read requests of all parts per second, in the hours with requests.
    pub fn read_rate(&self) -> f64 {
        self.part.iter().map(|part| part.rate * part.read_share).sum()
    }

    /// Checks all keys that can be checked without the drive.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        require(!self.part.is_empty(), || {
            "workload.part is empty; at least one [[workload.part]] is expected".into()
        })?;
        (1..).zip(&self.part).try_for_each(|(n, part)| in_part(n, part.alone().check()))
    }
}

/// Adds the number of the part to an error message.
pub(super) fn in_part<T>(n: usize, made: Result<T, ConfigError>) -> Result<T, ConfigError> {
    made.map_err(|e| ConfigError::new(phrase!["[[workload.part]] {n}: ", e]))
}

/// Returns the random seed of a part. The first part has the seed of the run. As a result, a
/// workload with a single part makes the same requests as a workload without parts.
pub(super) fn seed_of(part: usize, seed: u64) -> u64 {
    seed.wrapping_add((part as u64).wrapping_mul(GOLDEN))
}
