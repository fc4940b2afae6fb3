//! Numbers of reads, drawn: exact laws, from one stream of random numbers.

use rand_core::{Rng, SeedableRng};
use rand_distr::{Binomial, Distribution, Gamma};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The chance of the reads.
pub(super) struct Chance(Xoshiro256PlusPlus);

/// A draw from the binomial law costs about as much as placing so many reads one by one.
const READS_A_BINOMIAL: u64 = 3;

impl Chance {
    /// Of a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // Far away from what a workload of the same seed draws.
        (0..11).for_each(|_| random.jump());
        Self(random)
    }

    /// A number from 0 to 1, without 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    /// How much must be expected until the `count`th read comes, of a Poisson process: a gamma variate.
    pub(super) fn wait_for(&mut self, count: u32) -> f64 {
        Gamma::new(f64::from(count), 1.0).expect("a count is above 0").sample(&mut self.0)
    }

    /// How many of `count` fall into a part that each falls into with this probability.
    pub(super) fn part_of(&mut self, count: u64, share: f64) -> u64 {
        if count == 0 || share <= 0.0 {
            return 0;
        }
        if share >= 1.0 {
            return count;
        }
        Binomial::new(count, share).expect("a share").sample(&mut self.0)
    }

    /// Spreads `count` reads over places in proportion to their weights, each by itself: a multinomial draw. `weights` are summed up in place.
    pub(super) fn spread(&mut self, count: u64, weights: &mut [f64], out: &mut Vec<u32>) {
        out.clear();
        out.resize(weights.len(), 0);
        if count < READS_A_BINOMIAL * weights.len() as u64 {
            self.place_each(count, weights, out);
        } else {
            self.split(count, weights, out);
        }
    }

    /// Place by place: of the reads that are left, those that fall here.
    fn split(&mut self, count: u64, weights: &[f64], out: &mut [u32]) {
        let mut beyond: f64 = weights.iter().sum();
        let mut left = count;
        let last = weights.iter().rposition(|weight| *weight > 0.0);
        for (i, (weight, out)) in weights.iter().zip(out).enumerate() {
            if left == 0 {
                return;
            }
            let here = if Some(i) == last { left } else { self.part_of(left, weight / beyond) };
            *out = here as u32;
            left -= here;
            beyond -= weight;
        }
    }

    /// Read by read.
    fn place_each(&mut self, count: u64, weights: &mut [f64], out: &mut [u32]) {
        let mut sum = 0.0;
        for weight in weights.iter_mut() {
            sum += *weight;
            *weight = sum;
        }
        for _ in 0..count {
            let at = self.share() * sum;
            let place = weights.partition_point(|up_to| *up_to <= at);
            out[place.min(weights.len() - 1)] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways of spreading have the means and variances of the multinomial law, and place nothing where no weight is.
    #[test]
    fn reads_are_spread_by_weight() {
        let weights = [1.0, 0.0, 3.0, 6.0, 0.0];
        for count in [10, 1000] {
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
                assert!((mean - count as f64 * p).abs() <= 4.0 * (right / n).sqrt(), "{count} reads, place {i}: mean {mean}");
                assert!((variance - right).abs() <= 0.12 * right, "{count} reads, place {i}: variance {variance} for {right}");
            }
        }
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
