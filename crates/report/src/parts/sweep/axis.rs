//! Axis for the values of a swept key. If all values are numbers, the axis is a scale of numbers.
//! Otherwise, the values lie at equal distances, in the order of the sweep.

use crate::model::Sweep;
use crate::numbers::{short, trimmed};
use crate::scale::{Scale, is_wide};

/// Axis of a swept key.
pub(super) struct Axis {
    /// Name of the swept key.
    pub(super) key: String,
    /// Distinct values of the key. If they are numbers, they are in ascending order.
    pub(super) values: Vec<String>,
    /// Position of each value on the scale: its number or its index.
    pub(super) at: Vec<f64>,
    /// Scale with the ticks of the axis.
    pub(super) scale: Scale,
}

impl Axis {
    /// Makes the axis of the swept key with index `k`.
    pub(super) fn of(sweep: &Sweep, k: usize) -> Self {
        let mut values: Vec<String> = vec![];
        for point in &sweep.points {
            if !values.contains(&point.values[k]) {
                values.push(point.values[k].clone());
            }
        }
        let number = |value: &String| value.parse::<f64>().ok().filter(|n| n.is_finite());
        // A single value lies in the middle of the axis.
        let is_numeric = values.len() > 1 && values.iter().all(|value| number(value).is_some());
        if is_numeric {
            values.sort_by(|a, b| number(a).partial_cmp(&number(b)).expect("finite numbers"));
        }
        let index =
            |(i, value): (usize, &String)| number(value).filter(|_| is_numeric).unwrap_or(i as f64);
        let at: Vec<f64> = values.iter().enumerate().map(index).collect();
        let scale = match (at.first(), at.last()) {
            (Some(low), Some(high)) if is_numeric && is_wide(*low, *high) => {
                Scale::log(*low, *high, 10.0, trimmed)
            }
            (Some(low), Some(high)) if is_numeric => Scale::linear(*low, *high, 6, short),
            _ => Scale::named(&values),
        };
        Self { key: sweep.keys[k].clone(), values, at, scale }
    }

    /// Returns the number of distinct values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}
