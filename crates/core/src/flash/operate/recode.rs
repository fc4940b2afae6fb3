//! Recoding: wordlines programmed over themselves, so that their cells leave the guard levels, and blocks opened in a mode that does without
//! some page kinds.

use crate::base::units::{BlockId, Cause};
use crate::bugs::{Bug, planted};
use crate::flash::Flash;
use crate::flash::block::{HAS_GUARDS, SUSPECT};
use crate::flash::ops::NandOp;

/// The mode that reprogramming leads to: one page kind gone.
pub(crate) const GUARDED: u8 = 1;

impl Flash {
    /// Wordlines of a block that are programmed whole.
    pub(crate) fn whole_wordlines(&self, block: BlockId) -> u32 {
        u32::from(self.hot[block as usize].write_ptr) / self.geometry.cell.bits()
    }

    /// Pages that a block does without once it is reprogrammed, until its erase: it is written no further, so those that it never got count.
    pub(crate) fn pages_if_recoded(&self, block: BlockId) -> u32 {
        let kept = self.geometry.cell.bits() - u32::from(GUARDED);
        self.geometry.pages_per_block - self.whole_wordlines(block) * kept
    }

    /// Opens an erased block in a mode.
    pub(crate) fn open_in_mode(&mut self, block: BlockId, mode: u8, pages_away: u32) {
        self.contents.forget_owners(block);
        self.set_mode(block, mode, pages_away);
        self.tell(|o| o.opened(block, mode));
    }

    /// Programs the most significant page of a wordline that has been sensed whole; the limits stay until the whole block is
    /// [recoded](Self::recode).
    pub(crate) fn merge(&mut self, block: BlockId, wordline: u32, cause: Cause) {
        self.book_merge(block, cause);
        self.tell(|o| o.merged(block, wordline, GUARDED, cause));
        self.disturb_by_reprogramming(block, wordline, cause);
    }

    /// All whole wordlines of a block have been merged: from now on its limits are those of the mode.
    pub(crate) fn recode(&mut self, block: BlockId) {
        self.set_mode(block, GUARDED, self.pages_if_recoded(block));
        self.hot[block as usize].flags &= !SUSPECT;
        self.cold[block as usize].reprogrammed = true;
        self.tell(|o| o.reprogrammed(block, GUARDED));
        self.reassess(block);
    }

    /// The same for one wordline of a block of full density, whose limits grow at once.
    pub(crate) fn guard(&mut self, block: BlockId, wordline: u32, cause: Cause) {
        self.book_merge(block, cause);
        self.guards.add(block, wordline);
        self.pages_away += u32::from(GUARDED);
        self.hot[block as usize].flags |= HAS_GUARDS;
        self.cold[block as usize].reprogrammed = true;
        self.tell(|o| o.guarded(block, wordline, GUARDED, cause));
        self.disturb_by_reprogramming(block, wordline, cause);
    }

    /// Some wordlines of a block have got guard levels, and no more will: its model is asked again.
    pub(crate) fn end_guarding(&mut self, block: BlockId) {
        // Limits have only grown since the model was asked, so it was no hurry to ask again.
        self.hot[block as usize].flags &= !SUSPECT;
        self.reassess(block);
    }

    pub(super) fn book_merge(&mut self, block: BlockId, cause: Cause) {
        self.counts.reprograms[cause as usize] += 1;
        self.record(NandOp::Merge { block, cause });
    }

    /// What reprogramming a wordline does to the others, as if it had been read (`density.reprogram_dose`).
    fn disturb_by_reprogramming(&mut self, block: BlockId, wordline: u32, cause: Cause) {
        if self.reprogram_dose > 0 && self.count_dose(block, wordline, self.reprogram_dose, cause) {
            self.model_alarm(block);
        }
    }

    fn set_mode(&mut self, block: BlockId, mode: u8, pages_away: u32) {
        self.hot[block as usize].mode = mode;
        self.cold[block as usize].pages_away = pages_away as u16;
        self.pages_away += pages_away;
    }

    /// A block is about to be erased, and with it its mode.
    pub(super) fn end_mode(&mut self, block: BlockId) {
        if self.hot[block as usize].has(HAS_GUARDS) {
            if !planted(Bug::PagesAwayLeak) {
                self.pages_away -= self.guards.count(block) * u32::from(GUARDED);
            }
            if !self.bugs.has(Bug::GuardsKept) {
                self.guards.clear(block);
            }
        }
        if self.hot[block as usize].mode > 0 {
            self.pages_away -= u32::from(self.cold[block as usize].pages_away);
        }
    }

    /// Pages that the block does without now.
    #[inline]
    pub(crate) fn pages_away_of(&self, block: BlockId) -> u32 {
        let hot = &self.hot[block as usize];
        match hot.mode {
            0 if hot.has(HAS_GUARDS) => self.guards.count(block),
            0 => 0,
            _ => self.cold[block as usize].pages_away.into(),
        }
    }
}
