//! Draws addresses for `zipf:0.99`. The run of rank k gets accesses in proportion to 1 / k^theta.
//! The seed scatters the ranks over the footprint.
//!
//! The draw is exact and needs no table of all ranks. Ranks are grouped into buckets of nearly
//! equal popularity. The first buckets are single ranks. Each later bucket has k / 32 ranks, where
//! k is the first rank of the bucket.
//!
//! The alias method draws a bucket. The weight of a bucket is the number of ranks in the bucket
//! times the popularity of the *first* rank. Then a rank of the bucket is drawn evenly. The rank is
//! accepted with probability p / q, where p is the popularity of the rank, and q is that of the
//! first rank. If the rank is rejected, the whole draw is repeated. As a result, the chance of rank
//! k is proportional to k^-theta.
//!
//! The acceptance probability is smallest for the *last* rank of a bucket. Most random numbers are
//! below this smallest probability, so most draws are accepted without calculating a power.

use vpass_drive::base::request::Op;

use super::addresses::{Addresses, SizeClass};
use super::alias::Alias;
use super::random::{Random, Rng};
use super::scatter::Scatter;

/// Number of buckets with a single rank. A single rank is never rejected. With a theta of 1 and
/// 10^6 runs, these buckets get four tenths of all accesses.
const SINGLE_RANKS: u64 = 256;
/// Number by which the first rank of a later bucket is divided to get the size of the bucket. With
/// this value, at most 3 % of the draws calculate a power, and 2^36 ranks make fewer than 1,024
/// buckets.
const GROWTH: u64 = 32;

/// Bucket of consecutive ranks with nearly equal popularity.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// First rank of the bucket. Ranks are counted from 1 here.
    first: u64,
    count: u32,
    /// Threshold for the upper 32 bits of the random number that decides whether a rank is
    /// accepted. At this threshold and below, every rank of the bucket is accepted.
    surely: u32,
}

/// Draws popularity ranks according to Zipf's law.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    theta: f64,
    alias: Alias,
    buckets: Vec<Bucket>,
}

impl Ranks {
    /// Prepares the draw of ranks 0 to `count - 1` with the exponent `theta`, which is above 0.
    pub(crate) fn new(count: u64, theta: f64) -> Self {
        assert!(count > 0);
        assert!(count <= 1 << 36);
        let (mut buckets, mut weights) = (Vec::new(), Vec::new());
        let mut first = 1;
        while first <= count {
            let size =
                if first <= SINGLE_RANKS { 1 } else { (first / GROWTH).min(count + 1 - first) };
            let last = first + size - 1;
            // The threshold is rounded down and reduced by one. As a result, every rank that passes
            // the threshold also passes the exact test.
            let surely = (last as f64 / first as f64).powf(-theta);
            let surely = if size == 1 { u32::MAX } else { (surely * 2f64.powi(32)) as u32 - 1 };
            buckets.push(Bucket {
                first,
                count: u32::try_from(size).expect("a 32nd of at most 2^36 ranks"),
                surely,
            });
            weights.push(size as f64 * (first as f64).powf(-theta));
            first = last + 1;
        }
        Self { theta, alias: Alias::new(&weights), buckets }
    }

    /// Returns the number of bytes that the buckets and the table that draws them occupy in memory.
    pub(crate) fn memory(&self) -> u64 {
        (self.buckets.len() * (size_of::<Bucket>() + size_of::<u64>())) as u64
    }

    /// Draws a rank. Rank 0 is the most popular rank.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `offset` below")]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let bucket = &self.buckets[self.alias.draw(random)];
            // A 64-bit random number is multiplied by the number of ranks. The upper half of the
            // 128-bit product gives the rank, and the lower half decides whether the rank is
            // accepted.
            let product = u128::from(random.next_u64()) * u128::from(bucket.count);
            let rank = bucket.first + (product >> 64) as u64;
            let chance = product as u64;
            if (chance >> 32) as u32 <= bucket.surely || self.accept(bucket, rank, chance) {
                return rank - 1;
            }
        }
    }

    #[cold]
    fn accept(&self, bucket: &Bucket, rank: u64, chance: u64) -> bool {
        (chance as f64) < (rank as f64 / bucket.first as f64).powf(-self.theta) * 2f64.powi(64)
    }
}

/// Generator of addresses that follow Zipf's law.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    ranks: Ranks,
    run_bytes: u64,
    scatter: Scatter,
}

