//! Memory that a drive needs, computed before the drive is made.

use super::Drive;
use crate::api::gc::victims::VictimIndex;
use crate::api::reclaim::{COUNTERS, Technique};
use crate::base::geometry::Geometry;
use crate::base::steady::Steady;
use crate::base::units::Bytes;
use crate::config::DriveConfig;
use crate::flash::block::{BlockCold, BlockHot, Wordline};
use crate::flash::contents::Contents;
use crate::flash::count::page_counters::PageCounters;
use crate::flash::count::space_saving::SpaceSaving;
use crate::flash::fluid::held::Held;
use crate::flash::recoded::Recoded;
use crate::flash::tired::TiredBlocks;
use crate::ftl::map::PageMap;
use crate::ftl::worn::WornStripes;

/// Bytes of a free block in its plane's tree, and of a technique's notes about a block.
const BESIDE_RECORDS: u64 = 64;

impl Drive {
    /// Returns the memory of read rates by place, which the fluid gear holds if pages have
    /// different rates.
    pub fn memory_of_bulk_reads(config: &DriveConfig) -> u64 {
        Held::bytes(Geometry::new(config).raw_pages().into())
    }

    /// Returns the largest memory that a drive of a resolved configuration needs under a technique.
    /// The queues of the timed gear need additional memory.
    pub fn memory(config: &DriveConfig, technique: &Technique) -> Bytes {
        let config = &technique.drive(config.clone());
        let g = &Geometry::new(config);
        let policy = technique.asked(config, 0);
        let records = u64::from(g.blocks)
            * ((size_of::<BlockHot>() + size_of::<BlockCold>()) as u64 + BESIDE_RECORDS);
        let counts = config.disturb.model.disturbs();
        let wordlines =
            if counts { u64::from(g.wordlines()) * size_of::<Wordline>() as u64 } else { 0 };
        let tired = if counts { TiredBlocks::bytes(g.blocks) } else { 0 };
        let tracker = if counts && technique.needs.counters {
            SpaceSaving::bytes(g.blocks, technique.args(config).whole(&COUNTERS))
        } else {
            0
        };
        let monitors = (config.density.monitor * f64::from(g.blocks)) as u32;
        let streams = policy.ask("streams", |policy| policy.streams());
        let counts_pages = counts && streams.iter().any(|stream| stream.counts_pages);
        let pages = if counts_pages {
            PageCounters::bytes(g.blocks, monitors, g.pages_per_block)
        } else {
            0
        };
        Bytes(
            PageMap::bytes(g.logical_pages())
                + Contents::bytes(g.raw_pages(), g.pages_per_block)
                + Steady::bytes(g.blocks)
                + VictimIndex::bytes(g.blocks)
                + WornStripes::bytes(config)
                + Recoded::bytes(g.blocks, g.wordlines_per_block)
                + config.ecc.level_bytes(g.blocks).0
                + records
                + wordlines
                + tired
                + tracker
                + pages
                + policy.ask("memory", |policy| policy.memory()).0,
        )
    }
}
