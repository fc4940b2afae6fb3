//! The page map: where the newest data of each of the host's pages is.
//!
//! A map entry is a physical page, [`UNMAPPED`], or `BUFFERED | slot` while the newest data is in the write buffer.

use crate::base::mem::{huge_vec, prefetch};
use crate::base::units::{Lpn, Ppn};
use crate::watch::observer::NO_PPN;

/// No data: never written, trimmed or lost.
pub(crate) const UNMAPPED: u32 = NO_PPN.number();
/// The newest data is in this slot of the write buffer (low 31 bits).
pub(crate) const BUFFERED: u32 = 1 << 31;

/// Where a map entry says that the data is on flash, if it does.
#[inline]
pub(crate) fn on_flash(entry: u32) -> Option<Ppn> {
    (entry < UNMAPPED).then(|| Ppn::new(entry))
}

pub(crate) struct PageMap {
    pub(crate) to_physical: Vec<u32>,
}

impl PageMap {
    pub(crate) fn new(host_pages: u32) -> Self {
        Self { to_physical: huge_vec(host_pages as usize, UNMAPPED) }
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
            debug_assert!(turn.iter().fold(0, |differs, entry| differs | (entry ^ UNMAPPED)) == 0, "a page is loaded once");
            for (entry, first_page) in turn.iter_mut().zip(first_pages) {
                *entry = (*first_page + page).number();
            }
        }
    }
}
