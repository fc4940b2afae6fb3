//! # Greedy
//! Cleans the block with the fewest valid pages. If several blocks have equally few, it cleans the
//! one that has been unchanged for the longest time.
//!
//! - **Paper:** Bux and Iliadis, Performance of greedy garbage collection, Performance Evaluation
//!   67 (2010).
//! - **Acts at:** each cleaning.
//! - **Costs:** a list link per block.
//! - **Does not help:** skewed writes, because greedy cleans blocks with often rewritten data too
//!   early.
//!
//! ```text
//! valid pages   A 5   B 2   C 2 (longer unchanged)   ->   C
//! ```

use super::{Candidates, GcPolicy, GcTechnique};
use vpass_drive::api::card::{About, Card, New};
use vpass_drive::base::units::BlockId;

pub(super) const CARD: GcTechnique = Card {
    about: About {
        name: "greedy",
        summary: "cleans the block with the fewest valid pages",
        paper: "Bux and Iliadis, Performance Evaluation 2010",
        ..About::PLAIN
    },
    new: New::Listed(|_, _, _| Box::new(Greedy)),
};

pub(super) struct Greedy;

impl GcPolicy for Greedy {
    fn pick(&mut self, among: &Candidates) -> Option<BlockId> {
        among
            .lists()
            .flat_map(|valid| among.index.in_bucket(valid))
            .map(|(block, _)| block)
            .find(|block| (among.allowed)(*block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::api::gc::victims::VictimIndex;

    fn pick(
        index: &VictimIndex,
        full_ones: bool,
        allowed: impl Fn(BlockId) -> bool,
    ) -> Option<BlockId> {
        Greedy.pick(&Candidates {
            index: index.of(0),
            pages_per_block: 8,
            full_ones,
            clock: 40,
            allowed: &allowed,
            wear: &|_| 0,
        })
    }

    #[test]
    fn worked_example() {
        let mut index = VictimIndex::new(4, 8, 1);
        index.insert(BlockId::new(0), 5, 10); // A
        index.insert(BlockId::new(2), 2, 20); // C
        index.insert(BlockId::new(1), 2, 30); // B
        assert_eq!(pick(&index, false, |_| true), Some(BlockId::new(2)));
        assert_eq!(pick(&index, false, |b| b != BlockId::new(2)), Some(BlockId::new(1)));
    }

    #[test]
    fn full_blocks_are_victims_only_on_demand_and_last() {
        let mut index = VictimIndex::new(4, 8, 1);
        index.insert(BlockId::new(0), 8, 0);
        assert_eq!(pick(&index, false, |_| true), None);
        assert_eq!(pick(&index, true, |_| true), Some(BlockId::new(0)));
        index.insert(BlockId::new(1), 7, 0);
        assert_eq!(pick(&index, true, |_| true), Some(BlockId::new(1)));
    }
}
