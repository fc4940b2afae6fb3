//! What may be seen of the flash from outside. The records are written in this folder only.

use crate::base::codings::FULL;
use crate::base::dose::Quarters;
use crate::base::mem::prefetch;
use crate::base::metrics::FlashCounts;
use crate::base::units::{BlockId, PageInBlock, Ppn, Seq, WordlineInBlock};
use crate::bugs::Bugs;
use crate::disturb::ErrorModel;
use crate::disturb::table::LimitTable;
use crate::flash::Flash;
use crate::flash::block::{BlockCold, BlockHot, Wordline};
use crate::flash::contents::Contents;
use crate::flash::count::CODED;
use crate::flash::count::page_counters::PageCounters;
use crate::flash::count::space_saving::SpaceSaving;
use crate::flash::draws::Draws;
use crate::flash::recoded::Recoded;

impl Flash {
    /// The part of a block's record that reads touch.
    #[inline]
    pub(crate) fn hot(&self, block: BlockId) -> &BlockHot {
        &self.hot[block.index()]
    }

    /// The rest of it.
    #[inline]
    pub(crate) fn cold(&self, block: BlockId) -> &BlockCold {
        &self.cold[block.index()]
    }

    /// P/E cycles with which a block began.
    pub(crate) fn first_pec(&self, block: BlockId) -> u32 {
        self.first_pec + self.more_pec.get(block.index()).copied().unwrap_or(0)
    }

    /// Whether blocks began with different wear.
    pub(crate) fn is_worn_unevenly(&self) -> bool {
        !self.more_pec.is_empty()
    }

    /// The records of all blocks.
    pub(crate) fn blocks(&self) -> (&[BlockHot], &[BlockCold]) {
        (&self.hot, &self.cold)
    }

    /// The records of all wordlines; none where no error model counts them.
    pub(crate) fn wordlines(&self) -> &[Wordline] {
        &self.wordlines
    }

    /// Whose data each page holds, and which pages are valid.
    #[inline]
    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    pub(crate) fn recoded(&self) -> &Recoded {
        &self.recoded
    }

    /// The coding of a page's cells, as far as it matters for how long a read takes.
    #[inline]
    pub(crate) fn read_coding(&self, ppn: Ppn) -> u8 {
        if !self.recoded.is_read_otherwise {
            return FULL;
        }
        let block = self.geometry.block_of(ppn);
        self.coding_of(block, self.geometry.wordline_in(block, ppn))
    }

    /// The coding of a wordline, numbered within its block.
    #[cold]
    pub(crate) fn coding_of(&self, block: BlockId, wordline: WordlineInBlock) -> u8 {
        match self.recoded.coding(block, wordline) {
            FULL => self.hot[block.index()].mode,
            own => own,
        }
    }

    pub(crate) fn tracker(&self) -> &SpaceSaving {
        &self.tracker
    }

    pub(crate) fn page_counters(&self) -> &PageCounters {
        &self.page_counters
    }

    /// What a sensing counts, as the read path is compiled for it: a number of
    /// [`crate::flash::count`].
    #[inline]
    pub(crate) fn counted(&self) -> u8 {
        self.counted
    }

    /// Dose of reading a page.
    #[inline]
    pub(crate) fn dose_of(&self, ppn: Ppn) -> Quarters {
        self.doses_of(ppn)[self.geometry.kind_of(ppn) as usize & 3]
    }

    /// The same by page kind, of a page's wordline.
    #[inline]
    pub(crate) fn doses_of(&self, ppn: Ppn) -> &[Quarters; 4] {
        if self.counted == CODED { self.doses_in_coding(ppn) } else { &self.dose }
    }

    #[inline(never)]
    fn doses_in_coding(&self, ppn: Ppn) -> &[Quarters; 4] {
        &self.dose_in[usize::from(self.read_coding(ppn))]
    }

    /// Whether reads disturb anything.
    pub(crate) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// The page of a block that is programmed next.
    #[inline]
    pub(crate) fn next_page(&self, block: BlockId) -> PageInBlock {
        let hot = self.hot(block);
        self.geometry.next_kept(hot.written_to(), hot.mode)
    }

    /// Read-disturb limits by group and P/E count, where the error model has such.
    pub(crate) fn limits(&self) -> Option<&LimitTable> {
        self.model.as_deref().and_then(ErrorModel::limits)
    }

    /// Whether the wear of reprogramming counts for limits, too.
    pub(crate) fn wear_counts(&self) -> bool {
        self.wear_counts
    }

    /// Page programs since the drive was made.
    #[inline]
    pub(crate) fn seq(&self) -> Seq {
        self.seq
    }

    /// Erases since the drive was made.
    #[inline]
    pub(crate) fn erases_total(&self) -> u64 {
        self.erases_total
    }

    /// Pages that the modes of a domain's blocks and wordlines take away now.
    pub(crate) fn pages_away(&self, domain: usize) -> u32 {
        self.pages_away[domain]
    }

    /// Whether a program takes a whole wordline.
    #[inline]
    pub(crate) fn by_wordline(&self) -> bool {
        self.by_wordline
    }

    /// NAND operations since the measured phase began.
    pub(crate) fn counts(&self) -> &FlashCounts {
        &self.counts
    }

    /// Codewords that so many page reads of the host lost on average since the measured phase
    /// began; none where no codeword is known.
    pub(crate) fn lost_codewords(&self, host_reads: u64) -> Option<f64> {
        self.draws.lost_of(host_reads)
    }

    /// From now on retries are drawn, with this seed.
    pub(crate) fn draw_retries(&mut self, seed: u64) {
        self.draws = Draws::new(self.model.as_deref().and_then(ErrorModel::chances), Some(seed));
    }

    /// Begins to count operations anew, and to log work.
    pub(crate) fn begin_measurement(&mut self) {
        self.counts = FlashCounts::default();
        if let Some(erasures) = &mut self.erasures {
            erasures.clear();
        }
        self.draws.begin_measurement();
        self.begin_service();
        self.ops.clear();
    }

    /// Whether physical work is logged for a timed gear.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        self.timed
    }

    /// Begins or ends to log it; gives what was before.
    pub(crate) fn set_timed(&mut self, timed: bool) -> bool {
        std::mem::replace(&mut self.timed, timed)
    }

    /// Asks for what invalidating a page touches.
    #[inline]
    pub(crate) fn prefetch_invalidation(&self, ppn: Ppn) -> BlockId {
        let block = self.geometry.block_of(ppn);
        prefetch(&self.hot, block.index());
        self.contents.prefetch_valid(block, self.geometry.page_in(block, ppn));
        self.prefetch_bulk(block, ppn);
        block
    }

    /// The bug that it has, if any.
    pub(crate) fn bugs(&self) -> Bugs {
        self.bugs
    }

    /// Gives it a bug.
    #[cfg(feature = "seeded-bugs")]
    pub(crate) fn seed(&mut self, bugs: Bugs) {
        self.bugs = bugs;
        if let Some(limits) = self.model.as_deref_mut().and_then(ErrorModel::page_limits_mut) {
            limits.table.bugs = bugs;
        }
        self.tracker.bugs = bugs;
    }

    /// As though a block had been read so often.
    #[cfg(test)]
    pub(crate) fn pretend_reads(&mut self, block: BlockId, reads: crate::base::dose::Quarters) {
        self.hot[block.index()].reads = reads;
    }

    /// As though a block had been erased so often.
    #[cfg(test)]
    pub(crate) fn pretend_cycles(&mut self, block: BlockId, pec: u32) {
        self.cold[block.index()].pec = pec;
    }
}
