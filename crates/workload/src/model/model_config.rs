//! Keys of a `[workload]` table that contains `[workload.model]`, and checks of these keys before a
//! run.

use serde::{Deserialize, Serialize};
use vpass_drive::base::daily::DailyHours;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::ConfigError;
use vpass_drive::config::keys::{self, Keys, Range};

use crate::synthetic::{Distribution, HOURS, WorkloadFileOf, hours, require};
use crate::traces::MAX_REQUEST_BYTES;

/// Workload file that describes a language model.
pub type ModelFile = WorkloadFileOf<ModelWorkload>;

/// `[workload]`: a language model, and the hours of a day in which the model is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
#[keys(table = "workload")]
pub struct ModelWorkload {
    /// Number of hours per day in which the host makes requests; 24 if absent. These hours begin at
    /// the start of the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "h", range = HOURS)]
    pub hours_per_day: Option<f64>,
    /// Language model that is read from the drive.
    #[key(range = Words("a table"))]
    pub model: ModelConfig,
}

/// `[workload.model]`: a language model that is read from the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
#[keys(table = "workload.model")]
pub struct ModelConfig {
    /// Size of the model, which is the dense part and all experts.
    #[key(unit = "size", range = Size(MIB, 1 << 50))]
    pub size: Bytes,
    /// Size of the dense part, which every token reads. If the model has no experts, the default is
    /// the size of the whole model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = Size(0, 1 << 50))]
    pub dense: Option<Bytes>,
    /// Size of an expert; absent if the model has no experts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = Size(4096, 1 << 40))]
    pub expert: Option<Bytes>,
    /// Mean number of experts that a token uses, summed over all layers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "experts", range = Real(1e-3, 1e6))]
    pub active: Option<f64>,
    /// Popularity of the experts: `uniform`, or `zipf:` with an exponent, such as `zipf:0.8`.
    #[serde(default = "ModelConfig::default_popularity")]
    #[key(range = Words("\"uniform\" or \"zipf:0.8\""), default = Distribution::Uniform)]
    pub popularity: Distribution,
    /// File with the number of uses of each expert, one number per line; replaces `popularity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(range = Words("a path"))]
    pub counts: Option<String>,
    /// Order in which the experts lie on the drive.
    #[serde(default = "ModelConfig::default_placed")]
    #[key(default = Placement::Shuffled)]
    pub placed: Placement,
    /// Size of the host's cache. The cache first holds the dense part; the rest of the cache holds
    /// the experts that were used last.
    #[serde(default = "ModelConfig::default_cache")]
    #[key(unit = "size", range = Size(0, 1 << 50), default = Bytes(0))]
    pub cache: Bytes,
    /// Share of the reads of the model that the host serves without the drive. This share is in
    /// addition to the reads that `cache` serves.
    #[serde(default = "ModelConfig::default_cached")]
    #[key(unit = "share", range = keys::SHARE, default = 0.0)]
    pub cached: f64,
    /// Number of tokens per second during the hours of use.
    #[key(unit = "tokens/s", range = TOKENS)]
    pub tokens_per_second: f64,
    /// Number of tokens in a pass of the workload.
    #[serde(default = "ModelConfig::default_tokens")]
    #[key(unit = "tokens", range = Whole(1, 1 << 40), default = 100)]
    pub tokens: u64,
    /// Size of the largest request. Requests begin and end at multiples of this size, or where an
    /// expert begins or ends.
    #[serde(default = "ModelConfig::default_request_size")]
    #[key(
        unit = "size",
        range = PowerOfTwo(4096, MAX_REQUEST_BYTES),
        default = Bytes(128 << 10),
        source = "largest request that the block layer of Linux sends to most drives \
                  (max_sectors_kb 128 to 1280)"
    )]
    pub request_size: Bytes,
    /// Number of days between two updates of the model. Each update rewrites the share
    /// `update_share` of the model. Without this key, there are no updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[key(unit = "days", range = Real(1e-3, 36_500.0))]
    pub update_days: Option<f64>,
    /// Share of the model that an update rewrites. Each update continues where the previous update
    /// ended.
    #[serde(default = "ModelConfig::default_update_share")]
    #[key(unit = "share", range = Above(0.0, 1.0), default = 1.0)]
    pub update_share: f64,
    /// Rate at which an update writes, in bytes per second.
    #[serde(default = "ModelConfig::default_update_rate")]
    #[key(
        unit = "size",
        range = Size(MIB, 1 << 40),
        default = Bytes(96 << 20),
        source = "a download at 1 Gbit/s minus overhead (assumption)"
    )]
    pub update_rate: Bytes,
    /// Number of bytes of the key-value cache that the host writes to the drive for each token.
    #[serde(default = "ModelConfig::default_kv_written")]
    #[key(unit = "size", range = Size(0, 1 << 40), default = Bytes(0))]
    pub kv_written: Bytes,
    /// Number of bytes of the key-value cache that the host reads from the drive for each token.
    #[serde(default = "ModelConfig::default_kv_read")]
    #[key(unit = "size", range = Size(0, 1 << 40), default = Bytes(0))]
    pub kv_read: Bytes,
    /// Size of the sliding window of the key-value cache on the drive. The host writes the window
    /// from start to end, again and again. Reads are spread evenly over the window.
    #[serde(default = "ModelConfig::default_kv_window")]
    #[key(unit = "size", range = Size(0, 1 << 50), default = Bytes(0))]
    pub kv_window: Bytes,
}

