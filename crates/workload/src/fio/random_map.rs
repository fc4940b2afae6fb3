//! Random map of fio. Without `norandommap`, random requests visit each block once before they
//! visit any block again.
//!
//! If all requests have the same size, a shuffle gives the order of the blocks. The shuffle needs
//! no memory. If requests have several sizes, a request may reach a block that was visited before.
//! As in fio, the request then ends before this block. For several sizes, the map has a bit for
//! each block. Further levels of bits help to find the next block that is not visited.

use crate::synthetic::random::{Random, below};
use crate::synthetic::scatter::Scatter;

/// Blocks that a pass of random requests must still visit.
#[derive(Clone, Debug)]
pub(super) enum RandomMap {
    OneSize { blocks: u64, shuffle: Scatter, next: u64 },
    Sizes(Bits),
}

impl RandomMap {
    pub(super) fn new(blocks: u64, one_size: bool, random: &mut Random) -> Self {
        if one_size {
            Self::OneSize { blocks, shuffle: Scatter::new(blocks.max(1), random), next: 0 }
        } else {
            Self::Sizes(Bits::new(blocks))
        }
    }

    /// Returns the number of bytes that the map occupies in memory.
    pub(super) fn memory(&self) -> u64 {
        match self {
            Self::OneSize { .. } => 0,
            Self::Sizes(bits) => {
                bits.levels.iter().map(|level| size_of_val(level.as_slice()) as u64).sum()
            }
        }
    }

    /// Marks all blocks as not visited, for the next pass.
    pub(super) fn clear(&mut self, random: &mut Random) {
        match self {
            Self::OneSize { blocks, shuffle, next } => {
                *shuffle = Scatter::new((*blocks).max(1), random);
                *next = 0;
            }
            Self::Sizes(bits) => *bits = Bits::new(bits.count),
        }
    }

    /// Draws a block that is not yet visited. Returns `None` if all blocks are visited.
    #[inline]
    pub(super) fn draw(&mut self, random: &mut Random) -> Option<u64> {
        match self {
            Self::OneSize { blocks, shuffle, next } => {
                let block = (*next < *blocks).then(|| shuffle.image(*next));
                *next += 1;
                block
            }
            Self::Sizes(bits) if bits.count > 0 => {
                let wanted = below(random, bits.count);
                bits.free_from(wanted).or_else(|| bits.free_from(0))
            }
            Self::Sizes(_) => None,
        }
    }

    /// Marks up to `blocks` blocks as visited, from block `first` on. Stops at the first block that
    /// is already visited. Returns the number of blocks that were marked.
    #[inline]
    pub(super) fn visit(&mut self, first: u64, blocks: u64) -> u64 {
        match self {
            Self::OneSize { .. } => blocks,
            Self::Sizes(bits) => bits.take(first, blocks),
        }
    }
}

/// Levels of bits. The lowest level has one bit for each block. On a higher level, a bit is set if
/// all of its 64 bits on the level below are set.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    count: u64,
    levels: Vec<Vec<u64>>,
}

impl Bits {
    fn new(count: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = count.max(1);
        loop {
            let words = bits.div_ceil(64);
            let mut level = vec![0u64; words as usize];
            // Bits beyond the last block are set, so that a search for an unset bit does not find
            // them.
            if !bits.is_multiple_of(64) {
                level[words as usize - 1] = u64::MAX << (bits % 64);
            }
            levels.push(level);
            if words == 1 {
                return Self { count, levels };
            }
            bits = words;
        }
    }

    /// Returns the number of the first bit that is not set, starting the search at bit `from`.
    fn free_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for level in 0..self.levels.len() {
            let word = (at / 64) as usize;
            let free = !*self.levels[level].get(word)? & (u64::MAX << (at % 64));
            if free != 0 {
                let mut bit = at / 64 * 64 + u64::from(free.trailing_zeros());
                for below in self.levels[..level].iter().rev() {
                    bit = bit * 64 + u64::from((!below[bit as usize]).trailing_zeros());
                }
                return Some(bit);
            }
            at = at / 64 + 1;
        }
        None
    }

    fn take(&mut self, first: u64, bits: u64) -> u64 {
        let mut taken = 0;
        while taken < bits && first + taken < self.count {
            let at = first + taken;
            let word = &mut self.levels[0][(at / 64) as usize];
            if *word & (1 << (at % 64)) != 0 {
                break;
            }
            *word |= 1 << (at % 64);
            taken += 1;
            self.raise(at / 64);
        }
        taken
    }

    /// If all bits of a word are set, sets the bit of this word on the next higher level. Continues
    /// upwards as long as words become full.
    fn raise(&mut self, word: u64) {
        let mut word = word;
        for level in 0..self.levels.len() - 1 {
            if self.levels[level][word as usize] != u64::MAX {
                return;
            }
            self.levels[level + 1][(word / 64) as usize] |= 1 << (word % 64);
            word /= 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn each_block_is_visited_once() {
        for blocks in [1, 2, 63, 64, 65, 4096, 4097, 300_000] {
            for one_size in [true, false] {
                let mut random = Random::seed_from_u64(blocks);
                let mut map = RandomMap::new(blocks, one_size, &mut random);
                for pass in 0..2 {
                    let mut seen = vec![false; blocks as usize];
                    while let Some(block) = map.draw(&mut random) {
                        assert_eq!(map.visit(block, 1), 1);
                        assert!(
                            !std::mem::replace(&mut seen[block as usize], true),
                            "{blocks} {one_size} {pass}: {block}"
                        );
                    }
                    assert!(seen.iter().all(|s| *s), "{blocks} {one_size} {pass}");
                    map.clear(&mut random);
                }
            }
        }
    }

    #[test]
    fn a_request_ends_at_a_visited_block_and_at_the_end() {
        let mut map = RandomMap::new(200, false, &mut Random::seed_from_u64(1));
        assert_eq!(map.visit(100, 10), 10);
        assert_eq!(map.visit(95, 10), 5);
        assert_eq!(map.visit(195, 10), 5);
        assert_eq!(map.visit(100, 1), 0);
    }

    #[test]
    fn the_next_free_bit_is_found_across_levels() {
        let mut bits = Bits::new(64 * 64 * 64 + 3);
        assert_eq!(bits.take(5, 64 * 64 * 64 - 6), 64 * 64 * 64 - 6);
        assert_eq!(
            [bits.free_from(0), bits.free_from(5), bits.free_from(64 * 64 * 64)],
            [0, 64 * 64 * 64 - 1, 64 * 64 * 64].map(Some)
        );
        assert_eq!(bits.free_from(64 * 64 * 64 + 3), None);
    }
}
