//! Owner of each flash page, and pages with current data: the reverse map and the valid bits.

use std::sync::Arc;

use crate::base::mem::{huge_zeros, prefetch, zeros};
use crate::base::page_set::PageSet;
use crate::base::steady::Steady;
use crate::base::units::{BlockId, Lpn, PageInBlock, Ppn};
use crate::watch::observer::NO_LPN;

/// Owner of a page without an owner.
pub(crate) const NOBODYS: Lpn = NO_LPN;

/// Number that stands for an owner of the start-up state. Nothing was programmed in the page since.
const AS_BEGUN: u32 = 0;

pub(crate) struct Contents {
    /// Entry of each flash page: [`AS_BEGUN`], or the number of its owner plus 1. Entries of pages
    /// that were never programmed take no memory.
    owners: Vec<u32>,
    /// Whether any owner of a block was set, for each block.
    is_changed: Vec<bool>,
    valid: Vec<u64>,
    words_per_block: usize,
    pages_per_block: usize,
    begun: Option<Arc<Steady>>,
}

impl Contents {
    pub(crate) fn new(raw_pages: u32, pages_per_block: u32) -> Self {
        let words_per_block = pages_per_block.div_ceil(64) as usize;
        let blocks = (raw_pages / pages_per_block) as usize;
        Self {
            owners: zeros(raw_pages as usize),
            is_changed: vec![false; blocks],
            valid: huge_zeros(blocks * words_per_block),
            words_per_block,
            pages_per_block: pages_per_block as usize,
            begun: None,
        }
    }

    /// Begins with this layout: owners and valid pages are those of its blocks.
    pub(crate) fn begin(&mut self, layout: Arc<Steady>) {
        for (block, _, order, holds) in layout.blocks() {
            self.set_all_valid(block);
            let valid = &mut self.valid[block.index() * self.words_per_block..];
            // Most pages are valid, so the others are computed.
            for page in (holds..order.pages).map(|rank| order.at_place(rank)) {
                valid[page as usize / 64] &= !(1 << (page % 64));
            }
        }
        self.begun = Some(layout);
    }

    /// Returns the owner of a page, or its last owner; [`NOBODYS`] if it never had one.
    #[inline]
    pub(crate) fn owner(&self, ppn: Ppn) -> Lpn {
        match self.owners[ppn.index()] {
            AS_BEGUN => self.owner_at_start(ppn),
            number => Lpn::new(number - 1),
        }
    }

    #[cold]
    #[inline(never)]
    fn owner_at_start(&self, ppn: Ppn) -> Lpn {
        let (block, page) =
            (ppn.index() / self.pages_per_block, ppn.index() % self.pages_per_block);
        let owner = |layout: &Arc<Steady>| {
            layout.owner(BlockId::from_index(block), PageInBlock::from_index(page))
        };
        self.begun.as_ref().and_then(owner).unwrap_or(NOBODYS)
    }

    #[inline]
    pub(crate) fn set_owner(&mut self, block: BlockId, ppn: Ppn, owner: Lpn) {
        self.is_changed[block.index()] = true;
        self.owners[ppn.index()] = owner.number() + 1;
    }

    /// Prefetches a page's owner.
    #[inline]
    pub(crate) fn prefetch_owner(&self, ppn: Ppn) {
        prefetch(&self.owners, ppn.index());
    }

    /// Returns whether nothing was programmed in a block since the start, so that all its owners
    /// are those of the layout.
    pub(crate) fn is_as_begun(&self, block: BlockId) -> bool {
        !self.is_changed[block.index()]
    }

    /// Notes the owners of all pages at once, for callers that go through all of them repeatedly.
    pub(crate) fn settle_all(&mut self) {
        let Some(layout) = self.begun.clone() else { return };
        for (block, ..) in layout.blocks() {
            let first = block.index() * self.pages_per_block;
            for (page, lpn) in layout.held_by(block) {
                let owner = &mut self.owners[first + page.index()];
                *owner = if *owner == AS_BEGUN { lpn.number() + 1 } else { *owner };
            }
        }
    }

