//! Some of the pages of a block, a bit each.

/// Pages of one block, numbered within it.
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
            self.words[page as usize / 64] |= 1 << (page % 64);
        }
    }

    /// Whether there is no page in it.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    /// Number of pages in it.
    pub fn len(&self) -> u32 {
        self.words.iter().map(|w| w.count_ones()).sum()
    }

    /// Page `n` is bit `n % 64` of word `n / 64`.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// `count` bits (at most 64) of a bitmap from `first` on.
#[inline]
pub(crate) fn bits(words: &[u64], first: u32, count: u32) -> u64 {
    let (word, bit) = (first as usize / 64, first % 64);
    let mut bits = words[word] >> bit;
    if bit + count > 64 {
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
        assert!(any(set.words(), 62, 3) && any(set.words(), 61, 3) && !any(set.words(), 60, 3));
    }
}
