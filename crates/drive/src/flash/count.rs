//! Counts of a sensing. It is counted for its block, for its wordline if reads disturb anything,
//! and for the technique's counters or the page if the technique wants them. The read path is
//! compiled for each kind of counting, so that unused counts cost nothing.

pub(crate) mod page_counters;
pub(crate) mod space_saving;

use crate::base::dose::Quarters;
use crate::base::mem::prefetch;
use crate::base::units::{BlockId, Cause, Ppn, WordlineInBlock};
use crate::flash::Flash;
use crate::flash::block::PAGES_COUNTED;
pub(crate) use crate::flash::counted::{BLOCKS, CODED, PAGES, TRACKED, WORDLINES};

impl Flash {
    /// Prefetches the counters of a page.
    #[inline]
    pub(crate) fn prefetch_counters(&self, ppn: Ppn) {
        if self.counted == TRACKED {
            self.prefetch_counted::<TRACKED>(ppn);
        } else {
            self.prefetch_counted::<WORDLINES>(ppn);
        }
    }

    #[inline]
    pub(crate) fn prefetch_counted<const COUNTED: u8>(&self, ppn: Ppn) {
        let wordline = self.geometry.wordline_of(ppn);
        let block = self.geometry.block_of(ppn);
        prefetch(&self.wordlines, wordline as usize);
        prefetch(&self.hot, block.index());
        if COUNTED == TRACKED {
            self.tracker.prefetch(block);
        }
        if COUNTED == PAGES {
            self.page_counters.prefetch_row(block);
        }
    }

    /// Prefetches the technique's own counter of a page. [`Self::prefetch_counted`] has fetched the
    /// memory that locates it.
    #[inline]
    pub(crate) fn prefetch_own<const COUNTED: u8>(&self, ppn: Ppn) {
        let block = self.geometry.block_of(ppn);
        if COUNTED == TRACKED {
            self.tracker.prefetch_entry(block);
        }
        if COUNTED == PAGES {
            self.page_counters.prefetch(block, self.geometry.page_in(block, ppn));
        }
    }

    /// Counts one sensing. Returns whether the block must be checked.
    #[inline]
    pub(crate) fn count_read<const COUNTED: u8>(&mut self, ppn: Ppn) -> bool {
        if COUNTED == CODED {
            return self.count_coded(ppn);
        }
        let wordline = self.geometry.wordline_of(ppn);
        let dose = self.dose[self.geometry.kind_of(ppn) as usize & 3];
        self.count_read_of::<COUNTED>(ppn, wordline, dose)
    }

    /// Counts one sensing if the dose depends on the coding of the page's wordline.
    #[inline(never)]
    fn count_coded(&mut self, ppn: Ppn) -> bool {
        let (wordline, dose) = (self.geometry.wordline_of(ppn), self.dose_of(ppn));
        match self.counters {
            TRACKED => self.count_read_of::<TRACKED>(ppn, wordline, dose),
            PAGES => self.count_read_of::<PAGES>(ppn, wordline, dose),
            _ => self.count_read_of::<WORDLINES>(ppn, wordline, dose),
        }
    }

    #[inline(always)]
    // The read path.
    fn count_read_of<const COUNTED: u8>(
        &mut self,
        ppn: Ppn,
        wordline: u32,
        dose: Quarters,
    ) -> bool {
        let block = self.geometry.block_of(ppn);
        if COUNTED != BLOCKS {
            self.wordlines[wordline as usize].reads += dose;
            if COUNTED == TRACKED {
                self.tracker.count(
                    block,
                    WordlineInBlock::new(wordline - self.geometry.first_wordline(block)),
                    dose,
                );
            }
        }
        let hot = &mut self.hot[block.index()];
        hot.reads += dose;
        if COUNTED == PAGES && hot.has(PAGES_COUNTED) {
            self.page_counters.count(block, self.geometry.page_in(block, ppn));
        }
        hot.reads >= hot.alarm
    }

    /// Counts a dose that a mover adds without a sensing, as a dose of this wordline. Returns
    /// whether the block must be checked.
    pub(crate) fn count_dose(
        &mut self,
        block: BlockId,
        wordline: WordlineInBlock,
        dose: Quarters,
        cause: Cause,
    ) -> bool {
        if self.counters == BLOCKS {
            return false;
        }
        self.wordlines[self.geometry.row_of(block, wordline)].reads += dose;
        if self.counters == TRACKED {
            self.tracker.count(block, wordline, dose);
        }
        self.hot[block.index()].reads += dose;
        self.touch(block);
        self.put_off_alarm(block, dose, cause);
        self.hot[block.index()].reads >= self.hot[block.index()].alarm
    }

    /// Counts one sensing outside the batch path.
    #[inline]
    pub(crate) fn count_any_read(&mut self, ppn: Ppn) -> bool {
        if self.counted == WORDLINES {
            self.count_read::<WORDLINES>(ppn)
        } else {
            self.count_otherwise(ppn)
        }
    }

    #[inline(never)]
    fn count_otherwise(&mut self, ppn: Ppn) -> bool {
        match self.counted {
            BLOCKS => self.count_read::<BLOCKS>(ppn),
            TRACKED => self.count_read::<TRACKED>(ppn),
            CODED => self.count_coded(ppn),
            _ => self.count_read::<PAGES>(ppn),
        }
    }
}
