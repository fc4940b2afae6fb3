//! The level of retries that each block's reads begin with, where that is the one that worked last
//! (`ecc.start_from_last`): a byte a block.
//!
//! A level only rises until the block's erase: data does not heal, so the page for which it worked
//! needs as much at its next read. A read of a better page begins there as well, and takes what a
//! sensing of that level takes.

use crate::base::units::BlockId;
use crate::config::EccConfig;

/// By block; nothing where every read begins with the first level.
#[derive(Default)]
pub(super) struct Levels {
    worked: Vec<u8>,
    /// The level with which the last sensing out of the batch path began.
    pub(super) began_at: u8,
}

impl Levels {
    /// Those of erased flash.
    pub(super) fn new(ecc: &EccConfig, blocks: u32) -> Self {
        Self { worked: vec![0; ecc.level_bytes(blocks).0 as usize], began_at: 0 }
    }

    /// Whether reads begin with any other level than the first.
    pub(super) fn are_kept(&self) -> bool {
        !self.worked.is_empty()
    }

    /// A read of a block begins: with which level.
    pub(super) fn begin(&mut self, block: BlockId) -> u8 {
        self.began_at = self.of(block);
        self.began_at
    }

    /// The level that reads of a block begin with.
    pub(super) fn of(&self, block: BlockId) -> u8 {
        self.worked.get(block.index()).copied().unwrap_or(0)
    }

    /// It was decoded at this level.
    pub(super) fn worked(&mut self, block: BlockId, level: u8) {
        if let Some(worked) = self.worked.get_mut(block.index()) {
            *worked = level;
        }
    }

    /// A block is erased.
    pub(super) fn forget(&mut self, block: BlockId) {
        self.worked(block, 0);
    }
}
