//! Reads in bulk of a block that needs retries.
//!
//! The dose of a page decides how many retries a read of it takes, and doses only grow. So there is
//! a number of reads during which two things hold, whichever pages they read. Every page takes as
//! many retries as now, and the policy is not asked (`Flash::reads_of_known_retries`). For this
//! number of reads:
//!
//! - **Numbers.** Retries do not depend on the order of the reads, and no read changes a rate. So
//!   the reads are the Poisson processes of their pages, as in a block without retries. Their
//!   number and their pages are drawn by the same laws.
//! - **Retries.** N reads of a page with k retries add N reads with k retries, N k sensings, and
//!   the dose of N (1 + k) sensings. Reads that are served one by one add the same, in every order.
//!
//! So reads in bulk have the law of reads one by one. A page near its next level is approached in
//! steps. The last few reads before the level are served one by one.
//!
//! Age changes the retries, too. Reads are drawn at each end of a step of their block's age, with
//! the levels of the step that ends (`Flash::grow_older`).

use super::Fluid;
use crate::base::page_set::{holds, holds_any};
use crate::base::units::{BlockId, Cause, Ns, PageInBlock, WordlineInBlock};
use crate::flash::Flash;
use crate::watch::observer::{BulkReads, Event};

/// Fewest reads that are drawn in bulk. A draw costs a pass over every page of the block.
const WORTH_IT: u32 = 32;

impl Flash {
    /// Returns whether limits differ by page kind, so that pages of a wordline may take different
    /// numbers of retries.
    pub(super) fn are_limits_by_kind(&self) -> bool {
        let model = self.model.as_ref().filter(|model| model.max_retries() > 0);
        let of_new = model.zip(self.cold.first()).map(|(model, cold)| model.levels(cold.pec, 0));
        of_new.is_some_and(|of| !of.are_kinds_alike())
    }

    /// Returns the number of further reads of a block for which the retries are known. Returns
    /// `None` if they are too few for a draw in bulk.
    pub(super) fn known_retries(&mut self, block: BlockId) -> Option<u32> {
        let mut fluid = self.fluid.take()?;
        let (by_page, step) = (fluid.by_page, self.age_step(block));
        let mut retries = std::mem::take(&mut fluid.retries);
        let bits = self.geometry.cell.bits();
        let valid = self.contents.valid_words(block).to_vec();
        let is_read = |place: usize| {
            if by_page {
                holds(&valid, PageInBlock::from_index(place))
            } else {
                holds_any(&valid, WordlineInBlock::from_index(place), bits)
            }
        };
        let reads = if fluid.hears_retries {
            None
        } else {
            self.reads_of_known_retries(block, step, (by_page, is_read), &mut retries)
        };
        fluid.retries = retries;
        self.fluid = Some(fluid);
        reads.filter(|reads| *reads >= WORTH_IT)
    }

    /// Draws `count` reads of a block that needs retries. They came since its last draw. Reads with
    /// known retries are counted at once. The others will be served one by one.
    pub(super) fn draw_tired(&mut self, block: BlockId, count: u64) {
        let in_bulk = if count < u64::from(WORTH_IT) { 0 } else { self.draw_retried(block, count) };
        self.draw_readers(block, count - in_bulk);
    }

    /// Draws at most `count` reads of a block that needs retries in bulk, and returns their number.
    fn draw_retried(&mut self, block: BlockId, count: u64) -> u64 {
        let Some(mut fluid) = self.fluid.take() else { return 0 };
        // The first time at which reads can have come after the last draw.
        let since = fluid.hours.resumes(fluid.flows[block.index()].drawn_at).min(self.now);
        let known = if fluid.hears_retries { None } else { self.step_between(block, since) };
        let in_bulk = known.and_then(|step| {
            self.weigh(&mut fluid, block);
            let Fluid { weights, retries, by_page, .. } = &mut *fluid;
            let is_read = |place: usize| weights[place] > 0.0;
            self.reads_of_known_retries(block, step, (*by_page, is_read), retries)
        });
        let in_bulk = count.min(in_bulk.unwrap_or(0).into());
        if in_bulk >= u64::from(WORTH_IT) {
            self.count_retried(&mut fluid, block, in_bulk);
            let Fluid { reads, retries, .. } = &*fluid;
            let told = BulkReads { block, since, until: self.now, reads, retries };
            self.tell(Event::ReadInBulkWithRetries(told));
        }
        self.fluid = Some(fluid);
        if in_bulk >= u64::from(WORTH_IT) { in_bulk } else { 0 }
    }

    /// Spreads reads over a block whose places were just weighed. Counts the reads and their
    /// retries.
    fn count_retried(&mut self, fluid: &mut Fluid, block: BlockId, count: u64) {
        fluid.served += count;
        self.counts.reads[Cause::Host as usize] += count;
        self.count_words(fluid, block, count);
        let Fluid { chance, weights, counts, reads, retries, .. } = fluid;
        chance.spread(count, weights, counts);
        reads.clone_from(counts);
        for (reads, retries) in reads.iter().zip(retries.iter()).filter(|(_, of)| **of > 0) {
            self.counts.retried[usize::from(*retries)] += u64::from(*reads);
            self.counts.soft_errors += u64::from(*reads);
            self.counts.reads[Cause::Retry as usize] += u64::from(*reads) * u64::from(*retries);
        }
        self.count_spread(fluid, block);
    }

    /// Returns the step of age of a block from this time until now; `None` if there were several.
    fn step_between(&self, block: BlockId, since: Ns) -> Option<usize> {
        let last = self.age_step_at(block, self.now.saturating_sub(1).max(since));
        let first = self.age_step_at(block, since);
        (first == last).then_some(first)
    }
}
