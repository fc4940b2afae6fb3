//! Room on a sample: as much is free as on the sample's share of the larger drive.
//!
//! A drive keeps a few blocks free for moves and a few open, whatever its size. What they have room
//! for is not written, and GC has that much less to work with: next to nothing on a large drive,
//! and much of the spare blocks of a small one. A sample has blocks for it beyond its share
//! (`beyond`), so that the rest is the larger drive's share. How much they hold at a time depends
//! on which streams write. So a sample cleans by pages: when the host, reclaim or refresh needs a
//! block, it cleans until as much can be written as leaves, in the mean until the next block of
//! that stream, the larger drive's room.
//!
//! A larger drive, too, cleans when they need blocks, as many as a stream is wide at once. What it
//! cleans together it keeps together.
//!
//! ```text
//! whole drive: 47,040 blocks, of which 2 are free and 32 half full: room for 18 blocks' worth of pages
//! sample 1/256: a share of 183.75 blocks, and 15.25 beyond it: room for 18 / 256 + 15.25 = 15.32 blocks' worth in the mean
//! the host's four open blocks take four blocks' worth between two cleanings: it cleans up to 17.32
//! ```

use crate::base::geometry::Geometry;
use crate::base::units::StreamId;
use crate::config::{DriveConfig, PartOf};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::slots::Slots;

/// What a sample goes by.
pub(crate) struct Share {
    whole: PartOf,
    /// Pages of the blocks that it has beyond its share.
    beyond: f64,
    /// Pages that the last cleaning gained.
    gained: f64,
}

impl Share {
    /// Of a resolved configuration; none of a whole drive.
    pub(super) fn of(config: &DriveConfig, geometry: &Geometry) -> Option<Self> {
        let whole = config.part_of.clone()?;
        let beyond =
            (f64::from(geometry.blocks) - whole.share()) * f64::from(geometry.pages_per_block);
        Some(Self { whole, beyond, gained: 0.0 })
    }
}

impl Ftl {
    /// Blocks that a sample keeps free where none is open; none of a whole drive.
    pub(crate) fn blocks_free_in_share(&self, flash: &Flash) -> Option<u32> {
        let pages_per_block = flash.geometry.pages_per_block;
        Some((self.wanted_room(pages_per_block)? / f64::from(pages_per_block)).round() as u32)
    }

    /// Cleans a sample of which a stream is about to open a block, until it has the room of its
    /// share of the larger drive.
    pub(super) fn keep_room(&mut self, flash: &mut Flash, slots: &mut Slots, stream: StreamId) {
        let pages_per_block = flash.geometry.pages_per_block;
        while let Some(wanted) = self.wanted_room(pages_per_block) {
            let room = self.room(flash);
            // Half of what the stream takes until it opens blocks again; and cleaning goes from
            // half of what it gains below to half of it above.
            let most =
                wanted + f64::from(self.streams.writes_between(stream, pages_per_block)) / 2.0;
            let gained = self.share.as_ref().map_or(0.0, |share| share.gained);
            if room + gained / 2.0 >= most || !self.clean_one(flash, slots, 0) {
                return;
            }
            let gained = self.room(flash) - room;
            if let Some(share) = &mut self.share {
                share.gained = gained.max(0.0);
            }
            if gained <= 0.0 {
                return;
            }
        }
    }

    /// Pages that free and open blocks have room for.
    fn room(&self, flash: &Flash) -> f64 {
        let free = self.free.total() * flash.geometry.pages_per_block;
        f64::from(free + self.streams.room_in_open(flash))
    }

    /// Pages that they are to have room for: the share of what the larger drive has, and the blocks
    /// beyond it.
    fn wanted_room(&self, pages_per_block: u32) -> Option<f64> {
        let Share { whole, beyond, .. } = self.share.as_ref()?;
        let of_whole = self.streams.room_on(whole, pages_per_block);
        Some(beyond + of_whole / f64::from(whole.of))
    }
}
