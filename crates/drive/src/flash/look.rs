//! Views of the flash from outside. The records are written only in this folder.

use crate::base::codings::FULL;
use crate::base::dose::Quarters;
use crate::base::mem::prefetch;
use crate::base::metrics::FlashCounts;
use crate::base::units::{BlockId, PageInBlock, Ppn, WordlineInBlock};
use crate::disturb::ErrorModel;
use crate::disturb::table::LimitTable;
use crate::flash::Flash;
use crate::flash::block::{BlockCold, BlockHot};
use crate::flash::count::CODED;
use crate::flash::draws::Draws;

impl Flash {
    /// Returns the part of a block's record that reads use.
    #[inline]
    pub(crate) fn hot(&self, block: BlockId) -> &BlockHot {
        &self.hot[block.index()]
    }

    /// Returns the rest of a block's record.
    #[inline]
    pub(crate) fn cold(&self, block: BlockId) -> &BlockCold {
        &self.cold[block.index()]
    }

    /// Returns the starting P/E count of a block.
    pub(crate) fn first_pec(&self, block: BlockId) -> u32 {
        self.first_pec + self.more_pec.get(block.index()).copied().unwrap_or(0)
    }

    /// Returns whether blocks started with different wear.
    pub(crate) fn is_worn_unevenly(&self) -> bool {
        !self.more_pec.is_empty()
    }

    /// Returns the records of all blocks.
    pub(crate) fn blocks(&self) -> (&[BlockHot], &[BlockCold]) {
        (&self.hot, &self.cold)
    }

    /// Returns the coding of a page's cells, as far as it matters for the time of a read.
    #[inline]
    pub(crate) fn read_coding(&self, ppn: Ppn) -> u8 {
        if !self.recoded.is_read_otherwise {
            return FULL;
        }
        let block = self.geometry.block_of(ppn);
        self.coding_of(block, self.geometry.wordline_in(block, ppn))
    }

    /// Returns the coding of a wordline, numbered within its block.
    #[cold]
    pub(crate) fn coding_of(&self, block: BlockId, wordline: WordlineInBlock) -> u8 {
        match self.recoded.coding(block, wordline) {
            FULL => self.hot[block.index()].mode,
            own => own,
        }
    }

    /// Returns the dose of reading a page.
    #[inline]
    pub(crate) fn dose_of(&self, ppn: Ppn) -> Quarters {
        self.doses_of(ppn)[self.geometry.kind_of(ppn) as usize & 3]
    }

    /// Returns the dose of reading a page of this page's wordline, by page kind.
    #[inline]
    pub(crate) fn doses_of(&self, ppn: Ppn) -> &[Quarters; 4] {
        if self.counted == CODED { self.doses_in_coding(ppn) } else { &self.dose }
    }

    #[inline(never)]
    fn doses_in_coding(&self, ppn: Ppn) -> &[Quarters; 4] {
        &self.dose_in[usize::from(self.read_coding(ppn))]
    }

    /// Returns the page of a block that is programmed next.
    #[inline]
    pub(crate) fn next_page(&self, block: BlockId) -> PageInBlock {
        let hot = self.hot(block);
        self.geometry.next_kept(hot.written_to(), hot.mode)
    }

    /// Returns the read-disturb limits by group and P/E count, if reads disturb data.
    pub(crate) fn limits(&self) -> Option<&LimitTable> {
        self.model.as_ref().map(|model| &model.table)
    }

    /// Returns the number of pages that the modes of a domain's blocks and wordlines take away now.
    pub(crate) fn pages_away(&self, domain: usize) -> u32 {
        self.pages_away[domain]
    }

    /// Draws retries with this seed from now on.
    pub(crate) fn draw_retries(&mut self, seed: u64) {
        self.draws = Draws::new(self.model.as_deref().and_then(ErrorModel::chances), Some(seed));
    }

    /// Begins new counts of operations, and begins to log work.
    pub(crate) fn begin_measurement(&mut self) {
        self.counts = FlashCounts::default();
        if let Some(erasures) = &mut self.erasures {
            erasures.clear();
        }
        self.draws.begin_measurement();
        self.begin_service();
        self.ops.clear();
    }

    /// Begins or ends the logging of work, and returns whether work was logged before.
    pub(crate) fn set_timed(&mut self, timed: bool) -> bool {
        std::mem::replace(&mut self.timed, timed)
    }

    /// Prefetches the memory that invalidating a page uses.
    #[inline]
    pub(crate) fn prefetch_invalidation(&self, ppn: Ppn) -> BlockId {
        let block = self.geometry.block_of(ppn);
        prefetch(&self.hot, block.index());
        self.contents.prefetch_valid(block, self.geometry.page_in(block, ppn));
        self.prefetch_bulk(block, ppn);
        block
    }

    /// Sets the read count of a block.
    #[cfg(test)]
    pub(crate) fn pretend_reads(&mut self, block: BlockId, reads: crate::base::dose::Quarters) {
        self.hot[block.index()].reads = reads;
    }

    /// Sets the P/E count of a block.
    #[cfg(test)]
    pub(crate) fn pretend_cycles(&mut self, block: BlockId, pec: u32) {
        self.cold[block.index()].pec = pec;
    }
}
