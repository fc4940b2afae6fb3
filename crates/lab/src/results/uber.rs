//! The uncorrectable bit error rate (UBER) of a run: what reads of the host were likely to lose,
//! and what was lost, by each bit that was read.

use serde::{Deserialize, Serialize};
use vpass_core::drive::Drive;

use crate::compare::mean_ci95::{MeanCi95, mean_ci95};

/// Data errors by each bit of data that the host read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Uber {
    /// The chance that the last level does not decode a codeword, summed over all codewords that
    /// were read, over their data bits; null where nothing was read.
    pub rate: Option<f64>,
    /// Data bits of the pages that were read from flash for the host, whole pages.
    pub bits_read: u64,
    /// `data_lost_pages` over those bits; null where nothing was read.
    pub counted: Option<f64>,
    /// The lower end of its 95 % confidence interval: losses come as a Poisson process.
    pub counted_low: Option<f64>,
    /// The upper end.
    pub counted_high: Option<f64>,
    /// What it is over several seeds; absent for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<OverSeeds>,
}

/// The same over runs that differ in their seed alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverSeeds {
    /// How many they are.
    pub seeds: u32,
    /// The mean of their rates, and half the width of its 95 % confidence interval.
    pub rate: Option<MeanCi95>,
    /// Data bits that all of them read.
    pub bits_read: u64,
    /// Pages of host data that all of them lost.
    pub data_lost_pages: u64,
    /// These over those bits; null where nothing was read.
    pub counted: Option<f64>,
    /// The ends of its 95 % confidence interval as a Poisson count.
    pub counted_low: Option<f64>,
    /// The upper one.
    pub counted_high: Option<f64>,
}

impl OverSeeds {
    /// Of the results of runs, each with the pages that it lost.
    pub fn of(runs: &[(Uber, u64)]) -> Self {
        let rates: Vec<f64> = runs.iter().filter_map(|(uber, _)| uber.rate).collect();
        let (bits_read, lost) = (
            runs.iter().map(|(uber, _)| uber.bits_read).sum(),
            runs.iter().map(|(_, lost)| lost).sum(),
        );
        let by_bit = |errors: f64| (bits_read > 0).then(|| errors / bits_read as f64);
        let (low, high) = poisson_95(lost);
        Self {
            seeds: runs.len() as u32,
            rate: mean_ci95(&rates),
            bits_read,
            data_lost_pages: lost,
            counted: by_bit(lost as f64),
            counted_low: by_bit(low),
            counted_high: by_bit(high),
        }
    }
}

impl Uber {
    /// None where data has no error rate, or nobody says how large a codeword is.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let lost = drive.lost_codewords()?;
        let bits_read = drive.host_page_reads() * 8 * u64::from(drive.geometry().page_bytes);
        let by_bit = |errors: f64| (bits_read > 0).then(|| errors / bits_read as f64);
        let (low, high) = poisson_95(drive.lost_pages());
        Some(Self {
            rate: by_bit(lost),
            bits_read,
            counted: by_bit(drive.lost_pages() as f64),
            counted_low: by_bit(low),
            counted_high: by_bit(high),
            over_seeds: None,
        })
    }
}

/// Half of what a 95 % interval leaves out.
const TAIL: f64 = 0.025;

/// The exact 95 % interval (Garwood, 1936) of the mean of a Poisson process that came to so many.
fn poisson_95(counted: u64) -> (f64, f64) {
    let n = counted as f64;
    let ln_factorial: f64 = (2..=counted).map(|k| (k as f64).ln()).sum();
    // No mean beyond these is 30 deviations off.
    let far = 30.0 * n.sqrt() + 30.0;
    let low = if counted == 0 {
        0.0
    } else {
        mean_where((0.0, n), |mean| at_least(n, mean, ln_factorial) < TAIL)
    };
    let high = mean_where((n, n + far), |mean| at_most(n, mean, ln_factorial) > TAIL);
    (low, high)
}

/// Where this is no longer so, between two means.
fn mean_where((mut low, mut high): (f64, f64), is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if is_below(middle) { &mut low } else { &mut high }) = middle;
    }
    low
}

fn probability(n: f64, mean: f64, ln_factorial: f64) -> f64 {
    if mean > 0.0 { (n * mean.ln() - mean - ln_factorial).exp() } else { f64::from(n <= 0.0) }
}

/// P(n or more) of a mean that is at most n.
fn at_least(n: f64, mean: f64, ln_factorial: f64) -> f64 {
    probability(n, mean, ln_factorial) * sum_of_ratios((1u32..).map(|k| mean / (n + f64::from(k))))
}

/// P(n or fewer) of a mean that is at least n.
fn at_most(n: f64, mean: f64, ln_factorial: f64) -> f64 {
    probability(n, mean, ln_factorial)
        * sum_of_ratios((0u32..).map(|k| (n - f64::from(k)).max(0.0) / mean))
}

/// 1 + r1 + r1 r2 + ..., each ratio smaller than the one before.
fn sum_of_ratios(ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for ratio in ratios {
        term *= ratio;
        sum += term;
        if term < sum * 1e-16 {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three runs of a million bits each, 1e-6, 2e-6 and 3e-6 by chance, of which one lost two
    /// pages: 2.4843e-6 is the half width by hand, 0.2422 and 7.225 are Garwood's.
    #[test]
    fn seeds_are_taken_together() {
        let of = |rate, counted| Uber {
            rate: Some(rate),
            bits_read: 1_000_000,
            counted: Some(counted),
            counted_low: None,
            counted_high: None,
            over_seeds: None,
        };
        let all = OverSeeds::of(&[(of(1e-6, 0.0), 0), (of(2e-6, 2e-6), 2), (of(3e-6, 0.0), 0)]);
        let near = |is: Option<f64>, by_hand: f64| {
            assert!((is.unwrap() / by_hand - 1.0).abs() < 1e-3, "{is:?}, {by_hand}")
        };
        near(all.rate.map(|rate| rate.mean), 2e-6);
        near(all.rate.and_then(|rate| rate.ci95), 2.4843e-6);
        near(all.counted, 2.0 / 3e6);
        near(all.counted_low, 0.2422 / 3e6);
        near(all.counted_high, 7.225 / 3e6);
        assert_eq!((all.seeds, all.bits_read, all.data_lost_pages), (3, 3_000_000, 2));
    }

    /// Garwood's table: 0, 1, 2, 10 and 50 counted.
    #[test]
    fn intervals_are_the_published_ones() {
        for (counted, low, high) in [
            (0, 0.0, 3.689),
            (1, 0.0253, 5.572),
            (2, 0.2422, 7.225),
            (10, 4.795, 18.390),
            (50, 37.11, 65.92),
        ] {
            let (is_low, is_high) = poisson_95(counted);
            assert!(
                (is_low - low).abs() < 1e-3 * low + 1e-4 && (is_high - high).abs() < 1e-3 * high,
                "{counted}: {is_low} {is_high}"
            );
        }
        // Of many counts it is that of a normal distribution.
        let (low, high) = poisson_95(1_000_000);
        assert!(
            (low - (1e6 - 1960.0)).abs() < 5.0 && (high - (1e6 + 1960.0)).abs() < 5.0,
            "{low} {high}"
        );
    }
}
