//! Which cell the next request is for. Cells get their turns as evenly over a pass as whole numbers
//! allow, in an order of chance: a pass is dealt in hands, each with every cell's share of it, and
//! each hand is shuffled. So the counts of a pass are exact.

use super::layout::shuffle;
use super::tiling::BlockClass;
use crate::synthetic::random::{Random, below};

/// Requests of a hand: few enough for the first-level cache, many enough that dealing costs little.
const HAND: u64 = 4096;

/// A cell's part in dealing.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Turns in every hand.
    whole: u32,
    /// Turns of a pass beyond those.
    rest: u64,
    /// What has gathered of a turn: one is due at the number of hands. Chance sets the beginning.
    gathered: u64,
}

/// The order of the requests of a pass, over and over.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    shares: Vec<Share>,
    hands: u64,
    hand: Vec<u32>,
}

impl Turns {
    /// Bytes that it takes.
    pub(super) fn memory(&self) -> u64 {
        (size_of_val(self.shares.as_slice()) + size_of::<u32>() * self.hand.capacity()) as u64
    }

    /// For these cells.
    pub(super) fn new(cells: &[BlockClass], random: &mut Random) -> Self {
        let requests: u64 = cells.iter().map(BlockClass::requests).sum();
        let hands = requests.div_ceil(HAND.max(2 * cells.len() as u64)).max(1);
        let share = |cell: &BlockClass| Share {
            whole: (cell.requests() / hands) as u32,
            rest: cell.requests() % hands,
            gathered: below(random, hands),
        };
        Self { shares: cells.iter().map(share).collect(), hands, hand: vec![] }
    }

    /// The cells of the next requests, the next one last; at least one.
    #[inline]
    pub(super) fn hand(&mut self, random: &mut Random) -> &mut Vec<u32> {
        while self.hand.is_empty() {
            self.deal(random);
        }
        &mut self.hand
    }

    fn deal(&mut self, random: &mut Random) {
        for (cell, share) in (0u32..).zip(&mut self.shares) {
            share.gathered += share.rest;
            let due = u32::from(share.gathered >= self.hands);
            share.gathered -= u64::from(due) * self.hands;
            self.hand.extend(std::iter::repeat_n(cell, (share.whole + due) as usize));
        }
        shuffle(&mut self.hand, random);
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn a_pass_holds_every_cell_exactly() {
        let cells = [(1_000_000, 1), (3, 7), (1, 99_999), (2, 1)]
            .map(|(accesses, blocks)| BlockClass { accesses, pages: 1, length: 0, blocks });
        let mut random = Random::seed_from_u64(1);
        let mut turns = Turns::new(&cells, &mut random);
        let requests: u64 = cells.iter().map(BlockClass::requests).sum();
        for _pass in 0..3 {
            let mut seen = [0u64; 4];
            (0..requests).for_each(|_| seen[turns.hand(&mut random).pop().unwrap() as usize] += 1);
            assert_eq!(seen, [1_000_000, 21, 99_999, 2]);
        }
    }
}
