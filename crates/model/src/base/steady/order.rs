//! Random order of numbers, computed place by place.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random order of the numbers below `pages`, computed place by place.
///
/// The number at place i is computed as follows. `bits` is the number of bits that `pages - 1`
/// needs, and at least 2. Place i is cut into a low half of `floor(bits / 2)` bits and a high half.
/// The high half is below `highs`, the number of high halves that the places have. Four half-rounds
/// change the halves in turn, the high half first. Each has one of the four keys. A half-round
/// computes `m = (other ^ (key >> 16)) * (key | 1) mod 2^32`, where `other` is the other half. It
/// adds `floor(m * highs / 2^32)` to the high half modulo `highs`, or combines the low half by
/// exclusive or with the highest bits of `m`. While the result is `pages` or more, the rounds are
/// applied to it again.
///
/// Few results are `pages` or more, because `highs` halves leave out less than one low half.
/// The multipliers are keys, because with a constant multiplier the order keeps differences.
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

    /// Returns the number at a place.
    #[inline]
    pub fn at_place(&self, place: u32) -> u32 {
        debug_assert!(place < self.pages);
        let [a, b, c, d] = self.keys;
        let halves = Halves::of(self.pages);
        let (mut high, mut low) = halves.cut(place);
        loop {
            high = halves.add(high, halves.of_high(low, a));
            low ^= halves.of_low(high, b);
            high = halves.add(high, halves.of_high(low, c));
            low ^= halves.of_low(high, d);
            let number = high << halves.low_bits | low;
            if number < self.pages {
                return number;
            }
        }
    }

    /// Returns the place of a number. Applies the rounds of [`Self::at_place`] backwards.
    #[inline]
    pub fn place_of(&self, number: u32) -> u32 {
        debug_assert!(number < self.pages);
        let [a, b, c, d] = self.keys;
        let halves = Halves::of(self.pages);
        let (mut high, mut low) = halves.cut(number);
        loop {
            low ^= halves.of_low(high, d);
            high = halves.subtract(high, halves.of_high(low, c));
            low ^= halves.of_low(high, b);
            high = halves.subtract(high, halves.of_high(low, a));
            let place = high << halves.low_bits | low;
            if place < self.pages {
                return place;
            }
        }
    }
}

/// Sizes of the halves of a place.
#[derive(Clone, Copy)]
struct Halves {
    low_bits: u32,
    highs: u32,
}

impl Halves {
    #[inline]
    fn of(pages: u32) -> Self {
        let last = pages.saturating_sub(1);
        let low_bits = (32 - last.leading_zeros()).max(2) / 2;
        Self { low_bits, highs: (last >> low_bits) + 1 }
    }

    /// Returns the high and the low half of a place.
    #[inline]
    fn cut(self, place: u32) -> (u32, u32) {
        (place >> self.low_bits, place & ((1 << self.low_bits) - 1))
    }

    /// Returns what a half-round adds to the high half.
    #[inline]
    fn of_high(self, low: u32, key: u32) -> u32 {
        ((u64::from(mix(low, key)) * u64::from(self.highs)) >> 32) as u32
    }

    /// Returns what a half-round combines with the low half.
    #[inline]
    fn of_low(self, high: u32, key: u32) -> u32 {
        mix(high, key) >> (32 - self.low_bits)
    }

    /// Adds modulo `highs`. The sum has no branch, because a branch here is hard to predict.
    #[inline]
    fn add(self, high: u32, more: u32) -> u32 {
        let sum = high + more;
        sum.min(sum.wrapping_sub(self.highs))
    }

    /// Subtracts modulo `highs`.
    #[inline]
    fn subtract(self, high: u32, less: u32) -> u32 {
        let rest = high.wrapping_sub(less);
        rest.min(rest.wrapping_add(self.highs))
    }
}

#[inline]
fn mix(half: u32, key: u32) -> u32 {
    (half ^ key >> 16).wrapping_mul(key | 1)
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    /// Numbers that the first places have, over many orders. Each number is equally often among
    /// them. Two numbers are as often among them together as two of a random set.
    #[test]
    fn the_first_places_have_a_random_set() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        for (pages, first) in [(64u32, 40u32), (192, 150), (1152, 1000)] {
            let orders = 4_000_000 / pages;
            let distances = [1, 2, 3, 5, 8, 16, 24, 32].map(|distance| distance as usize);
            let (mut each, mut both) = (vec![0u32; pages as usize], [0u64; 8]);
            for _ in 0..orders {
                let order = Order::draw(pages, &mut rng);
                let mut has = vec![false; pages as usize];
                (0..first).for_each(|place| has[order.at_place(place) as usize] = true);
                each.iter_mut().zip(&has).for_each(|(count, has)| *count += u32::from(*has));
                for (both, distance) in both.iter_mut().zip(distances) {
                    *both += has
                        .iter()
                        .zip(&has[distance..])
                        .map(|(a, b)| u64::from(*a && *b))
                        .sum::<u64>();
                }
            }
            // For random sets, the sum of squares over the variance is one for each number, and
            // its standard deviation is the root of 2 / `pages`.
            let share = f64::from(first) / f64::from(pages);
            let (mean, variance) =
                (share * f64::from(orders), share * (1.0 - share) * f64::from(orders));
            let squares: f64 = each.iter().map(|n| (f64::from(*n) - mean).powi(2)).sum();
            let ratio = squares / variance / f64::from(pages);
            assert!(
                (ratio - 1.0).abs() < 5.0 * (2.0 / f64::from(pages)).sqrt(),
                "{pages}: {ratio}"
            );
            for (both, distance) in both.iter().zip(distances) {
                let tried = f64::from(orders) * (f64::from(pages) - distance as f64);
                let expected = share * f64::from(first - 1) / f64::from(pages - 1);
                let excess = *both as f64 / tried / expected - 1.0;
                assert!(excess.abs() < 0.01, "{pages} pages, {distance} apart: {excess}");
            }
        }
    }
}
