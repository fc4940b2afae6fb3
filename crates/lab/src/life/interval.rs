//! Interval of the years on a rung. The half width is the effect of acceleration or the effect of
//! chance, whichever is larger.
//!
//! The effect of chance is computed by batch means (`batches`). If batches do not explain the
//! differences between lives, Student's interval over the lives is used instead.
//!
//! ```text
//! two lives last 3.9 and 4.1 years at K = 30, and 3.6 and 3.8 years at K = 100
//! the effect of acceleration is 4.0 - 3.7 = 0.3 years
//! the effect of chance is 12.7 x 0.141 / 1.41 = 1.27 years
//! the larger effect counts, so the interval is 4.0 years, from 2.7 to 5.3
//! if ten batches of each life give an effect of chance of 0.2 years, the effect of acceleration
//! is larger, so the interval is 4.0 years, from 3.7 to 4.3
//! ```

use serde::Serialize;

use super::{End, Lived, batches};
use crate::mean_ci95::mean_ci95;

/// Smallest effect of acceleration in an interval, as a share of the years. A comparison of rungs
/// alone can show too small an effect. On the preset `tiny`, lives at K = 30 and K = 100 differed
/// by less than 3 %. Yet the lives at K = 30 were up to 4.3 % too long. With wear levelling, errors
/// may be larger (`docs/estimate.md`).
const LEAST_BIAS: f64 = 0.05;

/// Interval of the length of life under a technique.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end, in years.
    pub low: f64,
    /// Upper end, in years.
    pub high: f64,
    /// Effect of acceleration, in years: the difference between the lives and the same lives at a
    /// larger acceleration. For accelerated lives, the effect is at least 5 % of the years. Null if
    /// no lives at a larger acceleration were simulated.
    pub by_acceleration: Option<f64>,
    /// Half the width of the 95 % confidence interval over the lives, in years. Null for a single
    /// life. The interval uses this number only if `by_batches` is null.
    pub by_lives: Option<f64>,
    /// Half the width of the 95 % confidence interval by batch means, in years. Null without
    /// batches, or if the batches do not explain the differences between lives.
    pub by_batches: Option<f64>,
    /// Whether too few pages were sampled for a confidence interval. If so, `low` and `high` are
    /// only the ends of a range.
    pub is_range: bool,
}

/// Life on a rung and, if simulated, the same life at a larger acceleration.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Life at the smaller acceleration.
    pub fine: &'a Lived,
    /// Life at the larger acceleration.
    pub coarse: Option<&'a Lived>,
    /// Factor that converts the years of this life to years of the drive. The factor corrects the
    /// years if the sample serves too many or too few reads.
    pub factor: f64,
}

impl Pair<'_> {
    /// Returns the years of the life, multiplied by the factor.
    pub fn years(&self) -> f64 {
        self.factor * self.fine.years
    }

    fn batches(&self) -> Vec<f64> {
        self.fine.batches.iter().map(|years| self.factor * years).collect()
    }

    /// Returns how many years shorter the life is at the larger acceleration. Returns 0 if the life
    /// ended before acceleration began.
    fn difference(&self) -> Option<f64> {
        if self.fine.accelerated_from.is_none() && self.fine.acceleration.get() > 1 {
            return Some(0.0);
        }
        self.coarse.map(|coarse| self.factor * (self.fine.years - coarse.years))
    }
}

impl Interval {
    /// Returns the interval of the years of these lives. Returns `None` if there are no lives at a
    /// larger acceleration for comparison, or if any drive outlives the simulation.
    ///
    /// The error of the years grows with K at least as fast as the square root of K. The lives for
    /// comparison have at least three times the K of this rung. Their difference from this rung is
    /// therefore at least the error of this rung.
    pub fn of(pairs: &[Pair]) -> Option<Self> {
        if pairs.iter().any(|pair| pair.fine.end == End::LivesOn) {
            return None;
        }
        let years: Vec<f64> = pairs.iter().map(Pair::years).collect();
        let mean = mean_ci95(&years)?;
        let differences: Vec<f64> = pairs.iter().filter_map(Pair::difference).collect();
        let is_exact = pairs.iter().all(|pair| pair.fine.acceleration.get() == 1);
        let is_accelerated =
            !is_exact && pairs.iter().any(|pair| pair.fine.accelerated_from.is_some());
        let least = if is_accelerated { LEAST_BIAS * mean.mean } else { 0.0 };
        let by_acceleration = if is_exact {
            Some(0.0)
        } else {
            mean_ci95(&differences).map(|difference| difference.mean.abs().max(least))
        };
        let by_batches = batches::half(&pairs.iter().map(Pair::batches).collect::<Vec<_>>());
        let interval = Self {
            low: mean.mean,
            high: mean.mean,
            by_acceleration: Some(by_acceleration?),
            by_lives: mean.ci95,
            by_batches,
            is_range: false,
        };
        let half = interval.half();
        Some(Self { low: (mean.mean - half).max(0.0), high: mean.mean + half, ..interval })
    }

