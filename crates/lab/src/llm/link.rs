//! Warning about tokens per second that the drive's host link cannot carry.

use vpass_workload::model::ModelLaw;

use crate::numbers::digits;
use crate::plan::RunPlan;

/// Number of bytes of a megabyte, the unit of `timing.host_mb_s`.
const MB: f64 = 1e6;

/// Returns a warning if the host reads more bytes per second than the host link carries. Returns
/// `None` for an infinitely fast link.
pub(super) fn too_slow(plan: &RunPlan, law: &ModelLaw) -> Option<String> {
    let tokens = plan.model()?.model.tokens_per_second;
    let link = plan.drive.config.timing.host_mb_s * MB;
    let of_token = law.bytes_per_token();
    (link > 0.0 && tokens * of_token > link).then(|| {
        format!(
            "`{}` cannot serve {} tokens a second. Its host link (`timing.host_mb_s`) carries \
             {}/s, which is enough for at most {} tokens a second. The results assume a faster \
             link.",
            plan.drive.name,
            digits(tokens),
            decimal(link),
            digits(rounded_down(link / of_token))
        )
    })
}

/// Rounds a number down to three digits. The link would not carry a number that is rounded up.
fn rounded_down(number: f64) -> f64 {
    let unit = 10f64.powf(number.log10().floor() - 2.0);
    (number / unit).floor() * unit
}

/// Formats a number of bytes in the largest decimal unit in which the number is at least 1. Sizes
/// of language models are usually given in decimal units.
pub fn decimal(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", digits(value), UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_never_more_than_the_number() {
        for (number, expected) in [(1.2589, "1.25"), (0.012_39, "0.012"), (99.99, "99.9")] {
            assert_eq!(digits(rounded_down(number)), expected);
        }
        assert_eq!(digits(rounded_down(123_987.0)), "123,000");
    }
}
