//! Level that each block's reads begin with, if this is the level that worked last
//! (`ecc.start_from_last`): one byte per block.
//!
//! Until the block's erase, its level only rises. Data does not heal, so the page for which a level
//! worked needs this level at its next read, too. A read of a better page also begins there, and
//! takes as long as a sensing at this level.
//!
//! With `ecc.slow_retries`, only the levels from this number on are kept. A block is then slow as a
//! whole, or not at all.

use crate::base::units::BlockId;
use crate::config::EccConfig;

/// Level by block; empty if every read begins with level 0.
#[derive(Default)]
pub(super) struct Levels {
    worked: Vec<u8>,
    /// Lowest level that is kept.
    kept_from: u8,
    /// Level with which the last sensing outside the batch path began.
    pub(super) began_at: u8,
}

impl Levels {
    /// Creates the levels of erased flash.
    pub(super) fn new(ecc: &EccConfig, blocks: u32) -> Self {
        Self {
            worked: vec![0; ecc.level_bytes(blocks).0 as usize],
            kept_from: ecc.slow_retries as u8,
            began_at: 0,
        }
    }

    /// Returns whether reads may begin with a level above 0.
    pub(super) fn are_kept(&self) -> bool {
        !self.worked.is_empty()
    }

    /// Begins a read of a block, and returns the level that it begins with.
    pub(super) fn begin(&mut self, block: BlockId) -> u8 {
        self.began_at = self.of(block);
        self.began_at
    }

    /// Returns the level that reads of a block begin with.
    pub(super) fn of(&self, block: BlockId) -> u8 {
        self.worked.get(block.index()).copied().unwrap_or(0)
    }

    /// Records the level at which a read of a block was decoded.
    pub(super) fn worked(&mut self, block: BlockId, level: u8) {
        if let Some(worked) = self.worked.get_mut(block.index())
            && (level >= self.kept_from)
        {
            *worked = level;
        }
    }

    /// Resets the level of a block at its erase.
    pub(super) fn forget(&mut self, block: BlockId) {
        if let Some(worked) = self.worked.get_mut(block.index()) {
            *worked = 0;
        }
    }
}
