//! Erased blocks, by plane, youngest first (dynamic wear levelling) or in the order of their erase.

use std::collections::BTreeSet;

use crate::units::BlockId;

pub(crate) struct FreeBlocks {
    planes: Vec<BTreeSet<(u64, BlockId)>>,
    count: u32,
}

impl FreeBlocks {
    pub(crate) fn new(planes: u32) -> Self {
        Self { planes: vec![BTreeSet::new(); planes as usize], count: 0 }
    }

    /// Adds an erased block; blocks with a smaller `rank` are taken first.
    pub(crate) fn add(&mut self, plane: u32, block: BlockId, rank: u64) {
        let new = self.planes[plane as usize].insert((rank, block));
        assert!(new, "block {block} is already free");
        self.count += 1;
    }

    /// Takes the first block of a plane, or its last where worn blocks are wanted.
    pub(crate) fn take(&mut self, plane: u32, worn: bool) -> Option<BlockId> {
        let set = &mut self.planes[plane as usize];
        let (_, block) = if worn { set.pop_last() } else { set.pop_first() }?;
        self.count -= 1;
        Some(block)
    }

    pub(crate) fn in_plane(&self, plane: u32) -> usize {
        self.planes[plane as usize].len()
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}
