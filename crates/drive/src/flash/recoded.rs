//! Wordlines with their own coding in blocks of full density. The numbers of the codings are kept
//! only for blocks with such wordlines.

use crate::base::codings::FULL;
use crate::base::units::{BlockId, WordlineInBlock};

/// Wordlines that were recoded by themselves since their block's erase, with their codings.
pub(crate) struct Recoded {
    /// Coding of each wordline, by block; [`FULL`] if the wordline has no coding of its own. Empty
    /// for blocks without such wordlines.
    blocks: Vec<Vec<u8>>,
    wordlines_per_block: usize,
    /// Whether any block or wordline ever had a coding that is read with other sensings than full
    /// density.
    pub(crate) is_read_otherwise: bool,
}

impl Recoded {
    pub(crate) fn new(blocks: u32, wordlines_per_block: u32) -> Self {
        Self {
            blocks: vec![vec![]; blocks as usize],
            wordlines_per_block: wordlines_per_block as usize,
            is_read_otherwise: false,
        }
    }

    /// Returns the memory used if every block has wordlines with their own coding.
    pub(crate) fn bytes(blocks: u32, wordlines_per_block: u32) -> u64 {
        u64::from(blocks) * (size_of::<Vec<u8>>() as u64 + u64::from(wordlines_per_block))
    }

    /// Returns the codings of a block's wordlines; empty if none has its own.
    pub(crate) fn of(&self, block: BlockId) -> &[u8] {
        &self.blocks[block.index()]
    }

    /// Returns the coding that a wordline, numbered within its block, has for itself; [`FULL`] if
    /// it has none.
    pub(crate) fn coding(&self, block: BlockId, wordline: WordlineInBlock) -> u8 {
        self.of(block).get(wordline.index()).copied().unwrap_or(FULL)
    }

    pub(crate) fn add(&mut self, block: BlockId, wordline: WordlineInBlock, coding: u8) {
        let codings = &mut self.blocks[block.index()];
        codings.resize(self.wordlines_per_block, FULL);
        codings[wordline.index()] = coding;
    }

    /// Forgets the codings of a block at its erase.
    pub(crate) fn clear(&mut self, block: BlockId) {
        self.blocks[block.index()] = vec![];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_with_any_keep_codings() {
        let mut recoded = Recoded::new(3, 130);
        let at = WordlineInBlock::new;
        recoded.add(BlockId::new(1), at(0), 1);
        recoded.add(BlockId::new(1), at(129), 4);
        assert_eq!(
            (recoded.of(BlockId::new(0)).len(), recoded.of(BlockId::new(1)).len()),
            (0, 130)
        );
        assert_eq!(
            [0, 1, 128, 129].map(|w| recoded.coding(BlockId::new(1), at(w))),
            [1, FULL, FULL, 4]
        );
        assert_eq!(recoded.coding(BlockId::new(0), at(129)), FULL);
        recoded.clear(BlockId::new(1));
        assert_eq!(recoded.coding(BlockId::new(1), at(0)), FULL);
    }
}
