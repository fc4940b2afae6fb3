//! Sets of counters, lent to blocks until their erase.

use crate::reclaim::View;
use crate::units::BlockId;

const NONE: u32 = u32::MAX;
/// Lent sets that a block without a set looks at for one whose block was erased.
const LOOKS: u32 = 16;

/// Who has a set: the block, and its P/E cycles when it was lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    block: BlockId,
    pec: u32,
}

/// A fixed number of sets of counters.
pub(super) struct Sets {
    most: u32,
    counters: usize,
    owners: Vec<Owner>,
    free: Vec<u32>,
    hand: u32,
    /// The set of each block that was lent one; it may have gone to another since.
    of_block: Vec<u32>,
    numbers: Vec<Box<[u32]>>,
}

impl Sets {
    /// So many sets of so many counters.
    pub(super) fn new(most: u32, counters: u32, blocks: u32) -> Self {
        let (owners, free, numbers) = (vec![], vec![], vec![]);
        Self { most, counters: counters as usize, owners, free, hand: 0, of_block: vec![NONE; blocks as usize], numbers }
    }

    /// Counters in all sets, and sets.
    pub(super) fn size(&self) -> (u64, u64) {
        (u64::from(self.most) * self.counters as u64, self.most.into())
    }

    /// The counters of a block, where it has a set.
    pub(super) fn of(&self, view: &View, block: BlockId) -> Option<&[u32]> {
        self.set_of(view, block).map(|set| &*self.numbers[set])
    }

    pub(super) fn of_mut(&mut self, view: &View, block: BlockId) -> Option<&mut [u32]> {
        self.set_of(view, block).map(|set| &mut *self.numbers[set])
    }

    fn set_of(&self, view: &View, block: BlockId) -> Option<usize> {
        let set = self.of_block[block as usize];
        (set != NONE && self.owners[set as usize] == Owner { block, pec: view.pec(block) }).then_some(set as usize)
    }

    /// Lends a set to a block, if one is free.
    pub(super) fn lend(&mut self, view: &View, block: BlockId) -> Option<&mut [u32]> {
        let owner = Owner { block, pec: view.pec(block) };
        let set = if let Some(set) = self.free.pop() {
            set
        } else if (self.owners.len() as u32) < self.most {
            self.owners.push(owner);
            self.numbers.push(vec![0; self.counters].into_boxed_slice());
            self.owners.len() as u32 - 1
        } else {
            self.left_behind(view)?
        };
        self.owners[set as usize] = owner;
        self.of_block[block as usize] = set;
        Some(&mut self.numbers[set as usize])
    }

    /// A set whose block was erased and not written since: one of the next few.
    fn left_behind(&mut self, view: &View) -> Option<u32> {
        for _ in 0..LOOKS.min(self.most) {
            let set = self.hand;
            self.hand = (set + 1) % self.most;
            let owner = self.owners[set as usize];
            if view.pec(owner.block) != owner.pec {
                return Some(set);
            }
        }
        None
    }

    /// Takes back the set of a block that begins a new life.
    pub(super) fn release(&mut self, block: BlockId) {
        let set = std::mem::replace(&mut self.of_block[block as usize], NONE);
        if set != NONE && self.owners[set as usize].block == block {
            self.free.push(set);
        }
    }
}
