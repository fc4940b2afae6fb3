//! How sure the years of a rung are: the larger of what acceleration does to them and what chance
//! does.
//!
//! Chance is that of batch means (`batches`), or Student's interval over the lives where lives
//! differ by more than their batches explain.
//!
//! ```text
//! two lives of 3.9 and 4.1 years at K = 30, and the same two of 3.6 and 3.8 at K = 100
//! acceleration: 4.0 - 3.7 = 0.3; lives: 12.7 x 0.141 / 1.41 = 1.27      4.0 years, 2.7 to 5.3
//! if ten batches of each life say 0.2: 4.0 years, 3.7 to 4.3
//! ```

use serde::Serialize;

use super::{End, Lived, batches};
use crate::compare::mean_ci95::mean_ci95;

/// Sampled pages below which samples say too little of a drive for an interval.
pub const FEWEST_PAGES: u64 = 1000;

/// Least that acceleration is taken to do, as a share of the years. Measured on `tiny`: lives at
/// K = 30 were up to 3.5 % too long where K = 100 gave the same years within 3 %.
const LEAST_BIAS: f64 = 0.04;

/// An interval around the years of a technique.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end, in years.
    pub low: f64,
    /// The upper end, in years.
    pub high: f64,
    /// Difference to the same lives at the next larger acceleration, in years, and at least 4 % of
    /// the years; null without a comparison.
    pub by_acceleration: Option<f64>,
    /// Half of the 95 % confidence interval over the lives, in years; null for a single life. Counts
    /// where `by_batches` is null.
    pub by_lives: Option<f64>,
    /// Half of the 95 % confidence interval of batch means, in years; null where lives differ by
    /// more than their batches explain, or have none.
    pub by_batches: Option<f64>,
    /// Whether too few pages were sampled: the ends are then a range without a confidence.
    pub is_range: bool,
}

/// A life, and the same life at a larger acceleration where that was simulated.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The life.
    pub fine: &'a Lived,
    /// The life at the larger acceleration.
    pub coarse: Option<&'a Lived>,
    /// Years of the drive by years of this life, which holds a little more or less than its share
    /// of the reads.
    pub factor: f64,
}

impl Pair<'_> {
    /// Years of the life, as the drive's.
    pub fn years(&self) -> f64 {
        self.factor * self.fine.years
    }

    fn batches(&self) -> Vec<f64> {
        self.fine.batches.iter().map(|years| self.factor * years).collect()
    }

    /// Years that the larger acceleration takes away; 0 for a life that ended before any.
    fn difference(&self) -> Option<f64> {
        if self.fine.accelerated_from.is_none() && self.fine.acceleration.get() > 1 {
            return Some(0.0);
        }
        self.coarse.map(|coarse| self.factor * (self.fine.years - coarse.years))
    }
}

impl Interval {
    /// The interval of these lives; none where no larger acceleration was compared, or a drive
    /// outlives the simulation.
    ///
    /// The years change with K at least as fast as its root. So the change from K to 1 is at most
    /// as large as the change from the next rung's K, which is three times K and more, to K.
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

    /// Half of its width.
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
        // Half of the difference is the standard deviation over the root of two.
        assert!((interval.by_lives.unwrap() - 12.7062 * 0.1).abs() < 1e-5);
        assert!((interval.low - 2.7294).abs() < 1e-4 && (interval.high - 5.2706).abs() < 1e-4);
        assert!((Interval::of(&pairs[..1]).unwrap().half() - 0.3).abs() < 1e-9, "a single life");
        // Ten batches each, nearly alike: chance is small, and acceleration counts.
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
    fn years_of_samples_are_corrected_for_the_reads_that_they_hold() {
        // The first sample holds 10 % more reads than its share, the second 10 % fewer.
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
        assert!(interval.by_lives.unwrap() < 1e-9 && (interval.half() - 0.16).abs() < 1e-9);
    }

    #[test]
    fn two_accelerations_that_agree_may_both_be_wrong() {
        let (fine, coarse) = (at(30, 4.0), at(100, 4.01));
        let interval =
            Interval::of(&[Pair { fine: &fine, coarse: Some(&coarse), factor: 1.0 }]).unwrap();
        assert!((interval.half() - 0.16).abs() < 1e-9, "4 % of the years: {interval:?}");
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
