//! Erased blocks by plane, youngest first (dynamic wear levelling) or in the order of their erases.
//! They are counted by domain: for the whole drive or, if each page has a fixed die, for each die.

use std::collections::BTreeSet;

use crate::base::units::BlockId;

/// Place from which a free block is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Blocks in the IPR pool.
    Pool,
    Outside,
    Any,
}

pub(crate) struct FreeBlocks {
    planes: Vec<Plane>,
    planes_per_domain: usize,
    domains: Vec<Counts>,
}

/// Number of free blocks of a domain, and how many of them are in the pool.
#[derive(Clone, Default)]
struct Counts {
    all: u32,
    in_pool: u32,
}

/// Free blocks of a plane. The blocks of the IPR pool are separate.
#[derive(Clone, Default)]
struct Plane {
    outside: BTreeSet<(u64, BlockId)>,
    pool: BTreeSet<(u64, BlockId)>,
}

impl Plane {
    /// Returns whether the next block of a side is in the pool.
    fn is_pool_next(&self, side: Side, worn: bool) -> bool {
        match side {
            Side::Pool => true,
            Side::Outside => false,
            Side::Any if worn => self.pool.last() > self.outside.last(),
            Side::Any => first(&self.pool) < first(&self.outside),
        }
    }
}

impl FreeBlocks {
    pub(crate) fn new(planes: u32, domains: u32) -> Self {
        Self {
            planes: vec![Plane::default(); planes as usize],
            planes_per_domain: (planes / domains) as usize,
            domains: vec![Counts::default(); domains as usize],
        }
    }

    fn counts(&mut self, plane: u32) -> &mut Counts {
        &mut self.domains[plane as usize / self.planes_per_domain]
    }

    /// Returns the planes of a domain.
    pub(crate) fn planes_of(&self, domain: usize) -> std::ops::Range<u32> {
        let first = domain * self.planes_per_domain;
        first as u32..(first + self.planes_per_domain) as u32
    }

    /// Adds an erased block. Blocks with a smaller `rank` are taken first.
    pub(crate) fn add(&mut self, plane: u32, block: BlockId, rank: u64, in_pool: bool) {
        let of = &mut self.planes[plane as usize];
        let new =
            if in_pool { of.pool.insert((rank, block)) } else { of.outside.insert((rank, block)) };
        assert!(new, "block {block} is already free");
        let counts = self.counts(plane);
        counts.all += 1;
        counts.in_pool += u32::from(in_pool);
    }

    /// Returns the block that would be taken next.
    pub(crate) fn next(&self, plane: u32, side: Side, worn: bool) -> Option<BlockId> {
        let of = &self.planes[plane as usize];
        let set = if of.is_pool_next(side, worn) { &of.pool } else { &of.outside };
        let (_, block) = if worn { set.last() } else { set.first() }?;
        Some(*block)
    }

    /// Takes the first block of a plane's side, or the last one if `worn` blocks are wanted.
    pub(crate) fn take(&mut self, plane: u32, side: Side, worn: bool) -> Option<BlockId> {
        let from_pool = self.planes[plane as usize].is_pool_next(side, worn);
        let Plane { outside, pool } = &mut self.planes[plane as usize];
        let set = if from_pool { pool } else { outside };
        let (_, block) = if worn { set.pop_last() } else { set.pop_first() }?;
        let counts = self.counts(plane);
        counts.all -= 1;
        counts.in_pool -= u32::from(from_pool);
        Some(block)
    }

    /// Takes all free blocks.
    pub(crate) fn take_all(&mut self) -> Vec<BlockId> {
        self.domains.iter_mut().for_each(|counts| *counts = Counts::default());
        let planes = self
            .planes
            .iter_mut()
            .flat_map(|of| [std::mem::take(&mut of.outside), std::mem::take(&mut of.pool)]);
        planes.flatten().map(|(_, block)| block).collect()
    }

    /// Removes a block of a plane that will not be used any more.
    pub(crate) fn remove(&mut self, plane: u32, block: BlockId, in_pool: bool) {
        let of = &mut self.planes[plane as usize];
        let set = if in_pool { &mut of.pool } else { &mut of.outside };
        let before = set.len();
        set.retain(|(_, free)| *free != block);
        let gone = u32::from(set.len() < before);
        let counts = self.counts(plane);
        counts.all -= gone;
        counts.in_pool -= gone * u32::from(in_pool);
    }

    /// Returns the number of free blocks on a plane's side.
    pub(crate) fn in_plane(&self, plane: u32, side: Side) -> usize {
        let Plane { outside, pool } = &self.planes[plane as usize];
        match side {
            Side::Pool => pool.len(),
            Side::Outside => outside.len(),
            Side::Any => outside.len() + pool.len(),
        }
    }

    /// Returns the number of free blocks inside or outside the IPR pool, or both, in all planes of
    /// a domain.
    pub(crate) fn count_in(&self, domain: usize, side: Side) -> u32 {
        let Counts { all, in_pool } = self.domains[domain];
        match side {
            Side::Pool => in_pool,
            Side::Outside => all - in_pool,
            Side::Any => all,
        }
    }

    #[inline]
    pub(crate) fn count(&self, domain: usize) -> u32 {
        self.domains[domain].all
    }

    /// Returns the number of free blocks of the drive.
    pub(crate) fn total(&self) -> u32 {
        self.domains.iter().map(|counts| counts.all).sum()
    }
}

/// Returns the first block of a set, or a value above all others if the set is empty.
fn first(set: &BTreeSet<(u64, BlockId)>) -> (u64, BlockId) {
    set.first().copied().unwrap_or((u64::MAX, BlockId::NONE))
}
