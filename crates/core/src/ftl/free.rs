//! Erased blocks, by plane, youngest first (dynamic wear levelling) or in the order of their erase.

use std::collections::BTreeSet;

use crate::base::units::BlockId;

/// Where a free block is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Within the IPR pool.
    Pool,
    Outside,
    Any,
}

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

    /// Takes the first block of a plane's side, or its last where worn blocks are wanted.
    pub(crate) fn take(&mut self, plane: u32, side: Side, worn: bool) -> Option<BlockId> {
        let Plane { outside, pool } = &mut self.planes[plane as usize];
        let from_pool = match side {
            Side::Pool => true,
            Side::Outside => false,
            Side::Any if worn => pool.last() > outside.last(),
            Side::Any => first(pool) < first(outside),
        };
        let set = if from_pool { pool } else { outside };
        let (_, block) = if worn { set.pop_last() } else { set.pop_first() }?;
        self.count -= 1;
        self.in_pool -= u32::from(from_pool);
        Some(block)
    }

    /// Free blocks on a plane's side.
    pub(crate) fn in_plane(&self, plane: u32, side: Side) -> usize {
        let Plane { outside, pool } = &self.planes[plane as usize];
        match side {
            Side::Pool => pool.len(),
            Side::Outside => outside.len(),
            Side::Any => outside.len() + pool.len(),
        }
    }

    /// Free blocks on a side, of all planes.
    pub(crate) fn count_in(&self, side: Side) -> u32 {
        match side {
            Side::Pool => self.in_pool,
            Side::Outside => self.count - self.in_pool,
            Side::Any => self.count,
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

/// The first block of a set; after every other where there is none.
fn first(set: &BTreeSet<(u64, BlockId)>) -> (u64, BlockId) {
    set.first().copied().unwrap_or((u64::MAX, BlockId::MAX))
}
