//! Guard levels for some wordlines of a block: merged one by one, as a block is that is reprogrammed, but each stands for itself. The block stays
//! in full density; what a merged wordline has lost is its most significant page, and its own limits grow at once.

use crate::base::page_set::{PageSet, any};
use crate::base::units::{BlockId, Cause};
use crate::bugs::{Bug, planted};
use crate::flash::Flash;
use crate::flash::operate::recode::GUARDED;
use crate::ftl::Ftl;
use crate::ftl::job::Plan;

impl Ftl {
    /// How to give these wordlines guard levels while `pages` move away. A wordline that cannot have any moves, too.
    pub(crate) fn plan_guarding(&self, flash: &Flash, block: BlockId, wordlines: &PageSet, mut pages: PageSet) -> Plan {
        let (bits, taken) = (flash.geometry.cell.bits(), u32::from(GUARDED));
        let can_merge = bits > taken && flash.hot(block).mode == 0;
        let whole = if can_merge { flash.whole_wordlines(block) } else { 0 };
        let mut room = self.pages_to_spare.saturating_sub(flash.pages_away() + self.pages_leaving(flash)) / taken;
        let mut merging = PageSet::none(flash.geometry.wordlines_per_block);
        for wordline in wordlines.iter() {
            if wordline >= whole || room == 0 || flash.guards().has(block, wordline) {
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
    pub(crate) fn guard_next(&mut self, flash: &mut Flash, block: BlockId, left: &mut PageSet, cause: Cause) -> bool {
        let bits = flash.geometry.cell.bits();
        while let Some(wordline) = left.take_first() {
            if any(flash.contents().valid_words(block), wordline * bits, bits) {
                let beside = self.bugs.has(Bug::MergeBeside) && wordline + 1 < flash.whole_wordlines(block);
                let wordline = wordline + u32::from(beside && !flash.guards().has(block, wordline + 1));
                self.sense_wordline(flash, block, wordline, cause);
                flash.guard(block, wordline, cause);
                return true;
            }
        }
        flash.end_guarding(block);
        false
    }
}
