//! `[density]`: blocks that hold fewer pages than possible, so that they endure more reads.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::keys::{self, KeyValue, Keys, Type};
use crate::base::dose::Quarters;

/// `[density]`: for techniques that keep read-hot pages in separate blocks. All shares are shares
/// of the drive's blocks. With parity, whose stripes have one page per die, they are shares of each
/// die's blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "density")]
pub struct DensityConfig {
    /// Limits of a block with guard levels, as a multiple of the limits of the same block without
    /// guard levels.
    #[key(
        range = Real(1.0, 100.0),
        default = 10.0,
        source = "ipr-2018 III-C, Table I: limits of 100,000 (\"predicted\" from measurements by \
            others) and 10,000 reads",
        random = [1.0, 1.5, 10.0]
    )]
    pub limit_factor: f64,
    /// Wear of a P/E cycle with reprogramming, as a multiple of a cycle without, if at least one
    /// cycle in five has reprogramming. If reprogramming is rarer, each cycle with it wears more.
    #[key(
        range = Real(1.0, 10.0),
        default = 1.2,
        source = "ipr-2018 III-D, Fig. 7",
        random = [1.0, 1.2, 5.0]
    )]
    pub wear: f64,
    /// Disturbance by reprogramming a wordline in place, as a number of reads. The neighbours of
    /// the wordline get alpha times this number.
    #[key(
        unit = "reads",
        range = Real(0.0, 1000.0),
        default = 0.0,
        source = "ipr-2018 counts none",
        random = [0.0, 0.3, 7.0]
    )]
    pub reprogram_dose: f64,
    /// Whether wear by reprogramming also changes limits and alpha. If not, this wear counts only
    /// for wear levelling and the rated life.
    #[key(
        default = true,
        source = "assumption: wear by reprogramming lowers limits as much as equal wear by P/E \
            cycles; ipr-2018 has the same limit for all P/E counts",
        random = 0.8
    )]
    pub wear_counts_for_limits: bool,
    /// Share of the blocks in the pool, at the highest addresses of each plane. States may be
    /// merged in place only in the pool.
    #[key(
        unit = "share",
        range = keys::SHARE,
        default = 0.2,
        source = "ipr-2018 III-D, Table I",
        random = [0.0, 0.2, 1.0]
    )]
    pub pool: f64,
    /// Whether the pool is kept for read-hot blocks. Other data then goes there only if no other
    /// block is free, and is moved out if the pool has no free block. Otherwise all data may use
    /// its free blocks, and full blocks stay in it.
    #[key(
        default = true,
        source = "inference: new read-hot blocks come from the pool \"through garbage \
            collection\", and garbage collection skips only three kinds of block (ipr-2018 III-D). \
            Assumption: data that is not read-hot stays out of the pool; papers/ipr-2018/README.md \
            compares both values of this key",
        random = 0.6
    )]
    pub keep_pool: bool,
    /// Largest share of the blocks that may have guard levels.
    #[key(
        unit = "share",
        range = keys::SHARE,
        default = 0.15,
        source = "ipr-2018 III-D, Table I",
        random = [0.0, 0.15, 1.0]
    )]
    pub low_density: f64,
    /// Largest share of the blocks whose pages are counted one by one.
    #[key(
        unit = "share",
        range = keys::SHARE,
        default = 0.1,
        source = "ipr-2018 III-B",
        random = [0.0, 0.1, 1.0]
    )]
    pub monitor: f64,
    /// Average used to find read-hot blocks: a block's time between two refreshes is compared with
    /// this average. "blocks", "refreshes" or "recent:N".
    #[key(
        range = Words("blocks, refreshes, recent:N (N 1 to 1000000)"),
        default = IntervalAverage::Blocks,
        source = "assumption: ipr-2018 does not say how the average is computed; \
            papers/ipr-2018/README.md compares three averages",
        random = [IntervalAverage::Blocks, IntervalAverage::Refreshes, IntervalAverage::Recent(8)]
    )]
    pub interval_average: IntervalAverage,
    /// Largest share of the blocks that may be shadow blocks, which hold only a few read-hot pages.
    #[key(
        unit = "share",
        range = keys::SHARE,
        default = 0.15,
        source = "ipr-2018 Table I",
        random = [0.0, 0.15, 1.0]
    )]
    pub shadow: f64,
    /// Number of pages that a shadow block holds.
    #[key(
        unit = "pages",
        range = Whole(1, 65_535),
        default = 30,
        source = "ipr-2018 II-B: \"30 read-hot pages\"",
        random = [1, 5, 30]
    )]
    pub shadow_pages: u32,
    /// Largest share of the spare pages that blocks with guard levels and shadow blocks together
    /// leave unused.
    #[key(
        unit = "share",
        range = Real(0.0, 0.5),
        default = 0.5,
        source = "assumption: half of the spare pages remains for open blocks and the GC reserve",
        random = [0.0, 0.1, 0.5]
    )]
    pub spare_share: f64,
}

/// Average of the read-refresh interval (`B_avg` of ipr-2018 III-B).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalAverage {
    /// Over all blocks: elapsed time, times blocks, over refreshes. A block that is never refreshed
    /// has a long interval.
    Blocks,
    /// Over all refreshes.
    Refreshes,
    /// Over about this number of refreshes; the latest weigh most.
    Recent(u32),
}

impl KeyValue for IntervalAverage {
    const TYPE: Type = Type::Text;
}

impl Serialize for IntervalAverage {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Blocks => s.serialize_str("blocks"),
            Self::Refreshes => s.serialize_str("refreshes"),
            Self::Recent(n) => s.collect_str(&format_args!("recent:{n}")),
        }
    }
}

impl<'de> Deserialize<'de> for IntervalAverage {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let recent = || {
            text.strip_prefix("recent:")?
                .parse()
                .ok()
                .filter(|n| (1..=1_000_000).contains(n))
                .map(Self::Recent)
        };
        match text.as_str() {
            "blocks" => Ok(Self::Blocks),
            "refreshes" => Ok(Self::Refreshes),
            _ => recent().ok_or_else(|| {
                serde::de::Error::custom(format!(
                    "`{text}` is not an average; expected \"blocks\", \"refreshes\" or \"recent:N\" \
                     (N from 1 to 1000000)"
                ))
            }),
        }
    }
}

impl DensityConfig {
    /// Returns [`Self::reprogram_dose`] in quarters of a unit, rounded up.
    pub fn reprogram_quarters(&self) -> Quarters {
        Quarters::ceil(self.reprogram_dose)
    }
}
