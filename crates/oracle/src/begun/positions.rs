//! Positions of numbers in a random order, by the oracle's own arithmetic, in both directions.

use vpass_drive::base::steady::Order;

/// Order of numbers, with the sizes of the halves of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    order: Order,
    /// Number of values of the low half, a power of two, and of the high half.
    lows: u64,
    highs: u64,
}

impl Positions {
    pub(super) fn new(order: Order) -> Self {
        let bits = order.pages.saturating_sub(1).checked_ilog2().map_or(0, |top| top + 1).max(2);
        let lows = 1 << (bits / 2);
        Self { order, lows, highs: u64::from(order.pages).div_ceil(lows).max(1) }
    }

    /// Returns how many numbers have a position.
    pub(super) fn count(&self) -> u32 {
        self.order.pages
    }

    /// Returns the number at a position.
    pub(super) fn number_at(&self, position: u32) -> u32 {
        self.walk(position, |halves| {
            for round in 0..4 {
                let shift = self.shift(round, halves);
                if round.is_multiple_of(2) {
                    halves[0] = (halves[0] + shift) % self.highs;
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
                    halves[0] = (halves[0] + self.highs - shift) % self.highs;
                } else {
                    halves[1] ^= shift;
                }
            }
        })
    }

    /// Returns by how much a half-round changes its half. Even half-rounds change the high half,
    /// `halves[0]`. The other half and the key give a fraction of 2^32, and the same fraction of
    /// the half's values is the change.
    fn shift(&self, round: usize, halves: &[u64; 2]) -> u64 {
        let (other, values) =
            if round.is_multiple_of(2) { (halves[1], self.highs) } else { (halves[0], self.lows) };
        let key = u64::from(self.order.keys[round]);
        let fraction = (other ^ (key >> 16)) * (key | 1) % (1 << 32);
        fraction * values / (1 << 32)
    }

    /// Applies the half-rounds until the result is in range.
    fn walk(&self, from: u32, rounds: impl Fn(&mut [u64; 2])) -> u32 {
        // A wrong position may lie outside the order. The remainder keeps the number in range
        // without further harm.
        let mut number = u64::from(from) % u64::from(self.order.pages.max(1));
        loop {
            let mut halves = [number / self.lows, number % self.lows];
            rounds(&mut halves);
            number = halves[0] * self.lows + halves[1];
            if number < u64::from(self.order.pages.max(1)) {
                return number as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_position_that_leads_back() {
        for pages in [1, 2, 3, 24, 1000, 4099] {
            let of = Positions::new(Order { pages, keys: [0x1234_5678, 9, 0xFFFF_0001, 77] });
            let mut numbers: Vec<u32> = (0..pages).map(|position| of.number_at(position)).collect();
            assert!((0..pages).all(|n| of.position_of(numbers[n as usize]) == n));
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..pages));
        }
    }
}
