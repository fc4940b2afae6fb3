//! Passes over the whole drive. A pass is due whenever the host has read a fixed number of pages
//! per block. It moves all blocks that were written before it was due, at most one per die at a
//! time.
//!
//! Only blocks have alarms, so their alarms must also start the passes of the drive. A block's next
//! alarm comes after its even share of the host reads that are left until the next pass. If reads
//! are spread evenly, the alarms come when the pass is due. Blocks that are read more often have
//! alarms before that time. During a pass, every alarm starts one move: of its own block, or of the
//! next block in turn.
//!
//! ```text
//! 30 blocks, 20 reads each: pass 1 begins after 600 reads of the host, pass 2 after 1,200
//! one block read alone: it rings after 2 reads (an eighth of 20), 4, .. 542, and then at every read: 328 times by read 599
//! ```

use super::deadline;
use vpass_drive::api::reclaim::{Action, Rewrite, View};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Reads};

/// Divisor that bounds the time between alarms. A block has an alarm at least every `reads /
/// LATEST` reads. If the host begins to read other blocks, a pass may be late by this share.
const LATEST: u32 = 8;

pub(super) struct Passes {
    /// Number of host reads between two passes.
    every: u64,
    blocks: u32,
    /// Largest number of a block's reads between two of its alarms.
    longest: u64,
    /// Largest number of moves at the same time.
    at_once: usize,
    /// Number of passes that were due by the time each block was written.
    written_in: Vec<u32>,
    /// Number of the last pass that has begun. `next` is the next block that this pass will move.
    begun: u32,
    next: u32,
    /// Blocks whose moves may not have ended yet.
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

    /// Returns the number of passes that have begun.
    pub(super) fn begun(&self) -> u64 {
        self.begun.into()
    }

    /// Returns the number of passes that are due by now.
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
            // A job already moves the block. The request only gives this job a deadline.
            Some(block).filter(|block| self.is_of_before(view, *block))
        };
        out.extend(moves.map(|block| Rewrite::all(block).into()));
        if moves == Some(block) {
            return deadline(view, block);
        }
        self.next_look(view, view.reads(block))
    }

    /// Returns the block to move now: `block` if its data is from before the pass, otherwise the
    /// next block in turn. Returns `None` if no further move may begin.
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

    /// Returns whether a block holds data from before the current pass.
    fn is_of_before(&self, view: &View, block: BlockId) -> bool {
        self.written_in[block.index()] < self.begun && view.valid_pages(block) > 0
    }

    /// Returns the next alarm of a block that has served `now` reads.
    fn next_look(&self, view: &View, now: Reads) -> Reads {
        let is_under_way = self.next < self.blocks || self.due(view) > self.begun;
        let left = self.every - view.host_reads() % self.every;
        let share = if is_under_way { 1 } else { left / u64::from(self.blocks) };
        Reads(now.0.saturating_add(share.clamp(1, self.longest) as u32))
    }
}
