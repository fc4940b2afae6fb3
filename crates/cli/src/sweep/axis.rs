//! Swept keys. A key has a list of values, or a range from which values are drawn.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

/// Key of a sweep, with the values that the key takes one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Name of the key, such as `start.pec`.
    pub(crate) key: String,
    /// Values of the key, as text that `--set` accepts.
    pub(crate) values: Vec<String>,
}

impl Axis {
    /// Parses a text of the form `KEY=a,b,c`. A value in brackets or quotes may hold commas.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let expected = "KEY=VALUE,VALUE is expected, such as start.pec=0,1000,2000";
        let Some((key, values)) = text.split_once('=') else { return Err(expected.into()) };
        let values = parts(values);
        if key.trim().is_empty() || values.iter().any(|value| value.trim().is_empty()) {
            return Err(expected.into());
        }
        if let Some(twice) = (1..values.len()).find(|n| values[..*n].contains(&values[*n])) {
            return Err(format!(
                "the value {} is given twice; give each value once",
                values[twice]
            ));
        }
        Ok(Self { key: key.trim().into(), values })
    }
}

/// Splits a text at its commas. Commas inside brackets or quotes do not split the text.
fn parts(text: &str) -> Vec<String> {
    let (mut all, mut depth, mut is_quoted) = (vec![String::new()], 0i32, false);
    for c in text.chars() {
        match c {
            '"' | '\'' => is_quoted = !is_quoted,
            '[' | '{' if !is_quoted => depth += 1,
            ']' | '}' if !is_quoted => depth -= 1,
            _ => {}
        }
        match all.last_mut() {
            Some(_) if c == ',' && depth == 0 && !is_quoted => all.push(String::new()),
            Some(last) => last.push(c),
            None => {}
        }
    }
    all.iter().map(|part| part.trim().to_owned()).collect()
}

/// Swept keys with their values at one point of a sweep.
pub(crate) type Swept = Vec<(String, String)>;

/// Returns a point for every combination of the keys' values. From point to point, the value of the
/// last key changes fastest.
pub(crate) fn grid(axes: &[Axis]) -> Vec<Swept> {
    axes.iter().fold(vec![vec![]], |points, axis| {
        let with = |point: &Swept, value: &String| {
            let mut point = point.clone();
            point.push((axis.key.clone(), value.clone()));
            point
        };
        points
            .iter()
            .flat_map(|point| axis.values.iter().map(move |value| with(point, value)))
            .collect()
    })
}

/// Range from which the values of a key are drawn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Range {
    from: f64,
    to: f64,
    /// Whether values are drawn evenly on a logarithmic scale. Otherwise, values are drawn evenly
    /// on a linear scale.
    #[serde(default)]
    log: bool,
    /// Whether values are rounded to whole numbers.
    #[serde(default)]
    whole: bool,
}

impl Range {
    /// Checks that the ends of the range are valid.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let is_finite = self.from.is_finite() && self.to.is_finite();
        if !is_finite || self.from >= self.to {
            return Err("`from` below `to` is expected");
        }
        if self.log && self.from <= 0.0 {
            Err("with log = true, a `from` above 0 is expected")
        } else {
            Ok(())
        }
    }

    /// Returns the value at a share of the range. The low end has share 0, and the high end has
    /// share 1.
    fn at(&self, share: f64) -> String {
        let value = if self.log {
            self.from * (self.to / self.from).powf(share)
        } else {
            self.from + (self.to - self.from) * share
        };
        if self.whole { format!("{:.0}", value.round()) } else { format!("{value}") }
    }
}

/// Draws random points from the ranges. The same seed draws the same points.
pub(crate) fn draws(axes: &[(String, Range)], count: u32, seed: u64) -> Vec<Swept> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut share = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    (0..count)
        .map(|_| axes.iter().map(|(key, range)| (key.clone(), range.at(share()))).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_at_commas_outside_of_brackets() {
        let axis = Axis::parse("timing.sense_us=[40, 60, 90],50").unwrap();
        assert_eq!(axis.values, ["[40, 60, 90]", "50"]);
        for wrong in ["start.pec", "=1", "a.b=", "a.b=1,,2", "a.b=1,1"] {
            assert!(Axis::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let axes = ["a.b=1,2", "c.d=x,y,z"].map(|text| Axis::parse(text).unwrap());
        let points = grid(&axes);
        assert_eq!(points.len(), 6);
        let pair = |n: usize| (points[n][0].1.as_str(), points[n][1].1.as_str());
        assert_eq!([pair(0), pair(1), pair(5)], [("1", "x"), ("1", "y"), ("2", "z")]);
    }

    #[test]
    fn draws_follow_from_the_seed_and_stay_in_their_range() {
        let range = Range { from: 10.0, to: 1000.0, log: true, whole: true };
        let axes = [("a.b".to_owned(), range)];
        let values = |seed| -> Vec<f64> {
            let points = draws(&axes, 200, seed);
            points.iter().map(|point| point[0].1.parse().unwrap()).collect()
        };
        assert_eq!(values(1), values(1));
        assert_ne!(values(1), values(2));
        assert!(values(1).iter().all(|n| (10.0..=1000.0).contains(n) && n.fract() == 0.0));
        // Half of the values in this logarithmic range lie below the geometric mean of its ends.
        let low = values(1).iter().filter(|n| **n < 100.0).count();
        assert!((75..=125).contains(&low), "{low}");
    }
}
