//! Capacity, geometry and spare: any two give the third, and an impossible drive is refused with the smallest that works.

use super::{ConfigError, DriveConfig, require};
use crate::units::Bytes;

/// Spare blocks below which the streams (one open block each) and the GC reserve do not fit into half of them.
pub const MIN_SPARE_BLOCKS: u32 = 12;
/// Spare share where neither it nor capacity and geometry say otherwise (MQSim-E's default over-provisioning).
const DEFAULT_SPARE: f64 = 0.07;

/// Fills in the missing one of `drive.capacity`, `geometry.blocks_per_plane` and `drive.spare`.
pub(super) fn sizes(config: &mut DriveConfig) -> Result<(), ConfigError> {
    let page = config.geometry.page_size.0;
    let planes = u64::from(config.geometry.planes());
    let block_pages = u64::from(config.geometry.pages_per_block());
    let raw_pages = |blocks: u32| u64::from(blocks) * planes * block_pages;
    let (pages, blocks) = match (config.drive.capacity, config.geometry.blocks_per_plane) {
        (None, None) => {
            return Err(ConfigError("neither drive.capacity nor geometry.blocks_per_plane is given; one of them sizes the drive".into()));
        }
        (None, Some(blocks)) => {
            let spare = config.drive.spare.unwrap_or(DEFAULT_SPARE);
            ((raw_pages(blocks) as f64 * (1.0 - spare)).floor() as u64, blocks)
        }
        (Some(capacity), None) => {
            let pages = capacity.0.div_ceil(page);
            let spare = config.drive.spare.unwrap_or(DEFAULT_SPARE);
            let blocks = blocks_for(pages, spare, planes * block_pages);
            require(blocks <= 1 << 24, || too_large(capacity))?;
            (pages, blocks as u32)
        }
        (Some(capacity), Some(blocks)) => (capacity.0.div_ceil(page), blocks),
    };
    let raw = raw_pages(blocks);
    require(raw < (1 << 31) - 1, || too_large(Bytes(raw * page)))?;
    require(pages > 0 && pages <= raw, || {
        format!("drive.capacity = {} is more than the {} of flash that geometry gives", Bytes(pages * page), Bytes(raw * page))
    })?;
    check_given_spare(config, pages, raw)?;
    require_spare_blocks(config, pages, blocks)?;
    config.drive.capacity = Some(Bytes(pages * page));
    config.drive.spare = Some(1.0 - pages as f64 / raw as f64);
    config.geometry.blocks_per_plane = Some(blocks);
    Ok(())
}

fn too_large(size: Bytes) -> String {
    format!("a drive of {size} has more than 2^31 pages; take a larger geometry.page_size or a smaller drive.capacity")
}

/// Where all three are given they must agree (rounding blocks up only ever adds spare).
fn check_given_spare(config: &DriveConfig, pages: u64, raw: u64) -> Result<(), ConfigError> {
    let (Some(spare), Some(_), Some(_)) = (config.drive.spare, config.drive.capacity, config.geometry.blocks_per_plane) else {
        return Ok(());
    };
    let actual = 1.0 - pages as f64 / raw as f64;
    require((actual - spare).abs() < 0.005, || {
        format!("drive.spare = {spare} does not agree with drive.capacity and geometry, which leave {actual:.4}; give two of the three")
    })
}

/// Refuses a drive whose spare blocks cannot hold the open blocks and the reserve, naming the smallest capacity that can.
fn require_spare_blocks(config: &DriveConfig, pages: u64, blocks: u32) -> Result<(), ConfigError> {
    let planes = u64::from(config.geometry.planes());
    let block_pages = u64::from(config.geometry.pages_per_block());
    let total = u64::from(blocks) * planes;
    let spare_blocks = total - pages.div_ceil(block_pages);
    let needed = u64::from(MIN_SPARE_BLOCKS);
    require(spare_blocks >= needed, || {
        let spare = config.drive.spare.unwrap_or(1.0 - pages as f64 / (total * block_pages) as f64);
        let what = format!("the drive has {spare_blocks} spare blocks; open blocks and the GC reserve need {needed}");
        if spare < 1e-6 {
            return format!("{what}: raise drive.spare above 0");
        }
        let smallest = smallest_pages(planes, block_pages, spare) * config.geometry.page_size.0;
        format!(
            "{what}; the smallest capacity that works with this geometry and a spare of {spare:.3} is {smallest} bytes (about {})",
            approx(smallest)
        )
    })
}

/// Blocks in each plane for so many host pages, rounded up.
fn blocks_for(pages: u64, spare: f64, row_pages: u64) -> u64 {
    let raw = (pages as f64 / (1.0 - spare)).ceil();
    ((raw / row_pages as f64).ceil() as u64).max(1)
}

/// Smallest number of host pages whose blocks, rounded up, leave enough spare ones.
fn smallest_pages(planes: u64, block_pages: u64, spare: f64) -> u64 {
    let works = |pages: u64| {
        let total = blocks_for(pages, spare, planes * block_pages) * planes;
        total >= pages.div_ceil(block_pages) + u64::from(MIN_SPARE_BLOCKS)
    };
    // The fewer pages of a row of blocks the host has, the more are spare: only the first page of each row is a candidate.
    let first_of_row = |row: u64| ((row * planes * block_pages) as f64 * (1.0 - spare)).floor() as u64 + 1;
    (0..1 << 24).map(first_of_row).find(|pages| works(*pages)).expect("the spare share is above zero")
}

/// A size for reading: three digits.
fn approx(bytes: u64) -> String {
    let gib = bytes as f64 / (1u64 << 30) as f64;
    if gib >= 1.0 { format!("{gib:.2} GiB") } else { format!("{:.1} MiB", gib * 1024.0) }
}
