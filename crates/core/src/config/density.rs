//! `[density]`: blocks that hold fewer pages than they could, so that they endure more reads.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::{ConfigError, require, require_range, require_share};
use crate::base::dose::Quarters;

/// `[density]`: for the techniques that know read-hot pages and keep them in blocks of their own.
/// All shares are of the drive's blocks; beside parity, which gives each page a die of its own, of
/// each die's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DensityConfig {
    /// Limits of a block with guard levels over those of the same block without.
    pub limit_factor: f64,
    /// Wear of a cycle with a reprogramming over that of one without, on a block with such a cycle
    /// in five or more; rarer ones cost more.
    pub wear: f64,
    /// What reprogramming a wordline in place disturbs: as much as so many reads of it, alpha times
    /// on its neighbours.
    pub reprogram_dose: f64,
    /// Whether that wear counts for what blocks endure (limits, alpha), too, and not only for
    /// levelling and the rated life.
    pub wear_counts_for_limits: bool,
    /// Blocks at the highest addresses of each plane, in which states may be merged in place.
    pub pool: f64,
    /// Whether the pool is kept for read-hot blocks: other data goes there only where no other
    /// block is free, and is moved out of it, whole blocks too, where it has none to give. Else its
    /// free blocks are anyone's, and blocks that lost no page stay in it.
    pub keep_pool: bool,
    /// Blocks with guard levels, at most.
    pub low_density: f64,
    /// Blocks whose pages are counted one by one, at most.
    pub monitor: f64,
    /// What a block's time between two refreshes is compared with, to know whether it is read-hot:
    /// "blocks", "refreshes" or "recent:N".
    pub interval_average: IntervalAverage,
    /// Blocks that hold only a few read-hot pages, at most.
    pub shadow: f64,
    /// How many pages that is.
    pub shadow_pages: u32,
    /// Share of the spare pages that all these blocks may leave unused, together.
    pub spare_share: f64,
}

/// How the average read-refresh interval (`B_avg` of ipr-2018 III-B) is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalAverage {
    /// Over all blocks: the time since the beginning times blocks over refreshes. A block that is
    /// never refreshed counts as one whose interval is long.
    Blocks,
    /// Over all refreshes.
    Refreshes,
    /// Over about so many refreshes, the latest weighing most.
    Recent(u32),
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
                    "`{text}` is no average; expected \"blocks\", \"refreshes\" or \"recent:N\" (N from 1 to 1000000)"
                ))
            }),
        }
    }
}

impl Default for DensityConfig {
    fn default() -> Self {
        Self {
            // ipr-2018 III-C, Table I: limits of 100,000 ("predicted" from others' measurements)
            // and 10,000 reads.
            limit_factor: 10.0,
            // ipr-2018 III-D, Fig. 7.
            wear: 1.2,
            // ipr-2018 counts none.
            reprogram_dose: 0.0,
            // Assumption: what wears as several cycles do also weakens as they do; the paper's
            // limit knows no P/E count.
            wear_counts_for_limits: true,
            // ipr-2018 III-D, Table I.
            pool: 0.2,
            // Inference: new read-hot blocks come from the pool "through garbage collection", which
            // skips three kinds of block and no other (III-D). That other data keeps out of it is
            // an assumption; docs/design/papers.md has what each form finds.
            keep_pool: true,
            low_density: 0.15,
            // ipr-2018 III-B.
            monitor: 0.1,
            // Assumption: the paper does not say how it averages; docs/design/papers.md has what
            // each way finds.
            interval_average: IntervalAverage::Blocks,
            // ipr-2018 Table I; "30 read-hot pages", II-B.
            shadow: 0.15,
            shadow_pages: 30,
            // Assumption: the other half may be open blocks and GC's reserve.
            spare_share: 0.5,
        }
    }
}

impl DensityConfig {
    /// [`Self::reprogram_dose`] in quarters of a unit, rounded up.
    pub fn reprogram_quarters(&self) -> Quarters {
        Quarters::ceil(self.reprogram_dose)
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        require_range("density.limit_factor", self.limit_factor, 1.0, 100.0)?;
        require_range("density.wear", self.wear, 1.0, 10.0)?;
        require_range("density.reprogram_dose", self.reprogram_dose, 0.0, 1000.0)?;
        require_share("density.pool", self.pool)?;
        require_share("density.low_density", self.low_density)?;
        require_share("density.monitor", self.monitor)?;
        require_share("density.shadow", self.shadow)?;
        // Open blocks and the reserve may need the other half.
        require_range("density.spare_share", self.spare_share, 0.0, 0.5)?;
        require((1..=65_535).contains(&self.shadow_pages), || {
            format!("density.shadow_pages = {} is outside 1 to 65535", self.shadow_pages)
        })
    }
}
