//! How sure the years of a rung are: the larger of what acceleration does to them and what chance
//! does.
//!
//! ```text
//! two lives of 3.9 and 4.1 years at K = 30, and the same two of 3.6 and 3.8 at K = 100
//! acceleration: 4.0 - 3.7 = 0.3; chance: 12.7 x 0.141 / 1.41 = 1.27      4.0 years, 2.7 to 5.3
//! ```

use serde::Serialize;

use super::{End, Lived};
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
    /// Half of the 95 % confidence interval over the lives, in years; null for a single life.
    pub by_lives: Option<f64>,
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
}

impl Pair<'_> {
    /// Years that the larger acceleration takes away; 0 for a life that ended before any.
    fn difference(&self) -> Option<f64> {
        if self.fine.accelerated_from.is_none() && self.fine.acceleration.get() > 1 {
            return Some(0.0);
        }
        self.coarse.map(|coarse| self.fine.years - coarse.years)
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
        let years: Vec<f64> = pairs.iter().map(|pair| pair.fine.years).collect();
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
        let half = by_acceleration?.max(mean.ci95.unwrap_or(0.0));
        let (low, high) = ((mean.mean - half).max(0.0), mean.mean + half);
        Some(Self { low, high, by_acceleration, by_lives: mean.ci95, is_range: false })
    }

    /// Half of its width.
    pub fn half(&self) -> f64 {
        self.by_acceleration.unwrap_or(0.0).max(self.by_lives.unwrap_or(0.0))
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
            .map(|(fine, coarse)| Pair { fine, coarse: Some(coarse) })
            .collect();
        let interval = Interval::of(&pairs).unwrap();
        assert!((interval.by_acceleration.unwrap() - 0.3).abs() < 1e-9);
        // Half of the difference is the standard deviation over the root of two.
        assert!((interval.by_lives.unwrap() - 12.706 * 0.1).abs() < 1e-9);
        assert!((interval.low - 2.7294).abs() < 1e-9 && (interval.high - 5.2706).abs() < 1e-9);
        assert!((Interval::of(&pairs[..1]).unwrap().half() - 0.3).abs() < 1e-9, "a single life");
    }

    #[test]
    fn two_accelerations_that_agree_may_both_be_wrong() {
        let (fine, coarse) = (at(30, 4.0), at(100, 4.01));
        let interval = Interval::of(&[Pair { fine: &fine, coarse: Some(&coarse) }]).unwrap();
        assert!((interval.half() - 0.16).abs() < 1e-9, "4 % of the years: {interval:?}");
    }

    #[test]
    fn without_a_comparison_there_is_no_interval() {
        let fine = at(100, 4.0);
        assert_eq!(Interval::of(&[Pair { fine: &fine, coarse: None }]), None);
        let lives_on = Lived { end: End::LivesOn, ..at(30, 100.0) };
        assert_eq!(Interval::of(&[Pair { fine: &lives_on, coarse: Some(&fine) }]), None);
    }

    #[test]
    fn exact_lives_differ_by_chance_alone() {
        let (one, other) = (lived(4.0), at(3, 3.0));
        let pairs = [Pair { fine: &one, coarse: Some(&other) }, Pair { fine: &one, coarse: None }];
        let interval = Interval::of(&pairs).unwrap();
        assert_eq!((interval.by_acceleration, interval.by_lives), (Some(0.0), Some(0.0)));
        let ended = Lived { accelerated_from: None, ..at(100, 4.0) };
        assert_eq!(
            Interval::of(&[Pair { fine: &ended, coarse: None }]).unwrap().by_acceleration,
            Some(0.0)
        );
    }
}
