//! Dose of merging wordlines in a block, as a number of host reads that the block can then not
//! serve. The reclaim policy has allowed a number of reads until its next question, wherever they
//! go, and the block stays in use afterwards.
//!
//! ```text
//! P quarters are sensed in the block, at most p on one wordline     a page endures P + 2 (alpha - 1) p at most
//! a host read beside a page costs it alpha                          merge dose: (P + 2 (alpha - 1) p) / alpha reads, for the smallest alpha
//! 64 wordlines of three pages, five sensings each, alpha 9          (320 + 16 x 5) / 9: 45 reads
//! ```

use crate::base::dose::{Alpha, Quarters};
use crate::base::page_set::{WordlineSet, kinds_in};
use crate::base::units::{BlockId, Reads, WordlineInBlock};
use crate::flash::Flash;
use crate::watch::observer::Event;

impl Flash {
    /// Returns the merge dose, in reads, of a job that reads all valid pages of a block once, and
    /// the pages of these wordlines twice.
    pub(crate) fn burden_of_adjusting(&self, block: BlockId, adjusted: &WordlineSet) -> u32 {
        let Some(limits) = self.limits() else { return 0 };
        let kinds = self.geometry.cell.bits();
        let of_wordline = |wordline: WordlineInBlock| {
            let valid = kinds_in(self.contents.valid_words(block), wordline, kinds);
            let once: u64 = (0..kinds)
                .filter(|kind| valid >> kind & 1 == 1)
                .map(|kind| u64::from(self.dose[kind as usize].count()))
                .sum();
            if adjusted.holds(wordline) {
                2 * once + u64::from(self.reprogram_dose.count())
            } else {
                once
            }
        };
        let (mut all, mut most) = (0, 0);
        for dose in self.geometry.wordlines_in_block().map(of_wordline) {
            all += dose;
            most = most.max(dose);
        }
        let pec = self.limit_pec(block);
        let of_group = |group: usize| {
            let alpha = u64::from(limits.truth(group, pec).alpha.max(Alpha::ONE).in_256ths());
            let (one, sensings) = (
                u64::from(Alpha::ONE.in_256ths()),
                1 + u64::from(limits.retries_at(self.cold[block.index()].budget, group, pec)),
            );
            sensings * (one * all + 2 * (alpha - one) * most)
                / alpha
                / u64::from(Quarters::UNIT.count())
                + 1
        };
        (0..limits.groups()).map(of_group).max().unwrap_or(0).min(u64::from(u32::MAX)) as u32
    }

    /// Returns whether a block may still serve more than this number of reads before its policy is
    /// asked.
    pub(crate) fn has_room_for(&self, block: BlockId, burden: u32) -> bool {
        let until = self.cold[block.index()].policy_alarm_dose();
        until == Quarters::MAX
            || self.hot[block.index()].reads.saturating_add(Reads(burden).quarters()) < until
    }

    /// Takes a number of reads from those that a block may serve. Its policy is asked earlier by
    /// this number.
    pub(crate) fn bring_forward(&mut self, block: BlockId, burden: u32) {
        let until = self.cold[block.index()].policy_alarm_dose();
        if burden == 0 || until == Quarters::MAX {
            return;
        }
        let at = Reads(until.whole_down().0.saturating_sub(burden));
        self.tell(Event::AsksAt { block, at });
        self.set_policy_alarm(block, at);
        self.set_alarm(block);
    }
}
