//! Checks the addresses of the drive. The drive takes an address apart by multiplication. The
//! oracle follows with plain division.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Ppn};
use vpass_drive::config::DriveConfig;

/// Number of pages to check at each end of a block. In the first and the last block every page is
/// checked.
const ENDS: u32 = 2;

/// Compares the geometry of a drive with its resolved configuration.
///
/// # Errors
/// The first difference.
pub(crate) fn check(geometry: &Geometry, config: &DriveConfig) -> Result<(), String> {
    let (g, bits) = (&config.geometry, config.geometry.cell.bits());
    let per_block = g.wordlines_per_block * bits;
    let per_plane = g.blocks_per_plane.unwrap_or(0);
    let per_die = per_plane * g.planes_per_die;
    let blocks = per_die * g.dies_per_channel * g.channels;
    let of_host = config.drive.capacity.map_or(0, |capacity| capacity.0 / g.page_size.0);
    same("blocks of the drive", 0, geometry.blocks, blocks)?;
    same("pages of a block", 0, geometry.pages_per_block, per_block)?;
    same("pages of the host", 0, u64::from(geometry.host_pages), of_host)?;
    if geometry.stripes.is_none() {
        same(
            "spare blocks",
            0,
            geometry.spare_blocks(),
            blocks - (of_host as u32).div_ceil(per_block),
        )?;
    }
    for block in 0..blocks {
        let (id, first) = (BlockId::new(block), block * per_block);
        same("the first page of block", block, geometry.first_page(id), Ppn::new(first))?;
        same(
            "the first wordline of block",
            block,
            geometry.first_wordline(id),
            block * g.wordlines_per_block,
        )?;
        same("the die of block", block, geometry.die_of(id).into(), block / per_die)?;
        same("the plane of block", block, geometry.plane_of(id), block % per_die / per_plane)?;
        let whole = block == 0 || block + 1 == blocks;
        let looked_at = |page: &u32| whole || *page < ENDS || *page + ENDS >= per_block;
        for ppn in (0..per_block).filter(looked_at).map(|page| first + page) {
            let page = Ppn::new(ppn);
            same("the block of ppn", ppn, geometry.block_of(page), id)?;
            same("the wordline of ppn", ppn, geometry.wordline_of(page), ppn / bits)?;
            same("the page kind of ppn", ppn, geometry.kind_of(page), ppn % bits)?;
        }
    }
    Ok(())
}

/// Compares the drive's pool with its configuration. The pool is the last share of the blocks of
/// each plane.
///
/// # Errors
/// The first difference.
pub(crate) fn check_pool(geometry: &Geometry, config: &DriveConfig) -> Result<(), String> {
    let per_plane = config.geometry.blocks_per_plane.unwrap_or(0);
    let outside = per_plane - (config.density.pool * f64::from(per_plane)) as u32;
    let is_inside = |block: BlockId| block.number() % per_plane >= outside;
    geometry.block_ids().try_for_each(|block| {
        same(
            "whether the pool has block",
            block.number(),
            geometry.is_in_pool(block),
            is_inside(block),
        )
    })
}

fn same<T: Copy + PartialEq + std::fmt::Display>(
    what: &str,
    of: u32,
    says: T,
    is: T,
) -> Result<(), String> {
    if says == is {
        Ok(())
    } else {
        Err(format!("the drive's geometry says that {what} {of} is {says}; it is {is}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometry_of_another_drive_is_found_out() {
        let resolved = |wordlines: u32| {
            let text = format!(
                r#"
                geometry = {{ channels = 2, dies_per_channel = 3, planes_per_die = 2, blocks_per_plane = 7, wordlines_per_block = {wordlines}, cell = "tlc", page_size = "4KiB" }}
                timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
                drive = {{ spare = 0.4 }}
                "#
            );
            toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap()
        };
        let (config, other) = (resolved(43), resolved(44));
        assert_eq!(check(&Geometry::new(&config), &config), Ok(()));
        assert_eq!(
            check(&Geometry::new(&other), &config),
            Err("the drive's geometry says that pages of a block 0 is 132; it is 129".into())
        );
    }
}
