//! A shuffle of 0 to n - 1 without a table: which address holds the most popular rank, the next, and so on.
//!
//! Rounds of xor-shift and odd multiplication modulo 2^k, each of which can be undone, permute 0 to 2^k - 1. An image at or above n is put
//! in again until one falls below it ("cycle walking"), which permutes 0 to n - 1; with 2^k < 2 n that takes fewer than two turns on average.

use super::random::{Random, Rng};

/// A permutation of 0 to n - 1.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    count: u64,
    mask: u64,
    shift: u32,
    add: u64,
    /// One odd factor a round.
    factors: [u64; 3],
}

impl Scatter {
    /// A permutation of `count` numbers (1 to 2^62), drawn from `random`.
    pub(crate) fn new(count: u64, random: &mut Random) -> Self {
        assert!(count > 0);
        assert!(count <= 1 << 62);
        let mask = count.next_power_of_two() - 1;
        let bits = mask.count_ones();
        Self {
            count,
            mask,
            // Half the width: the upper half, where products are best mixed, falls on the lower.
            shift: bits / 2 + 1,
            add: random.next_u64(),
            factors: [random.next_u64() | 1, random.next_u64() | 1, random.next_u64() | 1],
        }
    }

    /// The image of `n`, which is below `count`.
    #[inline]
    pub(crate) fn image(&self, n: u64) -> u64 {
        let mut n = n;
        loop {
            n = self.mixed(n);
            if n < self.count {
                return n;
            }
        }
    }

    #[inline]
    fn mixed(&self, n: u64) -> u64 {
        let mut n = n.wrapping_add(self.add) & self.mask;
        for factor in self.factors {
            n = n.wrapping_mul(factor) & self.mask;
            n ^= n >> self.shift;
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn every_number_has_one_image() {
        for seed in 0..20 {
            let mut random = Random::seed_from_u64(seed);
            for count in (1..70).chain([127, 128, 129, 1000, 4097, 65_535, 100_003]) {
                let scatter = Scatter::new(count, &mut random);
                let mut seen = vec![false; count as usize];
                for n in 0..count {
                    assert!(!std::mem::replace(&mut seen[scatter.image(n) as usize], true), "{count}: {n}");
                }
            }
        }
    }

    #[test]
    fn the_first_ranks_spread_over_the_whole_range() {
        // 1,600 ranks over 16 equal parts: 100 each; five standard deviations are 50. A stride or a cluster shows at once.
        for seed in 0..20 {
            let scatter = Scatter::new(100_000_000, &mut Random::seed_from_u64(seed));
            let mut parts = [0i32; 16];
            (0..1600).for_each(|n| parts[(scatter.image(n) * 16 / 100_000_000) as usize] += 1);
            assert!(parts.iter().all(|n| (n - 100).abs() < 50), "seed {seed}: {parts:?}");
        }
    }
}
