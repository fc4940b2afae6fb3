//! Work that reads cause, and the host addresses of these reads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vpass_drive::base::metrics::ReclaimCounts;
use vpass_drive::drive::Drive;

use super::words::{self, Word};

/// Work caused by reads: reclaim jobs and their cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reclaim {
    /// Counts of jobs and blocks.
    #[serde(flatten)]
    pub counts: ReclaimCounts,
    /// Time that host reads waited while reclaim used their die. The time is in microseconds,
    /// summed over all host reads.
    pub stall_us: f64,
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
        let counts = *drive.reclaim_counts();
        Self {
            counts,
            stall_us: counts.stall_ns as f64 / 1e3,
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
