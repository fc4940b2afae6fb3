//! Error model `count`: a page's dose is its block's dose since that page was programmed (ipr-2018 II).
//! Every read of a block counts for all of its pages, the one read included.

use super::limits::PageLimits;
use super::table::{ALPHA_ONE, Endurance};
use super::{Assessment, BlockView, Counts, ErrorModel, spared};

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
        let groups = self.limits.of_groups(block);
        let factor = self.limits.table.block_factor(block.block);
        let one = ALPHA_ONE.cast_signed();
        let written = (0..block.programmed()).filter_map(|wordline| {
            let kinds = block.live_kinds(wordline);
            let base = i64::from(block.wordlines[wordline as usize].base);
            (kinds != 0).then(|| self.limits.of_kinds(block, &groups, wordline, factor, kinds).div_euclid(one) + base)
        });
        // A wordline programmed from now on answers for nothing yet, or the drive asks again when it is.
        let alone = [Endurance { limit: 0, alpha: ALPHA_ONE }];
        let to_come = self.limits.of_new(block, &groups, &alone).cast_signed() + i64::from(block.reads);
        let until = written.chain([to_come]).min().expect("one is there").min(i64::from(u32::MAX - 1));
        if i64::from(block.reads) > until { Assessment::Suspect } else { Assessment::CleanUntil(until as u32) }
    }

    #[inline]
    fn weighed_dose(&self, counts: &Counts, _alpha: u64) -> u64 {
        u64::from(counts.reads - counts.wordlines[counts.wordline as usize].base) * ALPHA_ONE
    }

    fn page_limits(&self) -> &PageLimits {
        &self.limits
    }

    #[cfg(feature = "seeded-bugs")]
    fn page_limits_mut(&mut self) -> &mut PageLimits {
        &mut self.limits
    }

    fn base_at_program(&self, block: &BlockView, _wordline: u32) -> u32 {
        spared(u64::from(block.reads), self.preprogram_weight)
    }
}
