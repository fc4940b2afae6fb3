//! Numbers of blocks and pages of the whole drive, which are inputs of an estimate.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::streams::{RESERVE, width};

use crate::plan::RunPlan;

/// Number of kinds of data that the drive writes to separate blocks: data of the host, of GC and of
/// reclaim.
const KINDS: u32 = 3;

/// Numbers of blocks and pages of a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Number of blocks of the flash.
    pub(super) blocks: f64,
    /// Number of pages that hold data at the start.
    pub(super) pages: f64,
    /// Number of pages per block.
    pub(super) per_block: f64,
    /// Number of open blocks for each kind of data.
    pub(super) width: f64,
    /// Number of pages that wait in the write buffer.
    pub(super) buffered: f64,
}

impl Shape {
    /// Returns the numbers of blocks and pages of the plan's drive. If the plan has a sample,
    /// returns the numbers of the whole drive.
    pub(super) fn of(plan: &RunPlan) -> Self {
        let config = &plan.drive.config;
        let geometry = Geometry::new(config);
        let per_block = geometry.pages_per_block;
        let whole = config.part_of.as_ref();
        let blocks = whole.map_or(geometry.blocks, |whole| whole.blocks);
        let host_pages = whole.map_or(geometry.logical_pages(), |whole| whole.host_pages);
        let dies = whole.map_or(geometry.dies(), |whole| whole.dies);
        let spare = blocks.saturating_sub(host_pages.div_ceil(per_block));
        let of = f64::from(plan.sample.of);
        Self {
            blocks: f64::from(blocks),
            pages: f64::from(host_pages) * config.start.fill,
            per_block: f64::from(per_block),
            width: f64::from(width(spare, dies, KINDS, 1)),
            buffered: ((config.drive.write_buffer.0 / u64::from(geometry.page_bytes) / 2) as f64
                * of)
                .max(1.0),
        }
    }

    /// Returns the mean number of blocks that are free or open. `kinds` is the number of kinds of
    /// data.
    ///
    /// An open block is half full on average. GC begins when no blocks are free except the blocks
    /// of the reserve.
    pub(super) fn not_closed(&self, kinds: f64) -> f64 {
        f64::from(RESERVE) + kinds * self.width / 2.0
    }
}
