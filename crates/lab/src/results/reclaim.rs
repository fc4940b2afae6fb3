//! Work that reads caused, and the ranges whose reads caused it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;

use super::words::{self, Word};

/// Work that reads caused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reclaim {
    /// Alarms: times that the technique was asked.
    pub alarms: u64,
    /// Reclaim jobs.
    pub invocations: u64,
    /// Pages that reclaim jobs copied.
    pub pages_copied: u64,
    /// Time that host reads waited for reclaim on their die, summed over reads.
    pub stall_us: f64,
    /// Reclaim jobs that were not done before the block's last allowed read.
    pub deadline_misses: u64,
    /// Blocks that GC erased to free space for reclaim jobs.
    pub gc_erases: u64,
    /// Blocks opened for the IPR pool.
    pub pool_openings: u64,
    /// Blocks opened for the pool that lie outside it.
    pub pool_misses: u64,
    /// Blocks reprogrammed in place.
    pub reprograms: u64,
    /// Blocks that should have guard levels, but the drive could not spare the pages.
    pub low_density_refused: u64,
    /// Low-density blocks that GC erased.
    pub low_density_erases_by_gc: u64,
    /// Low-density blocks erased, by the used share of their limit, in twentieths.
    pub low_density_used: [u64; 20],
    /// Technique's own counts.
    #[serde(flatten, deserialize_with = "words::counts")]
    pub technique: BTreeMap<Word, u64>,
    /// Ranges of host addresses whose reads caused the copies, most copies first.
    pub blame: Vec<Blame>,
}

/// Copies that reads of a range caused. Reads by movers count for the range whose data they read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Blame {
    /// First byte of the range.
    pub offset_bytes: u64,
    /// Length of the range.
    pub bytes: u64,
    /// Number of copies, to a thousandth. Ranges share a job, so it is not a whole number.
    pub copies: f64,
}

impl Reclaim {
    pub(crate) fn of(drive: &Drive) -> Self {
        let r = drive.reclaim_counts();
        Self {
            alarms: r.alarms,
            invocations: r.invocations,
            pages_copied: r.pages_copied,
            stall_us: r.stall_ns as f64 / 1e3,
            deadline_misses: r.deadline_misses,
            gc_erases: r.gc_erases,
            pool_openings: r.pool_openings,
            pool_misses: r.pool_misses,
            reprograms: r.reprograms,
            low_density_refused: r.low_density_refused,
            low_density_erases_by_gc: r.low_density_erases_by_gc,
            low_density_used: r.low_density_used.0,
            technique: drive.technique_counts().into_iter().collect(),
            blame: Blame::of(drive),
        }
    }
}

impl Blame {
    fn of(drive: &Drive) -> Vec<Self> {
        let page = drive.geometry().page_bytes;
        let ranges = drive.blamed_ranges().map(|r| Self {
            offset_bytes: r.first.offset(page),
            bytes: u64::from(r.pages) * u64::from(page),
            copies: (r.copies * 1e3).round() / 1e3,
        });
        let mut ranges: Vec<Self> = ranges.collect();
        ranges.sort_by(|a, b| b.copies.total_cmp(&a.copies));
        ranges
    }
}
