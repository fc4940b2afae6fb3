//! Positions of numbers in a random order, by the oracle's own arithmetic, in both directions.

use vpass_drive::base::steady::Order;

/// Order of numbers, with the sizes of the halves of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    order: Order,
    /// Number of bits of a position in the order, and of its low half.
    bits: u32,
    low_bits: u32,
}

impl Positions {
    pub(super) fn new(order: &Order) -> Self {
        let bits = order.pages.saturating_sub(1).checked_ilog2().map_or(0, |top| top + 1).max(2);
        Self { order: *order, bits, low_bits: bits - bits / 2 }
    }

    /// Returns how many numbers have a position.
    pub(super) fn count(&self) -> u32 {
        self.order.pages
    }

    /// Returns the number at a position.
    pub(super) fn number_at(&self, position: u32) -> u32 {
        self.walk(position, [0, 1, 2, 3])
    }

    /// Returns the position of a number. A half-round undoes itself, so the half-rounds go
    /// backwards.
    pub(super) fn position_of(&self, number: u32) -> u32 {
        self.walk(number, [3, 2, 1, 0])
    }

    /// Applies the half-rounds in this order until the result is in range.
    fn walk(&self, from: u32, rounds: [usize; 4]) -> u32 {
        let (low, high) = ((1u64 << self.low_bits) - 1, (1u64 << (self.bits - self.low_bits)) - 1);
        let scrambled =
            |half: u64, key: u32| (((half ^ u64::from(key)) * 0x9E37_79B1) & 0xFFFF_FFFF) >> 15;
        // A wrong position may lie outside the order. The remainder keeps the number in range
        // without further harm.
        let mut number = u64::from(from) % u64::from(self.order.pages.max(1));
        loop {
            for round in rounds {
                let (upper, lower) = (number >> self.low_bits, number & low);
                let key = self.order.keys[round];
                number ^= if round % 2 == 0 {
                    scrambled(upper, key) & low
                } else {
                    (scrambled(lower, key) & high) << self.low_bits
                };
            }
            if number < u64::from(self.order.pages) {
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
            let of = Positions::new(&Order { pages, keys: [0x1234_5678, 9, 0xFFFF_0001, 77] });
            let mut numbers: Vec<u32> = (0..pages).map(|position| of.number_at(position)).collect();
            assert!((0..pages).all(|n| of.position_of(numbers[n as usize]) == n));
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..pages));
        }
    }
}
