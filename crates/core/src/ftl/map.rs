//! The page map: where the newest data of each of the host's pages is.
//!
//! An [`Entry`] of four bytes says that of each page.

use crate::base::mem::{huge_vec, prefetch};
use crate::base::units::{Lpn, Ppn};
use crate::watch::observer::NO_PPN;

/// The newest data is in a slot of the write buffer, whose number is in the low 31 bits.
const BUFFERED: u32 = 1 << 31;

/// Where the newest data of a page is: in a page of flash, in a slot of the write buffer, or nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Entry(u32);

impl Entry {
    /// There is no data: never written, trimmed or lost.
    pub(crate) const UNMAPPED: Self = Self(NO_PPN.number());

    /// The data is in this page of flash.
    #[inline]
    pub(crate) const fn on_flash(ppn: Ppn) -> Self {
        Self(ppn.number())
    }

    /// The data is in this slot of the write buffer.
    #[inline]
    pub(crate) const fn buffered(slot: u32) -> Self {
        Self(BUFFERED | slot)
    }

    /// The page of flash that has the data.
    #[inline]
    pub(crate) fn ppn(self) -> Option<Ppn> {
        (self.0 < Self::UNMAPPED.0).then_some(Ppn::new(self.0))
    }

    /// The slot of the write buffer that has the data.
    #[inline]
    pub(crate) fn slot(self) -> Option<u32> {
        (self.0 & BUFFERED != 0).then_some(self.0 & !BUFFERED)
    }
}

pub(crate) struct PageMap {
    pub(crate) to_physical: Vec<Entry>,
}

impl PageMap {
    pub(crate) fn new(host_pages: u32) -> Self {
        Self { to_physical: huge_vec(host_pages as usize, Entry::UNMAPPED) }
    }

    /// Memory that such a map takes.
    pub(crate) fn bytes(host_pages: u32) -> u64 {
        4 * u64::from(host_pages)
    }

    /// Asks the processor for the entry of a page that will be read or written soon.
    #[inline]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.to_physical, lpn.index());
    }

    /// Maps a run of pages from `first` on to the pages of erased blocks, which begin here, block after block in turn, until the blocks, of so
    /// many pages each, are full. The map is written from one end of memory to the other: block by block would miss the cache for each page.
    pub(crate) fn load_in_turn(&mut self, first: Lpn, first_pages: &[Ppn], pages_per_block: u32) {
        let width = first_pages.len();
        let run = &mut self.to_physical[first.index()..][..width * pages_per_block as usize];
        for (page, turn) in (0..).zip(run.chunks_exact_mut(width)) {
            debug_assert!(turn.iter().fold(0, |differs, entry| differs | (entry.0 ^ Entry::UNMAPPED.0)) == 0, "a page is loaded once");
            for (entry, first_page) in turn.iter_mut().zip(first_pages) {
                *entry = Entry::on_flash(*first_page + page);
            }
        }
    }
}
