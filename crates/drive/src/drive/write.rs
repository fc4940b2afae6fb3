//! Host writes and trims: into the write buffer, and from the buffer to flash.

use crate::base::streams::HOST;
use crate::base::stripes::Stripes;
use crate::base::units::{Cause, Lpn, Ppn};
use crate::drive::Drive;
use crate::flash::operate::program::NewPage;
use crate::flash::ops::NandOp;
use crate::ftl::buffer::{Slot, WHOLE};
use crate::ftl::gathers::Gatherer;
use crate::ftl::map::Entry;
use crate::watch::observer::{Event, Origin};

/// Number of pages written to flash between a prefetch and the use of the memory.
const AHEAD: usize = 4;

impl Drive {
    /// Accepts a host write of the parts of a page that `mask` names. It has one bit per 64th. All
    /// ones mean the whole page.
    pub fn write_page(&mut self, lpn: Lpn, mask: u64) {
        self.host.write_pages += 1;
        if mask != WHOLE {
            self.host.partial_page_writes += 1;
        }
        self.ftl.map.settle(lpn);
        // Space is freed before the write counts as accepted. A move on the way may find the older
        // copy past its limit. That loss does not concern the new data.
        if !self.takes_in_place(self.ftl.map.get(lpn)) && self.ftl.buffer.is_full() {
            self.flush_one();
        }
        let mut entry = self.ftl.map.get(lpn);
        let mut mask = mask;
        if let Some(slot) = entry.slot().filter(|_| !self.takes_in_place(entry)) {
            // A mover's copy is in the controller's memory. With the new parts, it is whole, and
            // belongs to the host from now on.
            self.ftl.forget_gathered(slot);
            (entry, mask) = (Entry::UNMAPPED, WHOLE);
        }
        let written = mask | entry.slot().map_or(0, |slot| self.ftl.buffer.slot(slot).mask);
        self.ftl.partial.window.host_writes();
        self.ftl.worn.window.host_writes();
        let writing = self.writing;
        self.flash.tell(Event::TookIn { lpn, parts: written });
        self.flash.tell(Event::Wrote { request: writing, lpn, whole: written == WHOLE });
        if written == WHOLE {
            self.ftl.clear_lost(&mut self.flash, lpn);
        }
        if let Some(slot) = entry.slot() {
            self.merge(slot, mask);
            self.keep_with_stripe(lpn, slot);
            return;
        }
        let mut below = entry;
        if let Some(ppn) = entry.ppn().filter(|_| mask == WHOLE && self.geometry.stripes.is_none())
        {
            self.ftl.invalidate(&mut self.flash, ppn);
            below = Entry::UNMAPPED;
        }
        let slot = self.ftl.buffer.insert(Slot {
            lpn,
            mask,
            below,
            is_new: true,
            group: self.ftl.buffer.group,
        });
        self.ftl.map.set(lpn, Entry::buffered(slot));
        self.keep_with_stripe(lpn, slot);
        if self.ftl.buffer_slots == 0 && self.geometry.stripes.is_none() {
            self.flush_one();
        }
    }

    /// Handles an accepted page if the buffer keeps the pages of a stripe together. The page is the
    /// last to leave with its stripe, or goes through the buffer.
    #[inline]
    fn keep_with_stripe(&mut self, lpn: Lpn, slot: u32) {
        if self.longest_cached.is_some()
            && let Some(stripes) = self.geometry.stripes
        {
            self.keep_with(stripes, lpn, slot);
        }
    }

    #[inline(never)]
    fn keep_with(&mut self, stripes: Stripes, lpn: Lpn, slot: u32) {
        let pages = stripes.data(stripes.of(lpn));
        if !self.ftl.buffer.goes_through {
            let others = pages
                .clone()
                .filter(|other| *other != lpn)
                .any(|other| self.ftl.map.slot_of(other).is_some());
            if others || !self.ftl.buffer.is_newest(slot) {
                self.ftl.buffer.keep_longest(&pages);
            }
            return;
        }
        self.ftl.buffer.pass(slot);
        if lpn + 1 == pages.end {
            self.flush_one();
        }
    }

    /// Returns whether the write buffer holds host data that new data joins.
    #[inline]
    fn takes_in_place(&self, entry: Entry) -> bool {
        entry.slot().is_some_and(|slot| self.ftl.buffer.slot(slot).is_new)
    }