/// Order in which the experts lie on the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// A random order, drawn from the seed.
    #[default]
    Shuffled,
    /// Experts lie in the order of their popularity, with the most popular expert first.
    Sorted,
}

const MIB: u64 = 1 << 20;
/// Allowed range of the number of tokens per second.
const TOKENS: Range = Range::Rate(1e-9, 1e6);
/// Unit to which the sizes of experts and of the dense part are rounded up, in bytes. It is the
/// block size of most file systems.
pub(super) const ALIGN: u64 = 4096;
/// Largest number of characters of a size in binary units that is easy to read, such as 1.5GiB.
const SHORT: usize = 7;
/// Number of decimals from which on a size is written as an exact number.
const MOST_DECIMALS: usize = 6;
/// Largest number of experts in a model.
const MOST_EXPERTS: u64 = 10_000_000;

impl ModelWorkload {
    /// Returns the hours of each day in which the host works.
    pub fn hours(&self) -> DailyHours {
        hours(self.hours_per_day)
    }

    /// Checks all keys that can be checked without the drive.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        self.model.check()
    }
}

impl ModelConfig {
    /// Returns the size of the dense part, rounded up to a multiple of [`ALIGN`].
    pub(super) fn dense_bytes(&self) -> u64 {
        let dense = match (self.dense, self.expert) {
            (Some(dense), _) => dense.0,
            (None, Some(_)) => 0,
            (None, None) => self.size.0,
        };
        dense.next_multiple_of(ALIGN)
    }

    /// Returns the size of an expert, rounded up to a multiple of [`ALIGN`]; 0 without experts.
    pub(super) fn expert_bytes(&self) -> u64 {
        self.expert.map_or(0, |expert| expert.0.next_multiple_of(ALIGN))
    }

    /// Returns the number of experts of the model.
    pub(super) fn experts(&self) -> u64 {
        self.size.0.saturating_sub(self.dense_bytes()).checked_div(self.expert_bytes()).unwrap_or(0)
    }

    /// Returns the size of the key-value window, rounded down to a multiple of the request size.
    pub(super) fn window_bytes(&self) -> u64 {
        self.kv_window.0 / self.request_size.0 * self.request_size.0
    }

    /// Returns the first byte of the key-value window on the drive.
    pub(super) fn window_begin(&self) -> u64 {
        self.model_bytes().next_multiple_of(self.request_size.0)
    }

    /// Returns the size of the dense part and all experts, in bytes.
    pub(super) fn model_bytes(&self) -> u64 {
        self.dense_bytes() + self.experts() * self.expert_bytes()
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        require(self.expert.is_some() == self.active.is_some(), || {
            "workload.model.expert and workload.model.active belong together: give the size of an \
             expert and the number of experts that a token uses, or give neither key"
                .into()
        })?;
        require(self.dense_bytes() <= self.size.0.next_multiple_of(ALIGN), || {
            format!(
                "workload.model.dense = {} is larger than the model; the largest possible value is \
                 workload.model.size = {}",
                Bytes(self.dense_bytes()),
                self.size
            )
        })?;
        self.check_experts()?;
        self.check_window()
    }

