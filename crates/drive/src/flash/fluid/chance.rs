//! Random numbers of reads: exact laws, from one stream of random numbers.

use rand_core::{Rng, SeedableRng};
use rand_distr::{Binomial, Distribution, Gamma, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers for reads.
pub(super) struct Chance(Xoshiro256PlusPlus);

/// Number of reads whose random bits cost about as much as one draw from the binomial law by
/// rejection. Each read takes two bits.
const READS_BY_BITS: u64 = 1024;
/// Number of reads at which two methods cost about the same. One draws all digits of each read. The
/// other draws one more digit for all reads.
const READS_BY_THEMSELVES: u64 = 8;

impl Chance {
    /// Creates the random numbers of a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // These numbers are far away from those of a workload with this seed.
        (0..11).for_each(|_| random.jump());
        Self(random)
    }

    /// Returns random numbers that are far away from these.
    pub(super) fn another(&self) -> Self {
        let mut random = self.0.clone();
        random.jump();
        Self(random)
    }

    /// Returns how many reads of a Poisson process come, if this number is expected.
    pub(super) fn reads(&mut self, expected: f64) -> u64 {
        // Small differences of large numbers may be negative.
        Poisson::new(expected).map_or(0, |law| law.sample(&mut self.0) as u64)
    }

    /// Returns a number from 0 to 1, without 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Returns how many reads must be expected until the `count`th read of a Poisson process comes:
    /// a gamma variate.
    pub(super) fn wait_for(&mut self, count: u32) -> f64 {
        Gamma::new(f64::from(count), 1.0).expect("a count is above 0").sample(&mut self.0)
    }

    /// Returns how many of `count` reads fall into a part. Each falls into it with this
    /// probability.
    pub(super) fn part_of(&mut self, count: u64, share: f64) -> u64 {
        if count == 0 || share <= 0.0 {
            return 0;
        }
        if share >= 1.0 {
            return count;
        }
        if count <= READS_BY_BITS {
            return self.part_by_bits(count, share);
        }
        Binomial::new(count, share).expect("a share").sample(&mut self.0)
    }

    /// Spreads `count` reads over places in proportion to their weights, independently: a
    /// multinomial draw. `weights` become running sums.
    pub(super) fn spread(&mut self, count: u64, weights: &mut [f64], out: &mut Vec<u32>) {
        out.clear();
        out.resize(weights.len(), 0);
        let mut sum = 0.0;
        for weight in weights.iter_mut() {
            sum += *weight;
            *weight = sum;
        }
        self.halve(count, (0.0, weights), out);
    }

    /// Shuffles places, so that all orders are equally likely.
    pub(super) fn shuffle(&mut self, places: &mut [u32]) {
        for left in (2..=places.len()).rev() {
            let at = (self.share() * left as f64) as usize;
            places.swap(at, left - 1);
        }
    }

    /// Splits the reads between the two halves of the places, and so on in each half. `before` and
    /// `up_to` are sums of weights.
    fn halve(&mut self, count: u64, (before, up_to): (f64, &[f64]), out: &mut [u32]) {
        if count == 0 {
            return;
        }
        if let [only] = out {
            *only = count as u32;
            return;
        }
        let (lower, upper) = up_to.split_at(up_to.len() / 2);
        let (between, end) = (lower[lower.len() - 1], upper[upper.len() - 1]);
        let below = self.part_of(count, (between - before) / (end - before));
        let (first, second) = out.split_at_mut(lower.len());
        self.halve(below, (before, lower), first);
        self.halve(count - below, (between, upper), second);
    }

    /// Returns how many reads fall into the part. Each read has a number between 0 and 1, and falls
    /// into the part if the number is below the share. The binary digits are drawn for all reads at
    /// once, the first digits first. At each digit, half of the reads differ from the share and are
    /// decided. The last few reads are drawn with all digits.
    fn part_by_bits(&mut self, count: u64, share: f64) -> u64 {
        // Binary digits of the share. The product is exact and below 2^64.
        let mut digits = (share * 2f64.powi(64)) as u64;
        let (mut open, mut part) = (count, 0);
        while open > READS_BY_THEMSELVES {
            let ones = self.ones_of(open);
            if digits >> 63 == 1 {
                part += open - ones;
                open = ones;
            } else {
                open -= ones;
            }
            digits <<= 1;
        }
        (0..open).fold(part, |part, _| part + u64::from(self.0.next_u64() < digits))
    }

    /// Returns the number of ones among `bits` random bits.
    fn ones_of(&mut self, bits: u64) -> u64 {
        let mut ones = 0;
        for _ in 0..bits / 64 {
            ones += self.0.next_u64().count_ones();
        }
        if !bits.is_multiple_of(64) {
            ones += (self.0.next_u64() >> (64 - bits % 64)).count_ones();
        }
        u64::from(ones)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads are spread with the means and variances of the multinomial law. No read goes to a
    /// place without weight.
    #[test]
    fn reads_are_spread_by_weight() {
        let weights = [1.0, 0.0, 3.0, 6.0, 0.0];
        for count in [10, 1000, 5000] {
            let mut chance = Chance::new(1);
            let (mut sums, mut squares, mut out) = ([0.0; 5], [0.0; 5], vec![]);
            let times = 4000;
            for _ in 0..times {
                chance.spread(count, &mut weights.to_vec(), &mut out);
                assert_eq!(out.iter().map(|n| u64::from(*n)).sum::<u64>(), count);
                for (i, n) in out.iter().enumerate() {
                    sums[i] += f64::from(*n);
                    squares[i] += f64::from(*n).powi(2);
                }
            }
            for (i, weight) in weights.iter().enumerate() {
                let (p, n) = (weight / 10.0, f64::from(times));
                let (mean, variance) = (sums[i] / n, squares[i] / n - (sums[i] / n).powi(2));
                let right = count as f64 * p * (1.0 - p);
                assert!(
                    (mean - count as f64 * p).abs() <= 4.0 * (right / n).sqrt(),
                    "{count} reads, place {i}: mean {mean}"
                );
                assert!(
                    (variance - right).abs() <= 0.12 * right,
                    "{count} reads, place {i}: variance {variance} for {right}"
                );
            }
        }
    }

    #[test]
    fn a_part_of_the_reads_is_binomial() {
        let mut chance = Chance::new(4);
        assert_eq!(
            [(9, 0.0), (9, -1.0), (0, 0.5), (9, 1.0), (9, 2.0)]
                .map(|(count, share)| chance.part_of(count, share)),
            [0, 0, 0, 9, 9]
        );
        for (count, share) in [(3, 0.3), (1000, 0.02), (100_000, 0.6)] {
            let n = 6000;
            let parts: Vec<f64> = (0..n).map(|_| chance.part_of(count, share) as f64).collect();
            let (mean, right) =
                (parts.iter().sum::<f64>() / f64::from(n), count as f64 * share * (1.0 - share));
            let variance =
                parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!(
                (mean - count as f64 * share).abs() <= 4.0 * (right / f64::from(n)).sqrt(),
                "{count} {share}: {mean}"
            );
            assert!(
                (variance / right - 1.0).abs() <= 0.12,
                "{count} {share}: variance {variance} for {right}"
            );
        }
    }

    /// Small numbers of reads follow the whole law, beyond its mean and variance.
    #[test]
    fn a_part_of_four_reads_is_as_likely_as_it_should_be() {
        let (mut chance, n) = (Chance::new(6), 20_000);
        for (share, law) in [
            (0.25, [81.0, 108.0, 54.0, 12.0, 1.0]),
            (0.75, [1.0, 12.0, 54.0, 108.0, 81.0]),
            (0.5, [16.0, 64.0, 96.0, 64.0, 16.0]),
        ] {
            let mut times = [0.0; 5];
            (0..n).for_each(|_| times[chance.part_of(4, share) as usize] += 1.0);
            for (times, of_256) in times.iter().zip(law) {
                let (right, of) = (of_256 / 256.0, f64::from(n));
                assert!(
                    (times / of - right).abs() <= 4.0 * (right * (1.0 - right) / of).sqrt(),
                    "{share}: {times} of {n} for {right}"
                );
            }
        }
    }

    /// A workload with this seed draws its addresses from other numbers.
    #[test]
    fn chance_is_not_that_of_a_workload_of_the_same_seed() {
        let (mut workload, mut own) = (Xoshiro256PlusPlus::seed_from_u64(5), Chance::new(5));
        let workload: Vec<u64> = (0..1000).map(|_| workload.next_u64()).collect();
        assert!((0..1000).all(|_| !workload.contains(&own.0.next_u64())));
    }

    #[test]
    fn each_order_is_as_likely() {
        let (mut chance, mut times) = (Chance::new(3), std::collections::BTreeMap::new());
        for _ in 0..6000 {
            let mut places = [1, 2, 3];
            chance.shuffle(&mut places);
            *times.entry(places).or_insert(0) += 1;
        }
        assert!(times.len() == 6 && times.values().all(|n| (870..1130).contains(n)), "{times:?}");
    }

    #[test]
    fn the_wait_for_many_reads_is_as_long_as_they_are_many() {
        let mut chance = Chance::new(2);
        for count in [1, 7, 20_000] {
            let n = 5000;
            let mean = (0..n).map(|_| chance.wait_for(count)).sum::<f64>() / f64::from(n);
            let error = (f64::from(count) / f64::from(n)).sqrt();
            assert!((mean - f64::from(count)).abs() <= 4.0 * error, "{count}: {mean}");
        }
    }
}
