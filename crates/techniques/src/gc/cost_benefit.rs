//! # Cost-benefit
//! Cleans the block with the largest value of `(1 - u) / 2u x age`. In this formula, u is the share
//! of the block's pages that are valid. Age is the time since the block was closed or last lost a
//! valid page.
//!
//! - **Paper:** Kawaguchi, Nishioka and Motoda, A flash-memory based file system, USENIX 1995
//!   (after Sprite LFS).
//! - **Acts at:** each cleaning.
//! - **Costs:** a list link and a time stamp per block.
//! - **Departs from the paper:** age is a number of page programs of the drive, not a time in
//!   seconds. So the policy needs no clock.
//! - **Does not help:** uniform writes, for which greedy is optimal.
//!
//! ```text
//! of 8 pages   A 4 valid, age 10 -> 4/8 x 10 = 5     B 6 valid, age 60 -> 2/12 x 60 = 10     ->   B
//! ```

use super::{Candidates, GcPolicy, GcTechnique};
use vpass_drive::api::card::{About, Card, New};
use vpass_drive::base::units::BlockId;

pub(super) const CARD: GcTechnique = Card {
    about: About {
        name: "cost-benefit",
        summary: "cleans the block with the highest score: free space x age / cost of cleaning",
        paper: "Kawaguchi et al., USENIX 1995",
        ..About::PLAIN
    },
    new: New::Listed(|_, _, _| Box::new(CostBenefit)),
};

pub(super) struct CostBenefit;

impl GcPolicy for CostBenefit {
    fn pick(&mut self, among: &Candidates) -> Option<BlockId> {
        // All blocks of a list have the same share of valid pages, and the first block is the
        // oldest. So only the first block of each list needs to be compared.
        let mut best: Option<(f64, BlockId)> = None;
        for valid in among.lists() {
            let Some((block, since)) =
                among.index.in_bucket(valid).find(|(block, _)| (among.allowed)(*block))
            else {
                continue;
            };
            if valid == 0 {
                return Some(block);
            }
            let age = f64::from(among.clock.wrapping_sub(since)) + 1.0;
            let score = f64::from(among.pages_per_block - valid) / (2.0 * f64::from(valid)) * age;
            if best.is_none_or(|(s, _)| score > s) {
                best = Some((score, block));
            }
        }
        best.map(|(_, block)| block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::api::gc::victims::VictimIndex;

    #[test]
    fn worked_example() {
        let mut index = VictimIndex::new(4, 8, 1);
        index.insert(BlockId::new(0), 4, 91); // A, age 10
        index.insert(BlockId::new(1), 6, 41); // B, age 60
        let pick = |allowed: &dyn Fn(BlockId) -> bool| {
            CostBenefit.pick(&Candidates {
                index: index.of(0),
                pages_per_block: 8,
                full_ones: false,
                clock: 100,
                allowed,
                wear: &|_| 0,
            })
        };
        assert_eq!(pick(&|_| true), Some(BlockId::new(1)));
        assert_eq!(pick(&|b| b != BlockId::new(1)), Some(BlockId::new(0)));
    }
}
