//! Garbage collection: chooses the next block to clean. This file is the interface of the GC
//! policies.

pub mod victims;

use super::card::{Card, InSlot};
use crate::api::gc::victims::Victims;
use crate::base::units::BlockId;
use crate::config::{DriveConfig, Params};

/// Blocks from which a GC policy may pick, and facts about these blocks.
pub struct Candidates<'a> {
    /// Closed blocks, listed by their number of valid pages. The number is scaled to a block of
    /// full density.
    pub index: Victims<'a>,
    /// Number of pages of a full-density block.
    pub pages_per_block: u32,
    /// Whether a block may be picked although all its pages are valid, so that cleaning it gains no
    /// space.
    pub full_ones: bool,
    /// Number of page programs since the drive was made, used as a clock.
    pub clock: u32,
    /// Function that returns whether a block may be picked.
    pub allowed: &'a dyn Fn(BlockId) -> bool,
    /// Function that returns the effective wear of a block, in thousandths of a P/E cycle.
    pub wear: &'a dyn Fn(BlockId) -> u64,
}

impl Candidates<'_> {
    /// Returns the lists from which a policy may pick. The list with the fewest valid pages per
    /// block comes first.
    pub fn lists(&self) -> impl Iterator<Item = u32> + '_ {
        self.index.buckets().take_while(|valid| self.may_take_from(*valid))
    }

    /// Returns whether a policy may pick this block.
    pub(crate) fn has(&self, block: BlockId) -> bool {
        self.index.bucket_of(block).is_some_and(|valid| self.may_take_from(valid))
            && (self.allowed)(block)
    }

    fn may_take_from(&self, valid: u32) -> bool {
        self.full_ones || valid < self.pages_per_block
    }
}

/// Policy that picks victims for garbage collection. Closed blocks are sorted by the share of their
/// pages that is valid. The share makes blocks of low and of full density comparable.
pub trait GcPolicy: Send {
    /// Returns the block to clean.
    fn pick(&mut self, among: &Candidates) -> Option<BlockId>;
}

impl InSlot for dyn GcPolicy {
    const TABLE: &'static str = "gc";

    fn given(config: &DriveConfig) -> &Params {
        &config.gc.params
    }

    fn given_mut(config: &mut DriveConfig) -> &mut Params {
        &mut config.gc.params
    }
}

/// Card of a GC policy.
pub type GcTechnique = Card<dyn GcPolicy>;
