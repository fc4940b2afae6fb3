//! Places of the host pages in a computed start. The oracle computes the host page of each flash
//! page with its own arithmetic.
//!
//! The drive reports the keys of an order of the host pages. For each block it reports the first
//! position in that order and the chosen pages. This file computes the host page from the position;
//! the drive computes the position from the host page. A mistake of either shows when a page is
//! read, moved or checked at the end.
//!
//! Each host page below `order.pages` is in exactly one flash page. The order is a permutation with
//! any keys, because each half-round of it can be reversed. [`Begun::load`] checks that the blocks
//! use each position once.

use vpass_core::base::geometry::Geometry;
use vpass_core::base::steady::Order;
use vpass_core::base::units::{BlockId, Lpn, Ppn};

/// Part of the order that one block uses.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    first: u32,
    /// Whether the block is part of the start.
    is_loaded: bool,
    /// Whether the block has not been erased since.
    stands: bool,
    /// Whether some pages of the block have got other stamps since the start.
    is_altered: bool,
}

/// A computed start, as the drive reported it block by block.
#[derive(Debug)]
pub(crate) struct Begun {
    order: Order,
    /// Number of bits of a position in the order, and of its low half.
    bits: u32,
    low_bits: u32,
    /// First position of the next block.
    next: u32,
    parts: Vec<Part>,
    /// Pages that hold data, one bit for each page of each block.
    chosen: Vec<u64>,
    words: usize,
    pages_per_block: u32,
}

impl Begun {
    pub(crate) fn new(geometry: &Geometry, order: &Order) -> Self {
        let words = geometry.pages_per_block.div_ceil(64) as usize;
        let bits = order.pages.saturating_sub(1).checked_ilog2().map_or(0, |top| top + 1).max(2);
        Self {
            order: *order,
            bits,
            low_bits: bits - bits / 2,
            next: 0,
            parts: vec![Part::default(); geometry.blocks as usize],
            chosen: vec![0; geometry.blocks as usize * words],
            words,
            pages_per_block: geometry.pages_per_block,
        }
    }

    /// Returns the size in bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        let words = u64::from(geometry.pages_per_block.div_ceil(64));
        u64::from(geometry.blocks) * (words * size_of::<u64>() as u64 + size_of::<Part>() as u64)
    }

    /// Returns the number of host pages in the start.
    pub(crate) fn pages(&self) -> u32 {
        self.order.pages
    }

    /// Gives a block its part of the order.
    pub(crate) fn load(
        &mut self,
        block: BlockId,
        first: u32,
        chosen: &[u64],
    ) -> Result<(), String> {
        let own = &mut self.chosen[block.index() * self.words..][..self.words];
        let part = &mut self.parts[block.index()];
        let beyond =
            |page: u32| chosen.get(page as usize / 64).is_some_and(|word| word >> (page % 64) != 0);
        if part.is_loaded
            || chosen.len() != self.words
            || !self.pages_per_block.is_multiple_of(64) && beyond(self.pages_per_block)
        {
            return Err(format!(
                "the start loads block {block} twice, or loads pages that the block does not have"
            ));
        }
        own.copy_from_slice(chosen);
        *part = Part { first, is_loaded: true, stands: true, is_altered: false };
        let expected = self.next;
        self.next = first + chosen.iter().map(|word| word.count_ones()).sum::<u32>();
        if first != expected {
            return Err(format!(
                "block {block} starts at position {first} of the start order; the next position is \
                 {expected}"
            ));
        }
        Ok(())
    }

    /// Checks that each position of the order is used once.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (taken, pages) = (self.next, self.order.pages);
        if taken == pages {
            Ok(())
        } else {
            Err(format!("the start order has {pages} positions; blocks use {taken}"))
        }
    }

    /// Returns whether a block is part of the start and has not been erased since.
    #[inline]
    pub(crate) fn stands(&self, block: BlockId) -> bool {
        self.parts[block.index()].stands
    }

    /// Returns whether a block is part of the start, even if it has been erased since.
    pub(crate) fn is_loaded(&self, block: BlockId) -> bool {
        self.parts[block.index()].is_loaded
    }

    /// Returns whether a page of the block has got another stamp since the start.
    pub(crate) fn is_altered(&self, block: BlockId) -> bool {
        self.parts[block.index()].is_altered
    }

    pub(crate) fn alter(&mut self, block: BlockId) {
        self.parts[block.index()].is_altered = true;
    }

    pub(crate) fn erase(&mut self, block: BlockId) {
        self.parts[block.index()].stands = false;
    }

    /// Returns the pages of a block that the start filled, one bit for each page.
    pub(crate) fn chosen(&self, block: BlockId) -> &[u64] {
        &self.chosen[block.index() * self.words..][..self.words]
    }

    /// Returns the host page that the start put into a page of a block.
    pub(crate) fn page_at(&self, block: BlockId, page: u32) -> Option<Lpn> {
        let (part, chosen) = (self.parts[block.index()], self.chosen(block));
        let is_chosen = part.is_loaded && chosen[page as usize / 64] & 1 << (page % 64) != 0;
        is_chosen.then(|| {
            let before = |n: usize, word: &u64| {
                if n < page as usize / 64 { *word } else { word & !(u64::MAX << (page % 64)) }
            };
            let rank: u32 = chosen
                .iter()
                .take(page as usize / 64 + 1)
                .enumerate()
                .map(|(n, word)| before(n, word).count_ones())
                .sum();
            Lpn::new(self.number_at(part.first + rank))
        })
    }

    /// Returns the host page that the start put into a flash page.
    pub(crate) fn page_of(&self, ppn: Ppn) -> Option<Lpn> {
        self.page_at(
            BlockId::new(ppn.number() / self.pages_per_block),
            ppn.number() % self.pages_per_block,
        )
    }

    /// Returns the number of the host page at a position of the start's random order.
    fn number_at(&self, place: u32) -> u32 {
        let (low, high) = ((1u64 << self.low_bits) - 1, (1u64 << (self.bits - self.low_bits)) - 1);
        let scrambled =
            |half: u64, key: u32| (((half ^ u64::from(key)) * 0x9E37_79B1) & 0xFFFF_FFFF) >> 15;
        let mut number = u64::from(place);
        // A wrong position may lie outside the order. The remainder keeps the number in range
        // without further harm.
        number %= u64::from(self.order.pages.max(1));
        loop {
            for (round, key) in self.order.keys.into_iter().enumerate() {
                let (upper, lower) = (number >> self.low_bits, number & low);
                number ^= if round % 2 == 0 {
                    scrambled(upper, key) & low
                } else {
                    (scrambled(lower, key) & high) << self.low_bits
                };
            }
            if number < u64::from(self.order.pages) {
                return number as u32;
            }
        }
    }
}
