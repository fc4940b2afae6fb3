//! Scales of charts. A scale has the ticks of an axis. The scale converts a value into a position
//! on the axis, given as a share of the axis length.

/// Tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position of the tick on the axis, from 0 to 1.
    pub at: f64,
    /// Text beside the tick.
    pub label: String,
}

/// Function that formats the value of a tick.
pub type Format = fn(f64) -> String;

/// Factor between the smallest and the largest value from which a scale is logarithmic.
const WIDE: f64 = 50.0;
/// Shares of an axis up to this size are rounding errors.
const ROUNDING: f64 = 1e-9;

/// Axis of a chart.
#[derive(Clone, Debug)]
pub struct Scale {
    /// Ends of the axis; on a logarithmic axis, their logarithms.
    ends: (f64, f64),
    is_log: bool,
    ticks: Vec<Tick>,
}

impl Scale {
    /// Makes a linear axis with about `ticks` ticks, which lie at round values.
    pub fn linear(low: f64, high: f64, ticks: u32, format: Format) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self::stepped((low, high), false, round_step((high - low) / f64::from(ticks)), format)
    }

    /// Makes a logarithmic axis with ticks at powers of `base`.
    pub fn log(low: f64, high: f64, base: f64, format: Format) -> Self {
        let low = low.max(f64::MIN_POSITIVE);
        let high = if high > low { high } else { low * base };
        Self::stepped((low.log10(), high.log10()), true, base.log10(), format)
    }

    /// Makes a logarithmic axis that contains all values. The axis begins and ends at a power of
    /// ten.
    pub fn log_around(values: impl IntoIterator<Item = f64>, format: Format) -> Self {
        let (low, high) = ends(values.into_iter().filter(|v| *v > 0.0)).unwrap_or((1.0, 10.0));
        let (low, high) = (low.log10().floor(), high.log10().ceil());
        Self::stepped((low, high.max(low + 1.0)), true, 1.0, format)
    }

    /// Makes an axis that contains all values. If the values differ much, the axis is logarithmic.
    /// Otherwise, it is linear, contains 0, and extends to `margin` times the largest value.
    pub fn around(values: &[f64], margin: f64, format: Format) -> Self {
        let (low, high) = ends(values.iter().copied()).unwrap_or((0.0, 1.0));
        if is_wide(low, high) {
            Self::log_around(values.iter().copied(), format)
        } else {
            Self::linear(low.min(0.0), margin * high, 5, format)
        }
    }

    /// Makes a linear axis with these ticks. Ticks beyond the ends are left out.
    pub fn with_ticks(ends: (f64, f64), ticks: impl IntoIterator<Item = (f64, String)>) -> Self {
        let mut scale = Self { ends, is_log: false, ticks: vec![] };
        let ticks = ticks.into_iter().map(|(value, label)| Tick { at: scale.place(value), label });
        let is_inside = |tick: &Tick| (-ROUNDING..=1.0 + ROUNDING).contains(&tick.at);
        scale.ticks = ticks.filter(is_inside).collect();
        scale
    }

    /// Makes an axis on which names lie at equal distances. The position of a name is its index.
    pub fn named(names: &[String]) -> Self {
        let ticks = names.iter().enumerate().map(|(i, name)| (i as f64, name.clone()));
        Self::with_ticks((-0.5, names.len() as f64 - 0.5), ticks)
    }

    /// Makes an axis with ticks at all multiples of a step. On a logarithmic axis, ends and step
    /// are logarithms.
    fn stepped(ends: (f64, f64), is_log: bool, step: f64, format: Format) -> Self {
        let first = (ends.0 / step - ROUNDING).ceil() as i64;
        let last = (ends.1 / step + ROUNDING).floor() as i64;
        let tick = |k: i64| {
            let place = k as f64 * step;
            let value = if is_log { 10f64.powf(place) } else { place };
            Tick { at: (place - ends.0) / (ends.1 - ends.0), label: format(value) }
        };
        Self { ends, is_log, ticks: (first..=last).map(tick).collect() }
    }

    /// Returns the position of a value on the axis. The low end has position 0, and the high end
    /// has position 1.
    pub fn place(&self, value: f64) -> f64 {
        let value = if self.is_log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        (value - self.ends.0) / (self.ends.1 - self.ends.0)
    }

    /// Returns the ticks of the axis in ascending order.
    pub fn ticks(&self) -> &[Tick] {
        &self.ticks
    }

    /// Returns whether the axis is logarithmic.
    pub fn is_log(&self) -> bool {
        self.is_log
    }
}

/// Returns a round step that is at least `step`. Round steps are 1, 2, 2.5, 5 or 10 times a power
/// of ten.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    factors.into_iter().map(|f| f * power).find(|s| *s >= step * 0.999).unwrap_or(10.0 * power)
}

/// Returns whether values between these ends need a logarithmic scale.
pub fn is_wide(low: f64, high: f64) -> bool {
    low > 0.0 && high >= WIDE * low
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
    use crate::numbers::{short, us};

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks().iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_lie_at_their_values() {
        let scale = Scale::linear(0.0, 41.4, 6, short);
        assert_eq!(labels(&scale), ["0", "10", "20", "30", "40"]);
        assert!((scale.ticks()[2].at - 20.0 / 41.4).abs() < 1e-12);
        // Even an axis without values has a position for the value 0.
        assert_eq!(Scale::linear(0.0, 0.0, 2, short).place(0.0).to_bits(), 0f64.to_bits());
        let scale = Scale::log_around([56.0, 52_000.0], us);
        assert_eq!((labels(&scale).len(), labels(&scale)[0]), (5, "10.0\u{a0}µs"));
        assert!((scale.place(1000.0) - 0.5).abs() < 1e-12);
        assert!((scale.ticks()[2].at - 0.5).abs() < 1e-12);
        let named = Scale::named(&["a".to_owned(), "b".to_owned()]);
        assert_eq!((labels(&named), named.place(1.0)), (vec!["a", "b"], 0.75));
    }

    #[test]
    fn only_values_far_apart_have_a_logarithmic_axis() {
        let near = Scale::around(&[2.0, 40.0], 1.1, short);
        assert!(!near.is_log() && (near.place(44.0) - 1.0).abs() < 1e-12, "{near:?}");
        assert!(Scale::around(&[0.5, 40.0], 1.1, short).is_log());
        assert!(!Scale::around(&[0.0, 40.0], 1.1, short).is_log());
        assert_eq!(ends([3.0, f64::NAN, 1.0]), Some((1.0, 3.0)));
        assert_eq!(ends([]), None);
    }
}
