//! The next event: a winner tree over the few things that can have one pending. Earlier time first, then issue order.

use crate::units::Ns;

const NEVER: u128 = u128::MAX;

pub(super) struct EventTree {
    keys: Vec<u128>,
    /// Winner of each inner node; node 1 is the root, leaves pair up below the last level.
    winners: Vec<u16>,
}

impl EventTree {
    pub(super) fn new(leaves: usize) -> Self {
        let n = leaves.next_power_of_two().max(2);
        let mut winners = vec![0; n];
        for node in (1..n).rev() {
            winners[node] = if node >= n / 2 { (node * 2 - n) as u16 } else { winners[node * 2] };
        }
        Self { keys: vec![NEVER; n], winners }
    }

    /// The earliest event: its time and its leaf; time is `Ns::MAX` where none is pending.
    #[inline]
    pub(super) fn first(&self) -> (Ns, usize) {
        let leaf = usize::from(self.winners[1]);
        ((self.keys[leaf] >> 64) as Ns, leaf)
    }

    #[inline]
    pub(super) fn set(&mut self, leaf: usize, at: Ns, order: u64) {
        self.put(leaf, u128::from(at) << 64 | u128::from(order));
    }

    #[inline]
    pub(super) fn clear(&mut self, leaf: usize) {
        self.put(leaf, NEVER);
    }

    #[inline]
    fn put(&mut self, leaf: usize, key: u128) {
        self.keys[leaf] = key;
        let sibling = leaf ^ 1;
        let mut winner = if self.keys[sibling] < key || (self.keys[sibling] == key && sibling < leaf) { sibling } else { leaf };
        let mut node = usize::midpoint(self.keys.len(), leaf);
        loop {
            // Above a node whose winner is unchanged and not this leaf nothing changes.
            if usize::from(self.winners[node]) == winner && winner != leaf {
                return;
            }
            self.winners[node] = winner as u16;
            if node == 1 {
                return;
            }
            let other = usize::from(self.winners[node ^ 1]);
            if self.keys[other] < self.keys[winner] {
                winner = other;
            }
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_earliest(leaves in 1usize..70, sets in prop::collection::vec((0usize..70, prop::option::of(0u64..50)), 1..200)) {
            let mut tree = EventTree::new(leaves);
            let mut naive = vec![u64::MAX; leaves];
            for (leaf, at) in sets {
                let leaf = leaf % leaves;
                naive[leaf] = at.unwrap_or(u64::MAX);
                match at {
                    Some(at) => tree.set(leaf, at, leaf as u64),
                    None => tree.clear(leaf),
                }
                let first = naive.iter().min().copied().unwrap();
                let (time, found) = tree.first();
                prop_assert_eq!(time, first);
                if first < u64::MAX {
                    prop_assert_eq!(found, naive.iter().position(|t| *t == first).unwrap());
                }
            }
        }
    }
}
