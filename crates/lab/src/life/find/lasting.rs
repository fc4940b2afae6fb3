//! Search for the value of a key with which the drive lasts a given number of years.

use serde_json::{Value, json};

use super::{Point, in_order};
use crate::as_json;
use crate::failure::Failure;
use crate::life::summary::Life;
use crate::numbers::digits;

/// Search for a value with which the drive lasts a given number of years. The search starts with a
/// value that gives a longer life, and a value that gives a shorter life. The search interpolates
/// logarithms between the two values, because the life is often inversely proportional to the
/// value.
#[derive(Clone, Copy, Debug)]
pub struct Lasting {
    target: f64,
    /// Two values, each with the years of the life. The smaller value comes first.
    ends: [(f64, f64); 2],
}

/// Largest number of values that the search tries between the first two values.
pub const TRIED_BETWEEN: usize = 12;
/// Largest accepted difference between the wanted and the found length of life, as a share of the
/// wanted length.
pub const WITHIN: f64 = 0.005;

impl Lasting {
    /// Starts a search between two values. `low` and `high` each have a value and the years of the
    /// life. Returns `None` if both lives last at least `target` years, or if both lives are
    /// shorter.
    pub fn new(target: f64, low: (f64, f64), high: (f64, f64)) -> Option<Self> {
        ((low.1 >= target) != (high.1 >= target)).then_some(Self { target, ends: [low, high] })
    }

    /// Returns the value to try next, which is interpolated between the two known values. If the
    /// years of a known value are not exact, `halve` chooses the logarithmic middle instead.
    pub fn next(&self, halve: bool) -> f64 {
        let [(low, low_years), (high, high_years)] = self.ends;
        let share = (self.target / low_years).ln() / (high_years / low_years).ln();
        let share = if halve || !share.is_finite() { 0.5 } else { share.clamp(0.02, 0.98) };
        low * (high / low).powf(share)
    }

    /// Records a tried value and the years of the life.
    pub fn found(&mut self, value: f64, years: f64) {
        let same_side = (years >= self.target) == (self.ends[0].1 >= self.target);
        self.ends[usize::from(!same_side)] = (value, years);
    }

    /// Returns whether a life of this many years is close enough to the wanted length.
    pub fn is_met(&self, years: f64) -> bool {
        (years / self.target - 1.0).abs() <= WITHIN
    }
}

/// Returns how many bytes per second the host reads in a life. If the host reads nothing, returns
/// how many bytes per second the host writes.
fn bytes_per_second(life: &Life) -> (f64, &'static str) {
    let seconds = life.years.mean * 365.0 * 86_400.0;
    match life.host_bytes_read.mean {
        read if read > 0.0 => (read / seconds, "reads"),
        _ => (life.host_bytes_written.mean / seconds, "writes"),
    }
}

/// Returns a sentence about the value with which the drive lasts `target` years.
pub fn verdict(key: &str, target: f64, points: &[Point], found: Option<usize>) -> String {
    let Some((point, life)) = found.and_then(|i| Some((&points[i], points[i].answer()?))) else {
        let years = |point: &Point| {
            let life = point.answer().map_or_else(|| "no life".into(), Life::length_text);
            format!("{life} with {}", point.text)
        };
        let all: Vec<String> = in_order(points).into_iter().map(years).collect();
        return format!(
            "vpass found no value of {key} with which the drive lasts {target} years: {}.",
            all.join(", ")
        );
    };
    let (rate, reads_or_writes) = bytes_per_second(life);
    format!(
        "With {key} = {}, the drive lasts {}, while the host {reads_or_writes} {}/s.",
        point.text,
        life.length_text(),
        decimal_bytes(rate)
    )
}

/// Formats bytes in decimal units, which data sheets use for bandwidths.
fn decimal_bytes(bytes: f64) -> String {
    let (unit, name) = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
        .into_iter()
        .find(|(unit, _)| bytes >= *unit)
        .unwrap_or((1.0, "B"));
    format!("{} {name}", digits(bytes / unit))
}

/// Returns the JSON of `vpass life --find KEY --lasts YEARS --json`.
///
/// # Errors
/// Returns an error if JSON cannot represent a value.
pub fn json_of(
    key: &str,
    target: f64,
    points: &[Point],
    found: Option<usize>,
) -> Result<Value, Failure> {
    let life = found.and_then(|i| points[i].answer());
    Ok(json!({
        "key": key,
        "lasts_years": target,
        "found": life.and(found).map(|i| &points[i].text),
        "host_bytes_per_second": life.map(|life| bytes_per_second(life).0),
        "points": as_json::value(&in_order(points))?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value v gives a life of 20,000 / v years, so 2,000 gives ten years. The first
    /// interpolation finds this value exactly.
    #[test]
    fn the_value_that_lasts_is_found_between_two_values() {
        let years = |value: f64| 20_000.0 / value;
        let of = |value| (value, years(value));
        assert!(Lasting::new(10.0, of(3000.0), of(9000.0)).is_none());
        let mut search = Lasting::new(10.0, of(100.0), of(9000.0)).unwrap();
        assert!((search.next(false) - 2000.0).abs() < 1e-6);
        // The years of one end are only a lower bound. The search therefore tries the middle,
        // sqrt(100 x 9000).
        assert!((search.next(true) - 948.683).abs() < 1e-3);
        search.found(948.683, years(948.683));
        assert!(search.ends[0].0 > 900.0 && search.ends[1].0 > 8999.0, "{search:?}");
        // In this search, the years rise with the value.
        let rising = Lasting::new(10.0, (1.0, 1.0), (16.0, 16.0)).unwrap();
        assert!((rising.next(false) - 10.0).abs() < 1e-9);
        assert!(rising.is_met(10.04) && !rising.is_met(10.06));
        assert_eq!(decimal_bytes(226.8e9), "227 GB");
    }
}
