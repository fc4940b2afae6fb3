//! Next event of the dies' work: a tree of minima with eight children per node. Its leaves are the
//! few items that can have a pending event and may cancel it. Earlier times come first, then issue
//! order.
//!
//! A key is one word: 46 bits of time since a moving epoch, then issue order, then the leaf itself.
//! So a minimum needs no branch and names its leaf. An event more than nine hours after the epoch
//! has a key behind all others, and its time is stored separately. It can be a job of a slow drive,
//! scheduled as one piece.

use crate::base::units::Ns;

const NEVER: u64 = u64::MAX;
/// Number of bits below the time: issue order and leaf.
const LOW_BITS: u32 = 18;
/// Time since the epoch at which the epoch moves: half the range of its bits.
const EPOCH_SPAN: Ns = 1 << 45;
/// Smallest key of a far event. Keys of near events are smaller, and [`NEVER`] is larger.
const FAR: u64 = ((1 << (64 - LOW_BITS)) - 2) << LOW_BITS;

/// Number of children of a node. Two cache lines cover a drive of 64 dies, and the minimum of eight
/// needs no branch.
const FAN: usize = 8;
/// Largest number of items that can have a pending event.
pub(crate) const MAX_LEAVES: usize = 1 << 13;

pub(super) struct EventTree {
    /// Nodes by level, leaves first. The length of each level is a multiple of eight, and the last
    /// level is one group of eight.
    nodes: Vec<[u64; FAN]>,
    /// Index of the first group of each level.
    levels: Vec<usize>,
    /// Times of far events by leaf; empty until the first.
    far: Vec<Ns>,
    leaf_bits: u32,
    epoch: Ns,
    least: u64,
    /// Time of the earliest event.
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
        Self {
            nodes: vec![[NEVER; FAN]; groups],
            levels,
            far: vec![],
            leaf_bits,
            epoch: 0,
            least: NEVER,
            next: Ns::MAX,
        }
    }

    /// Returns the time of the earliest event; `Ns::MAX` if none is pending.
    #[inline]
    pub(super) fn next(&self) -> Ns {
        self.next
    }

    /// Returns the leaf of the earliest event, which must be pending.
    #[inline]
    pub(super) fn first(&self) -> usize {
        self.leaf_of(self.least)
    }

    #[inline]
    fn leaf_of(&self, key: u64) -> usize {
        key as usize & ((1 << self.leaf_bits) - 1)
    }

    /// Sets the event of a leaf to `at`. Among equal times, the lower `order` (modulo the range of
    /// its bits) comes first.
    #[inline]
    pub(super) fn set(&mut self, leaf: usize, at: Ns, order: u64) {
        let low =
            (order & ((1 << (LOW_BITS - self.leaf_bits)) - 1)) << self.leaf_bits | leaf as u64;
        // An event before the epoch (the time of another event) wraps around.
        if at.wrapping_sub(self.epoch) >= EPOCH_SPAN {
            return self.set_far(leaf, at, low);
        }
        self.put(leaf, (at - self.epoch) << LOW_BITS | low);
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
            if group[at % FAN] == least {
                // Above this level nothing changes, but a far event may have another time.
                if self.least >= FAR {
                    self.find_far();
                }
                return;
            }
            group[at % FAN] = least;
            let pairs: [u64; 4] = std::array::from_fn(|i| group[2 * i].min(group[2 * i + 1]));
            least = pairs[0].min(pairs[1]).min(pairs[2].min(pairs[3]));
            at /= FAN;
        }
        self.least = least;
        if least >= FAR {
            return self.find_far();
        }
        self.next = self.epoch + (least >> LOW_BITS);
    }

    /// Works like [`Self::set`] for an event outside the range of the epoch. The epoch moves to the
    /// time of the earliest event.
    #[cold]
    fn set_far(&mut self, leaf: usize, at: Ns, low: u64) {
        self.far.resize(self.nodes.len() * FAN, 0);
        // Its former event is removed.
        self.put(leaf, NEVER);
        let epoch = self.next.min(at);
        if epoch != self.epoch {
            self.move_epoch(epoch);
        }
        self.far[leaf] = at;
        self.put(leaf, self.key(leaf, low));
    }

    /// Returns the key of an event whose time is among those of far events. Its time is not before
    /// the epoch.
    fn key(&self, leaf: usize, low: u64) -> u64 {
        let since = self.far[leaf] - self.epoch;
        if since < EPOCH_SPAN { since << LOW_BITS | low } else { FAR | low }
    }

    /// Moves the epoch. No event is earlier than the new epoch.
    fn move_epoch(&mut self, epoch: Ns) {
        let leaves = self.levels.get(1).map_or(self.nodes.len(), |groups| *groups) * FAN;
        let before = std::mem::replace(&mut self.epoch, epoch);
        for leaf in 0..leaves {
            let key = self.nodes[leaf / FAN][leaf % FAN];
            if key == NEVER {
                continue;
            }
            if key < FAR {
                self.far[leaf] = before + (key >> LOW_BITS);
            }
            self.put(leaf, self.key(leaf, key & ((1 << LOW_BITS) - 1)));
        }
    }

    /// Finds the earliest event if all events are far.
    #[cold]
    fn find_far(&mut self) {
        let pending = self.nodes[..self.levels.get(1).copied().unwrap_or(self.nodes.len())]
            .iter()
            .flatten()
            .filter(|key| **key != NEVER);
        let first = pending.map(|key| (self.far[self.leaf_of(*key)], *key)).min();
        (self.next, self.least) = first.unwrap_or((Ns::MAX, NEVER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_earliest(leaves in 1usize..70, start in prop::sample::select(vec![0u64, 1 << 42, (1 << 45) - 9]),
            // The range is from nanoseconds to eleven hours, more than the range of an epoch.
            tick in prop::sample::select(vec![1u64, 1 << 35, 1 << 40, (1 << 45) / 40]),
            sets in prop::collection::vec((0usize..70, prop::option::of(0u64..50)), 1..200)) {
            let mut tree = EventTree::new(leaves);
            let mut naive = vec![(u64::MAX, 0); leaves];
            for (i, (leaf, at)) in sets.into_iter().enumerate() {
                // Time advances, also past the end of an epoch.
                let (leaf, now, at) = (leaf % leaves, start + i as u64 * tick / 8, at.map(|at| at * tick));
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
