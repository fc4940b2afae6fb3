//! Whose data each flash page holds, and which pages hold current data: the reverse map and the valid bits.

use crate::base::mem::{huge_vec, prefetch};
use crate::base::page_set::PageSet;
use crate::base::units::{BlockId, Lpn, PageInBlock};
use crate::watch::observer::NO_LPN;

/// A page that belongs to nobody.
pub(crate) const NOBODYS: Lpn = NO_LPN;

pub(crate) struct Contents {
    pub(crate) to_logical: Vec<Lpn>,
    valid: Vec<u64>,
    words_per_block: usize,
    pages_per_block: usize,
}

impl Contents {
    pub(crate) fn new(raw_pages: u32, pages_per_block: u32) -> Self {
        let words_per_block = pages_per_block.div_ceil(64) as usize;
        let blocks = (raw_pages / pages_per_block) as usize;
        Self {
            to_logical: huge_vec(raw_pages as usize, NOBODYS),
            valid: huge_vec(blocks * words_per_block, 0),
            words_per_block,
            pages_per_block: pages_per_block as usize,
        }
    }

    /// Memory that they take.
    pub(crate) fn bytes(raw_pages: u32, pages_per_block: u32) -> u64 {
        let valid_words = u64::from(raw_pages / pages_per_block) * u64::from(pages_per_block.div_ceil(64));
        4 * u64::from(raw_pages) + 8 * valid_words
    }

    #[inline]
    pub(crate) fn set_valid(&mut self, block: BlockId, page: PageInBlock) {
        self.valid[block.index() * self.words_per_block + page.index() / 64] |= 1 << (page.number() % 64);
    }

    #[inline]
    pub(crate) fn prefetch_valid(&self, block: BlockId, page: PageInBlock) {
        prefetch(&self.valid, block.index() * self.words_per_block + page.index() / 64);
    }

    /// Clears a page's valid bit, which must be set.
    #[inline]
    pub(crate) fn clear_valid(&mut self, block: BlockId, page: PageInBlock) {
        let word = &mut self.valid[block.index() * self.words_per_block + page.index() / 64];
        let bit = 1 << (page.number() % 64);
        assert!(*word & bit != 0, "page {page} of block {block} is not valid");
        *word &= !bit;
    }

    /// An erased block is filled with every `stride`th page of the host from this one on; all of it is valid.
    pub(crate) fn fill(&mut self, block: BlockId, first: Lpn, stride: u32) {
        for (page, owner) in (0..).zip(&mut self.to_logical[block.index() * self.pages_per_block..][..self.pages_per_block]) {
            *owner = first + page * stride;
        }
        let valid = &mut self.valid[block.index() * self.words_per_block..][..self.words_per_block];
        for (page, word) in (0..).step_by(64).zip(valid) {
            *word = u64::MAX >> (64 - (self.pages_per_block - page).min(64));
        }
    }

    /// To whom each page of a block belongs, or last belonged; [`NOBODYS`] where to nobody since the drive was made.
    pub(crate) fn owners(&self, block: BlockId) -> &[Lpn] {
        &self.to_logical[block.index() * self.pages_per_block..][..self.pages_per_block]
    }

    /// A block is opened of which some pages will not be programmed: they belong to nobody, whatever they held in its lives before.
    pub(crate) fn forget_owners(&mut self, block: BlockId) {
        self.to_logical[block.index() * self.pages_per_block..][..self.pages_per_block].fill(NOBODYS);
    }

    /// The valid pages of a block, a bit each.
    pub(crate) fn valid_words(&self, block: BlockId) -> &[u64] {
        let start = block.index() * self.words_per_block;
        &self.valid[start..start + self.words_per_block]
    }

    /// First valid page of a block at or after `page`.
    pub(crate) fn next_valid(&self, block: BlockId, page: PageInBlock) -> Option<PageInBlock> {
        let words = self.valid_words(block);
        first_from(page, |i| words.get(i).copied())
    }

    /// Last valid page of a block.
    pub(crate) fn last_valid(&self, block: BlockId) -> Option<PageInBlock> {
        let words = self.valid_words(block);
        let word = words.iter().rposition(|word| *word != 0)?;
        Some(PageInBlock::new(word as u32 * 64 + words[word].ilog2()))
    }

    /// First valid page of a block at or after `page` that is one of these.
    pub(crate) fn next_valid_of(&self, block: BlockId, page: PageInBlock, pages: &PageSet) -> Option<PageInBlock> {
        let words = self.valid_words(block);
        first_from(page, |i| Some(words.get(i)? & pages.words()[i]))
    }
}

/// The first page at or after this one that is in a bitmap given word by word.
fn first_from(page: PageInBlock, words: impl Fn(usize) -> Option<u64>) -> Option<PageInBlock> {
    let mut i = page.index() / 64;
    let mut word = words(i)? & (u64::MAX << (page.number() % 64));
    loop {
        if word != 0 {
            return Some(PageInBlock::new(i as u32 * 64 + word.trailing_zeros()));
        }
        i += 1;
        word = words(i)?;
    }
}
