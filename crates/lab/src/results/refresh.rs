//! Work caused by the age of data.

use serde::{Deserialize, Serialize};
use vpass_drive::drive::Drive;

/// Work caused by the age of data. The copies and erases of this work are counted in `flash`, under
/// the cause `refresh`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refresh {
    /// Number of blocks whose data the drive began to rewrite because the data was old.
    pub invocations: u64,
    /// Number of blocks that were still open when refresh began to rewrite their data.
    pub open_blocks: u64,
    /// Number of unprogrammed pages in open blocks when refresh began to rewrite the data of these
    /// blocks.
    pub unused_pages: u64,
    /// Number of refresh jobs that missed their deadline. The deadline is the end of the block's
    /// refresh period.
    pub deadline_misses: u64,
    /// Age, in seconds, of the oldest data block when the run ends.
    pub oldest_s: f64,
    /// Results of merging wordlines in place; absent if the technique does not merge.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Merged>,
}

/// Results of merging wordlines in place. Reads of a merged wordline need fewer sensings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Merged {
    /// Number of merged wordlines.
    pub merged_wordlines: u64,
    /// Number of pages that a merge damaged. The drive wrote the data of these pages elsewhere.
    pub corrupted_pages: u64,
    /// Number of blocks that were moved instead of merged, because they had almost reached the
    /// reclaim limit.
    pub no_room: u64,
    /// Number of blocks with merged wordlines when the run ends.
    pub merged_blocks: u32,
    /// Number of additional blocks that the data needs when the run ends, because merged wordlines
    /// hold less data.
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
