//! The page map, its reverse, and which physical pages are valid.
//!
//! A map entry is a physical page, [`UNMAPPED`], or `BUFFERED | slot` while the newest data is in the write buffer.

use crate::base::mem::{huge_vec, prefetch};
use crate::base::page_set::PageSet;
use crate::base::units::{Lpn, Ppn};
use crate::watch::observer::NO_PPN;

/// No data: never written, trimmed or lost.
pub(crate) const UNMAPPED: u32 = NO_PPN;
/// The newest data is in this slot of the write buffer (low 31 bits).
pub(crate) const BUFFERED: u32 = 1 << 31;

pub(crate) struct PageMap {
    pub(crate) to_physical: Vec<u32>,
    pub(crate) to_logical: Vec<Lpn>,
    valid: Vec<u64>,
    words_per_block: usize,
    pages_per_block: usize,
}

impl PageMap {
    pub(crate) fn new(host_pages: u32, raw_pages: u32, pages_per_block: u32) -> Self {
        let words_per_block = pages_per_block.div_ceil(64) as usize;
        let blocks = (raw_pages / pages_per_block) as usize;
        Self {
            to_physical: huge_vec(host_pages as usize, UNMAPPED),
            to_logical: huge_vec(raw_pages as usize, UNMAPPED),
            valid: huge_vec(blocks * words_per_block, 0),
            words_per_block,
            pages_per_block: pages_per_block as usize,
        }
    }

    /// Memory that such a map takes.
    pub(crate) fn bytes(host_pages: u32, raw_pages: u32, pages_per_block: u32) -> u64 {
        let valid_words = u64::from(raw_pages / pages_per_block) * u64::from(pages_per_block.div_ceil(64));
        4 * (u64::from(host_pages) + u64::from(raw_pages)) + 8 * valid_words
    }

    #[inline]
    pub(crate) fn set_valid(&mut self, block: u32, page: u32) {
        self.valid[block as usize * self.words_per_block + page as usize / 64] |= 1 << (page % 64);
    }

    #[inline]
    pub(crate) fn prefetch_valid(&self, block: u32, page: u32) {
        prefetch(&self.valid, block as usize * self.words_per_block + page as usize / 64);
    }

    /// Clears a page's valid bit, which must be set.
    #[inline]
    pub(crate) fn clear_valid(&mut self, block: u32, page: u32) {
        let word = &mut self.valid[block as usize * self.words_per_block + page as usize / 64];
        let bit = 1 << (page % 64);
        assert!(*word & bit != 0, "page {page} of block {block} is not valid");
        *word &= !bit;
    }

    /// Maps a run of pages from `first` on to the pages of erased blocks, which begin here, block after block in turn, until the
    /// blocks are full. Both maps are written from one end of memory to the other: a page at a time would miss the cache for each.
    pub(crate) fn load_in_turn(&mut self, first: Lpn, first_pages: &[Ppn]) {
        let width = first_pages.len();
        let run = &mut self.to_physical[first as usize..][..width * self.pages_per_block];
        for (page, turn) in (0..).zip(run.chunks_exact_mut(width)) {
            debug_assert!(turn.iter().fold(0, |differs, entry| differs | (entry ^ UNMAPPED)) == 0, "a page is loaded once");
            for (entry, first_page) in turn.iter_mut().zip(first_pages) {
                *entry = first_page + page;
            }
        }
        for (lane, first_page) in (first..).zip(first_pages) {
            let owners = &mut self.to_logical[*first_page as usize..][..self.pages_per_block];
            for (page, owner) in (0..).zip(owners) {
                *owner = lane + page * width as Lpn;
            }
            let block = *first_page as usize / self.pages_per_block;
            let valid = &mut self.valid[block * self.words_per_block..][..self.words_per_block];
            for (page, word) in (0..).step_by(64).zip(valid) {
                *word = u64::MAX >> (64 - (self.pages_per_block - page).min(64));
            }
        }
    }

    /// To whom each page of a block belongs, or last belonged; [`UNMAPPED`] where to nobody since the drive was made.
    pub(crate) fn owners(&self, block: u32) -> &[Lpn] {
        &self.to_logical[block as usize * self.pages_per_block..][..self.pages_per_block]
    }

    /// A block is opened of which some pages will not be programmed: they belong to nobody, whatever they held in its lives before.
    pub(crate) fn forget_owners(&mut self, block: u32) {
        self.to_logical[block as usize * self.pages_per_block..][..self.pages_per_block].fill(UNMAPPED);
    }

    /// The valid pages of a block, a bit each.
    pub(crate) fn valid_words(&self, block: u32) -> &[u64] {
        let start = block as usize * self.words_per_block;
        &self.valid[start..start + self.words_per_block]
    }

    /// First valid page of a block at or after `page`.
    pub(crate) fn next_valid(&self, block: u32, page: u32) -> Option<u32> {
        let words = self.valid_words(block);
        first_from(page, |i| words.get(i).copied())
    }

    /// Last valid page of a block.
    pub(crate) fn last_valid(&self, block: u32) -> Option<u32> {
        let words = self.valid_words(block);
        let word = words.iter().rposition(|word| *word != 0)?;
        Some(word as u32 * 64 + words[word].ilog2())
    }

    /// First valid page of a block at or after `page` that is one of these.
    pub(crate) fn next_valid_of(&self, block: u32, page: u32, pages: &PageSet) -> Option<u32> {
        let words = self.valid_words(block);
        first_from(page, |i| Some(words.get(i)? & pages.words()[i]))
    }
}

/// Number of the first bit at or after `bit` that is set in a bitmap given word by word.
fn first_from(bit: u32, words: impl Fn(usize) -> Option<u64>) -> Option<u32> {
    let mut i = bit as usize / 64;
    let mut word = words(i)? & (u64::MAX << (bit % 64));
    loop {
        if word != 0 {
            return Some(i as u32 * 64 + word.trailing_zeros());
        }
        i += 1;
        word = words(i)?;
    }
}
