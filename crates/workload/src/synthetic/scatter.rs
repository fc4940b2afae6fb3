//! Shuffles the numbers 0 to n - 1 without a table. Generators use the shuffle to give each
//! popularity rank an address.
//!
//! A shuffle has several rounds of xor-shift and odd multiplication modulo 2^k. Each step can be
//! undone, so a shuffle is a permutation of 0 to 2^k - 1. A result of n or more is shuffled again
//! until the result is below n ("cycle walking"). This gives a permutation of 0 to n - 1. Because
//! 2^k < 2 n, a number needs fewer than two shuffles on average.

use super::random::{Random, Rng};

/// Permutation of the numbers 0 to n - 1.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    count: u64,
    mask: u64,
    shift: u32,
    add: u64,
    /// Odd factors, one for each round.
    factors: [u64; 3],
}

impl Scatter {
    /// Makes a random permutation of `count` numbers. `count` is from 1 to 2^62.
    pub(crate) fn new(count: u64, random: &mut Random) -> Self {
        assert!(count > 0);
        assert!(count <= 1 << 62);
        let mask = count.next_power_of_two() - 1;
        let bits = mask.count_ones();
        Self {
            count,
            mask,
            // Multiplication mixes the upper bits of a number best. A shift by about half of the
            // width moves these bits to the lower half.
            shift: bits / 2 + 1,
            add: random.next_u64(),
            factors: [random.next_u64() | 1, random.next_u64() | 1, random.next_u64() | 1],
        }
    }

    /// Returns the number to which the permutation maps `n`. `n` must be below the count of the
    /// permutation.
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

/// Inverse of a permutation made by [`Scatter`].
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    scatter: Scatter,
    /// Inverses of the factors modulo 2^64. Modulo smaller powers of two, these numbers are
    /// inverses too.
    inverses: [u64; 3],
}

impl Gather {
    /// Makes the inverse of the permutation `scatter`.
    pub(crate) fn new(scatter: Scatter) -> Self {
        let inverses = scatter.factors.map(inverse);
        Self { scatter, inverses }
    }

    /// Returns the number that the permutation maps to `n`. `n` must be below the count of the
    /// permutation.
    pub(crate) fn preimage(&self, n: u64) -> u64 {
        let mut n = n;
        loop {
            n = self.unmixed(n);
            if n < self.scatter.count {
                return n;
            }
        }
    }

    fn unmixed(&self, n: u64) -> u64 {
        let Scatter { mask, shift, add, .. } = self.scatter;
        let mut n = n;
        for inverse in self.inverses.iter().rev() {
            // The shift is more than half of the width, so a second shift undoes the first.
            n ^= n >> shift;
            n = n.wrapping_mul(*inverse) & mask;
        }
        n.wrapping_sub(add) & mask
    }
}

/// Returns the inverse of an odd number modulo 2^64, by Newton's iteration. The lowest 3 bits of
/// the start value are correct. Each step doubles the number of correct bits.
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
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
                    assert!(
                        !std::mem::replace(&mut seen[scatter.image(n) as usize], true),
                        "{count}: {n}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_image_leads_back() {
        for seed in 0..20 {
            let mut random = Random::seed_from_u64(seed);
            for count in (1..70).chain([127, 128, 129, 1000, 4097, 65_535, 100_003, (1 << 40) + 5])
            {
                let scatter = Scatter::new(count, &mut random);
                let gather = Gather::new(scatter.clone());
                assert!(
                    (0..count.min(1000)).all(|n| gather.preimage(scatter.image(n)) == n),
                    "{count}"
                );
            }
        }
    }

    #[test]
    fn the_first_ranks_spread_over_the_whole_range() {
        // Each of 16 equal parts should get about 100 of 1,600 ranks. The tolerance is 50, which is
        // five standard deviations. A regular stride or a cluster would exceed it.
        for seed in 0..20 {
            let scatter = Scatter::new(100_000_000, &mut Random::seed_from_u64(seed));
            let mut parts = [0i32; 16];
            (0..1600).for_each(|n| parts[(scatter.image(n) * 16 / 100_000_000) as usize] += 1);
            assert!(parts.iter().all(|n| (n - 100).abs() < 50), "seed {seed}: {parts:?}");
        }
    }
}
