//! Sets of pages or wordlines of a block, one bit each.

use std::marker::PhantomData;

use crate::base::units::{Address, PageInBlock, WordlineInBlock};

/// Set of pages or of wordlines of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetInBlock<T> {
    words: Vec<u64>,
    of: PhantomData<T>,
}

/// Set of pages of one block.
pub type PageSet = SetInBlock<PageInBlock>;
/// Set of wordlines of one block.
pub type WordlineSet = SetInBlock<WordlineInBlock>;

impl<T: Address> SetInBlock<T> {
    /// Creates an empty set for a block with `per_block` pages or wordlines.
    pub fn none(per_block: u32) -> Self {
        Self { words: vec![0; per_block.div_ceil(64) as usize], of: PhantomData }
    }

    /// Adds `count` consecutive members from `first` on.
    pub fn insert(&mut self, first: T, count: u32) {
        for number in first.number()..first.number() + count {
            set(&mut self.words, number);
        }
    }

    /// Adds all members of another set of the same block.
    pub fn add(&mut self, other: &Self) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Returns whether the set contains `one`.
    pub fn holds(&self, one: T) -> bool {
        bits(&self.words, one.number(), 1) != 0
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    /// Returns the number of members.
    pub fn len(&self) -> u32 {
        self.words.iter().map(|w| w.count_ones()).sum()
    }

    /// Returns the first member.
    pub fn first(&self) -> Option<T> {
        let word = self.words.iter().position(|w| *w != 0)?;
        Some(T::new(word as u32 * 64 + self.words[word].trailing_zeros()))
    }

    /// Returns the last member.
    pub fn last(&self) -> Option<T> {
        let word = self.words.iter().rposition(|w| *w != 0)?;
        Some(T::new(word as u32 * 64 + self.words[word].ilog2()))
    }

    /// Removes and returns the first member.
    pub fn take_first(&mut self) -> Option<T> {
        let first = self.first()?;
        let word = &mut self.words[first.number() as usize / 64];
        *word &= *word - 1;
        Some(first)
    }

    /// Returns all members in order.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        let mut left = self.clone();
        std::iter::from_fn(move || left.take_first())
    }

    /// Returns the words of the bitmap. Member `n` is bit `n % 64` of word `n / 64`.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// Sets a bit of a bitmap.
#[inline]
pub(crate) fn set(words: &mut [u64], n: u32) {
    words[n as usize / 64] |= 1 << (n % 64);
}

/// Returns `count` bits (at most 64) of a bitmap from `first` on.
#[inline]
fn bits(words: &[u64], first: u32, count: u32) -> u64 {
    let (word, bit) = (first as usize / 64, first % 64);
    let mut bits = words[word] >> bit;
    if bit + count > 64 {
        bits |= words[word + 1] << (64 - bit);
    }
    bits & (u64::MAX >> (64 - count))
}

/// Returns the page kinds of a wordline that are in a bitmap of its block's pages, one bit each.
#[inline]
pub fn kinds_in(words: &[u64], wordline: WordlineInBlock, pages_per_wordline: u32) -> u32 {
    bits(words, wordline.first_page(pages_per_wordline).number(), pages_per_wordline) as u32
}

/// Returns whether any page of a wordline is in a bitmap of its block's pages.
#[inline]
pub fn holds_any(words: &[u64], wordline: WordlineInBlock, pages_per_wordline: u32) -> bool {
    kinds_in(words, wordline, pages_per_wordline) != 0
}

/// Returns whether a page is in a bitmap of its block's pages.
#[inline]
pub fn holds(words: &[u64], page: PageInBlock) -> bool {
    bits(words, page.number(), 1) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_across_a_word_are_found() {
        let page = PageInBlock::new;
        let mut set = PageSet::none(192);
        assert!(set.is_empty());
        set.insert(page(63), 2);
        assert_eq!(set.words(), [1 << 63, 1, 0]);
        let hits = WordlineInBlock::range(0..64).filter(|w| holds_any(set.words(), *w, 3));
        assert_eq!(hits.map(|w| w.first_page(3)).collect::<Vec<_>>(), [page(63)]);
        assert_eq!((set.iter().collect::<Vec<_>>(), set.len()), (vec![page(63), page(64)], 2));
        assert!(holds(set.words(), page(64)) && !holds(set.words(), page(65)));
        assert_eq!([62, 61, 60].map(|first| bits(set.words(), first, 3)), [0b110, 0b100, 0]);
    }
}
