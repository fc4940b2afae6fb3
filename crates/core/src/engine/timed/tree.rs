//! The next event of the dies' work: a tree of minima, eight children a node, over the few things that can have one pending and may
//! take it back. Earlier time first, then issue order.
//!
//! A key is one word: 46 bits of time since an epoch that moves along, then issue order, then the leaf itself, so that a
//! minimum needs no branch and names its leaf.

use crate::units::Ns;

const NEVER: u64 = u64::MAX;
/// Bits below the time: issue order and leaf.
const LOW_BITS: u32 = 18;
/// The epoch moves when the time since it has used up half its bits.
const EPOCH_SPAN: Ns = 1 << 45;

/// Children of a node: two cache lines cover a drive of 64 dies, and the minimum of eight needs no branch.
const FAN: usize = 8;
/// Things that can have an event pending.
pub(crate) const MAX_LEAVES: usize = 1 << 13;

pub(super) struct EventTree {
    /// Level by level, leaves first; each level is a multiple of eight long, the last is one group of eight.
    nodes: Vec<[u64; FAN]>,
    /// Group at which each level starts.
    levels: Vec<usize>,
    leaf_bits: u32,
    epoch: Ns,
    least: u64,
    /// Time of `least`.
    next: Ns,
}

impl EventTree {
    pub(super) fn new(leaves: usize) -> Self {
        assert!(leaves <= MAX_LEAVES, "the configuration was checked");
        let (mut levels, mut groups, mut width) = (vec![], 0, leaves);
        loop {
            width = width.div_ceil(FAN);
            levels.push(groups);
            groups += width;
            if width == 1 {
                break;
            }
        }
        let leaf_bits = leaves.next_power_of_two().trailing_zeros().max(1);
        Self { nodes: vec![[NEVER; FAN]; groups], levels, leaf_bits, epoch: 0, least: NEVER, next: Ns::MAX }
    }

    /// Time of the earliest event; `Ns::MAX` where none is pending.
    #[inline]
    pub(super) fn next(&self) -> Ns {
        self.next
    }

    /// Leaf of the earliest event, which must be pending.
    #[inline]
    pub(super) fn first(&self) -> usize {
        self.least as usize & ((1 << self.leaf_bits) - 1)
    }

    /// The event of a leaf happens at `at`; among equal times the lower `order` (modulo the bits it gets) is first.
    #[inline]
    pub(super) fn set(&mut self, leaf: usize, at: Ns, order: u64) {
        if at - self.epoch >= EPOCH_SPAN {
            self.move_epoch(at);
        }
        let order = order & ((1 << (LOW_BITS - self.leaf_bits)) - 1);
        self.put(leaf, (at - self.epoch) << LOW_BITS | order << self.leaf_bits | leaf as u64);
    }

    #[inline]
    pub(super) fn clear(&mut self, leaf: usize) {
        self.put(leaf, NEVER);
    }

    #[inline]
    fn put(&mut self, leaf: usize, key: u64) {
        let (mut at, mut least) = (leaf, key);
        for level in &self.levels {
            let group = &mut self.nodes[level + at / FAN];
            group[at % FAN] = least;
            let pairs: [u64; 4] = std::array::from_fn(|i| group[2 * i].min(group[2 * i + 1]));
            least = pairs[0].min(pairs[1]).min(pairs[2].min(pairs[3]));
            at /= FAN;
        }
        self.least = least;
        self.next = if least == NEVER { Ns::MAX } else { self.epoch + (least >> LOW_BITS) };
    }

    /// Counts time from the earliest pending event on.
    #[cold]
    fn move_epoch(&mut self, at: Ns) {
        let epoch = self.next().min(at);
        let by = (epoch - self.epoch) << LOW_BITS;
        assert!(at - epoch < EPOCH_SPAN, "an event lies more than nine hours ahead of another");
        for node in self.nodes.iter_mut().flatten().chain([&mut self.least]) {
            *node = if *node == NEVER { NEVER } else { *node - by };
        }
        self.epoch = epoch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_earliest(leaves in 1usize..70, start in prop::sample::select(vec![0u64, 1 << 42, (1 << 45) - 9]),
            sets in prop::collection::vec((0usize..70, prop::option::of(0u64..50)), 1..200)) {
            let mut tree = EventTree::new(leaves);
            let mut naive = vec![(u64::MAX, 0); leaves];
            for (i, (leaf, at)) in sets.into_iter().enumerate() {
                // Time goes on, also past the end of an epoch.
                let (leaf, now) = (leaf % leaves, start + i as u64);
                naive.iter_mut().filter(|e| e.0 < now).for_each(|e| *e = (u64::MAX, 0));
                for (l, e) in naive.iter().enumerate() {
                    if e.0 == u64::MAX { tree.clear(l); }
                }
                naive[leaf] = at.map_or((u64::MAX, 0), |at| (now + at, i as u64));
                match at {
                    Some(at) => tree.set(leaf, now + at, i as u64),
                    None => tree.clear(leaf),
                }
                let first = naive.iter().min().copied().unwrap();
                prop_assert_eq!(tree.next(), first.0);
                if first.0 < u64::MAX {
                    prop_assert_eq!(tree.first(), naive.iter().position(|e| *e == first).unwrap());
                }
            }
        }
    }
}
