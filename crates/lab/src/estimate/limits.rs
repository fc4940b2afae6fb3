//! Read threshold of techniques that rewrite whole blocks: the number of page reads at which a
//! block moves. The threshold depends on the P/E count.
//!
//! ```text
//! block at 3,000 P/E cycles of `tiny`: each block moves after T = 2,152 page reads
//! ```

use vpass_drive::api::reclaim::NO_RECLAIM;
use vpass_drive::api::reclaim::promise::Prospect;
use vpass_drive::config::{DriveConfig, Number};

use crate::failure::Failure;
use crate::plan::RunPlan;

/// Techniques that rewrite a whole block at a fixed number of page reads.
const WHOLE_BLOCKS: [&str; 3] = ["block", "page-type", "ideal"];

/// Returns whether the technique `count` decides only by the number of reads of each block. Two
/// parameters of `count` add other criteria: the reads of the whole drive, and retries.
fn counts_blocks(config: &DriveConfig) -> bool {
    let given =
        |key: &str| config.reclaim.params.get(Some("count"), key).map_or(0.0, Number::value);
    given("drive_wide") == 0.0 && given("retries") == 0.0
}

/// Read thresholds of the plan's technique.
pub(super) struct Limits {
    /// Thresholds of the technique; `None` if reads cause no rewrites.
    prospect: Option<Prospect>,
    /// Factor that multiplies the technique's own read thresholds.
    factor: f64,
}

impl Limits {
    /// Returns the thresholds of the plan's technique, multiplied by `factor`. Returns `None` if
    /// the technique does not rewrite whole blocks at a fixed number of page reads.
    ///
    /// # Errors
    /// Returns an error if the technique cannot protect the drive.
    pub(super) fn of(plan: &RunPlan, factor: f64) -> Result<Option<Self>, Failure> {
        let config = &plan.drive.config;
        match plan.reclaim.listed_name().unwrap_or_default() {
            _ if !config.disturb.model.disturbs() => {
                return Ok(Some(Self { prospect: None, factor }));
            }
            NO_RECLAIM => return Ok(Some(Self { prospect: None, factor })),
            name if WHOLE_BLOCKS.contains(&name) => {}
            "count" if counts_blocks(config) => {}
            _ => return Ok(None),
        }
        let prospect = Prospect::new(config, plan.reclaim).map_err(|e| plan.refused_drive(e))?;
        let moves_at_once = prospect.thresholds(config.start.pec).len() == 1;
        Ok(moves_at_once.then_some(Self { prospect: Some(prospect), factor }))
    }

    /// Returns the number of page reads at which a block with this P/E count moves. Returns `None`
    /// if reads cause no rewrites.
    pub(super) fn at(&self, pec: u32) -> Option<f64> {
        let thresholds = self.prospect.as_ref()?.thresholds(pec);
        thresholds.first().map(|threshold| self.factor * f64::from(threshold.reads))
    }
}
