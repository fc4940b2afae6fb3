//! Error model `count`: a page's dose is its block's dose since that page was programmed (ipr-2018 II).
//! Every read of a block counts for all of its pages, the one read included.

use super::table::{ALPHA_ONE, LimitTable};
use super::{Assessment, BlockView, ErrorModel, spared};

pub(super) struct Count {
    table: LimitTable,
    preprogram_weight: f64,
}

impl Count {
    pub(super) fn new(table: LimitTable, preprogram_weight: f64) -> Self {
        Self { table, preprogram_weight }
    }
}

impl ErrorModel for Count {
    fn assess(&self, block: &BlockView) -> Assessment {
        let limit = self.table.truth(0, block.pec).limit / ALPHA_ONE;
        let live = (0..block.programmed()).filter(|w| block.is_live(*w));
        let oldest = live.map(|w| block.wordlines[w as usize].base).min().unwrap_or(0);
        let until = (limit + u64::from(oldest)).min(u64::from(u32::MAX - 1)) as u32;
        if block.reads > until { Assessment::Suspect } else { Assessment::CleanUntil(until) }
    }

    fn dose_and_limit(&self, block: &BlockView, wordline: u32) -> (u64, u64) {
        let dose = u64::from(block.reads - block.wordlines[wordline as usize].base) * ALPHA_ONE;
        (dose, self.table.truth(0, block.pec).limit)
    }

    fn base_at_program(&self, block: &BlockView, _wordline: u32) -> u32 {
        spared(u64::from(block.reads), self.preprogram_weight)
    }

    fn limits(&self) -> &LimitTable {
        &self.table
    }
}
