//! A block used again without an erase: what is valid in it is written once more, to pages of the same block that hold nothing yet.
//! Data that was just written has endured nothing, so the block's reads begin anew for it.
//!
//! What a wordline has endured counts from its first page. So the new filling begins on a wordline of its own, and where the old one ends
//! within a wordline, that is completed first, with copies of a page that moves on at once.
//!
//! ```text
//! TLC, 12 pages, A to D valid in pages 0 to 3:     A B C | D . . | . . . | . . .
//! pages 4 and 5 complete the wordline, with D:     A B C | - - D | . . . | . . .
//! all move to the pages from 6 on:                 - - - | - - - | A B C | D . .
//! ```

use crate::base::geometry::Geometry;
use crate::base::page_set::PageSet;
use crate::base::units::{BlockId, Cause, Lpn, Ppn};
use crate::bugs::Bug;
use crate::drive::Drive;
use crate::flash::block::{BlockHot, BlockState};
use crate::ftl::mover::{Job, Plan};
use crate::ftl::place::RECLAIM;
use crate::watch::observer::Origin;

/// The first page of a block's next filling, where what is valid in it fits behind what it was programmed with.
pub(crate) fn next_filling(geometry: &Geometry, hot: &BlockHot) -> Option<u32> {
    let first = u32::from(hot.write_ptr).next_multiple_of(geometry.cell.bits());
    (hot.mode == 0 && first + u32::from(hot.valid) <= geometry.pages_per_block).then_some(first)
}

impl Drive {
    /// How to write a block's pages again within it. All of it goes elsewhere where there is no room ([`crate::slots::reclaim::View::next_filling`]).
    pub(crate) fn plan_recycling(&self, block: BlockId) -> Plan {
        let Some(first) = next_filling(&self.geometry, &self.flash.hot[block as usize]) else { return Plan::whole(RECLAIM) };
        let first = if self.bugs.has(Bug::RecycleSharesWordline) { self.flash.hot[block as usize].write_ptr.into() } else { first };
        let mut old = PageSet::none(self.geometry.pages_per_block);
        old.insert(0, first);
        Plan::within(old, first)
    }

    /// One page of such a job; `page` is the first that is still to move.
    pub(crate) fn recycle_page(&mut self, job: &mut Job, page: u32, first: u32) {
        if u32::from(self.flash.hot[job.block as usize].write_ptr) >= first {
            job.cursor = page + 1;
            self.move_page(job, page, None);
        } else {
            let last = self.flash.contents.last_valid(job.block).expect("a page is still to move");
            self.move_page(job, last, None);
        }
    }

    /// Writes a page at the next place of a block that is being moved within itself.
    pub(crate) fn place_within(&mut self, block: BlockId, lpn: Lpn, origin: Origin, cause: Cause) -> Ppn {
        let page = u32::from(self.flash.hot[block as usize].write_ptr);
        // It is no stream's: open for this program only.
        self.flash.set_state(block, BlockState::Open);
        self.program(block, page, lpn, origin, cause);
        self.flash.set_state(block, BlockState::Closed);
        self.geometry.first_page(block) + page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DriveConfig;

    fn geometry(wordlines: u32, cell: &str) -> Geometry {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = {wordlines}, cell = "{cell}", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.4 }}
            "#
        );
        Geometry::new(&toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap())
    }

    /// First pages of the fillings after the first, of a block that was closed with so many pages, all of which stay valid.
    fn fillings(geometry: &Geometry, pages: u16) -> Vec<u32> {
        let mut hot = BlockHot { write_ptr: pages, valid: pages, ..BlockHot::ERASED };
        let next = || {
            let first = next_filling(geometry, &hot)?;
            hot.write_ptr = first as u16 + pages;
            Some(first)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_filling_begins_on_a_wordline_of_its_own() {
        assert_eq!(fillings(&geometry(64, "tlc"), 30), [30, 60, 90, 120, 150], "30 of 192 pages: five uses more");
        assert_eq!(fillings(&geometry(48, "qlc"), 30), [32, 64, 96, 128, 160], "two pages of each filling's last wordline are lost");
        assert_eq!(fillings(&geometry(4, "tlc"), 4), [6], "the drawing");
        assert_eq!(fillings(&geometry(4, "tlc"), 12), []);
    }
}
