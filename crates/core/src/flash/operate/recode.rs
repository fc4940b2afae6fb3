//! Recoding: wordlines programmed over themselves, so that states of their cells merge, and blocks
//! opened in a coding that does without some page kinds.

use crate::base::codings::{FASTER, FULL};
use crate::base::dose::{Alpha, Quarters};
use crate::base::units::{BlockId, Cause, WordlineInBlock};
use crate::bugs::{Bug, planted};
use crate::flash::Flash;
use crate::flash::block::{HAS_RECODED, SUSPECT};
use crate::flash::ops::NandOp;

impl Flash {
    /// Wordlines of a block that are programmed whole.
    pub(crate) fn whole_wordlines(&self, block: BlockId) -> u32 {
        u32::from(self.hot[block.index()].write_ptr) / self.geometry.cell.bits()
    }

    /// Pages that a block does without once it is recoded, until its erase: it is written no
    /// further, so those that it never got count.
    pub(crate) fn pages_if_recoded(&self, block: BlockId, coding: u8) -> u32 {
        self.geometry.pages_per_block
            - self.whole_wordlines(block) * self.geometry.codings.row(coding).kinds()
    }

    /// Opens an erased block in a mode.
    pub(crate) fn open_in_mode(&mut self, block: BlockId, mode: u8, pages_away: u32) {
        self.contents.forget_owners(block);
        self.set_mode(block, mode, pages_away);
        self.tell(|o| o.recoded(block, None, mode));
    }

    /// Programs a wordline that has been sensed whole over itself; the limits stay until the whole
    /// block is [recoded](Self::recode).
    pub(crate) fn merge(
        &mut self,
        block: BlockId,
        wordline: WordlineInBlock,
        coding: u8,
        cause: Cause,
    ) {
        self.book_merge(block, coding, cause);
        self.tell(|o| o.merged(block, wordline, coding, cause));
        self.disturb_by_reprogramming(block, wordline, cause);
    }

    /// All whole wordlines of a block have been merged: from now on its limits are those of the
    /// mode.
    pub(crate) fn recode(&mut self, block: BlockId, coding: u8) {
        let taken = self.pages_if_recoded(block, coding);
        self.change_limits(block, |flash| flash.set_mode(block, coding, taken));
        self.trust(block);
        self.cold[block.index()].reprogrammed = true;
        self.tell(|o| o.recoded(block, None, coding));
        self.reassess(block);
    }

    /// The same for one wordline of a block of full density, whose limits grow at once.
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
        self.tell(|o| o.merged(block, wordline, coding, cause));
        self.recoded.add(block, wordline, coding);
        self.recoded.is_read_otherwise |= self.geometry.codings.is_read_otherwise(coding);
        let taken = self.geometry.codings.kept_away(coding);
        self.take_away(block, taken);
        let (hot, cold) = (&mut self.hot[block.index()], &mut self.cold[block.index()]);
        let before = if hot.has(HAS_RECODED) { cold.pages_away } else { 0 };
        cold.pages_away = before + taken as u16;
        hot.flags |= HAS_RECODED;
        cold.reprogrammed = true;
        if planted(Bug::MergeForgetsDose) && coding >= FASTER && !self.wordlines.is_empty() {
            let page = wordline.first_page(self.geometry.cell.bits());
            let dose = self.with_block_view(block, |model, view| model.dose(view, page));
            let row = self.geometry.row_of(block, wordline);
            self.wordlines[row].base += dose / Alpha::ONE;
        }
        self.tell(|o| o.recoded(block, Some(wordline), coding));
        self.disturb_by_reprogramming(block, wordline, cause);
    }

    /// Some wordlines of a block have been recoded by themselves, and no more will be: its model is
    /// asked again.
    pub(crate) fn end_recoding(&mut self, block: BlockId) {
        // Limits have not fallen since the model was asked, so it was no hurry to ask again.
        self.trust(block);
        self.reassess(block);
    }

    /// What the error model feared of a block may hold no longer. Where reads do not begin with the
    /// first level it is asked at each all the same.
    fn trust(&mut self, block: BlockId) {
        if self.levels.of(block) == 0 {
            self.hot[block.index()].flags &= !SUSPECT;
        }
    }

    pub(super) fn book_merge(&mut self, block: BlockId, coding: u8, cause: Cause) {
        self.counts.reprograms[cause as usize] += 1;
        self.record(NandOp::Merge { block, cause, coding });
    }

    /// What reprogramming a wordline does to the others, as if it had been read
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

    /// A block is about to be erased, and with it its mode.
    pub(super) fn end_mode(&mut self, block: BlockId) {
        if self.hot[block.index()].has(HAS_RECODED) && !self.bugs.has(Bug::GuardsKept) {
            self.recoded.clear(block);
        }
        if !(planted(Bug::PagesAwayLeak) && self.hot[block.index()].has(HAS_RECODED)) {
            let domain = self.geometry.domain_of(block);
            self.pages_away[domain] -= self.pages_away_of(block);
        }
    }

    fn take_away(&mut self, block: BlockId, pages: u32) {
        self.pages_away[self.geometry.domain_of(block)] += pages;
    }

    /// Pages that the block does without now.
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
