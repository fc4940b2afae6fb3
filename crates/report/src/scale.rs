//! Scales of charts. A scale has the ticks of an axis. The scale converts a value into a position
//! on the axis, given as a share of the axis length.

use crate::numbers::short;

/// Tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position of the tick on the axis, from 0 to 1.
    pub at: f64,
    /// Text beside the tick.
    pub label: String,
}

/// Axis of a chart.
pub trait Scale {
    /// Returns the position of a value on the axis. The low end has position 0, and the high end
    /// has position 1.
    fn place(&self, value: f64) -> f64;

    /// Returns the ticks of the axis in ascending order.
    fn ticks(&self) -> Vec<Tick>;
}

/// Function that formats the value of a tick.
pub type Format = fn(f64) -> String;

/// Linear axis of a chart.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    low: f64,
    high: f64,
    step: f64,
    format: Format,
}

impl Linear {
    /// Makes a linear axis with about `ticks` ticks, which lie at round values.
    pub fn new(low: f64, high: f64, ticks: u32, format: Format) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, step: round_step((high - low) / f64::from(ticks)), format }
    }

    /// Makes a linear axis for counts. The ticks of this axis have texts of the function [`short`].
    pub fn counts(low: f64, high: f64, ticks: u32) -> Self {
        Self::new(low, high, ticks, short)
    }
}

/// Returns a round step that is at least `step`. Round steps are 1, 2, 2.5, 5 or 10 times a power
/// of ten.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    factors.into_iter().map(|f| f * power).find(|s| *s >= step * 0.999).unwrap_or(10.0 * power)
}

impl Scale for Linear {
    fn place(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> Vec<Tick> {
        let first = (self.low / self.step - 1e-9).ceil() as i64;
        let last = (self.high / self.step + 1e-9).floor() as i64;
        let tick = |k: i64| {
            let value = k as f64 * self.step;
            Tick { at: self.place(value), label: (self.format)(value) }
        };
        (first..=last).map(tick).collect()
    }
}

/// Logarithmic axis of a chart. Each power of the axis's base has a tick.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    low: f64,
    high: f64,
    base: f64,
    format: Format,
}

impl Log {
    /// Makes a logarithmic axis with ticks at powers of ten.
    pub fn new(low: f64, high: f64, format: Format) -> Self {
        Self::with_base(low, high, 10.0, format)
    }

    /// Makes a logarithmic axis with ticks at powers of `base`.
    pub fn with_base(low: f64, high: f64, base: f64, format: Format) -> Self {
        let low = low.max(f64::MIN_POSITIVE);
        let high = if high > low { high } else { low * base };
        Self { low: low.log10(), high: high.log10(), base: base.log10(), format }
    }

    /// Makes a logarithmic axis that contains all values. The axis begins and ends at a power of
    /// ten.
    pub fn around(values: impl IntoIterator<Item = f64>, format: Format) -> Self {
        let (low, high) = ends(values.into_iter().filter(|v| *v > 0.0)).unwrap_or((1.0, 10.0));
        let (low, high) = (low.log10().floor(), high.log10().ceil());
        Self::new(10f64.powf(low), 10f64.powf(high.max(low + 1.0)), format)
    }
}

impl Scale for Log {
    fn place(&self, value: f64) -> f64 {
        (value.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> Vec<Tick> {
        let first = (self.low / self.base - 1e-9).ceil() as i32;
        let last = (self.high / self.base + 1e-9).floor() as i32;
        let tick = |k: i32| {
            let value = 10f64.powf(f64::from(k) * self.base);
            Tick { at: self.place(value), label: (self.format)(value) }
        };
        (first..=last).map(tick).collect()
    }
}

/// Axis of percentiles, which are given as numbers of nines. One nine is 90 %, two nines are 99 %,
/// and three nines are 99.9 %.
#[derive(Clone, Copy, Debug)]
pub struct Nines {
    low: f64,
    high: f64,
}

impl Nines {
    /// Makes an axis that extends from one number of nines to another.
    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }
}

/// Percentiles that have a tick. Each entry has the share of requests above the percentile, and the
/// text of the tick.
const PERCENTILES: [(f64, &str); 6] =
    [(0.5, "50"), (0.1, "90"), (1e-2, "99"), (1e-3, "99.9"), (1e-4, "99.99"), (1e-5, "99.999")];

impl Scale for Nines {
    fn place(&self, nines: f64) -> f64 {
        (nines - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> Vec<Tick> {
        let tick = |(above, label): (f64, &str)| Tick {
            at: self.place(-above.log10()),
            label: label.into(),
        };
        PERCENTILES
            .map(tick)
            .into_iter()
            .filter(|tick| (-1e-9..=1.0 + 1e-9).contains(&tick.at))
            .collect()
    }
}

/// Returns the smallest and the largest finite value; `None` if no value is finite.
pub fn ends(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let known = values.into_iter().filter(|v| v.is_finite());
    known.fold(None, |ends, v| {
        Some(ends.map_or((v, v), |(low, high): (f64, f64)| (low.min(v), high.max(v))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::us;

    fn labels(scale: &impl Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_lie_at_their_values() {
        let scale = Linear::counts(0.0, 41.4, 6);
        assert_eq!(labels(&scale), ["0", "10", "20", "30", "40"]);
        assert!((scale.ticks()[2].at - 20.0 / 41.4).abs() < 1e-12);
        // Even an axis without values has a position for the value 0.
        assert_eq!(Linear::counts(0.0, 0.0, 2).place(0.0).to_bits(), 0f64.to_bits());
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        let scale = Log::around([56.0, 52_000.0], us);
        assert_eq!(labels(&scale).len(), 5);
        assert_eq!(labels(&scale)[0], "10.0\u{a0}µs");
        assert!((scale.place(1000.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_step_on_the_axis_of_nines_is_a_nine_more() {
        let scale = Nines::new(0.3, 4.3);
        assert_eq!(labels(&scale), ["50", "90", "99", "99.9", "99.99"]);
        assert!((scale.place(2.3) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn ends_skip_what_is_no_number() {
        assert_eq!(ends([3.0, f64::NAN, 1.0]), Some((1.0, 3.0)));
        assert_eq!(ends([]), None);
    }
}