    /// Returns the number of bytes of the contents.
    pub(crate) fn bytes(raw_pages: u32, pages_per_block: u32) -> u64 {
        let valid_words =
            u64::from(raw_pages / pages_per_block) * u64::from(pages_per_block.div_ceil(64));
        4 * u64::from(raw_pages) + 8 * valid_words + u64::from(raw_pages / pages_per_block)
    }

    #[inline]
    pub(crate) fn set_valid(&mut self, block: BlockId, page: PageInBlock) {
        self.valid[block.index() * self.words_per_block + page.index() / 64] |=
            1 << (page.number() % 64);
    }

    #[inline]
    pub(crate) fn prefetch_valid(&self, block: BlockId, page: PageInBlock) {
        prefetch(&self.valid, block.index() * self.words_per_block + page.index() / 64);
    }

    /// Clears a page's valid bit. The bit must be set.
    #[inline]
    pub(crate) fn clear_valid(&mut self, block: BlockId, page: PageInBlock) {
        let word = &mut self.valid[block.index() * self.words_per_block + page.index() / 64];
        let bit = 1 << (page.number() % 64);
        assert!(*word & bit != 0, "page {page} of block {block} is not valid");
        *word &= !bit;
    }

    /// Fills an erased block with every `stride`th host page from this one on. All of its pages are
    /// valid.
    pub(crate) fn fill(&mut self, block: BlockId, first: Lpn, stride: u32) {
        self.is_changed[block.index()] = true;
        for (page, owner) in (0..)
            .zip(&mut self.owners[block.index() * self.pages_per_block..][..self.pages_per_block])
        {
            *owner = (first + page * stride).number() + 1;
        }
        self.set_all_valid(block);
    }

    fn set_all_valid(&mut self, block: BlockId) {
        let valid = &mut self.valid[block.index() * self.words_per_block..][..self.words_per_block];
        for (page, word) in (0..).step_by(64).zip(valid) {
            *word = u64::MAX >> (64 - (self.pages_per_block - page).min(64));
        }
    }

    /// Returns the owner of each page of a block, or its last owner; [`NOBODYS`] if it never had
    /// one.
    pub(crate) fn owners(&self, block: BlockId) -> impl Iterator<Item = Lpn> + '_ {
        let first = block.number() * self.pages_per_block as u32;
        Ppn::range(first..first + self.pages_per_block as u32).map(|ppn| self.owner(ppn))
    }

    /// Opens a block of which some pages will not be programmed. These pages have no owner,
    /// whatever they held before.
    pub(crate) fn forget_owners(&mut self, block: BlockId) {
        self.is_changed[block.index()] = true;
        self.owners[block.index() * self.pages_per_block..][..self.pages_per_block]
            .fill(NOBODYS.number() + 1);
    }

    /// Returns the valid pages of a block, one bit each.
    pub(crate) fn valid_words(&self, block: BlockId) -> &[u64] {
        let start = block.index() * self.words_per_block;
        &self.valid[start..start + self.words_per_block]
    }

    /// Returns the first valid page of a block at or after `page`.
    pub(crate) fn next_valid(&self, block: BlockId, page: PageInBlock) -> Option<PageInBlock> {
        let words = self.valid_words(block);
        first_from(page, |i| words.get(i).copied())
    }

    /// Returns the last valid page of a block.
    pub(crate) fn last_valid(&self, block: BlockId) -> Option<PageInBlock> {
        let words = self.valid_words(block);
        let word = words.iter().rposition(|word| *word != 0)?;
        Some(PageInBlock::new(word as u32 * 64 + words[word].ilog2()))
    }

    /// Returns the first valid page of a block at or after `page` that is in a set.
    pub(crate) fn next_valid_of(
        &self,
        block: BlockId,
        page: PageInBlock,
        pages: &PageSet,
    ) -> Option<PageInBlock> {
        let words = self.valid_words(block);
        first_from(page, |i| Some(words.get(i)? & pages.words()[i]))
    }
}

/// Returns the first page at or after `page` that is in a bitmap, given word by word.
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

/// Returns the positions of the set bits.
pub(crate) fn set_bits(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(i, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                i * 64 + bit
            })
        })
    })
}
