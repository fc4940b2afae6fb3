//! Facts about a plan, as results of several techniques contain them.

use super::RunPlan;
use crate::as_json::SCHEMA;
use crate::results::About;
use crate::results::quantity::Sizes;

impl RunPlan {
    /// Returns the facts that the results of all techniques share, with this number of seeds.
    pub fn about(&self, seeds: u32) -> About {
        About {
            schema: SCHEMA,
            vpass: env!("CARGO_PKG_VERSION").into(),
            drive: self.drive.name.clone(),
            workload: self.workload.name(),
            workload_generated: self.workload.is_generated(),
            workload_source: self.workload.source(),
            gear: self.gear.name().into(),
            seed: self.seed,
            seeds,
        }
    }

    /// Returns the page size and the capacity of the drive.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            page_bytes: self.drive.config.geometry.page_size.0,
            capacity_bytes: self.whole_capacity().0,
        }
    }
}
