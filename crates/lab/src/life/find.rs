//! The value of one key at which a drive lives longest: nine values in even steps of their logarithm, all with the same seeds, then the golden
//! section around the best of them.
//!
//! A value with which data was lost is worth nothing. The search is for one peak. Where the nine values show several, that is said, and only the highest is looked at closer.

use serde::Serialize;

use super::summary::Life;
use crate::compare::mean_ci95::MeanCi95;

/// Values that are tried first.
pub const FIRST: usize = 9;
/// Values that are tried between the neighbours of the best of them: its place is then known to a fortieth of a first step.
pub const CLOSER: usize = 8;
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// A value of the key, and what it came to.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The key's value, as `--set` takes it.
    pub text: String,
    /// The same as a number, in the key's unit; seconds of a span of time.
    pub value: f64,
    /// The lives there.
    pub life: Life,
}

/// Values in even steps of their logarithm, from the first to the last.
pub fn first_values(from: f64, to: f64) -> Vec<f64> {
    let step = (to / from).ln() / (FIRST - 1) as f64;
    (0..FIRST).map(|n| from * (step * n as f64).exp()).collect()
}

/// The golden section over logarithms: says which value to try next.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    low: f64,
    high: f64,
    /// The two values within, as far as they are known: logarithm, and years.
    lower: (f64, Option<f64>),
    upper: (f64, Option<f64>),
}

impl Section {
    /// Between two values.
    pub fn new(low: f64, high: f64) -> Self {
        let (low, high) = (low.ln(), high.ln());
        Self { low, high, lower: (high - GOLDEN * (high - low), None), upper: (low + GOLDEN * (high - low), None) }
    }

    /// The value to try next.
    pub fn next(&self) -> f64 {
        if self.lower.1.is_none() { self.lower.0.exp() } else { self.upper.0.exp() }
    }

    /// It came to so many years.
    pub fn found(&mut self, years: f64) {
        if self.lower.1.is_none() {
            self.lower.1 = Some(years);
        } else {
            self.upper.1 = Some(years);
        }
        let (Some(lower), Some(upper)) = (self.lower.1, self.upper.1) else { return };
        if lower >= upper {
            self.high = self.upper.0;
            self.upper = self.lower;
            self.lower = (self.high - GOLDEN * (self.high - self.low), None);
        } else {
            self.low = self.lower.0;
            self.lower = self.upper;
            self.upper = (self.low + GOLDEN * (self.high - self.low), None);
        }
    }
}

impl Point {
    /// What ranks it: its years, and nothing where it lost data.
    pub fn rank(&self) -> f64 {
        if self.life.lost_data() { 0.0 } else { self.life.years.mean }
    }

    fn mean_rank(&self) -> MeanCi95 {
        MeanCi95 { mean: self.rank(), ..self.life.years }
    }
}

/// The place of the longest life in which no data was lost; of equals the first.
pub fn best(points: &[Point]) -> usize {
    (0..points.len()).rev().max_by(|a, b| points[*a].rank().total_cmp(&points[*b].rank())).unwrap_or(0)
}

/// Peaks among values in order that stand out of what lies between them by more than their intervals: their places.
pub fn peaks(points: &[Point]) -> Vec<usize> {
    let of = |i: usize| points[i].mean_rank();
    let mut peaks: Vec<usize> = vec![];
    for i in 0..points.len() {
        let rises = i == 0 || of(i - 1).mean < of(i).mean;
        let falls = i + 1 == points.len() || of(i + 1).mean <= of(i).mean;
        if !(rises && falls) {
            continue;
        }
        // The valley between this peak and the one before.
        if let Some(before) = peaks.last().copied() {
            let valley = (before..=i).map(of).min_by(|a, b| a.mean.total_cmp(&b.mean)).unwrap_or(of(i));
            let stands_out = |peak: MeanCi95| peak.mean - valley.mean > peak.ci95.unwrap_or(0.0) + valley.ci95.unwrap_or(0.0);
            if !(stands_out(of(before)) && stands_out(of(i))) {
                // One peak with a dent.
                if of(i).mean > of(before).mean {
                    *peaks.last_mut().expect("there is one before") = i;
                }
                continue;
            }
        }
        peaks.push(i);
    }
    peaks
}

/// The curve as CSV, in the order of the values.
pub fn csv(key: &str, points: &[Point]) -> String {
    let mut order: Vec<&Point> = points.iter().collect();
    order.sort_by(|a, b| a.value.total_cmp(&b.value));
    let mut text =
        format!("{key},value,years,years_ci95,worn_out,host_bytes_written,flash_bytes_written,data_lost_pages,reads_with_retries\n");
    for Point { text: set, value, life } in order {
        let ci95 = life.years.ci95.map_or_else(String::new, |half| half.to_string());
        let retried =
            life.reads_by_retries.as_ref().and_then(|shares| shares.first()).map_or_else(String::new, |none| (1.0 - none.mean).to_string());
        let row = format!(
            "{set},{value},{},{ci95},{},{},{},{},{retried}\n",
            life.years.mean, life.worn_out, life.host_bytes_written.mean, life.flash_bytes_written.mean, life.data_lost_pages
        );
        text.push_str(&row);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::summary::tests::life;

    #[test]
    fn values_are_spread_evenly_by_their_logarithm() {
        let values = first_values(1.0, 256.0);
        assert_eq!(values.len(), 9);
        assert!((0..).zip(&values).all(|(n, value)| (value / 2f64.powi(n) - 1.0).abs() < 1e-12));
    }

    #[test]
    fn the_section_closes_in_on_the_peak() {
        let years = |value: f64| -(value.ln() - 7f64.ln()).powi(2);
        let mut section = Section::new(4.0, 16.0);
        let mut tried = vec![];
        for _ in 0..CLOSER {
            let value = section.next();
            tried.push(value);
            section.found(years(value));
        }
        let best = tried.iter().copied().max_by(|a, b| years(*a).total_cmp(&years(*b))).unwrap();
        assert!((best / 7.0).ln().abs() < (2f64.ln()) / 10.0, "{best}");
    }

    #[test]
    fn a_dent_is_no_second_peak() {
        let of = |years: &[f64], ci95: f64| -> Vec<Point> {
            let point = |y: &f64| Point { text: y.to_string(), value: *y, life: life(MeanCi95 { mean: *y, ci95: Some(ci95) }) };
            years.iter().map(point).collect()
        };
        let two = [1.0, 5.0, 3.0, 4.0, 2.0];
        assert_eq!(peaks(&of(&two, 0.1)), [1, 3]);
        assert_eq!(peaks(&of(&two, 0.6)), [1]);
        assert_eq!(peaks(&of(&[1.0, 2.0, 3.0], 0.1)), [2]);
        assert_eq!(best(&of(&two, 0.1)), 1);
        let mut lossy = of(&two, 0.1);
        lossy[1].life.data_lost_pages = 1.0;
        assert_eq!((best(&lossy), peaks(&lossy)), (3, vec![0, 3]), "a value that loses data is no answer");
    }
}
