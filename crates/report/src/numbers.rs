//! Number formats of the page. Numbers look as in the terminal, but a line never breaks between a
//! number and its unit.

use vpass_lab::numbers as lab;

/// Space at which a line cannot break.
pub const NBSP: char = '\u{a0}';

/// Returns a text in which lines cannot break at spaces. The unit us becomes µs.
pub fn kept_together(text: &str) -> String {
    text.replace(" us", " µs").replace(' ', "\u{a0}")
}

/// Formats a number with three significant digits. Digits before the decimal point are never
/// dropped.
pub fn sig(value: f64) -> String {
    if value == 0.0 { "0".into() } else { lab::digits(value) }
}

/// Formats a number with two significant digits. Digits before the decimal point are never dropped.
pub fn two(value: f64) -> String {
    match value.abs() {
        v if v >= 9.95 => lab::digits(value.round()).trim_end_matches(".0").to_owned(),
        v if v >= 0.095 => format!("{value:.1}"),
        v if v >= 0.0095 => format!("{value:.3}"),
        v if v >= 0.000_95 => format!("{value:.4}"),
        v if v > 0.0 => format!("{value:.1e}"),
        _ => "0".into(),
    }
}

/// Formats a count. If the count is a mean with a fraction, the text has three significant digits.
pub fn count(value: f64) -> String {
    if value.fract() == 0.0 { lab::count(value.abs() as u64) } else { lab::digits(value) }
}

/// Formats a latency, given in microseconds.
pub fn us(us: f64) -> String {
    kept_together(&lab::microseconds(us))
}

/// Formats a time span, given in seconds.
pub fn seconds(s: f64) -> String {
    if s == 0.0 { "0".into() } else { kept_together(&lab::seconds(s)) }
}

/// Formats a time span, given in days.
pub fn days(days: f64) -> String {
    kept_together(&lab::days(days))
}

/// Formats a number of bytes.
pub fn bytes(bytes: f64) -> String {
    if bytes == 0.0 { "0".into() } else { kept_together(&lab::bytes(bytes.round() as u64)) }
}

/// Formats a share, given in percent.
pub fn percent(percent: f64) -> String {
    format!("{}\u{a0}%", two(percent))
}

/// Formats a number for an axis, such as 1,500 as 1.5k.
pub fn short(value: f64) -> String {
    for (unit, length) in [("G", 1e9), ("M", 1e6), ("k", 1e3)] {
        if value.abs() >= length {
            return format!("{}{unit}", trimmed(value / length));
        }
    }
    trimmed(value)
}

/// Smallest number that [`trimmed`] formats without an exponent.
const SMALLEST: f64 = 1e-6;

/// Formats a number with at most three significant digits, however small it is. Zeros at the end
/// are dropped. Digits before the decimal point are never dropped.
pub fn trimmed(value: f64) -> String {
    let rounded = three_digits(value);
    if rounded.abs() >= 100.0 || (rounded != 0.0 && rounded.abs() < SMALLEST) {
        sig(rounded)
    } else {
        rounded.to_string()
    }
}

/// Rounds a number to three significant digits. Digits before the decimal point are never dropped.
pub fn three_digits(value: f64) -> f64 {
    if value.abs() >= 99.95 {
        value.round()
    } else {
        format!("{value:.2e}").parse().unwrap_or(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stay_with_their_numbers() {
        assert_eq!(
            [us(36.4), us(52_000.0), seconds(41.43), days(0.5), bytes(1224.0), bytes(0.0)],
            ["36.4\u{a0}µs", "52.0\u{a0}ms", "41.4\u{a0}s", "12.0\u{a0}h", "1.20\u{a0}KiB", "0"]
        );
        assert_eq!(percent(21.16), "21\u{a0}%");
    }

    #[test]
    fn numbers_are_rounded_before_their_digits_are_chosen() {
        assert_eq!(
            [two(9.96), two(9.94), two(0.0), two(0.34), two(113.4)],
            ["10", "9.9", "0", "0.3", "113"]
        );
        assert_eq!(
            [sig(0.0), sig(3.053), count(1808.0), count(2.5)],
            ["0", "3.05", "1,808", "2.50"]
        );
        assert_eq!(
            [short(1500.0), short(0.0), short(2e6), short(950.0)],
            ["1.5k", "0", "2M", "950"]
        );
        assert_eq!(
            [trimmed(0.207_04), trimmed(0.001_5), trimmed(12.0), trimmed(99.96), trimmed(1234.5)],
            ["0.207", "0.0015", "12", "100", "1,235"]
        );
        assert_eq!([trimmed(0.0), trimmed(2.34e-9), trimmed(-0.25)], ["0", "2.3e-9", "-0.25"]);
    }
}
