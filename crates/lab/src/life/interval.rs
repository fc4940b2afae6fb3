//! How sure the years of a rung are: the larger of what acceleration does to them and what chance does.
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

/// An interval around the years of a technique.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end, in years.
    pub low: f64,
    /// The upper end, in years.
    pub high: f64,
    /// Difference to the same lives at the next larger acceleration, in years; null where none was compared.
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
    /// The interval of these lives; none where no larger acceleration was compared, or a drive outlives the simulation.
    ///
    /// The years change with K at least as fast as its root. So the change from K to 1 is at most as large as the
    /// change from the next rung's K, which is three times K and more, to K.
    pub fn of(pairs: &[Pair]) -> Option<Self> {
        if pairs.iter().any(|pair| pair.fine.end == End::LivesOn) {
            return None;
        }
        let years: Vec<f64> = pairs.iter().map(|pair| pair.fine.years).collect();
        let mean = mean_ci95(&years)?;
        let differences: Vec<f64> = pairs.iter().filter_map(Pair::difference).collect();
        let is_exact = pairs.iter().all(|pair| pair.fine.acceleration.get() == 1);
        let by_acceleration = if is_exact { Some(0.0) } else { mean_ci95(&differences).map(|difference| difference.mean.abs()) };
        let half = by_acceleration?.max(mean.ci95.unwrap_or(0.0));
        let (low, high) = ((mean.mean - half).max(0.0), mean.mean + half);
        Some(Self { low, high, by_acceleration, by_lives: mean.ci95, is_range: false })
    }

    /// Half of its width.
    pub fn half(&self) -> f64 {
        self.by_acceleration.unwrap_or(0.0).max(self.by_lives.unwrap_or(0.0))
    }
}
