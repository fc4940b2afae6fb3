//! Error model `count`. The dose of a page is the dose of its block since the page was programmed
//! (ipr-2018 II). Every read of a block counts for all of its pages, including the page that is
//! read.

use super::limits::PageLimits;
use super::rows::Endurance;
use super::{Assessment, BlockView, Counts, ErrorModel, LATEST, spared};
use crate::base::dose::{Alpha, Dose, Quarters};
use crate::base::units::{PageInBlock, WordlineInBlock};

pub(super) struct Count {
    limits: PageLimits,
    preprogram_weight: f64,
}

impl Count {
    pub(super) fn new(limits: PageLimits, preprogram_weight: f64) -> Self {
        Self { limits, preprogram_weight }
    }
}

impl ErrorModel for Count {
    fn assess(&self, block: &BlockView) -> Assessment {
        let groups = self.limits.of_groups(block, &self.limits.endurances(block.pec));
        let factor = self.limits.table.block_factor(block.block);
        let written = WordlineInBlock::range(0..block.programmed()).filter_map(|wordline| {
            let kinds = block.live_kinds(wordline);
            let base = block.wordlines[wordline.index()].base.far();
            (kinds != 0)
                .then(|| self.limits.of_kinds(block, &groups, wordline, factor, kinds) + base)
        });
        let written = written.min().unwrap_or(Dose::MAX);
        // A wordline that will be programmed later has no dose yet. If this does not hold, the
        // drive asks again when it programs the wordline.
        let alone = [Endurance { limit: Dose::ZERO, alpha: Alpha::ONE }];
        let to_come = self.limits.of_new(block, &groups, &alone).saturating_add(block.reads);
        if block.reads.far() > written || PageLimits::is_born_tired(block, &groups) {
            return Assessment::Suspect;
        }
        Assessment::CleanUntil((written / Alpha::ONE).min(to_come).min(LATEST))
    }

    #[inline]
    fn weighed_dose(&self, counts: &Counts, _alpha: Alpha) -> Dose {
        (counts.reads - counts.wordlines[counts.wordline.index()].base).far()
    }

    fn limit(&self, block: &BlockView, page: PageInBlock, retries: u8) -> Dose {
        self.limits.of_page(block, page, retries)
    }

    fn page_limits(&self) -> Option<&PageLimits> {
        Some(&self.limits)
    }

    fn base_at_program(&self, block: &BlockView, _wordline: WordlineInBlock) -> Quarters {
        spared(block.reads, self.preprogram_weight)
    }
}
