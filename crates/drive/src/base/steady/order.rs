//! Random order of numbers, computed place by place.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::bugs::{Bug, planted};

/// Random order of the numbers below `pages`, computed place by place.
///
/// The number at place i is computed as follows. Place i is cut into a low half of `ceil(bits / 2)`
/// bits and a high half. `bits` is the number of bits that `pages - 1` needs, and at least 2. Four
/// half-rounds change the halves in turn, the low half first. A half-round combines its half by
/// exclusive or with the low bits of `((other ^ key) * 0x9E3779B1 mod 2^32) >> 15`. Each half-round
/// has one of the four keys. While the result is `pages` or more, the rounds are applied to it
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Number of numbers in the order.
    pub pages: u32,
    /// Keys of the four half-rounds.
    pub keys: [u32; 4],
}

impl Order {
    /// Draws a random order.
    pub(super) fn draw(pages: u32, rng: &mut Xoshiro256PlusPlus) -> Self {
        Self { pages, keys: std::array::from_fn(|_| rng.next_u64() as u32) }
    }

    #[inline]
    fn low_bits(&self) -> u32 {
        self.bits().div_ceil(2)
    }

    #[inline]
    fn bits(&self) -> u32 {
        (32 - self.pages.saturating_sub(1).leading_zeros()).max(2)
    }

    /// Returns the masks of the low and of the high half.
    #[inline]
    fn masks(&self) -> (u32, u32) {
        let low_bits = self.low_bits();
        ((1 << low_bits) - 1, (1 << (self.bits() - low_bits)) - 1)
    }

    /// Returns the number at a place.
    #[inline]
    pub(super) fn at_place(&self, place: u32) -> u32 {
        debug_assert!(place < self.pages);
        let (shift, (low_mask, high_mask)) = (self.low_bits(), self.masks());
        let (mut high, mut low) = (place >> shift, place & low_mask);
        loop {
            low ^= mix(high, self.keys[0]) & low_mask;
            high ^= mix(low, self.keys[1]) & high_mask;
            low ^= mix(high, self.keys[2]) & low_mask;
            high ^= mix(low, self.keys[3]) & high_mask;
            let number = high << shift | low;
            if number < self.pages {
                return number;
            }
        }
    }

    /// Returns the place of a number. Applies the rounds of [`Self::at_place`] backwards.
    #[inline]
    pub(super) fn place_of(&self, number: u32) -> u32 {
        debug_assert!(number < self.pages);
        let (shift, (low_mask, high_mask)) = (self.low_bits(), self.masks());
        let (mut high, mut low) = (number >> shift, number & low_mask);
        loop {
            let last =
                if planted(Bug::SteadyPlaceWrong) && number.is_multiple_of(1009) { 2 } else { 3 };
            high ^= mix(low, self.keys[last]) & high_mask;
            low ^= mix(high, self.keys[2]) & low_mask;
            high ^= mix(low, self.keys[1]) & high_mask;
            low ^= mix(high, self.keys[0]) & low_mask;
            let place = high << shift | low;
            if place < self.pages {
                return place;
            }
        }
    }
}

#[inline]
fn mix(half: u32, key: u32) -> u32 {
    (half ^ key).wrapping_mul(0x9E37_79B1) >> 15
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn an_order_holds_every_number_once_and_leads_back() {
        for pages in [1u32, 2, 3, 100, 1000, 4097] {
            let order = Order::draw(pages, &mut Xoshiro256PlusPlus::seed_from_u64(7));
            let mut seen: Vec<u32> = (0..pages).map(|place| order.at_place(place)).collect();
            assert!((0..pages).all(|place| order.place_of(seen[place as usize]) == place));
            seen.sort_unstable();
            assert_eq!(seen, (0..pages).collect::<Vec<_>>());
        }
    }
}
