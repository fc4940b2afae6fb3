//! Pool of counter sets. A block keeps its set until it is erased, or until another block needs the
//! set more.

use vpass_drive::api::reclaim::View;
use vpass_drive::base::dose::Quarters;
use vpass_drive::base::units::BlockId;

const NONE: u32 = u32::MAX;
/// Number of assigned sets that are visited when a block finds no free set. The number is small, so
/// each set is visited rarely. So a set counts as cold only if its block was hardly read for a long
/// time.
const LOOKS: u32 = 4;

/// Block that owns a set. `pec` is its number of P/E cycles when it got the set, and `seen` is its
/// dose at the last visit of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    block: BlockId,
    pec: u32,
    seen: Option<Quarters>,
}

impl Owner {
    /// Returns whether the block has been erased since it got the set.
    fn is_gone(&self, view: &View) -> bool {
        view.pec(self.block) != self.pec
    }

    /// Returns whether the block can spare its set. The block must hold no data, or have been
    /// hardly read since the last visit. No job may be moving it.
    fn can_do_without(&self, view: &View, hardly: Quarters) -> bool {
        let empty = view.valid_pages(self.block) == 0 && view.pages_to_come(self.block) == 0;
        let cold = self.seen.is_some_and(|seen| view.dose(self.block) - seen < hardly);
        view.is_idle(self.block) && (empty || cold)
    }
}

/// Pool with a fixed number of counter sets.
pub(super) struct Sets {
    most: u32,
    counters: usize,
    owners: Vec<Owner>,
    free: Vec<u32>,
    hand: u32,
    /// Number of the set that each block got. Another block may own the set by now.
    of_block: Vec<u32>,
    numbers: Vec<Box<[Quarters]>>,
}

impl Sets {
    /// Creates a pool of `most` sets, each with `counters` counters.
    pub(super) fn new(most: u32, counters: u32, blocks: u32) -> Self {
        let (owners, free, numbers) = (vec![], vec![], vec![]);
        Self {
            most,
            counters: counters as usize,
            owners,
            free,
            hand: 0,
            of_block: vec![NONE; blocks as usize],
            numbers,
        }
    }

    /// Returns the total number of counters in the pool, and the number of sets.
    pub(super) fn size(&self) -> (u64, u64) {
        (u64::from(self.most) * self.counters as u64, self.most.into())
    }

    /// Returns the size in memory of the pool when all sets are assigned, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let of_set = self.counters * size_of::<Quarters>()
            + size_of::<Owner>()
            + size_of::<Box<[Quarters]>>();
        u64::from(self.most) * of_set as u64
    }

    /// Returns the counters of a block; `None` if it has no set.
    pub(super) fn of(&self, view: &View, block: BlockId) -> Option<&[Quarters]> {
        self.set_of(view, block).map(|set| &*self.numbers[set])
    }

    pub(super) fn of_mut(&mut self, view: &View, block: BlockId) -> Option<&mut [Quarters]> {
        self.set_of(view, block).map(|set| &mut *self.numbers[set])
    }

    fn set_of(&self, view: &View, block: BlockId) -> Option<usize> {
        let set = *self.of_block.get(block.index())?;
        let owner = self.owners.get(set as usize)?;
        (owner.block == block && !owner.is_gone(view)).then_some(set as usize)
    }

    /// Assigns a free set to a block, and returns the counters of the set; `None` if no set is
    /// free.
    pub(super) fn lend(&mut self, view: &View, block: BlockId) -> Option<&mut [Quarters]> {
        let owner = Owner { block, pec: view.pec(block), seen: None };
        let set = if let Some(set) = self.free.pop() {
            self.owners[set as usize] = owner;
            set
        } else if (self.owners.len() as u32) < self.most {
            self.owners.push(owner);
            self.numbers.push(vec![Quarters::ZERO; self.counters].into_boxed_slice());
            self.owners.len() as u32 - 1
        } else {
            return None;
        };
        self.of_block[block.index()] = set;
        Some(&mut self.numbers[set as usize])
    }

    /// Visits the next few sets if all sets are assigned. Returns the first of their blocks that
    /// can spare its set; `None` if there is none. Such a block was erased since it got the set,
    /// holds no data, or got less than the dose `hardly` since the last visit.
    pub(super) fn who_can_do_without(&mut self, view: &View, hardly: Quarters) -> Option<BlockId> {
        if !self.free.is_empty() || (self.owners.len() as u32) < self.most {
            return None;
        }
        for _ in 0..LOOKS.min(self.most) {
            let owner = &mut self.owners[self.hand as usize];
            self.hand = (self.hand + 1) % self.most;
            if owner.is_gone(view) || owner.can_do_without(view, hardly) {
                return Some(owner.block);
            }
            owner.seen = Some(view.dose(owner.block));
        }
        None
    }

    /// Returns the blocks whose sets [`Self::who_can_do_without`] would visit next. The list is
    /// empty if a set is free.
    pub(super) fn considered_next(&self) -> impl Iterator<Item = BlockId> {
        let is_free = !self.free.is_empty() || (self.owners.len() as u32) < self.most;
        let looks = if is_free { 0 } else { LOOKS.min(self.most) };
        (0..looks).map(|n| self.owners[((self.hand + n) % self.most) as usize].block)
    }

    /// Takes the set away from a block, so that it is free again.
    pub(super) fn release(&mut self, block: BlockId) {
        let set = std::mem::replace(&mut self.of_block[block.index()], NONE);
        if set != NONE && self.owners[set as usize].block == block {
            self.free.push(set);
        }
    }
}
