//! Free space of a sample: its share of the free space of the larger drive.
//!
//! A drive of any size keeps a few blocks free for moves and a few open. GC cannot use the empty
//! pages in these blocks. On a large drive, these pages are a negligible part of the spare blocks,
//! but on a small drive they are a large part. So a sample has extra blocks for them (`beyond`),
//! and its other blocks are its share of the larger drive.
//!
//! The number of empty pages depends on the streams that write. So a sample cleans by pages. When
//! the host, reclaim or refresh needs a block, the sample cleans until enough pages are empty. On
//! average until the stream's next block, the empty pages are then the share of those on the larger
//! drive, plus those of the extra blocks.
//!
//! A larger drive also cleans when blocks are needed, as many at once as a stream is wide. It
//! cleans blocks together and keeps the pages together.
//!
//! ```text
//! whole drive: 47,040 blocks, of which 2 are free and 32 half full: space for the pages of 18 blocks
//! sample 1/256: a share of 183.75 blocks, and 15.25 beyond it: on average, space for the pages of 18 / 256 + 15.25 = 15.32 blocks
//! the host's four open blocks take the pages of four blocks between two cleanings: it cleans up to 17.32 blocks
//! ```

use crate::api::Context;
use crate::base::geometry::Geometry;
use crate::base::units::StreamId;
use crate::config::{DriveConfig, PartOf};
use crate::flash::Flash;
use crate::ftl::Ftl;

/// State of a sample.
pub(crate) struct Share {
    whole: PartOf,
    /// Number of pages of the blocks beyond the share.
    beyond: f64,
    /// Number of pages that the last cleaning gained.
    gained: f64,
}

impl Share {
    /// Creates the state for a resolved configuration; `None` for a whole drive.
    pub(super) fn of(config: &DriveConfig, geometry: &Geometry) -> Option<Self> {
        let whole = config.part_of.clone()?;
        let beyond =
            (f64::from(geometry.blocks) - whole.share()) * f64::from(geometry.pages_per_block);
        Some(Self { whole, beyond, gained: 0.0 })
    }
}

impl Ftl {
    /// Returns the number of blocks that a sample keeps free if no block is open; `None` for a
    /// whole drive.
    pub(crate) fn blocks_free_in_share(&self, flash: &Flash) -> Option<u32> {
        let pages_per_block = flash.geometry.pages_per_block;
        Some((self.wanted_room(pages_per_block)? / f64::from(pages_per_block)).round() as u32)
    }

    /// Cleans a sample until it has the space of its share of the larger drive. A stream will open
    /// a block.
    pub(super) fn keep_room(&mut self, cx: &mut Context, stream: StreamId) {
        let pages_per_block = cx.flash.geometry.pages_per_block;
        while let Some(wanted) = self.wanted_room(pages_per_block) {
            let room = self.room(cx.flash);
            // The target is the wanted number of empty pages, plus half of the pages that the
            // stream takes until it opens blocks again. Cleaning begins if fewer pages are empty
            // than the target minus half of the gain of one cleaning. It ends above the target by
            // about the same number.
            let most =
                wanted + f64::from(self.streams.writes_between(stream, pages_per_block)) / 2.0;
            let gained = self.share.as_ref().map_or(0.0, |share| share.gained);
            if room + gained / 2.0 >= most || !self.clean_one(cx, 0) {
                return;
            }
            let gained = self.room(cx.flash) - room;
            if let Some(share) = &mut self.share {
                share.gained = gained.max(0.0);
            }
            if gained <= 0.0 {
                return;
            }
        }
    }

    /// Returns the number of empty pages in free and open blocks.
    fn room(&self, flash: &Flash) -> f64 {
        let free = self.free.total() * flash.geometry.pages_per_block;
        f64::from(free + self.streams.room_in_open(flash))
    }

    /// Returns the wanted number of empty pages: the share of the larger drive's empty pages, and
    /// the blocks beyond the share.
    fn wanted_room(&self, pages_per_block: u32) -> Option<f64> {
        let Share { whole, beyond, .. } = self.share.as_ref()?;
        let of_whole = self.streams.room_on(whole, pages_per_block);
        Some(beyond + of_whole / f64::from(whole.of))
    }
}
