//! What became of failures that were injected (`--fail`).

use serde::{Deserialize, Serialize};
use vpass_core::drive::{Drive, Stage, failing};

/// Failures of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failures {
    /// Those that happened, in their order.
    pub happened: Vec<Happened>,
    /// Those that the run ended before, as they were given.
    pub to_come: Vec<String>,
    /// Pages of the host's data that they lost.
    pub lost_pages: u64,
    /// Those of them that parity would have given back, had not another page of their stripe
    /// failed, too, or been past its limit.
    pub lost_twice_failed_pages: u64,
    /// Those of them whose stripe had no parity, or none that was up to date with them: the window
    /// without protection.
    pub lost_unprotected_pages: u64,
    /// Those of these whose stripe had none because none of its pages lay in a worn block; absent
    /// where wear does not say which stripes have parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_not_worn_pages: Option<u64>,
    /// Those of the unprotected whose stripe called for parity because of wear, and still waited
    /// for it; absent there, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_waiting_pages: Option<u64>,
    /// Pages that were rebuilt in the background, for reads of the host, and before writes and
    /// trims of their stripes.
    pub rebuilt_in_background_pages: u64,
    /// The same for reads.
    pub rebuilt_for_reads_pages: u64,
    /// The same for writes and trims.
    pub rebuilt_for_writes_pages: u64,
    /// Pages on failed flash that are still to be rebuilt.
    pub unmended_pages: u64,
    /// Requests from the first failure until all that can be rebuilt was; null where that is not
    /// so.
    pub mended_after_requests: Option<u64>,
    /// The same in seconds, where there is a clock.
    pub mended_after_s: Option<f64>,
    /// Stripes that should have parity at the end, and whose parity was given up or has no place
    /// any more.
    pub unprotected_stripes: u64,
}

/// A failure that happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Happened {
    /// As it was given.
    pub failure: String,
    /// Requests before it.
    pub request: u64,
    /// Pages of the host and of parity that lay there.
    pub pages: u64,
    /// The stage of the drive's life, 1 to 3; absent where it has no stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<u8>,
}

impl Failures {
    /// None where none was to come.
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
