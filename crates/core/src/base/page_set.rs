//! Some of the pages of a block, or of its wordlines, a bit each.

use crate::bugs::{Bug, planted};

/// Pages of one block, or wordlines, numbered within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSet {
    words: Vec<u64>,
}

impl PageSet {
    /// No page of a block of so many.
    pub fn none(pages_per_block: u32) -> Self {
        Self { words: vec![0; pages_per_block.div_ceil(64) as usize] }
    }

    /// Adds `count` pages from `first` on.
    pub fn insert(&mut self, first: u32, count: u32) {
        for page in first..first + count {
            set(&mut self.words, page);
        }
    }

    /// Adds all pages of another set of the same block.
    pub fn add(&mut self, other: &Self) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Whether a page is in it.
    pub fn holds(&self, page: u32) -> bool {
        any(&self.words, page, 1)
    }

    /// Whether there is no page in it.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    /// Number of pages in it.
    pub fn len(&self) -> u32 {
        self.words.iter().map(|w| w.count_ones()).sum()
    }

    /// Its first page.
    pub fn first(&self) -> Option<u32> {
        let word = self.words.iter().position(|w| *w != 0)?;
        Some(word as u32 * 64 + self.words[word].trailing_zeros())
    }

    /// Takes the first page out.
    pub(crate) fn take_first(&mut self) -> Option<u32> {
        let first = self.first()?;
        let word = &mut self.words[first as usize / 64];
        *word &= *word - 1;
        Some(first)
    }

    /// Its pages, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let mut left = self.clone();
        std::iter::from_fn(move || left.take_first())
    }

    /// Page `n` is bit `n % 64` of word `n / 64`.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// Sets a bit of a bitmap.
#[inline]
pub(crate) fn set(words: &mut [u64], n: u32) {
    words[n as usize / 64] |= 1 << (n % 64);
}

/// `count` bits (at most 64) of a bitmap from `first` on.
#[inline]
pub(crate) fn bits(words: &[u64], first: u32, count: u32) -> u64 {
    let (word, bit) = (first as usize / 64, first % 64);
    let mut bits = words[word] >> bit;
    if bit + count > 64 && !planted(Bug::AcrossWordsLost) {
        bits |= words[word + 1] << (64 - bit);
    }
    bits & (u64::MAX >> (64 - count))
}

/// Whether any of `count` (at most 64) pages from `first` on is in a bitmap.
#[inline]
pub(crate) fn any(words: &[u64], first: u32, count: u32) -> bool {
    bits(words, first, count) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_across_a_word_are_found() {
        let mut set = PageSet::none(192);
        assert!(set.is_empty());
        set.insert(63, 2);
        assert_eq!(set.words(), [1 << 63, 1, 0]);
        let hits: Vec<u32> = (0..64).map(|w| w * 3).filter(|first| any(set.words(), *first, 3)).collect();
        assert_eq!(hits, [63]);
        assert_eq!((set.iter().collect::<Vec<_>>(), set.len()), (vec![63, 64], 2));
        assert!(any(set.words(), 62, 3) && any(set.words(), 61, 3) && !any(set.words(), 60, 3));
    }
}
