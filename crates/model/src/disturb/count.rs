//! Error model `count`. The dose of a page is the dose of its block since the page was programmed
//! (ipr-2018 II). Every read of a block counts for all of its pages, including the page that is
//! read.

use super::rows::Endurance;
use super::{Assessment, BlockView, Counts, ErrorModel, LATEST};
use crate::base::dose::{Alpha, Dose};
use crate::base::units::WordlineInBlock;

/// Returns the dose of a wordline.
#[inline]
pub(super) fn dose(counts: &Counts) -> Dose {
    (counts.reads - counts.wordlines[counts.wordline.index()].base).far()
}

impl ErrorModel {
    pub(super) fn assess_by_count(&self, block: &BlockView) -> Assessment {
        let groups = self.of_groups(block, &self.endurances(block.pec));
        let factor = self.table.block_factor(block.block);
        let written = WordlineInBlock::range(0..block.programmed()).filter_map(|wordline| {
            let kinds = block.live_kinds(wordline);
            let base = block.wordlines[wordline.index()].base.far();
            (kinds != 0).then(|| self.of_kinds(block, &groups, wordline, factor, kinds) + base)
        });
        let written = written.min().unwrap_or(Dose::MAX);
        // A wordline that will be programmed later has no dose yet. If this does not hold, the
        // drive asks again when it programs the wordline.
        let alone = [Endurance { limit: Dose::ZERO, alpha: Alpha::ONE }];
        let to_come = self.of_new(block, &groups, &alone).saturating_add(block.reads);
        if block.reads.far() > written || Self::is_born_tired(block, &groups) {
            return Assessment::Suspect;
        }
        Assessment::CleanUntil((written / Alpha::ONE).min(to_come).min(LATEST))
    }
}
