//! Start state of a drive, written directly into the records: whole blocks of data, and wear and
//! reads from before the run.

use std::sync::Arc;

use crate::base::dose::Quarters;
use crate::base::latency::AccessLatency;
use crate::base::steady::Steady;
use crate::base::units::{BlockId, Lpn, PageInBlock, StreamId, WordlineInBlock};
use crate::flash::Flash;
use crate::flash::block::BlockState;
use crate::watch::observer::Event;

impl Flash {
    /// Makes an erased block hold this page of the host from the start.
    #[inline]
    pub(crate) fn preload_page(&mut self, block: BlockId, page: PageInBlock, lpn: Lpn) {
        self.contents.set_owner(block, self.geometry.first_page(block) + page, lpn);
        self.contents.set_valid(block, page);
    }

    /// Makes erased blocks hold the data of a layout from the start.
    pub(crate) fn preload_layout(&mut self, layout: Arc<Steady>) {
        self.contents.begin(layout);
    }

    /// Makes an erased block hold every `stride`th page of the host from the start, beginning with
    /// `first`.
    pub(crate) fn preload_every(&mut self, block: BlockId, first: Lpn, stride: u32) {
        self.contents.fill(block, first, stride);
    }

    /// Closes an erased block as if this stream had written it. All its pages are programmed, and
    /// the preloaded pages are valid.
    pub(crate) fn preload(
        &mut self,
        block: BlockId,
        stream: StreamId,
        valid: u32,
        budget: AccessLatency,
    ) {
        self.cold[block.index()].budget = budget;
        let hot = &mut self.hot[block.index()];
        (hot.state, hot.stream) = (BlockState::Closed, stream);
        hot.write_ptr = self.geometry.pages_per_block as u16;
        hot.valid = valid as u16;
        self.seq += u64::from(self.geometry.pages_per_block);
    }

    /// Reports the contents of a preloaded block to the observer.
    pub(crate) fn tell_preloaded(&mut self, block: BlockId) {
        if self.is_watched() {
            let lpns = self.contents.owners(block).collect::<Vec<_>>();
            self.tell(Event::Preloaded { block, lpns: &lpns });
        }
    }

    /// Adds P/E cycles to each block beyond the common starting P/E count.
    pub(crate) fn wear_before_start(&mut self, more: Vec<u32>) {
        for (cold, more) in self.cold.iter_mut().zip(&more) {
            cold.pec += *more;
        }
        self.more_pec = more;
    }

    /// Adds reads from before the run to a block, with this dose for each programmed wordline.
    pub(crate) fn serve_before_start(&mut self, block: BlockId, doses: &[Quarters]) {
        if !self.wordlines.is_empty() {
            for (wordline, dose) in
                self.wordlines[self.geometry.rows_of(block)].iter_mut().zip(doses)
            {
                wordline.reads += *dose;
            }
        }
        if self.tracker.is_on() && self.hot[block.index()].reads == Quarters::ZERO {
            self.tracker.count_each(block, doses);
        } else if self.tracker.is_on() {
            let read = (0..).zip(doses).filter(|(_, dose)| **dose > Quarters::ZERO);
            read.for_each(|(wordline, dose)| {
                self.tracker.count(block, WordlineInBlock::new(wordline), *dose);
            });
        }
        self.hot[block.index()].reads += doses.iter().copied().sum::<Quarters>();
    }
}
