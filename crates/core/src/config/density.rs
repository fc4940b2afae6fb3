//! `[density]`: blocks that hold fewer pages than they could, so that they endure more reads.

use serde::{Deserialize, Serialize};

use super::{ConfigError, require, require_range, require_share};

/// `[density]`: for the techniques that know read-hot pages and keep them in blocks of their own. All shares are of the drive's blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DensityConfig {
    /// Limits of a block with guard levels over those of the same block without.
    pub limit_factor: f64,
    /// Blocks at the highest addresses of each plane, in which states may be merged in place.
    pub pool: f64,
    /// Blocks with guard levels, at most.
    pub low_density: f64,
    /// Blocks whose pages are counted one by one, at most.
    pub monitor: f64,
    /// Refreshes over which the average interval between two of a block is taken, the latest weighing most; 0 weighs all alike.
    pub interval_average: u32,
    /// Blocks that hold only a few read-hot pages, at most.
    pub shadow: f64,
    /// How many pages that is.
    pub shadow_pages: u32,
    /// Share of the spare pages that all these blocks may leave unused, together.
    pub spare_share: f64,
}

impl Default for DensityConfig {
    fn default() -> Self {
        Self {
            // ipr-2018 III-C, Table I: limits of 100,000 ("predicted" from others' measurements) and 10,000 reads.
            limit_factor: 10.0,
            // ipr-2018 III-D, Table I.
            pool: 0.2,
            low_density: 0.15,
            // ipr-2018 III-B.
            monitor: 0.1,
            // Assumption: the paper does not say how it averages.
            interval_average: 0,
            // ipr-2018 Table I; "30 read-hot pages", II-B.
            shadow: 0.15,
            shadow_pages: 30,
            // Assumption: the other half may be open blocks and GC's reserve.
            spare_share: 0.5,
        }
    }
}

impl DensityConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        require_range("density.limit_factor", self.limit_factor, 1.0, 100.0)?;
        require_share("density.pool", self.pool)?;
        require_share("density.low_density", self.low_density)?;
        require_share("density.monitor", self.monitor)?;
        require_share("density.shadow", self.shadow)?;
        // Open blocks and the reserve may need the other half.
        require_range("density.spare_share", self.spare_share, 0.0, 0.5)?;
        require((1..=65_535).contains(&self.shadow_pages), || format!("density.shadow_pages = {} is outside 1 to 65535", self.shadow_pages))
    }
}
