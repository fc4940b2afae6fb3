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

    /// Of the weakest page kind, in full density.
    fn limit_of_block(&self, block: &BlockView) -> u64 {
        self.table.truth(0, block.pec).limit
    }

    /// Of the weakest of these page kinds of a wordline, from that.
    fn limit_of(&self, block: &BlockView, limit: u64, wordline: u32, kinds: u32) -> u64 {
        self.table.limit_of_kinds(self.table.in_mode(limit, block.mode_of(wordline)), kinds)
    }
}

impl ErrorModel for Count {
    fn assess(&self, block: &BlockView) -> Assessment {
        let limit = self.limit_of_block(block);
        let written = (0..block.programmed()).filter_map(|wordline| {
            let kinds = block.live_kinds(wordline);
            let base = u64::from(block.wordlines[wordline as usize].base);
            (kinds != 0).then(|| self.limit_of(block, limit, wordline, kinds) / ALPHA_ONE + base)
        });
        // A wordline programmed from now on answers for nothing yet, or the drive asks again when it is.
        let to_come = self.table.in_mode(limit, block.mode) / ALPHA_ONE + u64::from(block.reads);
        let until = written.chain([to_come]).min().expect("one is there").min(u64::from(u32::MAX - 1)) as u32;
        if block.reads > until { Assessment::Suspect } else { Assessment::CleanUntil(until) }
    }

    fn dose(&self, block: &BlockView, page: u32) -> u64 {
        let (wordline, _) = block.wordline_and_kind(page);
        u64::from(block.reads - block.wordlines[wordline as usize].base) * ALPHA_ONE
    }

    fn limit(&self, block: &BlockView, page: u32, _retries: u8) -> i64 {
        let (wordline, kind) = block.wordline_and_kind(page);
        self.limit_of(block, self.limit_of_block(block), wordline, 1 << kind).cast_signed()
    }

    fn max_retries(&self) -> u8 {
        0
    }

    fn base_at_program(&self, block: &BlockView, _wordline: u32) -> u32 {
        spared(u64::from(block.reads), self.preprogram_weight)
    }

    fn limits(&self) -> Option<&LimitTable> {
        Some(&self.table)
    }

    #[cfg(feature = "seeded-bugs")]
    fn limits_mut(&mut self) -> Option<&mut LimitTable> {
        Some(&mut self.table)
    }
}
