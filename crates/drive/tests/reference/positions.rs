//! Positions of numbers in a random order, in both directions.

use vpass_drive::base::steady::Order;

/// Order of numbers, with the sizes of the halves of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    order: Order,
    /// Number of bits of the low half, and number of values of the high half.
    low_bits: u32,
    highs: u64,
}

impl Positions {
    pub(super) fn new(order: Order) -> Self {
        let bits = order.pages.saturating_sub(1).checked_ilog2().map_or(0, |top| top + 1).max(2);
        let low_bits = bits / 2;
        Self { order, low_bits, highs: u64::from(order.pages).div_ceil(1 << low_bits).max(1) }
    }

    /// Returns the number at a position.
    pub(super) fn number_at(&self, position: u32) -> u32 {
        self.walk(position, |halves| {
            for round in 0..4 {
                let shift = self.shift(round, halves);
                if round.is_multiple_of(2) {
                    halves[0] = self.high_half(halves[0] + shift);
                } else {
                    halves[1] ^= shift;
                }
            }
        })
    }

    /// Returns the position of a number. The half-rounds are undone, the last one first.
    pub(super) fn position_of(&self, number: u32) -> u32 {
        self.walk(number, |halves| {
            for round in (0..4).rev() {
                let shift = self.shift(round, halves);
                if round.is_multiple_of(2) {
                    halves[0] = self.high_half(halves[0] + self.highs - shift);
                } else {
                    halves[1] ^= shift;
                }
            }
        })
    }

    /// Returns the remainder of a sum of two high halves.
    fn high_half(&self, sum: u64) -> u64 {
        if sum < self.highs { sum } else { sum - self.highs }
    }

    /// Returns by how much a half-round changes its half. Even half-rounds change the high half,
    /// `halves[0]`. The other half and the key give a fraction of 2^32, and the same fraction of
    /// the half's values is the change.
    fn shift(&self, round: usize, halves: &[u64; 2]) -> u64 {
        let lows = 1 << self.low_bits;
        let (other, values) =
            if round.is_multiple_of(2) { (halves[1], self.highs) } else { (halves[0], lows) };
        let key = u64::from(self.order.keys[round]);
        let fraction = (other ^ (key >> 16)) * (key | 1) % (1 << 32);
        fraction * values / (1 << 32)
    }

    /// Applies the half-rounds until the result is in range.
    fn walk(&self, from: u32, rounds: impl Fn(&mut [u64; 2])) -> u32 {
        // A wrong position may lie outside the order. The remainder keeps the number in range
        // without further harm.
        let pages = u64::from(self.order.pages.max(1));
        let mut number = u64::from(from);
        if number >= pages {
            number %= pages;
        }
        loop {
            let mut halves = [number >> self.low_bits, number & ((1 << self.low_bits) - 1)];
            rounds(&mut halves);
            number = (halves[0] << self.low_bits) + halves[1];
            if number < pages {
                return number as u32;
            }
        }
    }
}
