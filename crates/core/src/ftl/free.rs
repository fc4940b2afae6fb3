//! Erased blocks, by plane, youngest first (dynamic wear levelling) or in the order of their erase.

use std::collections::BTreeSet;

use crate::units::BlockId;

pub(crate) struct FreeBlocks {
    planes: Vec<Plane>,
    count: u32,
    in_pool: u32,
}

/// Free blocks of a plane, those of the IPR pool apart.
#[derive(Clone, Default)]
struct Plane {
    outside: BTreeSet<(u64, BlockId)>,
    pool: BTreeSet<(u64, BlockId)>,
}

impl FreeBlocks {
    pub(crate) fn new(planes: u32) -> Self {
        Self { planes: vec![Plane::default(); planes as usize], count: 0, in_pool: 0 }
    }

    /// Adds an erased block; blocks with a smaller `rank` are taken first.
    pub(crate) fn add(&mut self, plane: u32, block: BlockId, rank: u64, in_pool: bool) {
        let plane = &mut self.planes[plane as usize];
        let new = if in_pool { plane.pool.insert((rank, block)) } else { plane.outside.insert((rank, block)) };
        assert!(new, "block {block} is already free");
        self.count += 1;
        self.in_pool += u32::from(in_pool);
    }

    /// Takes the first block of a plane, or its last where worn blocks are wanted.
    pub(crate) fn take(&mut self, plane: u32, worn: bool) -> Option<BlockId> {
        let Plane { outside, pool } = &self.planes[plane as usize];
        let from_pool = if worn { pool.last() > outside.last() } else { first(pool) < first(outside) };
        if from_pool { self.take_from_pool(plane, worn) } else { self.take_from_outside(plane, worn) }
    }

    fn take_from_outside(&mut self, plane: u32, worn: bool) -> Option<BlockId> {
        let set = &mut self.planes[plane as usize].outside;
        let (_, block) = if worn { set.pop_last() } else { set.pop_first() }?;
        self.count -= 1;
        Some(block)
    }

    /// The same of the pool's blocks.
    pub(crate) fn take_from_pool(&mut self, plane: u32, worn: bool) -> Option<BlockId> {
        let set = &mut self.planes[plane as usize].pool;
        let (_, block) = if worn { set.pop_last() } else { set.pop_first() }?;
        self.count -= 1;
        self.in_pool -= 1;
        Some(block)
    }

    pub(crate) fn in_plane(&self, plane: u32) -> usize {
        let plane = &self.planes[plane as usize];
        plane.outside.len() + plane.pool.len()
    }

    /// Free blocks of a plane in the pool.
    pub(crate) fn pool_in_plane(&self, plane: u32) -> usize {
        self.planes[plane as usize].pool.len()
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Free blocks in the pool.
    pub(crate) fn count_in_pool(&self) -> u32 {
        self.in_pool
    }
}

/// The first block of a set; after every other where there is none.
fn first(set: &BTreeSet<(u64, BlockId)>) -> (u64, BlockId) {
    set.first().copied().unwrap_or((u64::MAX, BlockId::MAX))
}
