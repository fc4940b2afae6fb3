//! The page map: where the newest data of each of the host's pages is.
//!
//! An [`Entry`] of four bytes says that of each page.

use std::ops::Range;
use std::sync::Arc;

use crate::base::mem::{huge_zeros, prefetch};
use crate::base::steady::Steady;
use crate::base::units::{Lpn, Ppn};
use crate::watch::observer::NO_PPN;

/// The newest data is in a slot of the write buffer, whose number is in the low 31 bits.
const BUFFERED: u32 = 1 << 31;

/// Where the newest data of a page is: in a page of flash, in a slot of the write buffer, or
/// nowhere.
///
/// ```text
/// 0                           where it was at the start: nobody has asked yet
/// 1 to 2^31 - 2               on flash, in the page with the number before this one
/// 2^31 - 1                    nowhere
/// 2^31 and above              in a slot of the write buffer
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Entry(u32);

impl Entry {
    /// The place follows from the start ([`Steady`]). [`PageMap::get`] never gives this entry.
    const AS_BEGUN: Self = Self(0);

    /// There is no data: never written, trimmed or lost.
    pub(crate) const UNMAPPED: Self = Self(NO_PPN.number());

    /// The data is in this page of flash.
    #[inline]
    pub(crate) const fn on_flash(ppn: Ppn) -> Self {
        Self(ppn.number() + 1)
    }

    /// The data is in this slot of the write buffer.
    #[inline]
    pub(crate) const fn buffered(slot: u32) -> Self {
        Self(BUFFERED | slot)
    }

    /// The page of flash that has the data.
    #[inline]
    pub(crate) fn ppn(self) -> Option<Ppn> {
        let number = self.0.wrapping_sub(1);
        (number < Self::UNMAPPED.0 - 1).then_some(Ppn::new(number))
    }

    /// The slot of the write buffer that has the data.
    #[inline]
    pub(crate) fn slot(self) -> Option<u32> {
        (self.0 & BUFFERED != 0).then_some(self.0 & !BUFFERED)
    }
}

/// The map. Memory of entries that nobody has asked for or changed is never written, and takes
/// none.
pub(crate) struct PageMap {
    entries: Vec<u32>,
    begun: Option<Arc<Steady>>,
}

impl PageMap {
    pub(crate) fn new(host_pages: u32) -> Self {
        Self { entries: huge_zeros(host_pages as usize), begun: None }
    }

    /// Memory that such a map takes.
    pub(crate) fn bytes(host_pages: u32) -> u64 {
        4 * u64::from(host_pages)
    }

    /// The drive begins with this layout.
    pub(crate) fn begin(&mut self, layout: Arc<Steady>) {
        self.begun = Some(layout);
    }

    /// Asks the processor for the entry of a page that will be read or written soon.
    #[inline]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.entries, lpn.index());
    }

    /// The entry of a page.
    #[inline]
    pub(crate) fn get(&self, lpn: Lpn) -> Entry {
        match Entry(self.entries[lpn.index()]) {
            Entry::AS_BEGUN => self.at_start(lpn),
            entry => entry,
        }
    }

    /// The slot of the write buffer that has a page's newest data.
    #[inline]
    pub(crate) fn slot_of(&self, lpn: Lpn) -> Option<u32> {
        // No page is in the buffer from the start on.
        Entry(self.entries[lpn.index()]).slot()
    }

    /// The entry of a page, which is noted: it is not worked out again.
    #[inline]
    pub(crate) fn settle(&mut self, lpn: Lpn) -> Entry {
        match Entry(self.entries[lpn.index()]) {
            Entry::AS_BEGUN => self.note(lpn),
            entry => entry,
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
    #[inline(never)]
    fn at_start(&self, lpn: Lpn) -> Entry {
        self.begun
            .as_ref()
            .and_then(|layout| layout.place_of(lpn))
            .map_or(Entry::UNMAPPED, Entry::on_flash)
    }

    #[inline]
    pub(crate) fn set(&mut self, lpn: Lpn, entry: Entry) {
        self.entries[lpn.index()] = entry.0;
    }

    /// Whether nobody has asked for a page's entry, or changed it, since the start.
    #[inline]
    pub(crate) fn is_as_begun(&self, lpn: Lpn) -> bool {
        self.entries[lpn.index()] == Entry::AS_BEGUN.0
    }

    /// Whether the same holds of all pages of a run.
    pub(crate) fn are_as_begun(&self, run: Range<usize>) -> bool {
        self.entries[run].iter().fold(0, |any, entry| any | entry) == Entry::AS_BEGUN.0
    }

    /// Pages that have an entry.
    pub(crate) fn pages(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Pages whose data is somewhere.
    pub(crate) fn mapped(&self) -> u64 {
        let filled = self.begun.as_ref().map_or(0, |layout| layout.filled() as usize);
        let (first, others) = self.entries.split_at(filled);
        let unmapped =
            first.iter().map(|entry| u64::from(*entry == Entry::UNMAPPED.0)).sum::<u64>();
        let is_mapped =
            |entry: &u32| u64::from(*entry != Entry::UNMAPPED.0 && *entry != Entry::AS_BEGUN.0);
        filled as u64 - unmapped + others.iter().map(is_mapped).sum::<u64>()
    }

    /// Notes the entries of all pages at once.
    pub(crate) fn settle_all(&mut self) {
        for lpn in Lpn::range(0..self.pages()) {
            self.settle(lpn);
        }
    }

    /// Maps a run of pages from `first` on to the pages of erased blocks, which begin here, block
    /// after block in turn, until the blocks, of so many pages each, are full. The map is written
    /// from one end of memory to the other: block by block would miss the cache for each page.
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
