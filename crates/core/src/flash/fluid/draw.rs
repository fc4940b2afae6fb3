//! Draws of reads: how many a block has had, and which of its wordlines they read.

use super::held::per_ns;
use super::{Fluid, OF_ALARM, reads_of};
use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, PageInBlock, Ppn};
use crate::bugs::{Bug, planted};
use crate::flash::Flash;
use crate::flash::block::{PAGES_COUNTED, SUSPECT};
use crate::flash::counted::{PAGES, TRACKED};

impl Flash {
    /// Draws the reads that a block has had by now, and its next alarm.
    pub(crate) fn draw_reads(&mut self, block: BlockId) {
        if self.draw_so_far(block) {
            self.begin_anew(block);
        }
    }

    /// Draws the reads that a block has had by now. Its next alarm is drawn after everything that
    /// happens at this time.
    pub(in crate::flash) fn draw_until_now(&mut self, block: BlockId) {
        if self.draw_so_far(block) {
            self.restart(block, 1, f64::INFINITY);
            self.touch(block);
        }
    }

    /// Draws the reads that a block has had by now. Returns false if there were none.
    fn draw_so_far(&mut self, block: BlockId) -> bool {
        let Some(fluid) = &mut self.fluid else { return false };
        let flow = &mut fluid.flows[block.index()];
        flow.pass(fluid.hours.worked(self.now));
        if flow.expected() <= 0.0 {
            return false;
        }
        let share = flow.progress().min(1.0);
        let before = u64::from(flow.left) - 1;
        if self.hot[block.index()].has(SUSPECT) {
            let count = fluid.chance.part_of(before, share);
            self.draw_tired(block, count);
            return true;
        }
        let count = fluid.chance.part_of(before, share);
        self.deposit_before_alarm(block, count);
        true
    }

    /// Draws the reads of all blocks.
    pub(crate) fn draw_all(&mut self) {
        self.geometry.block_ids().for_each(|block| self.draw_reads(block));
        self.plan_touched();
    }

    /// Draws the reads of a block before a wordline is programmed: they must not count for the
    /// wordline.
    pub(in crate::flash) fn draw_before_wordline(&mut self, block: BlockId) {
        let Some(fluid) = &mut self.fluid else { return };
        let flow = &mut fluid.flows[block.index()];
        flow.pass(fluid.hours.worked(self.now));
        if flow.progress() * OF_ALARM >= 1.0 {
            self.draw_reads(block);
        }
    }

    /// Spreads reads over a block in proportion to the expected reads of its pages, and counts
    /// them. None of them reaches the alarm.
    pub(super) fn deposit(&mut self, block: BlockId, count: u64) {
        let mut fluid = self.fluid.take().expect("reads come in bulk");
        fluid.served += count;
        self.counts.reads[Cause::Host as usize] += count;
        self.count_words(&mut fluid, block, count);
        if self.wordlines.is_empty() {
            self.hot[block.index()].reads += self.dose[0] * count as u32;
            self.fluid = Some(fluid);
            if count > 0 {
                self.tell(|o| o.read_in_bulk(block, count, &[]));
            }
            return;
        }
        if count > 0 {
            self.weigh(&mut fluid, block);
            let Fluid { chance, weights, counts, retries, .. } = &mut *fluid;
            retries.clear();
            chance.spread(count, weights, counts);
            self.count_spread(&mut fluid, block);
            self.tell(|o| o.read_in_bulk(block, count, &fluid.counts));
        }
        self.fluid = Some(fluid);
    }

    /// Counts the reads that were just spread over the places of a block, and the sensings of their
    /// retries. Afterwards, `fluid.counts` holds doses of wordlines.
    pub(super) fn count_spread(&mut self, fluid: &mut Fluid, block: BlockId) {
        let (first, bits) =
            (self.geometry.first_wordline(block) as usize, self.geometry.cell.bits());
        if self.counters == TRACKED {
            self.track(fluid, block);
        }
        let Fluid { counts, by_page, retries, .. } = fluid;
        if !planted(Bug::BulkRetriesUncharged) {
            for (count, retries) in counts.iter_mut().zip(retries.iter()) {
                *count *= u32::from(*retries) + 1;
            }
        }
        if self.counters == PAGES && self.hot[block.index()].has(PAGES_COUNTED) {
            self.page_counters.count_all(block, counts);
        }
        if *by_page {
            // From here, `counts` holds a dose for each wordline instead of a count for each page.
            for wordline in 0..self.geometry.wordlines_per_block as usize {
                let of_kinds = &counts[wordline * bits as usize..][..bits as usize];
                let dose = self.doses_of(Ppn::new((first + wordline) as u32 * bits));
                counts[wordline] =
                    of_kinds.iter().zip(dose).map(|(count, dose)| dose.count() * count).sum();
            }
            counts.truncate(self.geometry.wordlines_per_block as usize);
        } else {
            for count in counts.iter_mut() {
                *count *= self.dose[0].count();
            }
        }
        let wordlines =
            &mut self.wordlines[first..first + self.geometry.wordlines_per_block as usize];
        let mut sum = Quarters::ZERO;
        for (wordline, dose) in wordlines.iter_mut().zip(&*counts) {
            let dose = Quarters::from_count(*dose);
            wordline.reads += dose;
            sum += dose;
        }
        self.hot[block.index()].reads += sum;
    }

