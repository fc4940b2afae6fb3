//! Error model `count`: a page's dose is its block's dose since that page was programmed (ipr-2018 II).
//! Every read of a block counts for all of its pages, the one read included.

use super::limits::PageLimits;
use super::table::{ALPHA_ONE, Endurance, LimitTable};
use super::{Assessment, BlockView, ErrorModel, spared};
use crate::error::chance::Chances;

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

    fn dose(&self, block: &BlockView, page: u32) -> u64 {
        let (wordline, _) = block.wordline_and_kind(page);
        u64::from(block.reads - block.wordlines[wordline as usize].base) * ALPHA_ONE
    }

    fn limit(&self, block: &BlockView, page: u32, retries: u8) -> i64 {
        self.limits.of_page(block, page, retries)
    }

    fn limit_to_keep(&self, block: &BlockView, page: u32) -> u64 {
        self.limits.to_keep(block, page)
    }

    fn max_retries(&self) -> u8 {
        self.limits.max_retries()
    }

    fn rate(&self, block: &BlockView, page: u32) -> f64 {
        self.limits.rate(block, page, self.dose(block, page))
    }

    fn chances(&self) -> Option<&Chances> {
        self.limits.chances()
    }

    fn ages(&self) -> bool {
        self.limits.age()
    }

    fn base_at_program(&self, block: &BlockView, _wordline: u32) -> u32 {
        spared(u64::from(block.reads), self.preprogram_weight)
    }

    fn limits(&self) -> Option<&LimitTable> {
        Some(&self.limits.table)
    }

    #[cfg(feature = "seeded-bugs")]
    fn limits_mut(&mut self) -> Option<&mut LimitTable> {
        Some(&mut self.limits.table)
    }
}
