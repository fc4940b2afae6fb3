//! Page map: the place of the newest data of each host page.
//!
//! An [`Entry`] of four bytes holds this place for each page.

use std::ops::Range;
use std::sync::Arc;

use crate::base::mem::{huge_zeros, prefetch};
use crate::base::steady::Steady;
use crate::base::units::{Lpn, Ppn};
use crate::watch::observer::NO_PPN;

/// Flag: the newest data is in a slot of the write buffer. The low 31 bits are the number of the
/// slot.
const BUFFERED: u32 = 1 << 31;

/// Place of the newest data of a page: a page of flash, a slot of the write buffer, or none.
///
/// ```text
/// 0                           the place at the start; the entry was never read
/// 1 to 2^31 - 2               on flash, in the page with the number before this one
/// 2^31 - 1                    no place
/// 2^31 and above              in a slot of the write buffer
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Entry(u32);

impl Entry {
    /// Entry whose place follows from the start layout ([`Steady`]). [`PageMap::get`] never returns
    /// it.
    const AS_BEGUN: Self = Self(0);

    /// Entry without data: never written, trimmed or lost.
    pub(crate) const UNMAPPED: Self = Self(NO_PPN.number());

    /// Creates the entry of data in this page of flash.
    #[inline]
    pub(crate) const fn on_flash(ppn: Ppn) -> Self {
        Self(ppn.number() + 1)
    }

    /// Creates the entry of data in this slot of the write buffer.
    #[inline]
    pub(crate) const fn buffered(slot: u32) -> Self {
        Self(BUFFERED | slot)
    }

    /// Returns the page of flash that holds the data.
    #[inline]
    pub(crate) fn ppn(self) -> Option<Ppn> {
        let number = self.0.wrapping_sub(1);
        (number < Self::UNMAPPED.0 - 1).then_some(Ppn::new(number))
    }

    /// Returns the slot of the write buffer that holds the data.
    #[inline]
    pub(crate) fn slot(self) -> Option<u32> {
        (self.0 & BUFFERED != 0).then_some(self.0 & !BUFFERED)
    }
}

/// Page map. Memory of entries that were never read or changed is never written, so it takes no
/// space.
pub(crate) struct PageMap {
    entries: Vec<u32>,
    begun: Option<Arc<Steady>>,
}

impl PageMap {
    /// Largest number of pages that [`Self::settle_each`] takes.
    pub(crate) const AT_ONCE: usize = 16;

    pub(crate) fn new(host_pages: u32) -> Self {
        Self { entries: huge_zeros(host_pages as usize), begun: None }
    }

    /// Returns the memory that a map takes.
    pub(crate) fn bytes(host_pages: u32) -> u64 {
        4 * u64::from(host_pages)
    }

    /// Starts the drive with this layout.
    pub(crate) fn begin(&mut self, layout: Arc<Steady>) {
        self.begun = Some(layout);
    }