    fn merge(&mut self, slot: u32, mask: u64) {
        let s = self.ftl.buffer.slot_mut(slot);
        s.mask |= mask;
        if let Some(below) =
            s.below.ppn().filter(|_| s.mask == WHOLE && self.geometry.stripes.is_none())
        {
            s.below = Entry::UNMAPPED;
            self.ftl.invalidate(&mut self.flash, below);
        }
    }

    /// Writes the oldest page of the buffer to flash.
    fn flush_one(&mut self) {
        self.prefetch_flush();
        if let Some(stripes) = self.geometry.stripes {
            return self.flush_stripe(stripes);
        }
        let front = *self.ftl.buffer.oldest().expect("the buffer holds a page");
        let mut whole = !self.ftl.is_lost(front.lpn);
        let below = front.below.ppn().filter(|_| whole && front.mask != WHOLE);
        // A move that the read starts may drop the old version.
        let aged = below.and_then(|below| self.flash.aged(below));
        if let Some(below) = below {
            self.host.fill_reads += 1;
            // Work that the read starts may change the coding.
            let coding = self.flash.read_coding(below);
            let filled = self.fill(front.lpn, below);
            whole = filled.good && !self.ftl.is_lost(front.lpn);
            self.record_fill(front.lpn, below, (coding, filled.level), whole);
            if whole {
                // The page is whole in the controller now. Its old version is not needed any more.
                let slot = self.ftl.map.slot_of(front.lpn);
                if let Some(slot) = slot {
                    self.merge(slot, WHOLE);
                }
                self.flash.tell(Event::Filled { lpn: front.lpn });
            }
        }
        let (ftl, mut cx) = self.parts();
        let stream = ftl.stream_of(HOST, front.lpn);
        if ftl.needs_block(stream) {
            ftl.ensure_room(&mut cx, 0);
        }
        // The old version may have moved meanwhile. The slot has its new place.
        let slot = ftl.buffer.evict().expect("the buffer holds a page");
        if let Some(below) = slot.below.ppn() {
            ftl.invalidate(cx.flash, below);
        }
        if !whole {
            // The rest of the page could not be read. A page of old and new parts would be wrong,
            // so the page is reported lost.
            ftl.map.set(slot.lpn, Entry::UNMAPPED);
            let by_age = aged.is_some_and(|aged| cx.flash.is_lost_by_age(aged));
            ftl.report_lost_by(cx.flash, slot.lpn, by_age);
            return;
        }
        ftl.map.set(slot.lpn, Entry::UNMAPPED);
        let data = NewPage { lpn: slot.lpn, origin: Origin::Host, cause: Cause::Host };
        if cx.flash.by_wordline {
            ftl.gather(&mut cx, Gatherer::Stream(stream), data);
        } else {
            let dst = ftl.place(&mut cx, stream, data);
            cx.flash.record(NandOp::Program { dst });
        }
        ftl.keep_house(&mut cx, 0);
    }

    /// Records a fill read, which completes a partly written page.
    fn record_fill(&mut self, lpn: Lpn, src: Ppn, (coding, level): (u8, u8), whole: bool) {
        let cause = Cause::Host;
        let op = match (whole, self.flash.by_wordline) {
            (false, _) => NandOp::Copy { src, coding, level, dst: None, cause },
            (true, false) => NandOp::Fill { src, coding, level },
            (true, true) => {
                let by = Gatherer::Stream(self.ftl.stream_of(HOST, lpn));
                NandOp::Load { src, coding, level, serial: self.ftl.gather_serial(by), cause }
            }
        };
        self.flash.record(op);
    }

    /// Prefetches the memory that is needed when the next pages are written to flash. Memory that
    /// other memory locates is fetched later.
    #[inline]
    fn prefetch_flush(&self) {
        if let Some(later) = self.ftl.buffer.nth(2 * AHEAD) {
            self.prefetch_map(later.lpn);
            if later.mask != WHOLE {
                self.prefetch_counters(later.below);
            }
            self.prefetch_overwrite(later.below);
        }
        if let Some(soon) = self.ftl.buffer.nth(AHEAD) {
            self.prefetch_neighbours(soon.below);
        }
        if let Some(stripes) = self.geometry.stripes {
            self.prefetch_parity(stripes);
        }
    }