    /// Computes the reads expected at each place of a block since its last draw.
    pub(super) fn weigh(&self, fluid: &mut Fluid, block: BlockId) {
        if !std::mem::take(&mut fluid.is_listed) {
            self.list_pages(fluid, block);
        }
        let places = if fluid.by_page { self.geometry.cell.bits() } else { 1 };
        let begin = (self.geometry.first_wordline(block) * places) as usize;
        let of_block = (self.geometry.wordlines_per_block * places) as usize;
        let Fluid { flows, hours, pending, weights, places, page_rates, by_page, .. } = fluid;
        weights.clear();
        weights
            .extend(pending[begin..begin + of_block].iter().map(|expected| f64::from(*expected)));
        let span = (hours.worked(self.now) - flows[block.index()].drawn_at) as f64;
        let pages_a_place = if *by_page { 1 } else { self.geometry.cell.bits() };
        for (page, rate) in places.iter().zip(&*page_rates) {
            weights[page.index() / pages_a_place as usize] += rate * span;
        }
        // Small differences of large numbers may be negative.
        for weight in weights.iter_mut() {
            *weight = weight.max(0.0);
        }
        if weights.iter().sum::<f64>() <= 0.0 {
            let written =
                usize::from(self.hot[block.index()].write_ptr).div_ceil(pages_a_place as usize);
            weights[..written].fill(1.0);
        }
    }

    /// Lists the valid pages of a block with their rates.
    fn list_pages(&self, fluid: &mut Fluid, block: BlockId) {
        let Fluid { rates, held, host_pages, places, page_rates, .. } = fluid;
        let first = self.geometry.first_page(block);
        places.clear();
        page_rates.clear();
        for (n, word) in self.contents.valid_words(block).iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                let page = PageInBlock::from_index(n * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
                places.push(page);
            }
        }
        if let Some(held) = held.from(first) {
            page_rates.extend(places.iter().map(|page| per_ns(held[page.index()])));
            return;
        }
        page_rates.extend(
            places
                .iter()
                .map(|page| reads_of(rates, *host_pages, self.contents.owner(first + *page))),
        );
    }

    /// Draws the pages of reads that must be served by themselves, by the current rates.
    pub(super) fn draw_readers(&mut self, block: BlockId, count: u64) {
        if count == 0 {
            return;
        }
        let Some(mut fluid) = self.fluid.take() else { return };
        self.list_pages(&mut fluid, block);
        let Fluid { chance, weights, places, page_rates, owed, .. } = &mut *fluid;
        let first = self.geometry.first_page(block);
        let mut sum = 0.0;
        weights.clear();
        weights.extend(page_rates.iter().map(|rate| {
            sum += rate;
            sum
        }));
        // Last page that is read.
        let last = weights.partition_point(|up_to| *up_to < sum);
        if sum > 0.0 {
            owed.extend((0..count).map(|_| {
                let at = chance.share() * sum;
                let place = weights.partition_point(|up_to| *up_to <= at).min(last);
                self.contents.owner(first + places[place])
            }));
        }
        self.fluid = Some(fluid);
    }

    /// Draws the page of the read that reaches a block's alarm, and then the reads before it. Both
    /// draws share one list of the block's pages, because nothing happens between them.
    pub(super) fn draw_alarm(&mut self, block: BlockId, before: u64) {
        self.draw_readers(block, 1);
        if let Some(fluid) = &mut self.fluid {
            fluid.is_listed = true;
        }
        self.deposit_before_alarm(block, before);
        if let Some(fluid) = &mut self.fluid {
            fluid.is_listed = false;
        }
    }
}
