//! Wordlines with guard levels in blocks of full density: a bit each, kept only for the blocks that have any.

use crate::base::page_set::{any, set};
use crate::base::units::BlockId;
use crate::bugs::{Bug, planted};

/// Which wordlines were merged by themselves since their block's erase.
pub(crate) struct Guards {
    /// Words of 64 wordlines by block; none where no wordline has guard levels.
    blocks: Vec<Vec<u64>>,
    words_per_block: usize,
}

impl Guards {
    pub(crate) fn new(blocks: u32, wordlines_per_block: u32) -> Self {
        Self { blocks: vec![vec![]; blocks as usize], words_per_block: wordlines_per_block.div_ceil(64) as usize }
    }

    /// Memory that they take where every block has some.
    pub(crate) fn bytes(blocks: u32, wordlines_per_block: u32) -> u64 {
        u64::from(blocks) * (size_of::<Vec<u64>>() as u64 + 8 * u64::from(wordlines_per_block.div_ceil(64)))
    }

    /// The wordlines of a block, numbered within it, a bit each; nothing where there are none.
    pub(crate) fn of(&self, block: BlockId) -> &[u64] {
        &self.blocks[block as usize]
    }

    pub(crate) fn has(&self, block: BlockId, wordline: u32) -> bool {
        if planted(Bug::GuardsAlias64) {
            return self.of(block).iter().any(|word| word >> (wordline % 64) & 1 == 1);
        }
        !self.of(block).is_empty() && any(self.of(block), wordline, 1)
    }

    pub(crate) fn add(&mut self, block: BlockId, wordline: u32) {
        let words = &mut self.blocks[block as usize];
        words.resize(self.words_per_block, 0);
        set(words, wordline);
    }

    /// How many a block has.
    pub(crate) fn count(&self, block: BlockId) -> u32 {
        self.of(block).iter().map(|word| word.count_ones()).sum()
    }

    /// A block is erased.
    pub(crate) fn clear(&mut self, block: BlockId) {
        self.blocks[block as usize] = vec![];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_with_any_keep_bits() {
        let mut guards = Guards::new(3, 130);
        guards.add(1, 0);
        guards.add(1, 129);
        assert_eq!((guards.of(0), guards.of(1), guards.count(1)), (&[][..], &[1, 0, 2][..], 2));
        assert_eq!([0, 1, 128, 129].map(|w| guards.has(1, w)), [true, false, false, true]);
        assert!(!guards.has(0, 129));
        guards.clear(1);
        assert_eq!((guards.count(1), guards.has(1, 0)), (0, false));
    }
}
