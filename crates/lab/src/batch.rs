//! Confidence intervals of one run, by batch means. A run is cut into ten batches with equal
//! numbers of requests. The spread of the batches gives a 95 % interval (Student's t).
//!
//! Batch means are the usual method for one long run. Batches are nearly independent if each batch
//! is much longer than the time for which a request affects the drive. Schmeiser recommends 10 to
//! 30 batches (Operations Research 30(3), 1982). vpass uses ten, because long batches give more
//! precise tail latencies.
//!
//! Sums, such as the number of erases, may drift during a run. Ratios, such as write amplification,
//! may drift too. For example, the first reclaim jobs start late in a run. Every seed has the same
//! drift, so the drift is not noise. The interval therefore uses the differences of neighbouring
//! batches: the mean square successive difference (von Neumann, Annals of Mathematical Statistics
//! 12, 1941). For n = 10 batches, the formula 2 (n - 1)^2 / (3n - 4) gives 6 degrees of freedom.
//!
//! For a percentile, the values of the ten batches are compared with the value of the whole run
//! (sectioning: Asmussen and Glynn, Stochastic Simulation, 2007, III.5a). If any batch has fewer
//! than ten reads above its own percentile, the percentile is biased and gets no interval.
//!
//! A sample records the drive's counts at one point in the run. If a run has fewer than two samples
//! for each batch, its numbers have no intervals. Some noise changes so slowly that one
//! run cannot show it. Runs with several seeds show such noise.
//!
//! ```text
//! four batches of 10, 12, 11 and 13 erases have successive differences of 2, -1 and 2
//! the mean square of the differences is 3, so the variance of a batch is 3 / 2 = 1.5
//! the sum is 46 erases, and its interval is 46 +- t sqrt(4 * 1.5)
//! ```

use crate::mean_ci95::{student_t, student_t_at};

/// Number of batches of a run.
pub const BATCHES: usize = 10;
/// Smallest number of reads that each batch must have above a percentile. With fewer reads, the
/// percentile has no interval.
const BEYOND: f64 = 10.0;

/// Returns half the width of the 95 % interval of a sum. Each batch contributes one number to the
/// sum.
pub fn of_sum(batches: &[f64]) -> f64 {
    half_of_sum(0.95, batches)
}

/// Returns half the width of the 99 % interval of a sum of differences between two runs. Each batch
/// contributes one difference. Neighbouring batches may be correlated, so a second interval is
/// computed from batches of twice the length, and the wider interval counts.
pub fn of_differences(batches: &[f64]) -> f64 {
    let doubled: Vec<f64> = batches.chunks_exact(2).map(|two| two[0] + two[1]).collect();
    half_of_sum(0.99, batches).max(half_of_sum(0.99, &doubled))
}

fn half_of_sum(confidence: f64, batches: &[f64]) -> f64 {
    let n = batches.len() as f64;
    if batches.len() < 2 {
        return 0.0;
    }
    let squares: f64 = batches.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let df = 2.0 * (n - 1.0).powi(2) / (3.0 * n - 4.0);
    student_t_at(confidence, df as usize) * (n * squares / (2.0 * (n - 1.0))).sqrt()
}

/// Returns half the width of the 95 % interval of a ratio. The ratio is the sum of `over` divided
/// by the sum of `under`. Returns `None` if the sum of `under` is 0.
pub fn of_ratio(over: &[f64], under: &[f64]) -> Option<f64> {
    let (sum, all) = (over.iter().sum::<f64>(), under.iter().sum::<f64>());
    let residuals: Vec<f64> =
        over.iter().zip(under).map(|(over, under)| over - sum / all * under).collect();
    (all > 0.0).then(|| of_sum(&residuals) / all)
}

/// Returns half the width of the 95 % interval of a percentile. `whole` is the percentile of the
/// whole run, and `batches` has the percentile of each batch.
pub fn of_percentile(whole: f64, batches: &[f64]) -> f64 {
    let n = batches.len() as f64;
    let squares: f64 = batches.iter().map(|batch| (batch - whole).powi(2)).sum();
    student_t(batches.len() - 1) * (squares / (n * (n - 1.0))).sqrt()
}

