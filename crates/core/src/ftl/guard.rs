//! Guard levels for some wordlines of a block: merged one by one, as a block is that is reprogrammed, but each stands for itself. The block stays
//! in full density; what a merged wordline has lost is its most significant page, and its own limits grow at once.

use crate::base::page_set::{PageSet, any};
use crate::base::units::{BlockId, Cause};
use crate::bugs::{Bug, planted};
use crate::drive::Drive;
use crate::flash::operate::recode::GUARDED;
use crate::ftl::mover::Plan;

impl Drive {
    /// How to give these wordlines guard levels while `pages` move away. A wordline that cannot have any moves, too.
    pub(crate) fn plan_guarding(&self, block: BlockId, wordlines: &PageSet, mut pages: PageSet) -> Plan {
        let (bits, taken) = (self.geometry.cell.bits(), u32::from(GUARDED));
        let can_merge = bits > taken && self.flash.hot[block as usize].mode == 0;
        let whole = if can_merge { self.flash.whole_wordlines(block) } else { 0 };
        let mut room = self.ftl.pages_to_spare.saturating_sub(self.flash.pages_away + self.pages_leaving()) / taken;
        let mut merging = PageSet::none(self.geometry.wordlines_per_block);
        for wordline in wordlines.iter() {
            if wordline >= whole || room == 0 || self.flash.guards.has(block, wordline) {
                pages.insert(wordline * bits, bits);
                continue;
            }
            room -= 1;
            merging.insert(wordline, 1);
            if !self.bugs.has(Bug::BackupForgotten) {
                pages.insert((wordline + 1) * bits - taken, if planted(Bug::GuardBackupShort) && wordline % 2 == 1 { 0 } else { taken });
            }
        }
        Plan::guarding(pages, merging)
    }

    /// Merges the first of these wordlines that still holds data, and takes it out; false when there is none.
    pub(crate) fn guard_next(&mut self, block: BlockId, left: &mut PageSet, cause: Cause) -> bool {
        let bits = self.geometry.cell.bits();
        while let Some(wordline) = left.take_first() {
            if any(self.flash.contents.valid_words(block), wordline * bits, bits) {
                let beside = self.bugs.has(Bug::MergeBeside) && wordline + 1 < self.flash.whole_wordlines(block);
                let wordline = wordline + u32::from(beside && !self.flash.guards.has(block, wordline + 1));
                self.sense_wordline(block, wordline, cause);
                self.flash.guard(block, wordline, cause);
                return true;
            }
        }
        self.flash.end_guarding(block);
        false
    }
}
