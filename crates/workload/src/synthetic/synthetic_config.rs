//! Keys of the `[workload]` table, their defaults, and their checks before a run.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use vpass_drive::base::daily::DailyHours;
use vpass_drive::base::request::Arrival;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::ConfigError;
use vpass_drive::config::keys::{self, Keys, Range};

use super::distribution::{Distribution, IN_WORDS};
use crate::stripes::StripesConfig;
use crate::traces::MAX_REQUEST_BYTES;

/// Workload file in TOML: a one-line description and a `[workload]` table, which has the keys of
/// one kind of workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadFileOf<T> {
    /// One line that describes the workload and says where the numbers come from.
    #[serde(default)]
    pub description: String,
    /// `[workload]`: the requests that a generator makes.
    pub workload: T,
    /// `[[hints.range]]`: latencies that the host accepts for reads of its data. `vpass_lab::hints`
    /// parses this table; here the table is kept unparsed.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub hints: toml::Table,
}

/// Workload file whose requests come from address distributions.
pub type WorkloadFile = WorkloadFileOf<WorkloadConfig>;

impl<T: DeserializeOwned> WorkloadFileOf<T> {
    /// Parses a workload file.
    ///
    /// # Errors
    /// Returns an error for invalid TOML or for an invalid key. The error has the line number.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|e| ConfigError::new(e.to_string()))
    }
}

/// `[workload]`: requests that a generator makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "workload")]
pub struct WorkloadConfig {
    /// Number of requests per pass.
    #[key(unit = "requests", range = Whole(1, u64::MAX), default = 10_000_000)]
    pub requests: u64,
    /// Share of the requests that are reads; the others are writes.
    #[key(unit = "share", range = keys::SHARE, default = 1.0)]
    pub read_share: f64,
    /// Size of every request; addresses are multiples of this size. 4 KiB if neither `block_size`
    /// nor `block_sizes` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = Multiple(SECTOR_BYTES, MAX_REQUEST_BYTES))]
    pub block_size: Option<Bytes>,
    /// List of request sizes with their shares; replaces `block_size`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(range = Words("rows whose shares add up to 1"), default)]
    pub block_sizes: Vec<SizeShare>,
    /// Number of outstanding requests at any time; 64 if neither `queue_depth` nor `rate` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "requests", range = Whole(1, MAX_QUEUE_DEPTH as u64))]
    pub queue_depth: Option<u32>,
    /// Number of requests per second; replaces `queue_depth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "requests/s", range = RATE)]
    pub rate: Option<f64>,
    /// Arrival process of the requests, if `rate` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Number of hours per day in which requests arrive at the `rate`; 24 if absent. These hours
    /// begin at the start of the day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "h", range = HOURS)]
    pub hours_per_day: Option<f64>,
    /// Distribution of the addresses of requests.
    #[key(range = Words(IN_WORDS), default = Distribution::Uniform)]
    pub distribution: Distribution,
    /// Distribution of the addresses of writes; if absent, the same distribution as for reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(range = Words(IN_WORDS))]
    pub write_distribution: Option<Distribution>,
    /// Whether reads and writes have the same hot addresses; used only if both distributions are
    /// hot-cold.
    #[serde(skip_serializing_if = "HotSets::is_default")]
    #[key(default = HotSets::Shared)]
    pub hot_sets: HotSets,
    /// Share of the drive's capacity that requests use; the used part begins at the start of the
    /// drive.
    #[key(unit = "share", range = Above(0.0, 1.0), default = 1.0)]
    pub footprint: f64,
    /// Length of a run; a page of the drive if absent. In the distributions zipf and hot-cold, all
    /// pages of a run are equally popular.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = Words("a multiple of every block size"))]
    pub run: Option<Bytes>,
    /// Stripes of pages in which requests begin; some writes return to a recently written stripe.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(range = Words("a table"))]
    pub stripes: Option<StripesConfig>,
}

/// One size of requests, with its share of all requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// Size of a request.
    #[key(unit = "size", range = Multiple(SECTOR_BYTES, MAX_REQUEST_BYTES))]
    pub size: Bytes,
    /// Share of the requests that have this size. All shares add up to 1.
    #[key(unit = "share", range = keys::SHARE)]
    pub share: f64,
}

/// Arrival process of requests that arrive at a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Requests arrive independently of each other, as requests of many users do.
    #[default]
    Poisson,
    /// Arrivals are evenly spaced.
    Constant,
}

/// Whether reads and writes have the same hot part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum HotSets {
    /// Reads and writes have the same hot part.
    #[default]
    Shared,
    /// No address is in both hot parts.
    Disjoint,
}

