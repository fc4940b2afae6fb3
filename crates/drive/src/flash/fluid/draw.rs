//! Draws of reads: how many a block has had, and which of its wordlines they read.

use super::held::per_ns;
use super::{Fluid, OF_ALARM, reads_of};
use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, PageInBlock, Ppn};
use crate::flash::Flash;
use crate::flash::block::{PAGES_COUNTED, SUSPECT};
use crate::flash::counted::{PAGES, TRACKED};
use crate::watch::observer::Event;

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
        let count = fluid.chance.part_of(u64::from(flow.left) - 1, share);
        if self.hot[block.index()].has(SUSPECT) {
            self.draw_tired(block, count);
        } else {
            self.deposit_before_alarm(block, count);
        }
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
                self.tell(Event::ReadInBulk { block, reads: count, doses: &[] });
            }
            return;
        }
        if count > 0 {
            self.weigh(&mut fluid, block);
            let Fluid { chance, weights, counts, retries, .. } = &mut *fluid;
            retries.clear();
            chance.spread(count, weights, counts);
            self.count_spread(&mut fluid, block);
            self.tell(Event::ReadInBulk { block, reads: count, doses: &fluid.counts });
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
        for (count, retries) in counts.iter_mut().zip(retries.iter()) {
            *count *= u32::from(*retries) + 1;
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
        if sum <= 0.0 {
            // The pages that were read are gone, or are not read any more.
            (1..).zip(weights.iter_mut()).for_each(|(n, up_to)| *up_to = f64::from(n));
            sum = weights.len() as f64;
        }
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

#[cfg(test)]
mod tests {
    use crate::base::daily::DailyHours;
    use crate::base::rates::{PageRates, ReadRates};
    use crate::base::units::{BlockId, Cause, Lpn};
    use crate::drive::Drive;
    use crate::testing::{IDLE, drive};

    /// One plane of 60 blocks of 24 pages, whose data fills 36 blocks. The write buffer holds 16
    /// pages.
    const DRIVE: &str = r#"
        geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }
        timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
        drive = { spare = 0.4, write_buffer = "64KiB" }
        disturb = { model = "count", table = [{ pec = 0, limit = [1000] }] }
    "#;

    /// Returns the reads per second of the valid pages of a block, by the pages that own them. Page
    /// n is read n + 1 times per second, unless the host has changed its rate.
    fn by_owner(drive: &Drive, block: BlockId, changed: (Lpn, f64)) -> Vec<f64> {
        let first = drive.geometry.first_page(block);
        let rate = |lpn: Lpn| {
            if lpn == changed.0 { changed.1 } else { f64::from(lpn.number()) + 1.0 }
        };
        let owners = drive.flash.valid_pages_of(block);
        owners.map(|page| rate(drive.flash.contents.owner(first + page))).collect()
    }

    /// Overwrites a third of the pages nine times, so that GC moves others. The rates by place are then those
    /// of the pages' owners, also of a page whose rate changes.
    #[test]
    fn rates_by_place_are_those_of_the_owners() {
        let mut drive = drive(DRIVE, &IDLE);
        let pages = drive.geometry.host_pages;
        let each = (0..pages).map(|page| page as f32 + 1.0).collect();
        let rates = ReadRates {
            pages: PageRates::Each(each),
            requests_per_page: 1.0,
            bytes_per_page: 4096.0,
        };
        drive.flash.begin_fluid((rates, DailyHours::ALWAYS), (None, false), (1, 0));
        let changed = (Lpn::new(7), 1000.0);
        let mut listed = 0;
        for round in 0..9 {
            for page in (round % 3..pages).step_by(3) {
                drive.write_page(Lpn::new(page), u64::MAX);
            }
            drive.set_read_rate(changed.0, changed.1 as f32);
            for block in drive.geometry.block_ids() {
                let mut fluid = drive.flash.fluid.take().unwrap();
                drive.flash.list_pages(&mut fluid, block);
                let here: Vec<f64> = fluid.page_rates.iter().map(|rate| rate * 1e9).collect();
                drive.flash.fluid = Some(fluid);
                let there = by_owner(&drive, block, changed);
                let same = here.len() == there.len()
                    && here.iter().zip(&there).all(|(here, there)| (here - there).abs() < 1e-6);
                assert!(same, "block {block}: {here:?} instead of {there:?}");
                listed += here.len();
            }
        }
        assert!(listed >= 9 * (pages as usize - 32), "most pages are on flash: {listed}");
        assert!(drive.flash_counts().programs[Cause::Gc as usize] > 0, "GC has moved pages");
    }
}
