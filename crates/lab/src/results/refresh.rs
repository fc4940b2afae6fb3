//! What was done because of time.

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;

/// What was done because of time. Copies and erases stand in `flash`, under `refresh`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refresh {
    /// Blocks that began to be rewritten because of their age.
    pub invocations: u64,
    /// Those of them that were still open.
    pub open_blocks: u64,
    /// Pages of these that were never programmed.
    pub unused_pages: u64,
    /// Jobs that were not done when the block's period ended.
    pub deadline_misses: u64,
    /// Age of the oldest block that holds pages, at the end.
    pub oldest_s: f64,
    /// What was merged in place, where the technique does that.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Merged>,
}

/// Wordlines that refresh merged in place, for fewer sensings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Merged {
    /// How many were.
    pub merged_wordlines: u64,
    /// Pages of these that this corrupted, and that were written elsewhere.
    pub corrupted_pages: u64,
    /// Blocks that moved whole because their reads had brought them too near to what reclaim
    /// allows.
    pub no_room: u64,
    /// Blocks with merged wordlines, at the end.
    pub merged_blocks: u32,
    /// Of these, how many the same data would do without.
    pub extra_blocks: f64,
}

impl Refresh {
    /// None where data does not age.
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
