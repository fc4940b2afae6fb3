//! Work for the age of data.

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;

/// Work for the age of data. `flash` has the copies and erases under `refresh`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refresh {
    /// Number of blocks whose rewriting began because of their age.
    pub invocations: u64,
    /// Number of blocks that were still open when their rewriting began.
    pub open_blocks: u64,
    /// Number of pages that were never programmed, in blocks that were open when their rewriting
    /// began.
    pub unused_pages: u64,
    /// Number of refresh jobs that were not done when the block's period ended.
    pub deadline_misses: u64,
    /// Age of the oldest block that holds pages at the end, in seconds.
    pub oldest_s: f64,
    /// Results of merging wordlines in place; absent if the technique does not merge.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Merged>,
}

/// Wordlines that refresh merged in place, so that a read needs fewer sensings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Merged {
    /// Number of merged wordlines.
    pub merged_wordlines: u64,
    /// Number of pages that the merge corrupted.
    /// Their data was written elsewhere.
    pub corrupted_pages: u64,
    /// Number of blocks moved whole because their reads were too close to the reclaim limit.
    pub no_room: u64,
    /// Number of blocks with merged wordlines at the end.
    pub merged_blocks: u32,
    /// Number of blocks that merging costs at the end.
    /// Without merged wordlines, the data would need fewer blocks.
    pub extra_blocks: f64,
}

impl Refresh {
    /// Returns the refresh results; `None` if data does not age.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let r = drive.refresh_counts();
        drive.keeps_time().then(|| Self {
            invocations: r.invocations,
            open_blocks: r.open_blocks,
            unused_pages: r.unused_pages,
            deadline_misses: r.deadline_misses,
            oldest_s: drive.oldest_age() as f64 / 1e9,
            merged: Merged::of(drive),
        })
    }
}

impl Merged {
    fn of(drive: &Drive) -> Option<Self> {
        let (r, (merged_blocks, extra_blocks)) = (drive.refresh_counts(), drive.adjusted_blocks());
        drive.adjusts().then(|| Self {
            merged_wordlines: r.merged_wordlines,
            corrupted_pages: r.corrupted_pages,
            no_room: r.no_room,
            merged_blocks,
            extra_blocks: (extra_blocks * 1e3).round() / 1e3,
        })
    }
}
