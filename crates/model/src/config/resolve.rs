//! Capacity, geometry and spare: any two of them give the third. An impossible drive is refused,
//! and the error names the smallest possible drive.

use super::{ConfigError, DriveConfig, require};
use crate::base::units::Bytes;

/// Smallest number of spare blocks. Half of them hold one open block per stream, and the GC
/// reserve.
pub const MIN_SPARE_BLOCKS: u32 = 12;
/// Default spare share (MQSim-E's default over-provisioning).
const DEFAULT_SPARE: f64 = 0.07;
/// Limit of flash pages: page numbers have 31 bits, and the last number means no page.
const MOST_PAGES: u64 = (1 << 31) - 1;

/// Fills in `drive.capacity`, `geometry.blocks_per_plane` or `drive.spare`, whichever is missing.
pub(super) fn sizes(config: &mut DriveConfig) -> Result<(), ConfigError> {
    let page = config.geometry.page_size.0;
    let planes = u64::from(config.geometry.planes());
    let block_pages = u64::from(config.geometry.pages_per_block());
    let raw_pages = |blocks: u32| u64::from(blocks) * planes * block_pages;
    let (pages, blocks) = match (config.drive.capacity, config.geometry.blocks_per_plane) {
        (None, None) => {
            return Err(ConfigError::new(
                "neither drive.capacity nor geometry.blocks_per_plane is given; give one of these \
                 two keys to set the size of the drive",
            ));
        }
        (None, Some(blocks)) => {
            let spare = config.drive.spare.unwrap_or(DEFAULT_SPARE);
            (host_pages(raw_pages(blocks), spare), blocks)
        }
        (Some(capacity), None) => {
            let pages = capacity.0.div_ceil(page);
            let spare = config.drive.spare.unwrap_or(DEFAULT_SPARE);
            let blocks = blocks_for(pages, spare, planes, block_pages);
            require(blocks <= 1 << 24, || too_large(capacity))?;
            (pages, blocks as u32)
        }
        (Some(capacity), Some(blocks)) => (capacity.0.div_ceil(page), blocks),
    };
    let raw = raw_pages(blocks);
    require(raw < MOST_PAGES, || too_large(Bytes(raw * page)))?;
    require(pages > 0 && pages <= raw, || {
        format!(
            "drive.capacity = {} is more than the {} of flash that geometry gives",
            Bytes(pages * page),
            Bytes(raw * page)
        )
    })?;
    check_given_spare(config, pages, raw)?;
    require_spare_blocks(config, pages, blocks)?;
    config.drive.capacity = Some(Bytes(pages * page));
    config.drive.spare = Some(1.0 - pages as f64 / raw as f64);
    config.geometry.blocks_per_plane = Some(blocks);
    Ok(())
}

fn too_large(size: Bytes) -> String {
    format!(
        "a drive of {} has more than 2^31 pages; take a larger geometry.page_size or a smaller \
         drive.capacity",
        size.rounded()
    )
}

/// Checks that capacity, blocks and spare agree if all three are given. Rounding blocks up only
/// adds spare blocks.
fn check_given_spare(config: &DriveConfig, pages: u64, raw: u64) -> Result<(), ConfigError> {
    let (Some(spare), Some(_), Some(_)) =
        (config.drive.spare, config.drive.capacity, config.geometry.blocks_per_plane)
    else {
        return Ok(());
    };
    let actual = 1.0 - pages as f64 / raw as f64;
    require((actual - spare).abs() < 0.005, || {
        format!(
            "drive.spare = {spare} does not agree with drive.capacity and geometry, which leave a \
             spare share of {actual:.4}; give only two of drive.spare, drive.capacity and \
             geometry.blocks_per_plane"
        )
    })
}

/// Refuses a drive whose spare blocks cannot hold the open blocks and the reserve. The error names
/// a capacity or a number of blocks that works, whichever was given.
fn require_spare_blocks(config: &DriveConfig, pages: u64, blocks: u32) -> Result<(), ConfigError> {
    let planes = u64::from(config.geometry.planes());
    let block_pages = u64::from(config.geometry.pages_per_block());
    let total = u64::from(blocks) * planes;
    require(has_room(pages, total, block_pages), || {
        let spare_blocks = total - pages.div_ceil(block_pages);
        let what = match config.drive.capacity {
            // A user who writes no unit hardly means bytes.
            Some(Bytes(bytes)) if bytes < config.geometry.page_size.0 => format!(
                "drive.capacity = {bytes} means {bytes} bytes, less than a page; perhaps \
                 {bytes}GiB was meant"
            ),
            _ => format!(
                "the drive has {spare_blocks} spare blocks; open blocks and the GC reserve need \
                 {MIN_SPARE_BLOCKS}"
            ),
        };
        let spare = config.drive.spare.unwrap_or(DEFAULT_SPARE);
        let rows = (1..)
            .take_while(|rows: &u64| rows * planes * block_pages < MOST_PAGES && *rows <= 1 << 24);
        let fewest = |pages: &dyn Fn(u64) -> u64| {
            rows.clone().find(|rows| has_room(pages(*rows), rows * planes, block_pages))
        };
        let advice = match (config.drive.capacity, config.geometry.blocks_per_plane) {
            (Some(_), None) => smallest_pages(planes, block_pages, spare).map(|pages| {
                let bytes = pages * config.geometry.page_size.0;
                let typed = round_up(bytes);
                format!(
                    "the smallest capacity that works with this geometry and a spare of \
                     {spare:.3} is {bytes} bytes, \
                     for instance drive.capacity={typed}"
                )
            }),
            (Some(_), Some(_)) => {
                fewest(&|_| pages).map(|rows| smallest_blocks(rows, "drive.capacity"))
            }
            _ => fewest(&|rows| host_pages(rows * planes * block_pages, spare))
                .map(|rows| smallest_blocks(rows, "drive.spare")),
        };
        format!("{what}; {}", advice.unwrap_or_else(|| "raise drive.spare".into()))
    })
}

