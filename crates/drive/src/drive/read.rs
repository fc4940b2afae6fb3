//! Read path: look up the page, count the read, compare with the alarm. The path is compiled for
//! each kind of counting, with and without an observer.

use crate::base::units::{Cause, Lpn, Ppn};
use crate::drive::Drive;
use crate::flash::count::WORDLINES;
use crate::flash::fluid::absent::Kind;
use crate::ftl::buffer::WHOLE;
use crate::ftl::map::Entry;
use crate::watch::observer::{FROM_BUFFER, NO_PPN, PhysRead, ReadResult};

/// Calls the read path that is compiled for the present counting and observation.
macro_rules! on_read_path {
    ($drive:ident.$read:ident($($argument:expr),*)) => {{
        use $crate::flash::count::{BLOCKS, CODED, PAGES, TRACKED, WORDLINES};
        match ($drive.flash.counted, $drive.flash.is_watched()) {
            (BLOCKS, false) => $drive.$read::<{ BLOCKS }, false>($($argument),*),
            (BLOCKS, true) => $drive.$read::<{ BLOCKS }, true>($($argument),*),
            (WORDLINES, false) => $drive.$read::<{ WORDLINES }, false>($($argument),*),
            (WORDLINES, true) => $drive.$read::<{ WORDLINES }, true>($($argument),*),
            (TRACKED, false) => $drive.$read::<{ TRACKED }, false>($($argument),*),
            (TRACKED, true) => $drive.$read::<{ TRACKED }, true>($($argument),*),
            (CODED, false) => $drive.$read::<{ CODED }, false>($($argument),*),
            (CODED, true) => $drive.$read::<{ CODED }, true>($($argument),*),
            (_, false) => $drive.$read::<{ PAGES }, false>($($argument),*),
            (_, true) => $drive.$read::<{ PAGES }, true>($($argument),*),
        }
    }};
}

pub(crate) use on_read_path;

impl Drive {
    /// Reads pages for the host, in order.
    pub fn read_pages(&mut self, lpns: &[Lpn]) {
        for lpn in lpns {
            self.read_page(*lpn);
        }
    }

    /// Sets the number of reads of a page per second, in the fluid gear.
    pub(crate) fn set_read_rate(&mut self, lpn: Lpn, per_s: f32) {
        // A rate changes often, so the place at the start is computed once.
        self.ftl.map.settle(lpn);
        self.count_absent(lpn, -1.0);
        self.flash.set_read_rate(lpn, self.ftl.place_of(lpn), per_s);
        self.count_absent(lpn, 1.0);
    }

    /// Adds the reads of all pages that are not on flash, in the fluid gear.
    pub(crate) fn count_all_absent(&mut self) {
        for lpn in Lpn::range(0..self.geometry.host_pages) {
            if !self.ftl.map.is_surely_on_flash(lpn) {
                self.count_absent(lpn, 1.0);
            }
        }
    }

    /// Adds the reads of a page that is not on flash, or removes them, according to `sign`.
    fn count_absent(&mut self, lpn: Lpn, sign: f64) {
        if self.ftl.place_of(lpn).is_some() {
            return;
        }
        self.flash.change_absent(Kind::Any, lpn, sign);
        if self.ftl.is_lost(lpn) {
            self.flash.change_absent(Kind::Lost, lpn, sign);
        } else if self.holds_nothing(lpn) {
            self.flash.change_absent(Kind::WithoutData, lpn, sign);
        }
    }

    /// Returns whether a page has no data and is not lost: never written, or trimmed.
    pub(crate) fn holds_nothing(&self, lpn: Lpn) -> bool {
        self.ftl.map.get(lpn) == Entry::UNMAPPED && !self.ftl.is_lost(lpn)
    }

    /// Moves the reads of pages that were lost, or are lost no more, to the right kind.
    #[inline]
    pub(crate) fn settle_lost(&mut self) {
        while let Some(lpn) = self.flash.next_unsettled() {
            let is_lost = self.ftl.is_lost(lpn) && self.ftl.place_of(lpn).is_none();
            match (self.flash.is_absent_as_lost(lpn), is_lost) {
                (false, true) => self.flash.change_absent(Kind::Lost, lpn, 1.0),
                (true, false) => self.flash.change_absent(Kind::Lost, lpn, -1.0),
                _ => {}
            }
        }
    }

    /// Prefetches the map entry of a page that will be read or written soon.
    #[inline]
    pub(crate) fn prefetch_map(&self, lpn: Lpn) {
        self.ftl.map.prefetch(lpn);
    }

    /// Reads one page for the host. Returns the place of the page: a physical page, [`NO_PPN`]
    /// (unmapped or lost), or [`FROM_BUFFER`].
    #[inline]
    pub fn read_page(&mut self, lpn: Lpn) -> Ppn {
        if self.flash.counted == WORDLINES && !self.flash.is_watched() {
            return self.read_one::<{ WORDLINES }, false>(lpn);
        }
        self.read_page_otherwise(lpn)
    }

