//! Interval of the years on a rung. The half width is the effect of windows or the effect of
//! chance, whichever is larger.
//!
//! The effect of chance is computed by batch means (`batches`). If batches do not explain the
//! differences between lives, Student's interval over the lives is used instead.
//!
//! The effect of windows has two parts, which are added:
//!
//! - **Drift:** the second half of a window is slower or faster than the first half, although the
//!   wear is nearly the same. Then the state of the drive still changes, and the state that a
//!   longer simulation would reach is not known.
//! - **Bend:** a window in the middle of a stratum stands for the whole stratum. If the years of
//!   the strata do not fall along a line, their sum is wrong by 1/24 of the change of their
//!   differences (midpoint rule).
//!
//! ```text
//! the first halves of four windows stand for 0.50, 0.45, 0.40 and 0.35 years, the second halves
//! for 0.51, 0.46, 0.41 and 0.36 years: 3.44 years
//! the drift is 0.04 / 1.72 = 2.3 %, or 0.08 years; the bend is 0; 3 % of the years are more
//! ```

use serde::{Deserialize, Serialize};

use super::{End, Lived, batches};
use crate::mean_ci95::mean_ci95;

/// Smallest effect of windows in an interval, as a share of the years. It covers what drift and
/// bend do not show, such as slow changes of the drive's state (`docs/estimate.md`).
const LEAST_BIAS: f64 = 0.03;
/// Smallest half width of the interval of lives of which every P/E cycle was simulated, as a share
/// of the years. Under a database trace on `tiny`, lives in the fluid and in the untimed gear
/// differed by 1.0 %. Two lives may also agree by chance.
const LEAST: f64 = 0.01;
/// Smallest half width, as a share of the years, for samples whose pages stand for pages of similar
/// rates. Under a database trace on 1,512 blocks, samples 1/8 and whole drives differed by 0.1 %
/// under `block` and by 0.7 % under `straw-wl`. Read wear differed by up to 24 % where it is small.
const LEAST_OF_SIMILAR: f64 = 0.03;

/// Interval of the length of life under a technique.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end, in years.
    pub low: f64,
    /// Upper end, in years.
    pub high: f64,
    /// Effect of simulating only windows of the lives, in years: at least 3 % of the years. If
    /// every P/E cycle was simulated, 1 % of the years. At least 3 % if the drive is a sample whose
    /// pages stand for pages of similar rates.
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

/// Life and the factor that converts its years to years of the drive. The factor corrects the years
/// if the sample serves too many or too few reads.
#[derive(Clone, Copy, Debug)]
pub struct Scaled<'a> {
    /// Simulated life.
    pub lived: &'a Lived,
    /// Factor for the years.
    pub factor: f64,
}

impl Scaled<'_> {
    /// Returns the years of the life, multiplied by the factor.
    pub fn years(&self) -> f64 {
        self.factor * self.lived.years
    }

    fn batches(&self) -> Vec<f64> {
        self.lived.batches.iter().map(|years| self.factor * years).collect()
    }
}

