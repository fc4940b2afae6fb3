//! Addresses of random geometries, by plain division. The drive takes an address apart by
//! multiplication.

use crate::common;

use common::config;
use proptest::prelude::*;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Ppn};
use vpass_drive::config::DriveConfig;

/// Number of pages to check at each end of a block. In the first and the last block every page is
/// checked.
const ENDS: u32 = 2;

/// Returns a random drive with a pool of each size.
fn drives() -> impl Strategy<Value = DriveConfig> {
    let sizes = (1..5u32, 1..4u32, 1..4u32, 20..60u32, 1..70u32);
    let cells = prop::sample::select(vec!["slc", "mlc", "tlc", "tlc-2-3-2", "qlc"]);
    (sizes, cells, 0.0..0.5f64).prop_map(
        |((channels, dies, planes, blocks, wordlines), cell, pool)| {
            config(&format!(
                r#"
                geometry = {{ channels = {channels}, dies_per_channel = {dies}, planes_per_die = {planes}, blocks_per_plane = {blocks}, wordlines_per_block = {wordlines}, cell = "{cell}", page_size = "4KiB" }}
                timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
                drive = {{ spare = 0.6 }}
                density = {{ pool = {pool} }}
                "#
            ))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_address_leads_where_division_leads(config in drives()) {
        let (geometry, g) = (Geometry::new(&config), &config.geometry);
        let bits = g.cell.bits();
        let per_block = g.wordlines_per_block * bits;
        let per_plane = g.blocks_per_plane.unwrap();
        let per_die = per_plane * g.planes_per_die;
        let blocks = per_die * g.dies_per_channel * g.channels;
        let host_pages = (config.drive.capacity.unwrap().0 / g.page_size.0) as u32;
        prop_assert_eq!((geometry.blocks, geometry.pages_per_block), (blocks, per_block));
        prop_assert_eq!(geometry.host_pages, host_pages);
        prop_assert_eq!(geometry.spare_blocks(), blocks - host_pages.div_ceil(per_block));
        // The pool is the last share of the blocks of each plane.
        let outside = per_plane - (config.density.pool * f64::from(per_plane)) as u32;
        for block in 0..blocks {
            let (id, first) = (BlockId::new(block), block * per_block);
            prop_assert_eq!(geometry.first_page(id), Ppn::new(first));
            prop_assert_eq!(geometry.first_wordline(id), block * g.wordlines_per_block);
            prop_assert_eq!(u32::from(geometry.die_of(id)), block / per_die);
            prop_assert_eq!(geometry.plane_of(id), block % per_die / per_plane);
            prop_assert_eq!(geometry.is_in_pool(id), block % per_plane >= outside);
            let whole = block == 0 || block + 1 == blocks;
            let looked_at = |page: &u32| whole || *page < ENDS || *page + ENDS >= per_block;
            for ppn in (0..per_block).filter(looked_at).map(|page| first + page) {
                let page = Ppn::new(ppn);
                prop_assert_eq!(geometry.block_of(page), id);
                prop_assert_eq!(geometry.wordline_of(page), ppn / bits);
                prop_assert_eq!(geometry.kind_of(page), ppn % bits);
            }
        }
    }
}
