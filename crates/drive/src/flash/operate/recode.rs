//! Recoding: wordlines are reprogrammed in place, so that states of their cells merge. Also blocks
//! opened in a coding without some page kinds.

use crate::base::codings::FULL;
use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, WordlineInBlock};
use crate::flash::Flash;
use crate::flash::block::{HAS_RECODED, SUSPECT};
use crate::flash::ops::NandOp;
use crate::watch::observer::Event;

impl Flash {
    /// Returns the number of wordlines of a block that are programmed completely.
    pub(crate) fn whole_wordlines(&self, block: BlockId) -> u32 {
        u32::from(self.hot[block.index()].write_ptr) / self.geometry.cell.bits()
    }

    /// Returns the number of pages that a recoded block does without until its erase. Nothing more
    /// is written to it, so the pages that it never got count, too.
    pub(crate) fn pages_if_recoded(&self, block: BlockId, coding: u8) -> u32 {
        self.geometry.pages_per_block
            - self.whole_wordlines(block) * self.geometry.codings.row(coding).kinds()
    }

    /// Opens an erased block in a mode.
    pub(crate) fn open_in_mode(&mut self, block: BlockId, mode: u8, pages_away: u32) {
        self.contents.forget_owners(block);
        self.set_mode(block, mode, pages_away);
        self.tell(Event::Recoded { block, wordline: None, mode });
    }

    /// Reprograms a wordline in place after all of it was sensed. The limits stay until the whole
    /// block is [recoded](Self::recode).
    pub(crate) fn merge(
        &mut self,
        block: BlockId,
        wordline: WordlineInBlock,
        coding: u8,
        cause: Cause,
    ) {
        self.book_merge(block, coding, cause);
        self.tell(Event::Merged { block, wordline, mode: coding, cause });
        self.disturb_by_reprogramming(block, wordline, cause);
    }

    /// Gives a block the limits of the mode from now on. All its complete wordlines have been
    /// merged.
    pub(crate) fn recode(&mut self, block: BlockId, coding: u8) {
        let taken = self.pages_if_recoded(block, coding);
        self.change_limits(block, |flash| flash.set_mode(block, coding, taken));
        self.trust(block);
        self.cold[block.index()].reprogrammed = true;
        self.tell(Event::Recoded { block, wordline: None, mode: coding });
        self.reassess(block);
    }

    /// Recodes one wordline of a block of full density. Its limits grow at once.
    pub(crate) fn recode_wordline(
        &mut self,
        block: BlockId,
        wordline: WordlineInBlock,
        coding: u8,
        cause: Cause,
    ) {
        debug_assert_eq!(
            self.hot[block.index()].mode,
            FULL,
            "only wordlines of full density are recoded (`disturb::wordline`)"
        );
        self.book_merge(block, coding, cause);
        self.tell(Event::Merged { block, wordline, mode: coding, cause });
        self.recoded.add(block, wordline, coding);
        self.recoded.is_read_otherwise |= self.geometry.codings.is_read_otherwise(coding);
        let taken = self.geometry.codings.kept_away(coding);
        self.take_away(block, taken);
        let (hot, cold) = (&mut self.hot[block.index()], &mut self.cold[block.index()]);
        let before = if hot.has(HAS_RECODED) { cold.pages_away } else { 0 };
        cold.pages_away = before + taken as u16;
        hot.flags |= HAS_RECODED;
        cold.reprogrammed = true;
        self.tell(Event::Recoded { block, wordline: Some(wordline), mode: coding });
        self.disturb_by_reprogramming(block, wordline, cause);
    }

    /// Asks the error model again about a block of which some wordlines have been recoded by
    /// themselves. No more of them will be recoded.
    pub(crate) fn end_recoding(&mut self, block: BlockId) {
        // Limits have not fallen since the model was asked, so there was no need to ask earlier.
        self.trust(block);
        self.reassess(block);
    }

    /// Ends the suspicion of the error model about a block. If reads do not begin with level 0, the
    /// model is still asked at each read.
    fn trust(&mut self, block: BlockId) {
        if self.levels.of(block) == 0 {
            self.hot[block.index()].flags &= !SUSPECT;
        }
    }

    pub(super) fn book_merge(&mut self, block: BlockId, coding: u8, cause: Cause) {
        self.counts.reprograms[cause as usize] += 1;
        self.record(NandOp::Merge { block, cause, coding });
    }

    /// Adds the dose that reprogramming a wordline deposits on the other wordlines
    /// (`density.reprogram_dose`).
    fn disturb_by_reprogramming(
        &mut self,
        block: BlockId,
        wordline: WordlineInBlock,
        cause: Cause,
    ) {
        if self.reprogram_dose > Quarters::ZERO
            && self.count_dose(block, wordline, self.reprogram_dose, cause)
        {
            self.model_alarm(block);
        }
    }

    fn set_mode(&mut self, block: BlockId, mode: u8, pages_away: u32) {
        self.hot[block.index()].mode = mode;
        self.cold[block.index()].pages_away = pages_away as u16;
        self.take_away(block, pages_away);
        self.recoded.is_read_otherwise |= self.geometry.codings.is_read_otherwise(mode);
    }

    /// Ends the mode of a block that is about to be erased.
    pub(super) fn end_mode(&mut self, block: BlockId) {
        if self.hot[block.index()].has(HAS_RECODED) {
            self.recoded.clear(block);
        }
        let domain = self.geometry.domain_of(block);
        self.pages_away[domain] -= self.pages_away_of(block);
    }

    fn take_away(&mut self, block: BlockId, pages: u32) {
        self.pages_away[self.geometry.domain_of(block)] += pages;
    }

    /// Returns the number of pages that the codings of a block and its wordlines take away now.
    #[inline]
    pub(crate) fn pages_away_of(&self, block: BlockId) -> u32 {
        let hot = &self.hot[block.index()];
        if hot.mode == FULL && !hot.has(HAS_RECODED) {
            0
        } else {
            self.cold[block.index()].pages_away.into()
        }
    }
}