impl Interval {
    /// Returns the interval of the years of these lives. Returns `None` if wear had not settled
    /// when windows began, or if the simulation ended before a drive was worn out. `has_similar` is
    /// true if the pages of the drive stand for pages of similar rates.
    pub fn of(lives: &[Scaled], has_similar: bool) -> Option<Self> {
        let is_known = |life: &Scaled| {
            life.lived.has_settled && !matches!(life.lived.end, End::LivesOn | End::OutOfWork)
        };
        if !lives.iter().all(is_known) {
            return None;
        }
        let years: Vec<f64> = lives.iter().map(Scaled::years).collect();
        let mean = mean_ci95(&years)?;
        let least = if has_similar { LEAST_OF_SIMILAR } else { 0.0 };
        let share = by_windows(lives).max(least);
        let interval = Self {
            low: mean.mean,
            high: mean.mean,
            by_acceleration: Some(share * mean.mean),
            by_lives: mean.ci95,
            by_batches: batches::half(&lives.iter().map(Scaled::batches).collect::<Vec<_>>()),
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

/// Returns the effect of windows, as a share of the years. The strata are added up over all lives,
/// so that chance matters less.
fn by_windows(lives: &[Scaled]) -> f64 {
    let count = lives.iter().map(|life| life.lived.halves.len()).min().unwrap_or(0);
    if count < 2 {
        return if lives.iter().any(|life| !life.lived.halves.is_empty()) {
            LEAST_BIAS
        } else {
            LEAST
        };
    }
    let sum = |of: &dyn Fn(&Lived) -> f64| lives.iter().map(|life| of(life.lived)).sum::<f64>();
    let strata: Vec<f64> =
        (0..count).map(|n| sum(&|lived: &Lived| lived.halves[n].years())).collect();
    let [first, second] = [
        sum(&|lived| lived.halves.iter().map(|halves| halves.first).sum()),
        sum(&|lived| lived.halves.iter().map(|halves| halves.second).sum()),
    ];
    let all = first + second;
    let of_life = sum(&|lived| lived.years);
    // Wear alone makes the second half faster, by as much as the strata show.
    let part = sum(&|lived| lived.halves[0].part) / lives.len() as f64;
    let by_wear = (strata[count - 1] / strata[0]).ln() / (count - 1) as f64 * part / 2.0;
    let drift = (2.0 * (second - first) / all - by_wear).abs() * all;
    let change = |n: usize| strata[n + 1] - strata[n];
    let bend = (change(count - 2) - change(0)).abs() / 24.0;
    ((drift + bend) / of_life).max(LEAST_BIAS)
}

#[cfg(test)]
mod tests {
    use super::super::windows::Halves;
    use super::*;
    use crate::life::tests::lived;

    /// Returns a life with these years of the two halves of its windows.
    fn of_windows(halves: [(f64, f64); 4]) -> Lived {
        let halves = halves.map(|(first, second)| Halves { first, second, part: 0.0 }).to_vec();
        let batches: Vec<f64> = halves.iter().map(Halves::years).collect();
        let years = batches.iter().sum();
        Lived { windows_from: Some(20.0), halves, batches, ..lived(years) }
    }

    fn interval(lives: &[Lived]) -> Option<Interval> {
        let scaled: Vec<_> = lives.iter().map(|lived| Scaled { lived, factor: 1.0 }).collect();
        Interval::of(&scaled, false)
    }

    #[test]
    fn worked_example() {
        let halves = [(0.50, 0.51), (0.45, 0.46), (0.40, 0.41), (0.35, 0.36)];
        let life = of_windows(halves);
        let share = |life: &Lived| by_windows(&[Scaled { lived: life, factor: 1.0 }]);
        assert!((share(&life) - 0.03).abs() < 1e-9, "at least 3 % of the years");
        let drifting = halves.map(|(first, _)| (first, 1.1 * first));
        let life = of_windows(drifting);
        let wide = interval(&[life.clone(), life]).unwrap();
        let of_two = 2.0 * (0.1 * 1.7);
        assert!((wide.by_acceleration.unwrap() - of_two).abs() < 1e-9, "{wide:?}");
    }

    #[test]
    fn windows_that_fall_along_a_line_have_no_bend_and_wear_is_no_drift() {
        let years = |n: i32| 0.9f64.powi(n);
        // Between the middles of the halves, wear makes the drive faster by 0.9^(1/4).
        let quarter = 0.9f64.powf(0.125);
        let halves = [0, 1, 2, 3].map(|n| (years(n) / quarter, years(n) * quarter));
        let mut life = of_windows(halves);
        life.halves.iter_mut().for_each(|halves| halves.part = 0.5);
        let share = by_windows(&[Scaled { lived: &life, factor: 1.0 }]);
        assert!((share - LEAST_BIAS).abs() < 1e-9, "{share}");
        let bent = of_windows([(0.5, 0.5), (0.5, 0.5), (0.5, 0.5), (5.0, 5.0)]);
        let share = by_windows(&[Scaled { lived: &bent, factor: 1.0 }]);
        assert!(share > 9.0 / 24.0 / 13.0, "{share}");
    }

    #[test]
    fn years_of_samples_are_corrected_for_their_reads() {
        // The first sample has 10 % more reads than its share. The second sample has 10 % fewer.
        let (more, fewer) = (lived(4.0 / 1.1), lived(4.0 / 0.9));
        let lives = [(&more, 1.1), (&fewer, 0.9)];
        let scaled = lives.map(|(lived, factor)| Scaled { lived, factor });
        let interval = Interval::of(&scaled, false).unwrap();
        assert!((f64::midpoint(interval.low, interval.high) - 4.0).abs() < 1e-9, "{interval:?}");
        assert!(interval.by_lives.unwrap() < 1e-9 && (interval.half() - 0.04).abs() < 1e-9);
        let similar = Interval::of(&scaled, true).unwrap();
        assert!((similar.half() - 0.12).abs() < 1e-9, "3 % of 4 years: {similar:?}");
    }

    #[test]
    fn what_has_not_settled_or_ended_has_no_interval() {
        let life = of_windows([(0.5, 0.5); 4]);
        assert!(interval(std::slice::from_ref(&life)).is_some());
        assert_eq!(interval(&[Lived { has_settled: false, ..life.clone() }]), None);
        for end in [End::LivesOn, End::OutOfWork] {
            assert_eq!(interval(&[life.clone(), Lived { end, ..life.clone() }]), None);
        }
    }

    #[test]
    fn exact_lives_differ_by_chance_alone() {
        let lives = [lived(4.0), lived(4.2)];
        let interval = interval(&lives).unwrap();
        assert!((interval.by_acceleration.unwrap() - 0.041).abs() < 1e-9);
        // For two lives, half of their difference equals the standard deviation divided by the
        // square root of two.
        assert!((interval.half() - 12.7062 * 0.1).abs() < 1e-4, "{interval:?}");
        let alike = self::interval(&[lived(4.0), lived(4.0)]).unwrap();
        assert!((alike.half() - 0.04).abs() < 1e-9, "two lives may agree by chance");
    }
}