    #[inline(never)]
    fn read_page_otherwise(&mut self, lpn: Lpn) -> Ppn {
        on_read_path!(self.read_one(lpn))
    }

    /// Prefetches the counters of a map entry's page.
    #[inline]
    pub(crate) fn prefetch_counters(&self, entry: Entry) {
        if let Some(ppn) = entry.ppn() {
            self.flash.prefetch_counters(ppn);
        }
    }

    #[inline]
    pub(crate) fn prefetch_counted<const COUNTED: u8>(&self, entry: Entry) {
        if let Some(ppn) = entry.ppn() {
            self.flash.prefetch_counted::<COUNTED>(ppn);
        }
    }

    /// Prefetches the technique's own counter of a map entry's page.
    #[inline]
    pub(crate) fn prefetch_own<const COUNTED: u8>(&self, entry: Entry) {
        if let Some(ppn) = entry.ppn() {
            self.flash.prefetch_own::<COUNTED>(ppn);
        }
    }

    /// Prefetches the memory that invalidating a map entry's page needs.
    #[inline]
    pub(crate) fn prefetch_overwrite(&self, entry: Entry) {
        if let Some(ppn) = entry.ppn() {
            let block = self.flash.prefetch_invalidation(ppn);
            self.ftl.victims.prefetch(block);
        }
    }

    /// Prefetches more memory that an invalidation needs. [`Self::prefetch_overwrite`] has
    /// prefetched the part that locates this memory.
    #[inline]
    pub(crate) fn prefetch_neighbours(&self, entry: Entry) {
        if let Some(ppn) = entry.ppn() {
            self.ftl.victims.prefetch_neighbours(self.flash.geometry.block_of(ppn));
        }
    }

    #[inline(always)]
    // The read path.
    pub(crate) fn read_one<const COUNTED: u8, const WATCHED: bool>(&mut self, lpn: Lpn) -> Ppn {
        self.host.read_pages += 1;
        let entry = self.ftl.map.settle(lpn);
        let Some(ppn) = entry.ppn() else { return self.read_special(lpn, entry) };
        if self.flash.host_read::<COUNTED, WATCHED>(lpn, ppn) {
            self.alarm(lpn, ppn);
        }
        ppn
    }

    /// Handles a host read without a flash page in the map: a buffered, unmapped or lost page.
    #[cold]
    fn read_special(&mut self, lpn: Lpn, entry: Entry) -> Ppn {
        match entry.slot() {
            None => self.read_unmapped(lpn),
            Some(slot) => self.read_buffered(lpn, slot),
        }
    }

    /// Reads a page whose newest data, or a part of it, is in this slot of the write buffer.
    fn read_buffered(&mut self, lpn: Lpn, slot: u32) -> Ppn {
        let slot = *self.ftl.buffer.slot(slot);
        if self.ftl.is_lost(lpn) {
            // A part that the host wrote later does not make the page whole.
            self.uncorrectable_reads += 1;
            self.note_unread(lpn, FROM_BUFFER, ReadResult::Uncorrectable);
            return FROM_BUFFER;
        }
        let below = slot.below.ppn().filter(|_| slot.mask != WHOLE);
        let Some(below) = below else {
            self.note_unread(lpn, FROM_BUFFER, ReadResult::Good);
            return FROM_BUFFER;
        };
        // A part of the page is newer in the buffer. The rest comes from flash. A move that this
        // read started may find the rest lost. The page is then lost, as if the read itself had
        // found it lost.
        let is_read = self.fill_for_read(lpn, below) || self.repair_rest_for_read(lpn, below);
        let whole = is_read && !self.ftl.is_lost(lpn);
        if !whole {
            self.uncorrectable_reads += 1;
            if self.geometry.stripes.is_some() {
                self.give_up(lpn);
            } else {
                self.ftl.report_lost(&mut self.flash, lpn);
            }
        }
        self.note_unread(
            lpn,
            FROM_BUFFER,
            if whole { ReadResult::Good } else { ReadResult::Uncorrectable },
        );
        below
    }

    /// Handles a read of a page without data: never written, trimmed, or reported lost.
    fn read_unmapped(&mut self, lpn: Lpn) -> Ppn {
        let lost = self.ftl.is_lost(lpn);
        self.note_unread(
            lpn,
            NO_PPN,
            if lost { ReadResult::Uncorrectable } else { ReadResult::Good },
        );
        if lost {
            self.uncorrectable_reads += 1;
        } else {
            self.host.unmapped_read_pages += 1;
        }
        NO_PPN
    }

    /// Tells the observer of a host read that sensed no flash, or that sensed only a part of the
    /// page.
    fn note_unread(&mut self, lpn: Lpn, ppn: Ppn, result: ReadResult) {
        self.flash.note_read(PhysRead { result, ..PhysRead::good(lpn, ppn, Cause::Host) });
    }
}