impl HotSets {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Default size of requests, which is the page size of every common operating system.
const DEFAULT_BLOCK: Bytes = Bytes(4096);
/// Default queue depth (assumption). Most data sheets state the rate of random reads at a queue
/// depth between 32 and 128.
const DEFAULT_DEPTH: u32 = 64;
/// Largest queue depth, which is the number of commands in an `NVMe` queue.
pub const MAX_QUEUE_DEPTH: u32 = 65_536;
/// Smallest unit of a drive's addresses, in bytes.
pub(crate) const SECTOR_BYTES: u64 = 512;
/// Range of workload rates, in requests per second.
pub(crate) const RATE: Range = Range::Rate(1e-6, 1e12);
/// Range of the key `hours_per_day`, in hours.
pub(crate) const HOURS: Range = Range::Real(1e-3, 24.0);
/// Allowed difference between a sum of shares and 1. Shares are written as decimals, so the sum may
/// be inexact.
const SHARE_SLACK: f64 = 1e-6;

impl WorkloadConfig {
    /// Returns how requests arrive: at a rate, or as soon as earlier requests are complete.
    pub fn arrival(&self) -> Arrival {
        arrival(self.queue_depth, self.rate)
    }

    /// Returns the hours of each day in which requests arrive.
    pub fn hours(&self) -> DailyHours {
        hours(self.hours_per_day)
    }

    /// Returns the request sizes with their shares, which add up to 1.
    pub(super) fn sizes(&self) -> Vec<SizeShare> {
        if self.block_sizes.is_empty() {
            vec![SizeShare { size: self.block_size.unwrap_or(DEFAULT_BLOCK), share: 1.0 }]
        } else {
            self.block_sizes.clone()
        }
    }

    /// Checks all keys that can be checked without the drive.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        self.distribution
            .check()
            .map_err(|what| ConfigError::new(format!("workload.distribution = {what}")))?;
        let write = self.write_distribution.as_ref().map_or(Ok(()), Distribution::check);
        write.map_err(|what| ConfigError::new(format!("workload.write_distribution = {what}")))?;
        check_arrival(self.queue_depth, self.rate, self.arrivals)?;
        check_hours(self.hours_per_day, self.rate)?;
        self.check_hot_sets()?;
        self.check_sizes()
    }

    fn check_hot_sets(&self) -> Result<(), ConfigError> {
        if self.hot_sets == HotSets::Shared {
            return Ok(());
        }
        let (
            Distribution::HotCold { addresses: read, .. },
            Some(Distribution::HotCold { addresses: written, .. }),
        ) = (self.distribution, self.write_distribution)
        else {
            return Err(ConfigError::new(
                "workload.hot_sets = \"disjoint\" needs two hot parts: distribution and \
                 write_distribution must both be hot-cold, as in \"hot-cold:0.1/0.9\"",
            ));
        };
        require(read + written <= 1.0, || {
            format!(
                "workload.hot_sets = \"disjoint\": the hot parts, {read} and {written} of the \
                 addresses, overlap; the sum of the two shares must be at most 1"
            )
        })
    }

    fn check_sizes(&self) -> Result<(), ConfigError> {
        require(self.block_size.is_none() || self.block_sizes.is_empty(), || {
            "workload.block_size and workload.block_sizes exclude each other: give one size or a \
             list of sizes with shares"
                .into()
        })?;
        let sum: f64 = self.sizes().iter().map(|s| s.share).sum();
        require((sum - 1.0).abs() <= SHARE_SLACK, || {
            format!("workload.block_sizes: the shares add up to {sum}; they must add up to 1")
        })
    }
}

/// Returns how requests arrive, for the given values of the keys `queue_depth` and `rate`.
pub(crate) fn arrival(queue_depth: Option<u32>, rate: Option<f64>) -> Arrival {
    match rate {
        Some(_) => Arrival::Open,
        None => Arrival::Closed { depth: queue_depth.unwrap_or(DEFAULT_DEPTH) },
    }
}

/// Returns the hours of each day in which the host works.
pub(crate) fn hours(hours_per_day: Option<f64>) -> DailyHours {
    hours_per_day.map_or(DailyHours::ALWAYS, DailyHours::new)
}

/// Checks that a workload with `hours_per_day` also has a rate.
pub(crate) fn check_hours(
    hours_per_day: Option<f64>,
    rate: Option<f64>,
) -> Result<(), ConfigError> {
    require(hours_per_day.is_none() || rate.is_some(), || {
        "workload.hours_per_day needs workload.rate: with a queue depth, a request arrives when \
         another completes, at any hour"
            .into()
    })
}

/// Checks the keys that decide when requests arrive.
pub(crate) fn check_arrival(
    queue_depth: Option<u32>,
    rate: Option<f64>,
    arrivals: Option<Arrivals>,
) -> Result<(), ConfigError> {
    require(queue_depth.is_none() || rate.is_none(), || {
        "workload.queue_depth and workload.rate exclude each other: give the depth of a closed \
         loop or the rate of an open loop"
            .into()
    })?;
    require(arrivals.is_none() || rate.is_some(), || {
        "workload.arrivals needs workload.rate: with a queue depth, a request arrives when another \
         completes"
            .into()
    })
}

/// Returns an error that consists of the given sentence if `ok` is false.
pub(crate) fn require(ok: bool, sentence: impl FnOnce() -> String) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError::new(sentence())) }
}