    /// Prefetches further memory for a parity update: the counters of the old versions that it
    /// reads, and the data of the parity.
    #[inline]
    fn prefetch_parity(&self, stripes: Stripes) {
        let parity_of = |lpn: Lpn| stripes.parity(stripes.of(lpn));
        if let Some(later) = self.ftl.buffer.nth(3 * AHEAD) {
            self.prefetch_map(parity_of(later.lpn));
        }
        if let Some(later) = self.ftl.buffer.nth(2 * AHEAD) {
            let parity = self.ftl.map.get(parity_of(later.lpn));
            self.prefetch_counters(later.below);
            self.prefetch_counters(parity);
            self.prefetch_overwrite(parity);
        }
        if let Some(soon) = self.ftl.buffer.nth(AHEAD) {
            self.prefetch_neighbours(self.ftl.map.get(parity_of(soon.lpn)));
        }
    }

    /// Writes all pages of the buffer to flash.
    pub fn drain_buffer(&mut self) {
        while self.ftl.buffer.oldest().is_some() {
            self.flush_one();
        }
        self.pad_streams();
    }

    /// Ends a write request whose pages have all been accepted. Without a buffer, none of them
    /// waits for other pages.
    #[inline]
    pub(crate) fn end_write(&mut self) {
        if self.geometry.stripes.is_some() {
            self.end_group();
        }
        if self.flash.by_wordline && self.ftl.buffer_slots == 0 {
            self.pad_written();
        }
    }

    #[inline(never)]
    fn pad_written(&mut self) {
        let (ftl, mut cx) = self.parts();
        ftl.pad_kind(&mut cx, HOST);
    }

    /// Ends the group of pages of a request. Without a buffer, all earlier pages leave.
    #[inline(never)]
    pub(crate) fn end_group(&mut self) {
        self.ftl.buffer.group = self.ftl.buffer.group.wrapping_add(1);
        self.ftl.buffer.goes_through = false;
        while self.ftl.buffer.through() > 0 {
            self.flush_one();
        }
        while self.ftl.buffer_slots == 0 && self.ftl.buffer.oldest().is_some() {
            self.flush_one();
        }
    }

    /// Accepts a host trim of a whole page.
    pub fn trim_page(&mut self, lpn: Lpn) {
        if let Some(stripes) = self.geometry.stripes {
            return self.trim_striped(stripes, &lpn.run(1));
        }
        self.ftl.clear_lost(&mut self.flash, lpn);
        self.flash.tell(Event::Trimmed { lpn });
        let mut entry = self.ftl.map.get(lpn);
        if let Some(slot) = entry.slot() {
            entry = self.ftl.buffer.slot(slot).below;
            if self.ftl.buffer.is_staged(slot) {
                self.ftl.forget_gathered(slot);
            } else {
                self.ftl.buffer.discard(slot);
            }
        }
        if let Some(ppn) = entry.ppn() {
            self.ftl.invalidate(&mut self.flash, ppn);
        }
        self.ftl.map.set(lpn, Entry::UNMAPPED);
    }
}

#[cfg(test)]
mod tests {
    use crate::base::units::Lpn;
    use crate::drive::Drive;
    use crate::drive::tests::tiny_config;
    use crate::testing::without_reclaim;

    /// Every block is always read past its limit. So GC finds old data lost while it frees space
    /// for new data.
    #[test]
    fn new_data_is_not_lost_with_the_old() {
        let mut config = tiny_config();
        config.disturb =
            toml::from_str("model = \"count\"\ntable = [{ pec = 0, limit = [60] }]").unwrap();
        let config = config.resolve().unwrap();
        let mut drive = Drive::new(config, &without_reclaim(), false).unwrap();
        let pages = drive.geometry.host_pages;
        let mut random = 0u64;
        for _ in 0..200_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let [written, read] =
                [random >> 40, random >> 33].map(|drawn| Lpn::new(drawn as u32 % pages));
            drive.write_page(written, u64::MAX);
            assert!(!drive.ftl.is_lost(written), "page {written} was just written");
            drive.read_pages(&[read; 32]);
        }
        assert!(
            drive.ftl.lost_pages > 1000,
            "{} pages lost: the drive was hardly tried",
            drive.ftl.lost_pages
        );
    }
}
