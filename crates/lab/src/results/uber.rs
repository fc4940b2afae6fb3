//! Uncorrectable bit error rate (UBER) of a run. UBER is the number of losses per data bit that the
//! host read. Both the expected losses and the counted losses are given.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Gamma};
use vpass_drive::drive::Drive;

use crate::mean_ci95::{MeanCi95, mean_ci95};

/// Number of data losses per data bit that the host read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Uber {
    /// Expected number of lost codewords per data bit read. Every read of a codeword adds the
    /// probability that even the last decoding level fails. The sum of these probabilities is
    /// divided by the number of data bits read. Null without reads.
    pub rate: Option<f64>,
    /// Number of data bits in the flash pages that the host read. If the host reads a part of a
    /// page, the whole page counts.
    pub bits_read: u64,
    /// `data_lost_pages` divided by `bits_read`; null without reads.
    pub counted: Option<f64>,
    /// Lower end of the 95 % confidence interval of `counted`. The number of losses is assumed to
    /// be Poisson-distributed.
    pub counted_low: Option<f64>,
    /// Upper end of the 95 % confidence interval of `counted`. The number of losses is assumed to
    /// be Poisson-distributed.
    pub counted_high: Option<f64>,
    /// UBER of all runs together, one run per seed. Absent if there is only one seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<OverSeeds>,
}

/// UBER over runs that differ only in their seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverSeeds {
    /// Number of seeds.
    pub seeds: u32,
    /// Mean of `rate` over all runs, and half the width of the 95 % confidence interval of this
    /// mean.
    pub rate: Option<MeanCi95>,
    /// Number of data bits that the host read in all runs together.
    pub bits_read: u64,
    /// Number of host data pages that were lost in all runs together.
    pub data_lost_pages: u64,
    /// Number of lost pages divided by `bits_read`; null without reads.
    pub counted: Option<f64>,
    /// Lower end of the 95 % confidence interval of `counted`. The number of losses is assumed to
    /// be Poisson-distributed.
    pub counted_low: Option<f64>,
    /// Upper end of the 95 % confidence interval of `counted`. The number of losses is assumed to
    /// be Poisson-distributed.
    pub counted_high: Option<f64>,
}

impl OverSeeds {
    /// Combines several runs. For each run, `runs` has the UBER and the number of lost pages.
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
    /// Returns the UBER of a run. Returns `None` without error rates, or if the size of a codeword
    /// is unknown.
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

/// Returns the exact 95 % confidence interval of the mean of a Poisson-distributed count (Garwood,
/// 1936). The interval is computed from quantiles of the gamma distribution.
fn poisson_95(counted: u64) -> (f64, f64) {
    let quantile = |shape: u64, share: f64| {
        Gamma::new(shape as f64, 1.0).map_or(0.0, |gamma| gamma.inverse_cdf(share))
    };
    (quantile(counted, 0.025), quantile(counted + 1, 0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Combines three runs that read a million bits each, with rates of 1e-6, 2e-6 and 3e-6. One
    /// run lost two pages. The half width 2.4843e-6 was computed by hand. The bounds 0.2422 and
    /// 7.225 are from Garwood's table.
    #[test]
    fn seeds_are_combined() {
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

    /// Compares intervals with Garwood's table for counts of 0, 1, 2, 10 and 50.
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
        // For large counts, the interval approaches that of a normal distribution.
        let (low, high) = poisson_95(1_000_000);
        assert!(
            (low - (1e6 - 1960.0)).abs() < 5.0 && (high - (1e6 + 1960.0)).abs() < 5.0,
            "{low} {high}"
        );
    }
}
