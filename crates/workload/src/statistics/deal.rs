//! Puts the requests of a pass into a random order. The number of requests of each kind stays
//! exact.
//!
//! A cell is a kind of request. A pass is divided into groups (`hand`). Every group contains the
//! same number of requests of each kind, up to rounding. The order within a group is random.

use super::layout::shuffle;
use super::tiling::BlockClass;
use crate::synthetic::random::{Random, below};

/// Number of requests in a group. A group of this size fits into the processor's first-level cache.
/// Making such a group costs little time per request.
const HAND: u64 = 4096;

/// Number of requests of one kind in each group of requests.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Number of requests of this kind that every group contains.
    whole: u32,
    /// Number of groups in a pass that contain one request of this kind more than the other groups.
    rest: u64,
    /// Accumulated fraction of a request, in units of 1 / number of groups. Each group adds `rest`
    /// to this sum. When the sum reaches a whole request, the current group gets one more request
    /// of this kind. The sum begins with a random value.
    gathered: u64,
}

/// Random order of the requests of each pass.
#[derive(Clone, Debug)]
pub(super) struct Deal {
    shares: Vec<Share>,
    hands: u64,
    hand: Vec<u32>,
}

impl Deal {
    /// Returns the number of bytes that the tables occupy in memory.
    pub(super) fn memory(&self) -> u64 {
        (size_of_val(self.shares.as_slice()) + size_of::<u32>() * self.hand.capacity()) as u64
    }

    /// Makes the order of requests for the given kinds of requests.
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

    /// Returns the kinds of the next requests. The list is never empty, and the last entry is the
    /// kind of the next request.
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
        let mut deal = Deal::new(&cells, &mut random);
        let requests: u64 = cells.iter().map(BlockClass::requests).sum();
        for _pass in 0..3 {
            let mut seen = [0u64; 4];
            (0..requests).for_each(|_| seen[deal.hand(&mut random).pop().unwrap() as usize] += 1);
            assert_eq!(seen, [1_000_000, 21, 99_999, 2]);
        }
    }
}
