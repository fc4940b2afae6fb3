//! Formatting of numbers for users, with grouped digits and a suitable unit. Reading of numbers
//! that users write.

pub use vpass_drive::base::in_words::{
    count, days, digits, microseconds, seconds, years, years_between,
};

/// Formats a count together with a noun: for example, "1 page" or "1,234 pages".
pub fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Returns the text without the same amount in parentheses at its end, such as "(1.5 MiB)".
pub fn short(text: &str) -> String {
    text.split(" (").next().unwrap_or_default().into()
}

/// Formats a size in bytes. Uses the largest binary unit in which the size is at least 1.
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

pub use vpass_drive::config::keys::short_number;

/// Reads a whole number with a decimal unit or an exponent. For example, "1M" and "1e6" are
/// 1,000,000. The units `k`, `M`, `G` and `T`, in upper or lower case, mean 10^3, 10^6, 10^9 and
/// 10^12. Returns `None` for other texts.
///
/// # Errors
/// Returns an error message if the result is not a whole number below 2^63.
pub fn counted(text: &str) -> Option<Result<u64, String>> {
    let text = text.trim();
    let (number, power) = match text.split_once(['e', 'E']) {
        Some((number, power)) => (number, power.parse::<u8>().ok()?),
        None => (text.get(..text.len().checked_sub(1)?)?, power_of_unit(text)?),
    };
    let digits = number.replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() || !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let zeros = usize::from(power).checked_sub(fraction.trim_end_matches('0').len());
    let count = zeros
        .map(|zeros| format!("{whole}{}{}", fraction.trim_end_matches('0'), "0".repeat(zeros)));
    let bad = || format!("`{text}` is not a whole number below 2^63");
    Some(
        count
            .and_then(|digits| digits.parse().ok())
            .filter(|n| i64::try_from(*n).is_ok())
            .ok_or_else(bad),
    )
}

/// Returns the power of ten for the unit with which a text ends. For example, "k" is 10^3.
fn power_of_unit(text: &str) -> Option<u8> {
    match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => Some(3),
        b'm' => Some(6),
        b'g' => Some(9),
        b't' => Some(12),
        _ => None,
    }
}

/// Joins names into a list: "a", "a and b" or "a, b and c".
pub fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([bytes(512), bytes(16384), bytes(3 << 29)], ["512 B", "16.0 KiB", "1.50 GiB"]);
        assert_eq!(
            [short_number(0.25), short_number(1e6), short_number(1e12)],
            ["0.25", "1000000", "1e12"]
        );
    }

    #[test]
    fn counts_take_decimal_units() {
        let n = |text| counted(text).unwrap();
        assert_eq!(
            [n("1k"), n("200K"), n("1M"), n("1.5m"), n("2G"), n("3_000T")].map(Result::unwrap),
            [1000, 200_000, 1_000_000, 1_500_000, 2_000_000_000, 3_000_000_000_000_000]
        );
        assert_eq!(n("1.0001k"), Err("`1.0001k` is not a whole number below 2^63".into()));
        assert_eq!([n("1e6"), n("1.5E3"), n("2e+0")].map(Result::unwrap), [1_000_000, 1500, 2]);
        assert!(n("10000000000T").is_err() && n("1e200").is_err() && n("1.5e0").is_err());
        for none in
            ["", "k", "1", "e6", "1e", "1e-3", "1e999", "-1k", "1KiB", "foo", "1 M x", "deadlinek"]
        {
            assert_eq!(counted(none), None, "{none}");
        }
    }
}
