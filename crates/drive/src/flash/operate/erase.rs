//! Erasing: it gives a block without current data one more cycle.

use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, Reads};
use crate::flash::Flash;
use crate::flash::block::{BlockHot, PAGES_COUNTED, Wordline};
use crate::flash::ops::NandOp;
use crate::flash::rules;
use crate::flash::wear::extra_milli;
use crate::watch::observer::Event;

impl Flash {
    /// Erases a block. None of its pages may be valid.
    pub(crate) fn erase(&mut self, block: BlockId, cause: Cause) {
        rules::erase(block, &self.hot[block.index()]);
        self.log_erase(block, cause, self.hot[block.index()].reads);
        self.end_mode(block);
        self.end_service(block);
        if self.hot[block.index()].has(PAGES_COUNTED) {
            self.page_counters.end(block);
        }
        let hot = &mut self.hot[block.index()];
        *hot = BlockHot::ERASED;
        let pec = self.cold[block.index()].pec;
        self.wear(block, cause);
        self.forget_age(block);
        self.levels.forget(block);
        self.forget_reads(block);
        if !self.wordlines.is_empty() {
            self.wordlines[self.geometry.rows_of(block)].fill(Wordline::default());
        }
        if self.tracker.is_on() {
            self.tracker.reset(block);
        }
        self.counts.erases[cause as usize] += 1;
        self.erases_total += 1;
        self.record(NandOp::Erase { block, cause, pec });
        self.tell(Event::Erased { block, cause });
    }

    /// Returns the number of P/E cycles that the current erase counts as, before acceleration. It
    /// is one, unless the drive is a sample of a larger one.
    fn cycles_of_next_erase(&self) -> u32 {
        self.part_of
            .as_ref()
            .map_or(1, |part| part.cycles_of(self.erases_total + 1, self.geometry.blocks))
    }

    /// Returns the number of cycles that an erase stands for. An erase that levels wear stands only
    /// for itself. A drive levels wear when blocks are a number of cycles apart. This happens as
    /// often in an accelerated life as in a real one.
    fn stands_for(&self, cause: Cause) -> u32 {
        if cause == Cause::Wear { 1 } else { self.acceleration }
    }

    /// Adds the wear of the cycle that ends to the block. The block needs no checks until it is
    /// opened again.
    fn wear(&mut self, block: BlockId, cause: Cause) {
        let (first_pec, times) = (self.first_pec(block), self.stands_for(cause));
        let cycles_of_erase = times * self.cycles_of_next_erase();
        let cold = &mut self.cold[block.index()];
        if std::mem::take(&mut cold.reprogrammed) {
            cold.reprogrammed_cycles += times;
            let cycles = cold.pec + cycles_of_erase - first_pec - cold.skipped;
            cold.extra_milli +=
                times * extra_milli(self.reprogram_wear, cold.reprogrammed_cycles, cycles);
        }
        cold.pec += cycles_of_erase;
        cold.pec += self.skipped - cold.skipped;
        cold.skipped = self.skipped;
        cold.set_policy_alarm(Reads::NEVER);
        cold.model_alarm = Quarters::MAX;
        cold.carries = 0;
    }
}