    /// Prefetches the entry of a page that will be read or written soon.
    #[inline]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.entries, lpn.index());
    }

    /// Returns the entry of a page.
    #[inline]
    pub(crate) fn get(&self, lpn: Lpn) -> Entry {
        match Entry(self.entries[lpn.index()]) {
            Entry::AS_BEGUN => self.at_start(lpn),
            entry => entry,
        }
    }

    /// Returns the slot of the write buffer that holds a page's newest data.
    #[inline]
    pub(crate) fn slot_of(&self, lpn: Lpn) -> Option<u32> {
        // No page is in the buffer at the start.
        Entry(self.entries[lpn.index()]).slot()
    }

    /// Returns the entry of a page and stores it, so that it is not computed again.
    #[inline]
    pub(crate) fn settle(&mut self, lpn: Lpn) -> Entry {
        match Entry(self.entries[lpn.index()]) {
            Entry::AS_BEGUN => self.note(lpn),
            entry => entry,
        }
    }

    /// Stores the entries of pages that will be read or written soon. Two short loops are faster
    /// than one page after the other, because the cache misses of the pages overlap.
    #[inline]
    pub(crate) fn settle_each(&mut self, lpns: impl Iterator<Item = Lpn>) {
        let Some(begun) = &self.begun else { return };
        let (mut soon, mut count) = ([(0, 0); Self::AT_ONCE], 0);
        for lpn in lpns.take(Self::AT_ONCE) {
            let place = || begun.place_of(lpn);
            if let Some(place) = self.is_as_begun(lpn).then(place).flatten() {
                soon[count] = (lpn.index(), place);
                count += 1;
            }
        }
        for (index, place) in &soon[..count] {
            self.entries[*index] = Entry::on_flash(begun.page_at(*place)).0;
        }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, lpn: Lpn) -> Entry {
        let entry = self.at_start(lpn);
        self.entries[lpn.index()] = entry.0;
        entry
    }

    #[cold]
    fn at_start(&self, lpn: Lpn) -> Entry {
        let place = |begun: &Arc<Steady>| begun.place_of(lpn).map(|place| begun.page_at(place));
        self.begun.as_ref().and_then(place).map_or(Entry::UNMAPPED, Entry::on_flash)
    }

    #[inline]
    pub(crate) fn set(&mut self, lpn: Lpn, entry: Entry) {
        self.entries[lpn.index()] = entry.0;
    }

    /// Returns whether a page's entry was never read or changed since the start.
    #[inline]
    pub(crate) fn is_as_begun(&self, lpn: Lpn) -> bool {
        self.entries[lpn.index()] == Entry::AS_BEGUN.0
    }

    /// Returns the domain of a page whose place follows from the start layout; `None` of a page
    /// whose entry is stored.
    #[inline]
    pub(crate) fn domain_at_start(&self, lpn: Lpn) -> Option<usize> {
        let begun = self.begun.as_ref().filter(|_| self.is_as_begun(lpn));
        begun.map(|layout| layout.pages().lane_of(lpn))
    }

    /// Returns whether no entry of a range of pages was read or changed since the start.
    pub(crate) fn are_as_begun(&self, run: Range<usize>) -> bool {
        self.entries[run].iter().fold(0, |any, entry| any | entry) == Entry::AS_BEGUN.0
    }

    /// Returns whether flash surely holds the newest data of a page. Computes no place.
    #[inline]
    pub(crate) fn is_surely_on_flash(&self, lpn: Lpn) -> bool {
        match Entry(self.entries[lpn.index()]) {
            Entry::AS_BEGUN => self.begun.as_ref().is_some_and(|layout| layout.pages().has(lpn)),
            entry => entry.ppn().is_some(),
        }
    }

    /// Returns the number of pages with an entry.
    pub(crate) fn pages(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Returns the number of pages with data.
    pub(crate) fn mapped(&self) -> u64 {
        let none = [0..0, self.entries.len()..self.entries.len()];
        let begun = self.begun.as_ref().map_or(none, |layout| layout.pages().ranges());
        let count = |run: Range<usize>, is: fn(u32) -> bool| {
            self.entries[run].iter().map(|entry| u64::from(is(*entry))).sum::<u64>()
        };
        let is_unmapped = |entry| entry == Entry::UNMAPPED.0;
        let is_mapped = |entry| entry != Entry::UNMAPPED.0 && entry != Entry::AS_BEGUN.0;
        let [host, parity] = begun;
        let others = count(host.end..parity.start, is_mapped)
            + count(parity.end..self.entries.len(), is_mapped);
        let loaded = (host.len() + parity.len()) as u64;
        loaded - count(host, is_unmapped) - count(parity, is_unmapped) + others
    }

    /// Stores the entries of all pages at once.
    pub(crate) fn settle_all(&mut self) {
        for lpn in Lpn::range(0..self.pages()).step_by(Self::AT_ONCE) {
            let end = self.pages().min(lpn.number() + Self::AT_ONCE as u32);
            self.settle_each(Lpn::range(lpn.number()..end));
        }
    }

    /// Maps a range of pages from `first` on to erased blocks, one page per block in turn, until
    /// the blocks are full. `first_pages` are the first pages of the blocks. The map is written in
    /// the order of memory: writing it block by block would miss the cache for each page.
    pub(crate) fn load_in_turn(&mut self, first: Lpn, first_pages: &[Ppn], pages_per_block: u32) {
        let width = first_pages.len();
        let run = &mut self.entries[first.index()..][..width * pages_per_block as usize];
        for (page, turn) in (0..).zip(run.chunks_exact_mut(width)) {
            debug_assert!(
                turn.iter().all(|entry| *entry == Entry::AS_BEGUN.0),
                "a page is loaded once"
            );
            for (entry, first_page) in turn.iter_mut().zip(first_pages) {
                *entry = Entry::on_flash(*first_page + page).0;
            }
        }
    }
}
