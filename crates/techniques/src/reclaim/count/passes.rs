//! Passes over the whole drive: when the host has read so many pages per block, all blocks that
//! hold data from before move, one per die at a time.
//!
//! Nothing rings for a drive, so blocks ring for it. Each alarm is the block's even share of the
//! reads that are left until the next pass. If reads are spread evenly, the blocks ring when the
//! pass is due. Blocks that are read more ring often before that. During a pass, every read of a
//! block that rings begins the move of that block or of the next in turn.
//!
//! ```text
//! 30 blocks, 20 reads each: pass 1 begins after 600 reads of the host, pass 2 after 1,200
//! one block read alone: it rings after 2 reads (an eighth of 20), 4, .. 542, and then at every read: 328 times by read 599
//! ```

use super::deadline;
use vpass_drive::api::reclaim::{Action, Rewrite, View};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Reads};

/// A block rings when it has been read this part of the reads of a pass, at the latest. Reads that
/// leave the blocks that rang for others may delay a pass by this part.
const LATEST: u32 = 8;

pub(super) struct Passes {
    /// Host reads from one pass to the next.
    every: u64,
    blocks: u32,
    /// The longest wait of a block, in its own reads.
    longest: u64,
    /// Moves at a time.
    at_once: usize,
    /// Passes that were due when each block was written.
    written_in: Vec<u32>,
    /// The last pass that has begun, and the block that is next in it.
    begun: u32,
    next: u32,
    /// Moves that may not have ended yet.
    moving: Vec<BlockId>,
}

impl Passes {
    pub(super) fn new(geometry: &Geometry, reads: u32) -> Self {
        Self {
            every: u64::from(reads) * u64::from(geometry.blocks),
            blocks: geometry.blocks,
            longest: u64::from((reads / LATEST).max(1)),
            at_once: geometry.dies() as usize,
            written_in: vec![0; geometry.blocks as usize],
            begun: 0,
            next: geometry.blocks,
            moving: vec![],
        }
    }

    /// Passes so far.
    pub(super) fn begun(&self) -> u64 {
        self.begun.into()
    }

    /// Passes that are due by now.
    fn due(&self, view: &View) -> u32 {
        (view.host_reads() / self.every).min(u32::MAX.into()) as u32
    }

    pub(super) fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.written_in[block.index()] = self.due(view);
        self.next_look(view, Reads(0))
    }

    pub(super) fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let pass = self.due(view);
        if pass > self.begun {
            (self.begun, self.next) = (pass, 0);
        }
        let moves = if view.is_idle(block) {
            self.begin_one(view, block)
        } else {
            // Somebody is moving it already, and has to be done in time.
            Some(block).filter(|block| self.is_of_before(view, *block))
        };
        out.extend(moves.map(|block| Rewrite::all(block).into()));
        if moves == Some(block) {
            return deadline(view, block);
        }
        self.next_look(view, view.reads(block))
    }

    /// The block that moves next, if one may: the one at hand, or else the next in turn.
    fn begin_one(&mut self, view: &View, block: BlockId) -> Option<BlockId> {
        self.moving.retain(|block| !view.is_idle(*block));
        if self.moving.len() >= self.at_once {
            return None;
        }
        let moves = if self.is_of_before(view, block) {
            Some(block)
        } else {
            let ids = (self.next..self.blocks).map(BlockId::new);
            let waits = |block: &BlockId| self.is_of_before(view, *block) && view.is_idle(*block);
            let found = ids.into_iter().find(waits);
            self.next = found.map_or(self.blocks, |block| block.number() + 1);
            found
        };
        self.moving.extend(moves);
        moves
    }

    /// Whether a block holds data from before the pass.
    fn is_of_before(&self, view: &View, block: BlockId) -> bool {
        self.written_in[block.index()] < self.begun && view.valid_pages(block) > 0
    }

    /// The next alarm of a block that has served so many reads.
    fn next_look(&self, view: &View, now: Reads) -> Reads {
        let is_under_way = self.next < self.blocks || self.due(view) > self.begun;
        let left = self.every - view.host_reads() % self.every;
        let share = if is_under_way { 1 } else { left / u64::from(self.blocks) };
        Reads(now.0.saturating_add(share.clamp(1, self.longest) as u32))
    }
}
