//! Numbers for reading: digits grouped, units chosen by size.

/// 1234567 as "1,234,567".
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

/// "1 page", "1,234 pages".
pub fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Bytes in the largest binary unit that leaves at least 1.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{} {}", digits(value), UNITS[unit]) }
}

/// Microseconds in the unit that suits them.
pub fn microseconds(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{} us", digits(us)),
        us if us < 1e6 => format!("{} ms", digits(us / 1e3)),
        us => seconds(us / 1e6),
    }
}

/// Seconds in the unit that suits them.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 1.0 => microseconds(s * 1e6),
        s if s < 120.0 => format!("{} s", digits(s)),
        s if s < 7200.0 => format!("{} min", digits(s / 60.0)),
        s if s < 172_800.0 => format!("{} h", digits(s / 3600.0)),
        s => days(s / 86_400.0),
    }
}

/// Days, or years from two of them on; less than a day in hours.
pub fn days(days: f64) -> String {
    match days {
        d if d < 2.0 => format!("{} h", digits(d * 24.0)),
        d if d < 730.5 => format!("{} days", digits(d)),
        d => format!("{} years", digits(d / 365.25)),
    }
}

/// Three digits, or all of those before the point.
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

/// A number in the fewest digits: 0.001, 1000000, 1e12.
pub fn short_number(n: f64) -> String {
    let (plain, exponent) = (n.to_string(), format!("{n:e}"));
    if plain.len() <= 7 { plain } else { exponent }
}

/// A whole number with a decimal unit: "1M" is 1,000,000; `k`, `M`, `G` and `T`, large or small, are 1000 to 1000^4. None where the text
/// has no such unit.
///
/// # Errors
/// A sentence, where what stands before the unit is no number, or the whole is no whole number.
pub fn counted(text: &str) -> Option<Result<u64, String>> {
    let text = text.trim();
    let number = text.get(..text.len().checked_sub(1)?)?;
    let power: usize = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => 1,
        b'm' => 2,
        b'g' => 3,
        b't' => 4,
        _ => return None,
    };
    let digits = number.replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() || !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let zeros = (3 * power).checked_sub(fraction.trim_end_matches('0').len());
    let count = zeros.map(|zeros| format!("{whole}{}{}", fraction.trim_end_matches('0'), "0".repeat(zeros)));
    let bad = || format!("`{text}` is no whole number below 2^63");
    Some(count.and_then(|digits| digits.parse().ok()).filter(|n| i64::try_from(*n).is_ok()).ok_or_else(bad))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([count(0), count(999), count(1000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([bytes(512), bytes(16384), bytes(3 << 29)], ["512 B", "16.0 KiB", "1.50 GiB"]);
        assert_eq!([microseconds(36.4), microseconds(331_000.0), microseconds(2e6)], ["36.4 us", "331 ms", "2.00 s"]);
        assert_eq!([days(0.5), days(30.0), days(1534.05)], ["12.0 h", "30.0 days", "4.20 years"]);
        assert_eq!([short_number(0.25), short_number(1e6), short_number(1e12)], ["0.25", "1000000", "1e12"]);
        assert_eq!([digits(0.0), digits(1e-4), digits(1234.4), digits(-1.0)], ["0.00", "1.0e-4", "1,234", "-1.00"]);
    }
    #[test]
    fn counts_take_decimal_units() {
        let n = |text| counted(text).unwrap();
        assert_eq!(
            [n("1k"), n("200K"), n("1M"), n("1.5m"), n("2G"), n("3_000T")].map(Result::unwrap),
            [1000, 200_000, 1_000_000, 1_500_000, 2_000_000_000, 3_000_000_000_000_000]
        );
        assert_eq!(n("1.0001k"), Err("`1.0001k` is no whole number below 2^63".into()));
        assert!(n("10000000000T").is_err());
        for none in ["", "k", "1", "1e6", "-1k", "1KiB", "foo", "1 M x", "deadlinek"] {
            assert_eq!(counted(none), None, "{none}");
        }
    }
}
