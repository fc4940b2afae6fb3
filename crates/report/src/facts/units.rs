//! Units of results, which follow from the names of their keys.

use vpass_lab::numbers::{bytes, count, days, digits, microseconds, seconds, years};

/// Words of a key that name the unit of its value.
const UNITS: [&str; 9] =
    ["bytes", "us", "s", "seconds", "days", "years", "weeks", "share", "percent"];
/// Keys whose values are shares, although no word says so.
const SHARES: [&str; 11] = [
    "consumed",
    "reads_by_retries",
    "reads_held",
    "missed_budgets",
    "worst_dose_ratio",
    "threshold_used",
    "slow_reads_at_most",
    "within",
    "estimated_within",
    "thresholds_within",
    "yield",
];
/// Keys whose values are in percent, although no word says so.
const PERCENT: [&str; 2] = ["read_wear", "read_wear_net"];

/// Returns the unit of a value: the unit that its key names, or else the key of its object.
pub(super) fn unit_of(key: &str, parent: &str) -> Option<&'static str> {
    [key, parent].into_iter().find_map(|key| {
        if SHARES.contains(&key) {
            return Some("share");
        }
        if PERCENT.contains(&key) {
            return Some("percent");
        }
        let words: Vec<&str> = key.split('_').collect();
        let is_rate = words.contains(&"per") || words.contains(&"mib");
        // In `share_of_page_reads` and `host_bytes_written`, the unit is not the last word.
        UNITS.into_iter().find(|unit| match *unit {
            "bytes" | "share" | "percent" => words.contains(unit),
            "weeks" => words[0] == *unit,
            _ => words.last() == Some(unit) && !is_rate,
        })
    })
}

/// Formats a number in the unit that its key names.
pub(super) fn number(value: f64, whole: Option<u64>, key: &str, parent: &str) -> String {
    match (unit_of(key, parent), whole) {
        (Some("bytes"), _) => bytes(value.round() as u64),
        (Some("us"), _) => microseconds(value),
        (Some("s" | "seconds"), _) => seconds(value),
        (Some("weeks"), _) => days(7.0 * value),
        (Some("days"), _) => days(value),
        (Some("years"), _) => years(value, None),
        (Some("share"), _) => share(value),
        (Some("percent"), _) => format!("{} %", digits(value)),
        (_, Some(whole)) => count(whole),
        _ => ratio(value),
    }
}

/// Formats a share in percent. A share close to 1 gets enough decimals to show all leading nines.
fn share(share: f64) -> String {
    let nines = (-(1.0 - share).log10() - 2.0).ceil().clamp(0.0, 12.0) as usize;
    if (0.9995..1.0).contains(&share) {
        format!("{:.nines$} %", 100.0 * share)
    } else {
        format!("{} %", digits(100.0 * share))
    }
}

/// Formats a number without a unit. Even a very small number gets three digits.
fn ratio(value: f64) -> String {
    match value.abs() {
        of if of >= 0.1 || of == 0.0 => digits(value),
        of if of >= 1e-3 => {
            let decimals = (2.0 - of.log10().floor()) as usize;
            format!("{value:.decimals$}")
        }
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_and_shares_near_one_keep_their_digits() {
        assert_eq!([0.5, 0.999_998].map(share), ["50.0 %", "99.9998 %"]);
        let ratios = [6.0, 0.015, 0.000_123_4, -0.0125, 0.0];
        assert_eq!(ratios.map(ratio), ["6.00", "0.0150", "1.23e-4", "-0.0125", "0.00"]);
    }
}
