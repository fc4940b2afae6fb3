//! Counts, spans of time and other numbers for readers. Digits are grouped, and the unit suits the
//! size.

use super::span::{DAY, SECOND, YEAR};

/// Formats a count: 1234567 becomes "1,234,567".
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Units of a span of time. Each has its length in seconds, and the smallest span that uses it.
const UNITS_OF_TIME: [(&str, f64, f64); 7] = [
    ("years", YEAR_S, 2.0 * YEAR_S),
    ("days", DAY_S, 2.0 * DAY_S),
    ("h", 3600.0, 7200.0),
    ("min", 60.0, 120.0),
    ("s", 1.0, 1.0),
    ("ms", 1e-3, 1e-3),
    ("us", 1e-6, 0.0),
];
const DAY_S: f64 = DAY as f64 / SECOND as f64;
const YEAR_S: f64 = YEAR as f64 / SECOND as f64;

/// Formats a span of time in a suitable unit, such as "44.2 min". All spans for readers use this
/// format.
pub fn seconds(s: f64) -> String {
    span(s, None)
}

/// Formats a span of time in microseconds as [`seconds`] does.
pub fn microseconds(us: f64) -> String {
    span(us / 1e6, None)
}

/// Formats a span of time in days as [`seconds`] does.
pub fn days(days: f64) -> String {
    span(days * DAY_S, None)
}

/// Formats a span of time in years of 365 days as [`seconds`] does, such as "4.00 ± 0.10 years".
/// `half` is half the width of its interval.
pub fn years(years: f64, half: Option<f64>) -> String {
    span(years * YEAR_S, half.map(|half| half * YEAR_S))
}

/// Formats a span of time in years with the ends of its interval, all in one suitable unit, such as
/// "4.10 years (3.90 to 4.40)".
pub fn years_between(years: f64, (low, high): (f64, f64)) -> String {
    let (unit, length) = unit_of(years * YEAR_S);
    let in_unit = |years: f64| digits(years * YEAR_S / length);
    format!("{} {unit} ({} to {})", in_unit(years), in_unit(low), in_unit(high))
}

/// Returns the unit that suits a number of seconds, and the length of the unit in seconds.
fn unit_of(s: f64) -> (&'static str, f64) {
    let fitting = UNITS_OF_TIME.into_iter().find(|(.., from)| s >= *from);
    let (unit, length, _) = fitting.unwrap_or(UNITS_OF_TIME[UNITS_OF_TIME.len() - 1]);
    (unit, length)
}

/// Formats a span in seconds with its interval, both in the unit that suits the span.
fn span(s: f64, half: Option<f64>) -> String {
    if s == 0.0 && half.is_none_or(|half| half == 0.0) {
        return "0 s".into();
    }
    let (unit, length) = unit_of(s);
    let interval = half.map_or_else(String::new, |half| format!(" ± {}", digits(half / length)));
    format!("{}{interval} {unit}", digits(s / length))
}

/// Formats a number with three digits, or with all digits before the decimal point.
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 1e15 => format!("{value:.2e}"),
        v if v >= 99.95 => count_signed(value.round()),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v > 0.0 && v < 0.001 => format!("{value:.1e}"),
        v if v > 0.0 && v < 0.1 => format!("{value:.3}"),
        _ => format!("{value:.2}"),
    }
}

fn count_signed(whole: f64) -> String {
    let sign = if whole < 0.0 { "-" } else { "" };
    format!("{sign}{}", count(whole.abs() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [count(0), count(999), count(1000), count(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [microseconds(36.4), microseconds(331_000.0), microseconds(2e6)],
            ["36.4 us", "331 ms", "2.00 s"]
        );
        assert_eq!([days(0.5), days(30.0), days(1533.0)], ["12.0 h", "30.0 days", "4.20 years"]);
        assert_eq!(
            [digits(0.0), digits(1e-4), digits(1234.4), digits(-1.0)],
            ["0.00", "1.0e-4", "1,234", "-1.00"]
        );
    }

    /// The span is the same in every unit: 8.4e-5 years are 2,649 s, or 44.15 min.
    #[test]
    fn a_span_has_the_unit_that_fits_whatever_it_was_counted_in() {
        let as_seconds = 8.4e-5 * 365.0 * 86_400.0;
        let all = [
            years(8.4e-5, None),
            days(as_seconds / 86_400.0),
            seconds(as_seconds),
            microseconds(as_seconds * 1e6),
        ];
        assert_eq!(all, ["44.2 min"; 4]);
        let shown = [0.0, 4e-5, 0.02, 59.0, 119.0, 121.0, 7199.0, 7201.0, 172_000.0, 173_000.0]
            .map(seconds);
        assert_eq!(
            shown,
            [
                "0 s",
                "40.0 us",
                "20.0 ms",
                "59.0 s",
                "119 s",
                "2.02 min",
                "120 min",
                "2.00 h",
                "47.8 h",
                "2.00 days"
            ]
        );
        // With 365 days per year, 1.96 years are 715.4 days. With 365.25 days, they would be 715.9.
        assert_eq!(
            [years(1.96, None), years(2.0, None), years(100.0, None)],
            ["715 days", "2.00 years", "100 years"]
        );
        assert_eq!(years_between(4.1, (3.9, 4.4)), "4.10 years (3.90 to 4.40)");
        assert_eq!(years_between(8.4e-5, (8.3e-5, 1e-4)), "44.2 min (43.6 to 52.6)");
        assert_eq!(
            [years(4.0, Some(0.1)), years(8.4e-5, Some(1e-6))],
            ["4.00 ± 0.10 years", "44.2 ± 0.53 min"]
        );
    }
}
