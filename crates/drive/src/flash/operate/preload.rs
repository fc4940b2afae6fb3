//! Start state of a drive, written directly into the records: whole blocks of data, and wear and
//! reads from before the run.

use crate::base::dose::Quarters;
use crate::base::latency::AccessLatency;
use crate::base::units::{BlockId, StreamId, WordlineInBlock};
use crate::flash::Flash;
use crate::flash::block::BlockState;
use crate::watch::observer::Event;

impl Flash {
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