impl Zipf {
    pub(super) fn new(runs: u64, run_bytes: u64, theta: f64, scatter: Scatter) -> Self {
        Self { ranks: Ranks::new(runs, theta), run_bytes, scatter }
    }
}

impl Addresses for Zipf {
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "keeps the random state in registers over the loop of `fill`"
    )]
    fn offset(&mut self, random: &mut Random, class: &SizeClass, _op: Op) -> u64 {
        let run = self.scatter.image(self.ranks.draw(random));
        class.within_run(random, run * self.run_bytes)
    }

    fn memory(&self) -> u64 {
        self.ranks.memory()
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    /// Returns the chi-square of `draws` drawn ranks against 1 / k^theta, and its degrees of
    /// freedom. Each cell has at least 50 expected draws.
    fn chi_square(count: u64, theta: f64, draws: u32) -> (f64, f64) {
        let ranks = Ranks::new(count, theta);
        let mut random = Random::seed_from_u64(7);
        let mut seen = vec![0u32; count as usize];
        (0..draws).for_each(|_| seen[ranks.draw(&mut random) as usize] += 1);
        let total: f64 = (1..=count).map(|k| (k as f64).powf(-theta)).sum();
        let (mut sum, mut cells, mut expected, mut observed) = (0.0, 0.0, 0.0, 0.0);
        for k in 1..=count {
            expected += (k as f64).powf(-theta) / total * f64::from(draws);
            observed += f64::from(seen[k as usize - 1]);
            if expected >= 50.0 {
                sum += (observed - expected).powi(2) / expected;
                cells += 1.0;
                (expected, observed) = (0.0, 0.0);
            }
        }
        (sum, cells - 1.0)
    }

    #[test]
    fn ranks_follow_the_law() {
        for (count, theta) in [
            (1, 1.0),
            (2, 0.5),
            (300, 0.99),
            (5000, 0.99),
            (5000, 0.2),
            (100_000, 1.2),
            (20_000, 3.0),
            (1000, 10.0),
        ] {
            let (sum, freedom) = chi_square(count, theta, 2_000_000);
            // The mean of chi-square is `freedom`, and the variance is twice as much. The limit is
            // four standard deviations above the mean, plus a small allowance for few cells.
            assert!(
                sum <= freedom + 4.0 * (2.0 * freedom).sqrt() + 10.0,
                "{count} ranks, theta {theta}: {sum} over {freedom}"
            );
        }
    }

    #[test]
    fn the_test_above_can_fail() {
        let ranks = Ranks::new(5000, 0.97);
        let mut random = Random::seed_from_u64(7);
        let firsts = (0..2_000_000).filter(|_| ranks.draw(&mut random) == 0).count() as f64;
        let total: f64 = (1..=5000).map(|k| f64::from(k).powf(-0.99)).sum();
        assert!(
            (firsts - 2e6 / total).abs() > 10.0 * (2e6 / total).sqrt(),
            "theta 0.97 must not pass for 0.99"
        );
    }

    #[test]
    fn the_head_is_right_on_a_large_drive() {
        // With 2^27 ranks, the share of the first rank must equal 1 / H(n, theta) to within 1 %.
        let count = 1u64 << 27;
        let ranks = Ranks::new(count, 0.99);
        // The Euler-Maclaurin formula gives the harmonic number. The sum of k^-0.99 over the first
        // 1,000 ranks is added to the integral over the other ranks, and to half of its end values.
        let f = |k: f64| k.powf(-0.99);
        let head: f64 = (1..=1000).map(|k| f(f64::from(k))).sum();
        let n = count as f64;
        let total = head + (n.powf(0.01) - 1000f64.powf(0.01)) / 0.01 + (f(n) - f(1000.0)) / 2.0;
        let mut random = Random::seed_from_u64(3);
        let draws = 4_000_000;
        let mut seen = [0u32; 3];
        for _ in 0..draws {
            if let Some(n) = seen.get_mut(ranks.draw(&mut random) as usize) {
                *n += 1;
            }
        }
        for (i, observed) in seen.iter().enumerate() {
            let expected = f(i as f64 + 1.0) / total * f64::from(draws);
            assert!(
                (f64::from(*observed) / expected - 1.0).abs() < 0.01,
                "rank {i}: {observed}, expected {expected}"
            );
        }
    }

    #[test]
    fn the_largest_drives_need_few_buckets() {
        assert!(Ranks::new(1 << 36, 0.99).buckets.len() <= 1024);
    }
}