    /// Returns half the width of the interval, in years.
    pub fn half(&self) -> f64 {
        let by_chance = self.by_batches.or(self.by_lives).unwrap_or(0.0);
        self.by_acceleration.unwrap_or(0.0).max(by_chance)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::life::tests::lived;

    fn at(k: u32, years: f64) -> Lived {
        Lived {
            acceleration: NonZeroU32::new(k).unwrap(),
            accelerated_from: Some(9.0),
            ..lived(years)
        }
    }

    #[test]
    fn worked_example() {
        let (fine, coarse) = ([at(30, 3.9), at(30, 4.1)], [at(100, 3.6), at(100, 3.8)]);
        let pairs: Vec<_> = fine
            .iter()
            .zip(&coarse)
            .map(|(fine, coarse)| Pair { fine, coarse: Some(coarse), factor: 1.0 })
            .collect();
        let interval = Interval::of(&pairs).unwrap();
        assert!((interval.by_acceleration.unwrap() - 0.3).abs() < 1e-9);
        // For two lives, half of their difference equals the standard deviation divided by the
        // square root of two.
        assert!((interval.by_lives.unwrap() - 12.7062 * 0.1).abs() < 1e-5);
        assert!((interval.low - 2.7294).abs() < 1e-4 && (interval.high - 5.2706).abs() < 1e-4);
        assert!((Interval::of(&pairs[..1]).unwrap().half() - 0.3).abs() < 1e-9, "a single life");
        // Each life has ten nearly equal batches. The effect of chance is therefore small, and the
        // effect of acceleration determines the interval.
        let of = |years: f64, sign: f64| Lived {
            batches: (0..10)
                .map(|n| years / 10.0 + sign * if n < 5 { 0.03 } else { -0.02 })
                .collect(),
            ..at(30, years)
        };
        let fine = [of(3.9, 1.0), of(4.1, -1.0)];
        let pairs = fine.iter().zip(&coarse);
        let pairs: Vec<_> =
            pairs.map(|(fine, coarse)| Pair { fine, coarse: Some(coarse), factor: 1.0 }).collect();
        let by_batches = Interval::of(&pairs).unwrap();
        assert!(by_batches.by_batches.unwrap() < 0.5, "{by_batches:?}");
        assert!((by_batches.by_lives.unwrap() - 12.7062 * 0.1).abs() < 1e-5);
        assert!(by_batches.half() < 0.5 && by_batches.half() >= 0.3 - 1e-9);
    }

    #[test]
    fn years_of_samples_are_corrected_for_their_reads() {
        // The first sample has 10 % more reads than its share. The second sample has 10 % fewer.
        let (fine, coarse) =
            ([at(30, 4.0 / 1.1), at(30, 4.0 / 0.9)], [at(100, 4.0 / 1.1), at(100, 4.0 / 0.9)]);
        let pairs: Vec<_> = fine
            .iter()
            .zip(&coarse)
            .zip([1.1, 0.9])
            .map(|((fine, coarse), factor)| Pair { fine, coarse: Some(coarse), factor })
            .collect();
        let interval = Interval::of(&pairs).unwrap();
        assert!((f64::midpoint(interval.low, interval.high) - 4.0).abs() < 1e-9, "{interval:?}");
        assert!(interval.by_lives.unwrap() < 1e-9 && (interval.half() - 0.20).abs() < 1e-9);
    }

    #[test]
    fn two_accelerations_that_agree_may_both_be_wrong() {
        let (fine, coarse) = (at(30, 4.0), at(100, 4.01));
        let interval =
            Interval::of(&[Pair { fine: &fine, coarse: Some(&coarse), factor: 1.0 }]).unwrap();
        assert!((interval.half() - 0.20).abs() < 1e-9, "5 % of the years: {interval:?}");
    }

    #[test]
    fn without_a_comparison_there_is_no_interval() {
        let fine = at(100, 4.0);
        assert_eq!(Interval::of(&[Pair { fine: &fine, coarse: None, factor: 1.0 }]), None);
        let lives_on = Lived { end: End::LivesOn, ..at(30, 100.0) };
        assert_eq!(
            Interval::of(&[Pair { fine: &lives_on, coarse: Some(&fine), factor: 1.0 }]),
            None
        );
    }

    #[test]
    fn exact_lives_differ_by_chance_alone() {
        let (one, other) = (lived(4.0), at(3, 3.0));
        let pairs = [
            Pair { fine: &one, coarse: Some(&other), factor: 1.0 },
            Pair { fine: &one, coarse: None, factor: 1.0 },
        ];
        let interval = Interval::of(&pairs).unwrap();
        assert_eq!((interval.by_acceleration, interval.by_lives), (Some(0.0), Some(0.0)));
        let ended = Lived { accelerated_from: None, ..at(100, 4.0) };
        assert_eq!(
            Interval::of(&[Pair { fine: &ended, coarse: None, factor: 1.0 }])
                .unwrap()
                .by_acceleration,
            Some(0.0)
        );
    }
}
