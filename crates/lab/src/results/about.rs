//! Facts that results of several techniques share.

use serde::{Deserialize, Serialize};

use super::Summary;

/// Facts that the results of all techniques share: version, drive, workload and seeds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct About {
    /// Version of the format of these results: 1. A new key does not change the version.
    pub schema: u32,
    /// Version of vpass.
    pub vpass: String,
    /// Preset or path of the drive.
    pub drive: String,
    /// Preset or path of the workload.
    pub workload: String,
    /// Whether vpass generated the requests. False if the requests were recorded from a host.
    pub workload_generated: bool,
    /// Text that describes the source of the requests.
    pub workload_source: String,
    /// Gear: timed, untimed or fluid.
    pub gear: String,
    /// First seed.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u32,
}

impl About {
    /// Returns the facts about a single run.
    pub fn of_run(run: &Summary) -> Self {
        Self {
            schema: run.schema,
            vpass: run.vpass.into(),
            drive: run.drive.clone(),
            workload: run.workload.clone(),
            workload_generated: run.workload_generated,
            workload_source: run.workload_source.clone(),
            gear: run.gear.into(),
            seed: run.seed,
            seeds: 1,
        }
    }
}
