//! What tired data cost a run: retries of reads, and what was lost of it, by cause.

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;

/// Retries of the host's page reads. All retries, those of movers included, stand in `flash.reads`
/// under `retry`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Retries {
    /// Page reads of the host by the retries that they took, from none on.
    pub histogram: Vec<u64>,
    /// Retries a page read; null where nothing was read.
    pub mean: Option<f64>,
    /// Page reads that took at least one.
    pub reads_with_retry: u64,
    /// Page reads that began with a level above the first (`ecc.start_from_last`). Each took what a
    /// sensing of that level takes in the place of the first read's.
    pub began_higher: u64,
    /// Wordline groups on which the reclaim technique counts with more retries than
    /// `reclaim.retries`, because the age that data may come to leaves it too little otherwise; at
    /// the P/E count at which the run began.
    pub budget_raised: u32,
}

/// What the host lost, by cause; all together are `data_lost_pages`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Losses {
    /// All other pages: reads took them or, where retries are drawn, chance.
    pub by_reads: u64,
    /// Pages that were older than data may become, or so old that age alone took more than their
    /// last retry decodes.
    pub by_age: u64,
    /// Pages on flash that failed (`--fail`), however old; absent where none was to fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_failures: Option<u64>,
}

impl Retries {
    /// None where the drive has no ladder of retries.
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
    /// None where age takes no data.
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
