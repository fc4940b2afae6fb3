//! Effects of the failures that `--fail` injects.

use serde::{Deserialize, Serialize};
use vpass_drive::drive::{Drive, Stage, failing};

/// Injected failures of a run, and their effects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failures {
    /// Failures that happened during the run, in order of time.
    pub happened: Vec<Happened>,
    /// Failures that did not happen, because the run ended before the time of the failure. Each
    /// failure is written as the user gave it.
    pub to_come: Vec<String>,
    /// Number of host data pages that were lost because of the failures.
    pub lost_pages: u64,
    /// Number of lost pages whose stripe had valid parity, but also had a second unreadable page.
    /// The second page was on failed flash or had passed its read limit.
    pub lost_twice_failed_pages: u64,
    /// Number of lost pages whose stripe had no parity, or had outdated parity.
    pub lost_unprotected_pages: u64,
    /// Number of lost pages whose stripe had no valid parity, because the stripe had no page in a
    /// worn block. Absent if parity does not depend on wear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_not_worn_pages: Option<u64>,
    /// Number of lost pages whose stripe had a page in a worn block, but still waited for its
    /// parity. Absent if parity does not depend on wear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_waiting_pages: Option<u64>,
    /// Number of pages rebuilt in the background.
    pub rebuilt_in_background_pages: u64,
    /// Number of pages rebuilt because the host read the page.
    pub rebuilt_for_reads_pages: u64,
    /// Number of pages rebuilt because a write or a trim was about to change the stripe.
    pub rebuilt_for_writes_pages: u64,
    /// Number of pages that are on failed flash and had not been rebuilt when the run ended.
    pub unmended_pages: u64,
    /// Number of requests from the first failure until the last page was rebuilt. Null if some
    /// pages that can be rebuilt have not been rebuilt.
    pub mended_after_requests: Option<u64>,
    /// Number of seconds from the first failure until the last page was rebuilt. Null without a
    /// clock, or if some pages that can be rebuilt have not been rebuilt.
    pub mended_after_s: Option<f64>,
    /// Number of stripes that should have parity at the end, but have none. Either the drive gave
    /// up the parity, or no flash is free for the parity.
    pub unprotected_stripes: u64,
}

/// Injected failure that happened during the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Happened {
    /// Failure as the user gave it.
    pub failure: String,
    /// Number of requests that were served before the failure.
    pub request: u64,
    /// Number of host pages and parity pages that were on the failed flash.
    pub pages: u64,
    /// Stage of the drive's life at the failure: 1, 2 or 3. Absent if the parity technique has no
    /// stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<u8>,
}

impl Failures {
    /// Returns the injected failures of a run; `None` if no failure was requested.
    pub(crate) fn of(drive: &Drive, has_clock: bool) -> Option<Self> {
        let books = drive.failure_books()?;
        let (first, by_wear) = (books.happened.first(), drive.config().parity.by_wear().is_some());
        let since = |of: &dyn Fn((u64, u64)) -> u64| {
            books
                .rebuild_done
                .zip(first)
                .map(|(done, first)| of(done) - of((first.request, first.at)))
        };
        Some(Self {
            happened: books.happened.iter().map(Happened::of).collect(),
            to_come: drive.failures_to_come().iter().map(ToString::to_string).collect(),
            lost_pages: books.taken.pages,
            lost_twice_failed_pages: books.taken.twice_failed,
            lost_unprotected_pages: books.taken.unprotected,
            lost_not_worn_pages: by_wear.then_some(books.taken.not_worn),
            lost_waiting_pages: by_wear.then_some(books.taken.waiting),
            rebuilt_in_background_pages: books.rebuilt_in_background,
            rebuilt_for_reads_pages: books.rebuilt_for_reads,
            rebuilt_for_writes_pages: books.rebuilt_for_writes,
            unmended_pages: drive.pages_to_rebuild(),
            mended_after_requests: since(&|(requests, _)| requests),
            mended_after_s: since(&|(_, at)| at).filter(|_| has_clock).map(|ns| ns as f64 / 1e9),
            unprotected_stripes: drive.unprotected_stripes(),
        })
    }
}

impl Happened {
    fn of(one: &failing::Happened) -> Self {
        Self {
            failure: one.failure.to_string(),
            request: one.request,
            pages: one.pages,
            stage: one.stage.map(Stage::number),
        }
    }
}
