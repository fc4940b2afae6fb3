//! Work that the age of data caused.

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;

/// Work that the age of data caused. `flash` has the copies and erases, under `refresh`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refresh {
    /// Blocks whose rewriting began because of their age.
    pub invocations: u64,
    /// Blocks of these jobs that were still open.
    pub open_blocks: u64,
    /// Pages of these open blocks that were never programmed.
    pub unused_pages: u64,
    /// Refresh jobs that were not done when the block's period ended.
    pub deadline_misses: u64,
    /// Age of the oldest block that holds pages, at the end.
    pub oldest_s: f64,
    /// Wordlines merged in place; absent if the technique does not merge.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Merged>,
}

/// Wordlines that refresh merged in place, so that reads need fewer sensings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Merged {
    /// Number of merged wordlines.
    pub merged_wordlines: u64,
    /// Pages of these wordlines that the merge corrupted; the data was written elsewhere.
    pub corrupted_pages: u64,
    /// Blocks moved whole because their reads were too close to the limit of reclaim.
    pub no_room: u64,
    /// Blocks with merged wordlines, at the end.
    pub merged_blocks: u32,
    /// Blocks with merged wordlines that the same data would not need without merging.
    pub extra_blocks: f64,
}

impl Refresh {
    /// Returns `None` if data does not age.
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
