//! Retries and lost pages. They become more frequent if data is old, is read often, or lies in worn
//! blocks.

use serde::{Deserialize, Serialize};
use vpass_drive::drive::Drive;

/// Retries of the host's page reads. In `flash.reads`, the cause `retry` counts all retries,
/// including those of reads that the drive makes to rewrite data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Retries {
    /// Number of host page reads for each number of retries, starting with 0 retries.
    pub histogram: Vec<u64>,
    /// Mean number of retries per host page read; null without reads.
    pub mean: Option<f64>,
    /// Number of host page reads with at least one retry.
    pub reads_with_retry: u64,
    /// Number of host page reads that began at a higher decoding level than the first
    /// (`ecc.start_from_last`). Even the first sensing of such a read takes as long as a sensing at
    /// the higher level.
    pub began_higher: u64,
    /// Number of wordline groups in which techniques rely on more retries than `reclaim.retries`.
    /// With fewer retries, data of the longest allowed age would endure too few reads. The number
    /// holds for the P/E count at the start of the run.
    pub budget_raised: u32,
}

/// Count of lost pages for each cause. The sum of these counts is `data_lost_pages`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Losses {
    /// Number of pages lost because of reads. If retries are random, pages lost by chance are
    /// included.
    pub by_reads: u64,
    /// Number of pages lost because of age. Each of these pages was older than the longest allowed
    /// age, or would have been unreadable even without reads.
    pub by_age: u64,
    /// Number of pages lost because their flash failed (`--fail`). Absent if no failure was
    /// requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_failures: Option<u64>,
}

impl Retries {
    /// Returns the retries of a run; `None` if the drive makes no retries.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let most = drive.max_retries().filter(|most| *most > 0)?;
        let counts = drive.flash_counts();
        let retried = &counts.retried[1..=usize::from(most)];
        let with_retry: u64 = retried.iter().sum();
        let reads = drive.host_page_reads();
        let histogram: Vec<u64> = std::iter::once(reads.saturating_sub(with_retry))
            .chain(retried.iter().copied())
            .collect();
        let all: u64 = (1..).zip(retried).map(|(retries, reads)| retries * reads).sum();
        Some(Self {
            mean: (reads > 0).then(|| all as f64 / reads as f64),
            histogram,
            reads_with_retry: with_retry,
            began_higher: counts.began_higher,
            budget_raised: drive.budget_raised(),
        })
    }
}

impl Losses {
    /// Returns the count of lost pages for each cause. Returns `None` if data does not age.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let (all, by_age) = (drive.lost_pages(), drive.lost_by_age());
        let by_failures = drive.failure_books().map(|books| books.taken.pages);
        drive.keeps_time().then_some(Self {
            by_reads: all - by_age - by_failures.unwrap_or(0),
            by_age,
            by_failures,
        })
    }
}
