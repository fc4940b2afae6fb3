//! # Greedy
//! Cleans the block with the fewest valid pages; of several, the one left alone the longest.
//!
//! **Source** Bux and Iliadis, Performance of greedy garbage collection, Performance Evaluation 67 (2010).
//! **Costs** a list link per block. **Does not help** skewed writes: it cleans hot blocks too early.
//!
//! ```text
//! valid pages   A 5   B 2   C 2 (longer unchanged)   ->   C
//! ```

use super::GcPolicy;
use crate::ftl::victims::VictimIndex;
use crate::units::BlockId;

pub(super) struct Greedy;

impl GcPolicy for Greedy {
    fn pick(&self, index: &VictimIndex, pages_per_block: u32, _clock: u32, allowed: &dyn Fn(BlockId) -> bool) -> Option<BlockId> {
        // A full block gives nothing back.
        index
            .buckets()
            .take_while(|valid| *valid < pages_per_block)
            .flat_map(|valid| index.in_bucket(valid))
            .map(|(block, _)| block)
            .find(|block| allowed(*block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let mut index = VictimIndex::new(4, 8);
        index.insert(0, 5, 10); // A
        index.insert(2, 2, 20); // C
        index.insert(1, 2, 30); // B
        assert_eq!(Greedy.pick(&index, 8, 40, &|_| true), Some(2));
        assert_eq!(Greedy.pick(&index, 8, 40, &|b| b != 2), Some(1));
    }

    #[test]
    fn full_blocks_are_no_victims() {
        let mut index = VictimIndex::new(4, 8);
        index.insert(0, 8, 0);
        assert_eq!(Greedy.pick(&index, 8, 1, &|_| true), None);
    }
}
