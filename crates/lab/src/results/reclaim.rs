//! What was done because of reads, and whose reads caused it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;

use super::words::{self, Word};

/// What was done because of reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reclaim {
    /// Times that the technique was asked.
    pub alarms: u64,
    /// Jobs.
    pub invocations: u64,
    /// Pages that they copied.
    pub pages_copied: u64,
    /// Time that host reads waited for reclaim on their die, summed over reads.
    pub stall_us: f64,
    /// Jobs that a block's last allowed read overtook.
    pub deadline_misses: u64,
    /// Blocks that GC erased to make room for reclaim jobs.
    pub gc_erases: u64,
    /// Blocks opened that should lie in the IPR pool.
    pub pool_openings: u64,
    /// Those of them that do not.
    pub pool_misses: u64,
    /// Blocks reprogrammed in place.
    pub reprograms: u64,
    /// Blocks that should have got guard levels but that the drive could not spare their pages.
    pub low_density_refused: u64,
    /// Blocks of low density erased by GC.
    pub low_density_erases_by_gc: u64,
    /// Blocks of low density erased, by the share of their limit that they had used, in twentieths.
    pub low_density_used: [u64; 20],
    /// What the technique counts of its own.
    #[serde(flatten, deserialize_with = "words::counts")]
    pub technique: BTreeMap<Word, u64>,
    /// Whose reads caused the copies: ranges of the host's addresses, those with most copies first.
    pub blame: Vec<Blame>,
}

/// Copies that reads of a range caused; movers' reads count for the range whose data they read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Blame {
    /// Where the range begins.
    pub offset_bytes: u64,
    /// How long it is.
    pub bytes: u64,
    /// A job is shared out, so this is no whole number; to a thousandth.
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
