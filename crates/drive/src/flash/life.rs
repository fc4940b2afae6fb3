//! Time of a block between two erases, as the controller decides it: opening for a stream, closing,
//! and the notes that it takes.

use crate::base::latency::AccessLatency;
use crate::base::units::{BlockId, Ns, StreamId};
use crate::flash::Flash;
use crate::flash::block::{BlockState, PAGES_COUNTED, PROTECTED};
use crate::flash::count::PAGES;

impl Flash {
    /// Opens an erased block for a stream. The stream may want the reads of each page counted.
    /// `budget` is the hint of the data to be written.
    pub(crate) fn open(
        &mut self,
        block: BlockId,
        stream: StreamId,
        counts_pages: bool,
        budget: AccessLatency,
    ) {
        let hot = &mut self.hot[block.index()];
        debug_assert!(hot.state == BlockState::Free && hot.write_ptr == 0);
        (hot.state, hot.stream) = (BlockState::Open, stream);
        self.cold[block.index()].budget = budget;
        self.cold[block.index()].programmed_at = self.now.cast_signed();
        if counts_pages && self.counters == PAGES {
            hot.flags |= PAGES_COUNTED;
            self.page_counters.begin(block);
        }
        self.touch(block);
    }

    /// Sets the age of a block's oldest page at time 0.
    pub(crate) fn set_age(&mut self, block: BlockId, age: Ns) {
        self.cold[block.index()].programmed_at = -age.cast_signed();
        self.ask_model_when_older(block);
    }

    /// Closes a block: nothing more will be written to it.
    pub(crate) fn close(&mut self, block: BlockId) {
        self.set_state(block, BlockState::Closed);
        self.cold[block.index()].closed_at = self.erases_total;
    }

    pub(crate) fn set_state(&mut self, block: BlockId, state: BlockState) {
        self.hot[block.index()].state = state;
    }

    pub(crate) fn set_flags(&mut self, block: BlockId, flags: u8) {
        self.hot[block.index()].flags |= flags;
    }

    pub(crate) fn clear_flags(&mut self, block: BlockId, flags: u8) {
        self.hot[block.index()].flags &= !flags;
    }

    /// Protects the block for a number of erases of the drive: it is not a victim while there is
    /// another.
    pub(crate) fn protect(&mut self, block: BlockId, erases: u32) {
        self.set_flags(block, PROTECTED);
        self.cold[block.index()].protected_until = self.erases_total + u64::from(erases);
    }

    pub(crate) fn is_protected(&self, block: BlockId) -> bool {
        self.hot[block.index()].has(PROTECTED)
            && self.erases_total < self.cold[block.index()].protected_until
    }
}
