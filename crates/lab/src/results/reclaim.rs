//! Work that reads cause, and the host addresses of these reads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vpass_drive::drive::Drive;

use super::words::{self, Word};

/// Work caused by reads: reclaim jobs and their cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reclaim {
    /// Number of alarms. At an alarm, the reclaim technique decides whether the drive must start a
    /// reclaim job.
    pub alarms: u64,
    /// Number of reclaim jobs.
    pub invocations: u64,
    /// Number of pages that reclaim jobs copied.
    pub pages_copied: u64,
    /// Time that host reads waited while reclaim used their die. The time is in microseconds,
    /// summed over all host reads.
    pub stall_us: f64,
    /// Number of reclaim jobs that missed their deadline. The deadline of a job is the last read
    /// that the block's read limit allows.
    pub deadline_misses: u64,
    /// Number of blocks that GC erased to free space for reclaim jobs.
    pub gc_erases: u64,
    /// Number of blocks that were opened for the pool of in-place reprogramming.
    pub pool_openings: u64,
    /// Number of blocks that were opened outside the pool of in-place reprogramming, because the
    /// pool had no free block.
    pub pool_misses: u64,
    /// Number of blocks reprogrammed in place.
    pub reprograms: u64,
    /// Number of blocks that should have got guard levels (unused threshold states) but did not,
    /// because the drive had too few free pages.
    pub low_density_refused: u64,
    /// Number of low-density blocks that GC erased.
    pub low_density_erases_by_gc: u64,
    /// Histogram of erased low-density blocks. The first number counts blocks that had used less
    /// than 5 % of their read limit, the next number 5 % to 10 %, and so on. The last number counts
    /// blocks that had used at least 95 %.
    pub low_density_used: [u64; 20],
    /// Counts that are specific to the reclaim technique. Each key is the name of a count.
    #[serde(flatten, deserialize_with = "words::counts")]
    pub technique: BTreeMap<Word, u64>,
    /// Ranges of host addresses, with the page copies that reads of each range caused. The range
    /// with the most copies is first.
    pub blame: Vec<Blame>,
}

/// Number of page copies that reads of an address range caused. Host reads count, and so do reads
/// that the drive makes to rewrite the data of the range.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Blame {
    /// Address of the first byte of the range.
    pub offset_bytes: u64,
    /// Length of the range in bytes.
    pub bytes: u64,
    /// Number of page copies that reads of the range caused, rounded to 0.001. The number may have
    /// a fraction, because a job can be caused by reads of several ranges.
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