fn smallest_blocks(rows: u64, with: &str) -> String {
    format!(
        "the smallest number of blocks that works with this {with} is \
         geometry.blocks_per_plane={rows}"
    )
}

/// Returns whether the blocks hold the host pages, the open blocks and the reserve.
fn has_room(pages: u64, blocks: u64, block_pages: u64) -> bool {
    blocks >= pages.div_ceil(block_pages) + u64::from(MIN_SPARE_BLOCKS)
}

/// Returns the host pages for a number of raw pages.
fn host_pages(raw: u64, spare: f64) -> u64 {
    (raw as f64 * (1.0 - spare)).floor() as u64
}

/// Returns the number of blocks per plane for a number of host pages, rounded up. Because of the
/// rounding, the largest capacities of a row of blocks have the fewest spare blocks. If a smaller
/// capacity has enough space, a larger capacity gets one more row.
fn blocks_for(pages: u64, spare: f64, planes: u64, block_pages: u64) -> u64 {
    let rows = rows_for(pages, spare, planes * block_pages);
    let with_room = (pages.div_ceil(block_pages) + u64::from(MIN_SPARE_BLOCKS)).div_ceil(planes);
    let is_possible =
        || smallest_pages(planes, block_pages, spare).is_some_and(|least| pages >= least);
    if with_room > rows && is_possible() { with_room } else { rows }
}

/// Returns the number of rows of blocks that leave the spare share. A row has one block in each
/// plane.
fn rows_for(pages: u64, spare: f64, row_pages: u64) -> u64 {
    let raw = (pages as f64 / (1.0 - spare)).ceil();
    ((raw / row_pages as f64).ceil() as u64).max(1)
}

/// Returns the smallest number of host pages whose blocks, rounded up, leave enough spare blocks.
/// Returns `None` if no drive is large enough.
fn smallest_pages(planes: u64, block_pages: u64, spare: f64) -> Option<u64> {
    let row_pages = planes * block_pages;
    let works =
        |pages: u64| has_room(pages, rows_for(pages, spare, row_pages) * planes, block_pages);
    // Within a row of blocks, fewer host pages leave more spare pages. So only the first number of
    // pages of each row is a candidate.
    let most_rows = (MOST_PAGES / row_pages).min(1 << 24);
    let mut pages = (0..most_rows)
        .map(|row| host_pages(row * row_pages, spare) + 1)
        .find(|pages| works(*pages))?;
    // If the share is not a binary number, rounding may move the first number of a row by one.
    while pages > 1 && works(pages - 1) {
        pages -= 1;
    }
    Some(pages)
}

/// Returns the next size that is short to type: whole GiB above 16 GiB, otherwise whole MiB.
fn round_up(bytes: u64) -> Bytes {
    let unit = if bytes > 16 << 30 { 1 << 30 } else { 1 << 20 };
    Bytes(bytes.div_ceil(unit) * unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// Checks that every capacity from the smallest on has enough space, and that no smaller
        /// capacity has.
        #[test]
        fn every_capacity_from_the_smallest_on_has_room(
            planes in 1u64..200,
            block_pages in 1u64..3000,
            spare in 0.003f64..0.9,
            more in 0u64..1 << 24,
        ) {
            let blocks = |pages: u64| blocks_for(pages, spare, planes, block_pages) * planes;
            let has = |pages: u64| has_room(pages, blocks(pages), block_pages);
            let Some(least) = smallest_pages(planes, block_pages, spare) else { return Ok(()) };
            let few = more % (3 * planes * block_pages);
            prop_assert!(has(least) && has(least + 1) && has(least + more) && has(least + few));
            prop_assert!(least == 1 || !has(least - 1) && !has(least.saturating_sub(more).max(1)));
        }
    }

    #[test]
    fn the_last_pages_of_a_row_get_another() {
        // One plane has blocks of 10 pages, half of them spare. For 111 pages, there are 23 blocks,
        // and data needs 12: 11 are left. For 116 pages, there are 24 blocks: 12 are left.
        assert_eq!(smallest_pages(1, 10, 0.5), Some(116));
        assert_eq!(
            [116, 120, 121, 125].map(|pages| blocks_for(pages, 0.5, 1, 10)),
            [24, 24, 25, 25]
        );
        // Four planes have a spare share of 0.45. A row has a block in each plane. 111 to 120 pages
        // have 6 rows, which are 24 blocks. 120 pages fill 12 of these blocks, so 12 are left. 121
        // pages fill 13 blocks, and have 7 rows.
        assert_eq!(smallest_pages(4, 10, 0.45), Some(111));
        assert_eq!([111, 120, 121, 132].map(|pages| blocks_for(pages, 0.45, 4, 10)), [6, 6, 7, 7]);
    }
}
