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
}

impl Levels {
    /// Creates the levels of erased flash.
    pub(super) fn new(ecc: &EccConfig, blocks: u32) -> Self {
        Self {
            worked: vec![0; ecc.level_bytes(blocks).0 as usize],
            kept_from: ecc.slow_retries as u8,
        }
    }

    /// Returns whether reads may begin with a level above 0.
    pub(super) fn are_kept(&self) -> bool {
        !self.worked.is_empty()
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

#[cfg(test)]
mod tests {
    use crate::base::units::{Cause, Lpn, Ppn};
    use crate::testing::{IDLE, drive};

    /// No level decodes a page that a merge corrupted. So the level that its read reached is not
    /// used as the first level of the block's reads.
    #[test]
    fn a_corrupted_page_teaches_no_level() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 4, cell = "tlc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5, write_buffer = 0 }
            start = { fill = 0.0 }
            disturb = { model = "count", table = [{ pec = 0, limit = [100.0] }] }
            error = { model = "powerlaw", e = 0.0045 }
            ecc = { cap = [0.0085, 0.0125], retry_decode_us = [20], start_from_last = true }
        "#;
        let mut drive = drive(text, &IDLE);
        Lpn::range(0..12).for_each(|lpn| drive.write_page(lpn, u64::MAX));
        drive.drain_buffer();
        (0..110).for_each(|_| drive.flash.sense_for_nobody(Ppn::new(1), Cause::Host));
        let mut level = |is_corrupted| {
            let (lpn, ppn) = (Lpn::new(1), Ppn::new(1));
            drive.flash.verify(lpn, ppn, Cause::Refresh, false, is_corrupted).level
        };
        assert_eq!([true, false, false].map(&mut level), [0, 0, 1]);
    }
}
