//! Room on a sample: as much is free as on the sample's share of the larger drive.
//!
//! A drive keeps a few blocks free for moves and a few open, whatever its size. What they have room for is not written, and GC has that much less
//! to work with: next to nothing on a large drive, and much of the spare blocks of a small one. A sample has blocks for it beyond its share
//! (`beyond`), so that the rest is the larger drive's share. How much they hold at a time depends on which streams write. So a sample cleans by
//! pages: it cleans whenever that brings the pages which could be written nearer to their number on the larger drive.
//!
//! ```text
//! whole drive: 47,040 blocks, of which 2 are free and 32 half full: room for 18 blocks' worth of pages
//! sample 1/256: a share of 183.75 blocks, and 6.25 beyond it: it keeps room for 18 / 256 + 6.25 = 6.32 blocks' worth
//! two open blocks, half full, take 1 of that; five free ones are left
//! ```

use crate::base::geometry::Geometry;
use crate::config::{DriveConfig, PartOf};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::slots::Slots;

/// Where cleaning gains nothing, it is tried again after such a part of a block is written.
const PATIENCE: u32 = 16;

/// What a sample goes by.
pub(crate) struct Share {
    whole: PartOf,
    /// Pages of the blocks that it has beyond its share.
    beyond: f64,
    /// Pages that the last cleaning gained.
    gained: f64,
    /// Page programs of the drive from which on it looks again.
    look_at: u64,
}

impl Share {
    /// Of a resolved configuration; none of a whole drive.
    pub(super) fn of(config: &DriveConfig, geometry: &Geometry) -> Option<Self> {
        let whole = config.part_of.clone()?;
        let beyond = (f64::from(geometry.blocks) - whole.share()) * f64::from(geometry.pages_per_block);
        Some(Self { whole, beyond, gained: 0.0, look_at: 0 })
    }
}

impl Ftl {
    /// Cleans a sample where it has less room than its share of the larger drive.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a comparison, for every page that the host writes")]
    pub(crate) fn collect_in_share(&mut self, flash: &mut Flash, slots: &mut Slots) {
        if self.share.as_ref().is_some_and(|share| flash.seq() >= share.look_at) {
            self.keep_room(flash, slots);
        }
    }

    /// Blocks that a sample keeps free where none is open; none of a whole drive.
    pub(crate) fn blocks_free_in_share(&self, flash: &Flash) -> Option<u32> {
        let pages_per_block = flash.geometry.pages_per_block;
        Some((self.wanted_room(pages_per_block)? / f64::from(pages_per_block)).round() as u32)
    }

    #[cold]
    fn keep_room(&mut self, flash: &mut Flash, slots: &mut Slots) {
        let pages_per_block = flash.geometry.pages_per_block;
        loop {
            let room = self.room(flash);
            let Some(wanted) = self.wanted_room(pages_per_block) else { return };
            let Some(share) = &mut self.share else { return };
            // Cleaning goes from half of what it gains below to half of it above.
            let short = wanted - share.gained / 2.0 - room;
            if short <= 0.0 {
                share.look_at = flash.seq() + 1 + (-short) as u64;
                return;
            }
            let gained = if self.clean_one(flash, slots, 0) { self.room(flash) - room } else { 0.0 };
            if let Some(share) = &mut self.share {
                share.gained = gained.max(0.0);
                if gained <= 0.0 {
                    // Nothing is to be gained yet.
                    share.look_at = flash.seq() + u64::from(pages_per_block / PATIENCE).max(1);
                    return;
                }
            }
        }
    }

    /// Pages that free and open blocks have room for.
    fn room(&self, flash: &Flash) -> f64 {
        let free = self.free.total() * flash.geometry.pages_per_block;
        f64::from(free + self.streams.room_in_open(flash))
    }

    /// Pages that they are to have room for: the share of what the larger drive has, and the blocks beyond it.
    fn wanted_room(&self, pages_per_block: u32) -> Option<f64> {
        let Share { whole, beyond, .. } = self.share.as_ref()?;
        let of_whole = self.streams.room_on(whole, pages_per_block);
        Some(beyond + of_whole / f64::from(whole.of))
    }
}
