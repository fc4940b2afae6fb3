//! What a policy asks for. The drive carries it out, or does the safest thing near it.

use crate::base::page_set::PageSet;
use crate::base::units::{BlockId, StreamId};

/// What a policy asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Move all valid data of the block to the reclaim stream and erase it.
    Relocate {
        /// The block.
        block: BlockId,
    },
    /// Move these of its valid pages to the reclaim stream, and erase the block if none is left. An open block is closed first.
    /// A block that keeps data asks its policy again at its next read.
    RelocatePages {
        /// The block.
        block: BlockId,
        /// Pages to move; those without current data are passed over.
        pages: PageSet,
    },
    /// Move all valid data of the block, these pages to one stream and the others to another, and erase it.
    Divide {
        /// The block.
        block: BlockId,
        /// Pages to keep apart; those without current data are passed over.
        marked: PageSet,
        /// Where they go.
        to: StreamId,
        /// Where the others go.
        rest: StreamId,
    },
    /// Sense these wordlines of the block for their errors, in one piece, before anything else. [`super::Policy::probed`] is told what was found,
    /// and gives the next alarm.
    Probe {
        /// The block.
        block: BlockId,
        /// Wordlines, numbered within the block, that hold data.
        wordlines: Vec<u32>,
    },
    /// Write its valid pages again within the block, behind what it was programmed with; an open block is closed first. The pages
    /// have then endured nothing but what `disturb.preprogram_weight` says. Where a wordline would be shared with older data it is
    /// completed first, so that some pages may be programmed twice; each is read once. The block's policy is asked at its next
    /// read. Where [`super::View::next_filling`] says that there is no room, it relocates.
    Recycle {
        /// The block.
        block: BlockId,
    },
    /// Make guard levels in a block of full density, in place: its valid pages of the most significant kind move to `backup`, then each
    /// wordline is read whole and merged. Its limits are then those of mode 1; what it has endured stays, and its policy is asked at
    /// its next read. The job reads each page once and each of the most significant kind twice; that its limits grow by enough to bear
    /// this and the reads of its next job is for the policy to see. An open block is closed first. Where
    /// that cannot be (cells of one bit, or [`super::View::can_spare`] says no) all of its data moves to `backup`, and it is erased.
    Reprogram {
        /// The block.
        block: BlockId,
        /// Where pages go that it can hold no longer.
        backup: StreamId,
    },
    /// Make guard levels in some wordlines of a block of full density, in place: their valid pages of the most significant kind move to the
    /// reclaim stream, and `pages` with them; then each of the wordlines that still holds data is read whole and merged. Its limits are those
    /// of mode 1 from then on; what it has endured stays, and the block's policy is asked at its next read. An open block is closed
    /// first. All pages of a wordline move that cannot be merged: not programmed whole, merged before, of one bit a cell, or none that
    /// [`super::View::spare_pages`] has room for. Where no data is left, the block is erased.
    ReprogramWordlines {
        /// The block.
        block: BlockId,
        /// Wordlines to merge.
        wordlines: PageSet,
        /// Pages to move besides.
        pages: PageSet,
    },
}

impl Action {
    /// The block it is about.
    pub(crate) fn block(&self) -> BlockId {
        match self {
            Self::Relocate { block }
            | Self::RelocatePages { block, .. }
            | Self::Divide { block, .. }
            | Self::Probe { block, .. }
            | Self::Recycle { block }
            | Self::Reprogram { block, .. }
            | Self::ReprogramWordlines { block, .. } => *block,
        }
    }
}