    fn check_experts(&self) -> Result<(), ConfigError> {
        require(
            matches!(self.popularity, Distribution::Uniform | Distribution::Zipf { .. }),
            || {
                format!(
                    "workload.model.popularity = \"{}\": \"uniform\" or \"zipf:0.8\" is expected",
                    self.popularity
                )
            },
        )?;
        self.popularity
            .check()
            .map_err(|what| ConfigError::new(format!("workload.model.popularity = {what}")))?;
        let Some(active) = self.active else { return Ok(()) };
        let experts = self.experts();
        self.check_expert_size(experts)?;
        require(experts <= MOST_EXPERTS, || {
            format!(
                "workload.model.expert = {}: the model has {experts} experts of this size; at most \
                 {MOST_EXPERTS} are possible",
                readable(self.expert_bytes(), 0)
            )
        })?;
        require(active <= experts as f64, || {
            format!(
                "workload.model.active = {active}: the model has {experts} experts, of {} each; \
                 active must be at most {experts}",
                readable(self.expert_bytes(), 0)
            )
        })
    }

    /// Checks that the model has room for at least one expert.
    fn check_expert_size(&self, experts: u64) -> Result<(), ConfigError> {
        let room = self.size.0.saturating_sub(self.dense_bytes()) / ALIGN * ALIGN;
        require(experts > 0 || room > 0, || {
            format!(
                "workload.model.dense leaves no room for experts; it must be smaller than \
                 workload.model.size = {}",
                readable(self.size.0, 0)
            )
        })?;
        require(experts > 0, || {
            let (expert, room) = apart(self.expert_bytes(), room);
            format!(
                "an expert of {expert} is too large, because the model has only {room} for \
                 experts (workload.model.size less workload.model.dense); workload.model.expert \
                 must be at most {room}"
            )
        })
    }

    fn check_window(&self) -> Result<(), ConfigError> {
        let is_used = self.kv_written.0 + self.kv_read.0 > 0;
        require(!is_used || self.window_bytes() > 0, || {
            format!(
                "workload.model.kv_window = {}: with kv_written or kv_read, the window must hold \
                 at least one request of {}",
                self.kv_window, self.request_size
            )
        })
    }

    /// Checks that the model and the key-value window fit on a drive of `capacity` bytes.
    pub(super) fn check_drive(&self, capacity: u64) -> Result<(), ConfigError> {
        let end = self.window_begin() + self.window_bytes();
        require(end <= capacity, || {
            let (end, capacity) = apart(end, capacity);
            format!(
                "workload.model: model and key-value window need {end}; the drive has {capacity}. \
                 Reduce workload.model.size or workload.model.kv_window."
            )
        })
    }
}

/// Formats two different sizes with as few decimals as tell them apart.
fn apart(one: u64, other: u64) -> (String, String) {
    let texts = |decimals| (readable(one, decimals), readable(other, decimals));
    (0..MOST_DECIMALS)
        .map(texts)
        .find(|(one, other)| one != other)
        .unwrap_or_else(|| (Bytes(one).to_string(), Bytes(other).to_string()))
}

/// Formats a size. A size that is short in binary units has binary units. Other sizes have decimal
/// units, and are rounded to `decimals` decimals.
fn readable(bytes: u64, decimals: usize) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let exact = Bytes(bytes).to_string();
    if exact.len() <= SHORT {
        return exact;
    }
    let value = bytes as f64;
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| value >= *unit).unwrap_or((1.0, "B"));
    format!("{:.decimals$}{name}", value / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_and_differ() {
        let two_tb = 2_000_000_000_000;
        assert_eq!(apart(5 * two_tb, two_tb), ("10TB".into(), "2TB".into()));
        assert_eq!(apart(2_014_000_000_000, two_tb), ("2.01TB".into(), "2.00TB".into()));
        assert_eq!(apart(1 << 31, 1 << 30), ("2GiB".into(), "1GiB".into()));
        assert_eq!(readable(19_001_344, 0), "19MB");
        let next = apart(two_tb + 1, two_tb);
        assert_ne!(next.0, next.1);
    }
}
