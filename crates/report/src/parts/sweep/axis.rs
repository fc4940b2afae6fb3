//! Axis for the values of a swept key. If all values are numbers, the axis is a scale of numbers.
//! Otherwise, the values lie at equal distances, in the order of the sweep.

use crate::model::Point;
use crate::numbers::trimmed;
use crate::scale::{Linear, Log, Scale, Tick};

/// Factor between the smallest and the largest value from which an axis of numbers is logarithmic.
const WIDE: f64 = 50.0;

/// Axis of a swept key.
pub(super) struct Axis {
    /// Name of the swept key.
    pub(super) key: String,
    /// Distinct values of the key. If they are numbers, they are in ascending order.
    values: Vec<String>,
    numbers: Option<Vec<f64>>,
}

impl Axis {
    /// Makes the axis of the swept key with index `k`.
    pub(super) fn of(key: &str, points: &[Point], k: usize) -> Self {
        let mut values: Vec<String> = vec![];
        for point in points {
            if !values.contains(&point.values[k]) {
                values.push(point.values[k].clone());
            }
        }
        let number = |value: &String| value.parse::<f64>().ok().filter(|n| n.is_finite());
        let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
        let Some(numbers) = numbers else {
            return Self { key: key.into(), values, numbers: None };
        };
        let mut both: Vec<(f64, String)> = numbers.into_iter().zip(values).collect();
        both.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (numbers, values) = both.into_iter().unzip();
        Self { key: key.into(), values, numbers: Some(numbers) }
    }

    /// Returns the number of distinct values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the distinct values in the order of the axis.
    pub(super) fn values(&self) -> &[String] {
        &self.values
    }

    /// Returns whether the axis is logarithmic.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.ends().is_some_and(|(low, high)| low > 0.0 && high >= WIDE * low)
    }

    fn ends(&self) -> Option<(f64, f64)> {
        let numbers = self.numbers.as_ref()?;
        Some((*numbers.first()?, *numbers.last()?))
    }
}

impl Scale for Axis {
    /// Returns the position of a value on the axis. `index` is the index of the value in the order
    /// of the axis.
    fn place(&self, index: f64) -> f64 {
        let Some(numbers) = &self.numbers else { return (index + 0.5) / self.len() as f64 };
        let number = numbers[index as usize];
        self.scale().place(number)
    }

    fn ticks(&self) -> Vec<Tick> {
        if self.numbers.is_some() && self.len() > 1 {
            return self.scale().ticks();
        }
        let tick = |i: usize| Tick { at: self.place(i as f64), label: self.values[i].clone() };
        (0..self.len()).map(tick).collect()
    }
}

impl Axis {
    fn scale(&self) -> Box<dyn Scale> {
        let (low, high) = self.ends().unwrap_or((0.0, 1.0));
        if self.is_logarithmic() {
            return Box::new(Log::new(low, high, trimmed));
        }
        // If the key has only one value, this value lies in the middle of the axis.
        let (low, high) = if high > low { (low, high) } else { (low - 1.0, high + 1.0) };
        Box::new(Linear::counts(low, high, 6))
    }
}