/// Returns the number of reads that each batch needs before a percentile gets an interval.
/// `percentile` is between 0 and 1, such as 0.99.
pub fn reads_needed(percentile: f64) -> u64 {
    (BEYOND / (1.0 - percentile)).round() as u64
}

/// Returns, for each batch, the index of its last sample. Returns `None` if there are too few
/// samples: at least [`BATCHES`] more samples than batches are needed. For each sample, `looks` has
/// the number of requests that were served before the sample. The last sample of `looks` is at the
/// end of the run.
pub fn ends<const N: usize>(looks: &[u64]) -> Option<[usize; N]> {
    let all = *looks.last()?;
    if looks.len() < N + BATCHES {
        return None;
    }
    Some(std::array::from_fn(|batch| {
        let end = all as f64 * (batch + 1) as f64 / N as f64;
        let after = looks.partition_point(|look| (*look as f64) < end).min(looks.len() - 1);
        let before = after.saturating_sub(1);
        if end - (looks[before] as f64) < looks[after] as f64 - end { before } else { after }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Generator `SplitMix64` (Steele et al., OOPSLA 2014), which is good enough for these tests.
    struct Draws(u64);

    impl Draws {
        /// Returns a random number, uniform above 0 and below 1.
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + 1e-17
        }

        fn exponential(&mut self) -> f64 {
            -self.uniform().ln()
        }
    }

    /// Returns the share of runs whose interval contains the true value.
    fn coverage(runs: u64, of: impl Fn(&mut Draws) -> (f64, f64, f64)) -> f64 {
        let held = (0..runs).filter(|seed| {
            let (truth, estimate, half) = of(&mut Draws(seed * 7919));
            (truth - estimate).abs() <= half
        });
        held.count() as f64 / runs as f64
    }

    fn quantile(values: &mut [f64], q: f64) -> f64 {
        let at = ((values.len() as f64 * q).ceil() as usize - 1).min(values.len() - 1);
        *values.select_nth_unstable_by(at, f64::total_cmp).1
    }

    /// Returns a percentile of `values`, and half the width of its interval.
    fn percentile(values: &[f64], q: f64) -> (f64, f64) {
        let parts = values
            .chunks(values.len() / BATCHES)
            .map(|part| quantile(&mut part.to_vec(), q))
            .collect::<Vec<_>>();
        let whole = quantile(&mut values.to_vec(), q);
        (whole, of_percentile(whole, &parts))
    }

    #[test]
    fn worked_examples() {
        // The sums of the ten batches are 1, 2, ... 10, so all successive differences are 1. With 6
        // degrees of freedom, Student's t is 2.4469.
        let rising: Vec<f64> = (1..=10).map(f64::from).collect();
        assert!((of_sum(&rising) - 2.4469 * (10.0f64 * 9.0 / 18.0).sqrt()).abs() < 1e-3);
        assert!(of_sum(&[5.0; 10]).abs() < 1e-9 && of_ratio(&[1.0], &[0.0]).is_none());
        // In each batch, the first sum is twice the second sum, so the ratio has no noise.
        let doubled: Vec<f64> = rising.iter().map(|n| 2.0 * n).collect();
        assert!(of_ratio(&doubled, &rising).unwrap() < 1e-9);
        // With 12 degrees of freedom, Student's t at 99 % is 3.0545. Pairs of these 20 batches have
        // no noise. If the batches rise, pairs of batches have four times the variance, and 6
        // degrees of freedom with a t of 3.7074.
        let odd: Vec<f64> = (0..20).map(|n| f64::from(n % 2)).collect();
        assert!((of_differences(&odd) - 3.0545 * 10f64.sqrt()).abs() < 1e-3);
        let rising: Vec<f64> = (1..=20).map(f64::from).collect();
        assert!((of_differences(&rising) - 3.7074 * (10.0 * 16.0 / 2.0f64).sqrt()).abs() < 1e-3);
        // Half of the batches are 10 % below the mean, and half are 10 % above it. With 9 degrees
        // of freedom, Student's t is 2.2622.
        let spread: Vec<f64> = (0..10).map(|n| if n % 2 == 0 { 0.9 } else { 1.1 }).collect();
        assert!(
            (of_percentile(1.0, &spread) - 2.2622 * (10.0f64 * 0.01 / 90.0).sqrt()).abs() < 1e-5
        );
        assert_eq!(
            (reads_needed(0.999), reads_needed(0.99), reads_needed(0.5)),
            (10_000, 1000, 20)
        );
    }

    #[test]
    fn batches_end_at_the_nearest_sample() {
        let even: Vec<u64> = (1..=20).map(|n| 5 * n).collect();
        assert_eq!(ends(&even), Some(std::array::from_fn::<_, 10, _>(|batch| 2 * batch + 1)));
        assert_eq!(ends::<10>(&even[..19]), None);
        let uneven: Vec<u64> = (1..=24).map(|n| 4 * n).chain([100]).collect();
        assert_eq!(
            ends::<10>(&uneven).unwrap()[..2],
            [2, 4],
            "10 is as near to 8 as to 12: the later one; 20 is there"
        );
        assert_eq!(ends::<10>(&uneven).unwrap()[9], 24);
    }

    #[test]
    fn intervals_of_sums_have_the_stated_confidence() {
        // The test counts jobs of a Poisson process with a mean of 3 jobs per batch. The test then
        // repeats the count with a job rate that doubles during the run. All seeds have the same
        // drift.
        let jobs = |draws: &mut Draws, mean: f64| {
            let (mut n, mut at) = (0.0, draws.exponential());
            while at < mean {
                (n, at) = (n + 1.0, at + draws.exponential());
            }
            n
        };
        for drift in [0.0, 0.4, 2.0] {
            let mean = |batch: usize| 3.0 + drift * batch as f64;
            let truth: f64 = (0..BATCHES).map(mean).sum();
            let share = coverage(2000, |draws| {
                let batches: Vec<f64> =
                    (0..BATCHES).map(|batch| jobs(draws, mean(batch))).collect();
                (truth, batches.iter().sum(), of_sum(&batches))
            });
            assert!((0.92..=0.995).contains(&share), "drift {drift}: {share}");
        }
    }

    #[test]
    fn intervals_of_percentiles_have_the_stated_confidence() {
        let n = 10_000;
        for (q, reads) in [(0.5, n), (0.99, n), (0.999, 10 * n)] {
            let truth = -(1.0f64 - q).ln();
            let share = coverage(300, |draws| {
                let values: Vec<f64> = (0..reads).map(|_| draws.exponential()).collect();
                let (whole, half) = percentile(&values, q);
                (truth, whole, half)
            });
            assert!(share >= 0.92, "{q}: {share}");
        }
    }

    /// Simulates reads that wait for one server: an M/M/1 queue at a load of 0.7. The waits are
    /// correlated over tens of requests, and the slowest reads come in bursts.
    #[test]
    fn intervals_hold_for_correlated_waits() {
        let (load, q) = (0.7f64, 0.99f64);
        // The time that a request spends in an M/M/1 queue is exponential, with rate 1 - load.
        let truth = -(1.0 - q).ln() / (1.0 - load);
        let share = coverage(300, |draws| {
            let mut wait = 0.0f64;
            let values: Vec<f64> = (0..40_000)
                .map(|_| {
                    let time = wait + draws.exponential();
                    wait = (time - draws.exponential() / load).max(0.0);
                    time
                })
                .collect();
            let (whole, half) = percentile(&values, q);
            (truth, whole, half)
        });
        assert!(share >= 0.9, "{share}");
    }

    /// A percentile needs enough reads above it. With only one read above the percentile in each
    /// batch, the interval misses the true value far too often.
    #[test]
    fn too_few_reads_beyond_a_percentile_give_no_interval() {
        let share = coverage(300, |draws| {
            let values: Vec<f64> = (0..1000).map(|_| draws.exponential()).collect();
            let (whole, half) = percentile(&values, 0.9999);
            (-(1e-4f64).ln(), whole, half)
        });
        assert!(share < 0.9, "{share}");
    }
}
