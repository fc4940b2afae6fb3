//! Comparison of two sets of runs.

use vpass_lab::results::Summary;

/// Returns the number of runs in each set: 5, or the number in `VPASS_SEEDS`.
pub(crate) fn seeds() -> u64 {
    std::env::var("VPASS_SEEDS").map_or(5, |n| n.parse().expect("a number"))
}

/// Returns the mean of some values, and the variance of that mean.
pub(crate) fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0) / n)
}

/// Checks that two sets of values have the same mean. The means may differ by the share `share`, or
/// by three standard errors of their difference.
pub(crate) fn agree(what: &str, share: f64, one: &[f64], other: &[f64]) {
    let ((a, of_a), (b, of_b)) = (mean(one), mean(other));
    let allowed = (share * a.abs()).max(3.0 * (of_a + of_b).sqrt());
    assert!((a - b).abs() <= allowed, "{what}: {a} and {b}, {allowed} apart at most");
}

/// Returns one value of each run.
pub(crate) fn of(runs: &[Summary], value: impl Fn(&Summary) -> f64) -> Vec<f64> {
    runs.iter().map(value).collect()
}
