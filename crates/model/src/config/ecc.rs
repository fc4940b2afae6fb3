//! `[ecc]`: the code, and the retries: what each corrects and how long it takes.

use serde::{Deserialize, Serialize};

use super::error::{ConfigError, require};
use super::keys::Keys;
use crate::base::units::Bytes;

/// `[ecc]`. Level 0 is the first read of a page, level k its k-th retry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "ecc")]
pub struct EccConfig {
    /// Data bytes of a codeword; a page holds a whole number of codewords.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = PowerOfTwo(64, 1 << 20))]
    pub codeword: Option<Bytes>,
    /// Share of a codeword that is data.
    #[key(
        unit = "share",
        range = Real(0.5, 1.0),
        default = 8.0 / 9.0,
        source = "assumption: the rate of published LDPC codes for SSDs (32,768 data bits in \
                  36,864)"
    )]
    pub code_rate: f64,
    /// Number of wrong bits of a codeword that each level corrects, rising from level to level.
    /// Used instead of `cap`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(
        unit = "bits",
        range = Words("rising numbers, each less than half of the bits of a codeword; needs \
            ecc.codeword"),
        default
    )]
    pub corrects: Vec<u32>,
    /// RBER up to which each level decodes, rising from level to level. If empty, these rates
    /// follow from `corrects` and the targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(
        unit = "RBER",
        range = Real(1e-9, 0.4),
        note = ", rising; one value for the first read, then one for each retry",
        default
    )]
    pub cap: Vec<f64>,
    /// Share of codewords that a level other than the last may fail to decode at its cap.
    #[key(
        unit = "share",
        range = Real(TARGET_MIN, 0.5),
        default = 1e-3,
        source = "assumption: if one codeword in a thousand needs a retry, the retries cost no \
            noticeable time"
    )]
    pub target: f64,
    /// Share of codewords that the last level may fail to decode at its cap; beyond it, data is
    /// lost.
    #[key(
        unit = "share",
        range = Real(TARGET_MIN, 0.5),
        default = 1e-16,
        source = "JESD218: an enterprise drive loses at most one bit in 10^16"
    )]
    pub last_target: f64,
    /// Sensing time of each retry. If empty, a retry takes the same time as the first read of the
    /// page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(unit = "us", range = Real(0.0, 1e5), note = ", one for each retry", default)]
    pub retry_sense_us: Vec<f64>,
    /// Transfer time of each retry. If empty, a retry takes the same time as the first read of the
    /// page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(unit = "us", range = Real(0.0, 1e5), note = ", one for each retry", default)]
    pub retry_transfer_us: Vec<f64>,
    /// Decode time of each retry. The decode time of the first read is `timing.ecc_us`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(unit = "us", range = Real(0.0, 1e5), note = ", one for each retry", default)]
    pub retry_decode_us: Vec<f64>,
    /// Whether a read begins with the level that last worked for its block since the block's erase
    /// (`LaLDPC`). If not, a read begins with level 0.
    #[key(default = false)]
    pub start_from_last: bool,
    /// Number of retries with which a read makes its block slow, if `start_from_last` is true.
    /// Later reads of a slow block begin with the level of this read. Reads with fewer retries
    /// change nothing. 1: every retry counts.
    #[serde(skip_serializing_if = "is_one")]
    #[key(range = Whole(1, LEVELS_MAX as u64 - 1), default = 1)]
    pub slow_retries: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(retries: &u32) -> bool {
    *retries == 1
}

/// Largest number of levels: level 0 and 31 retries, which is more than any known drive makes.
const LEVELS_MAX: usize = 32;
/// Smallest target, far below any measured figure.
const TARGET_MIN: f64 = 1e-30;

impl EccConfig {
    /// Returns the number of levels, including level 0; 0 without levels.
    pub fn levels(&self) -> usize {
        self.cap.len().max(self.corrects.len())
    }

    /// Returns the controller's memory for the levels that worked last: a byte per block if reads
    /// begin with them.
    pub fn level_bytes(&self, blocks: u32) -> Bytes {
        Bytes(if self.start_from_last && self.levels() > 1 { blocks.into() } else { 0 })
    }

    /// Returns the bits of a codeword: data and parity.
    pub fn codeword_bits(&self) -> Option<u32> {
        self.codeword.map(|data| (data.0 as f64 * 8.0 / self.code_rate).round() as u32)
    }

    pub(super) fn check(&self, page_size: Bytes) -> Result<(), ConfigError> {
        self.check_ranges()?;
        if let Some(size) = self.codeword {
            require(size <= page_size, || {
                format!(
                    "a page of {page_size} (geometry.page_size) holds no codeword of {size} \
                     (ecc.codeword)"
                )
            })?;
        }
        self.check_levels()?;
        self.check_slow()?;
        self.check_latencies()
    }

    fn check_slow(&self) -> Result<(), ConfigError> {
        let (from, retries) = (self.slow_retries, self.levels().saturating_sub(1));
        require(from == 1 || self.start_from_last, || {
            format!(
                "ecc.slow_retries = {from} has no effect, because every read begins with level 0; \
                 set ecc.start_from_last = true, or ecc.slow_retries = 1"
            )
        })?;
        require(from == 1 || from as usize <= retries, || {
            format!(
                "ecc.slow_retries = {from}: a read takes at most {retries} retries (one for each \
                 level of ecc.cap or ecc.corrects, except the first level), so ecc.slow_retries \
                 must be 1 to {retries}"
            )
        })
    }

    fn check_levels(&self) -> Result<(), ConfigError> {
        require(self.cap.is_empty() || self.corrects.is_empty(), || {
            "ecc.cap and ecc.corrects are both given; each follows from the other, so give only \
             one of the two"
                .into()
        })?;
        let levels = self.levels();
        require(levels <= LEVELS_MAX, || {
            format!("[ecc] has {levels} levels; at most {LEVELS_MAX} are supported")
        })?;
        require(self.cap.windows(2).all(|w| w[0] < w[1]), || {
            format!(
                "ecc.cap = {:?} does not rise: each level must decode a higher error rate than the \
                 level before it",
                self.cap
            )
        })?;
        require(self.corrects.windows(2).all(|w| w[0] < w[1]), || {
            format!(
                "ecc.corrects = {:?} does not rise: each level must correct more bits than the \
                 level before it",
                self.corrects
            )
        })?;
        let Some(most) = self.corrects.last() else { return Ok(()) };
        let bits = self.codeword_bits();
        let bits = bits.ok_or_else(|| {
            ConfigError::new(
                "ecc.corrects counts wrong bits of a codeword, so ecc.codeword must give the size \
                 of a codeword",
            )
        })?;
        require(2 * most < bits, || {
            format!(
                "ecc.corrects = {:?}: no code corrects half of the {bits} bits of a codeword",
                self.corrects
            )
        })
    }

    fn check_latencies(&self) -> Result<(), ConfigError> {
        let retries = self.levels().saturating_sub(1);
        let lists = [
            ("ecc.retry_sense_us", &self.retry_sense_us, true),
            ("ecc.retry_transfer_us", &self.retry_transfer_us, true),
            ("ecc.retry_decode_us", &self.retry_decode_us, false),
        ];
        for (key, times, may_be_empty) in lists {
            require(times.len() == retries || may_be_empty && times.is_empty(), || {
                format!(
                    "{key} has {} numbers for {retries} retries (one retry for each level of \
                     ecc.cap or ecc.corrects, except the first level)",
                    times.len()
                )
            })?;
        }
        Ok(())
    }
}
