//! Wordlines with a coding of their own in blocks of full density: its number each, kept only for
//! the blocks that have any.

use crate::base::codings::FULL;
use crate::base::units::{BlockId, WordlineInBlock};
use crate::bugs::{Bug, planted};

/// Which wordlines were recoded by themselves since their block's erase, and how.
pub(crate) struct Recoded {
    /// By block, the coding of each wordline, [`FULL`] where it has none of its own; nothing for
    /// blocks where none has.
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

    /// Memory that they take where every block has some.
    pub(crate) fn bytes(blocks: u32, wordlines_per_block: u32) -> u64 {
        u64::from(blocks) * (size_of::<Vec<u8>>() as u64 + u64::from(wordlines_per_block))
    }

    /// The codings of a block's wordlines; nothing where none has one of its own.
    pub(crate) fn of(&self, block: BlockId) -> &[u8] {
        &self.blocks[block.index()]
    }

    /// The coding that a wordline, numbered within its block, has of its own; [`FULL`] where it has
    /// none.
    pub(crate) fn coding(&self, block: BlockId, wordline: WordlineInBlock) -> u8 {
        if planted(Bug::GuardsAlias64) {
            let alike = self.of(block).iter().skip(wordline.index() % 64).step_by(64);
            return alike.copied().find(|coding| *coding != FULL).unwrap_or(FULL);
        }
        self.of(block).get(wordline.index()).copied().unwrap_or(FULL)
    }

    pub(crate) fn add(&mut self, block: BlockId, wordline: WordlineInBlock, coding: u8) {
        let codings = &mut self.blocks[block.index()];
        codings.resize(self.wordlines_per_block, FULL);
        codings[wordline.index()] = coding;
    }

    /// A block is erased.
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
