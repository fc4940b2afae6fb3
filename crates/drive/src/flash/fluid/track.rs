//! Counting of reads in bulk in a technique's Space-Saving counters.
//!
//! Between two draws of a block, all orders of its reads are equally likely, since each of its
//! pages has its own rate. Most reads have the same effect in every order
//! ([`crate::flash::count::space_saving::SpaceSaving::settle`]). The order of the other reads is
//! drawn, and they are counted one by one.
//!
//! This is exact while the block's pages stay the same. If a page was programmed or its data
//! overwritten since the last draw, its reads count as spread over the whole time. The counters
//! still bound the true counts, as they do in every order.

use super::Fluid;
use crate::base::dose::Quarters;
use crate::base::units::{BlockId, WordlineInBlock};
use crate::flash::Flash;

impl Flash {
    /// Counts the reads that were just spread over the places of a block.
    pub(super) fn track(&mut self, fluid: &mut Fluid, block: BlockId) {
        let Fluid { chance, counts, by_page, doses, order, retries, .. } = fluid;
        let pages_a_place = if *by_page { 1 } else { self.geometry.cell.bits() };
        let wordline_of =
            |place: usize| place * pages_a_place as usize / self.geometry.cell.bits() as usize;
        let first = self.geometry.first_page(block);
        // The sensings of a read follow each other directly.
        let sensings = |place: usize| u32::from(retries.get(place).copied().unwrap_or(0)) + 1;
        let dose_of = |flash: &Self, place: usize| {
            flash.dose_of(first + place as u32 * pages_a_place) * sensings(place)
        };
        doses.clear();
        doses.resize(self.geometry.wordlines_per_block as usize, Quarters::ZERO);
        for (place, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            doses[wordline_of(place)] += dose_of(self, place) * *count;
        }
        self.tracker.settle(block, doses);
        order.clear();
        for (place, count) in counts.iter().enumerate() {
            if doses[wordline_of(place)] > Quarters::ZERO {
                order.extend(std::iter::repeat_n(place as u32, *count as usize));
            }
        }
        chance.shuffle(order);
        for place in order {
            let place = *place as usize;
            let dose = dose_of(self, place);
            self.tracker.count(block, WordlineInBlock::from_index(wordline_of(place)), dose);
        }
    }
}
