//! Mean number of reads between two rewrites at a P/E count, for one technique. This number shows
//! how the wear that reads cause changes over a drive's life.
//!
//! A wordline with the threshold T is rewritten once every T reads, so its rate of rewrites is 1/T.
//! The rates of several wordlines add up. So the mean number of reads between two rewrites is the
//! harmonic mean of the thresholds. Weak wordlines have small thresholds and weigh most.
//!
//! ```text
//! thresholds 100 and 300:  2 / (1/100 + 1/300) = 150
//! ```

use super::Threshold;

/// Returns the harmonic mean of all thresholds, in reads; `None` if there are no thresholds.
pub(super) fn harmonic_mean(thresholds: &[Threshold]) -> Option<f64> {
    let rates: f64 = thresholds.iter().map(|t| 1.0 / f64::from(t.reads.max(1))).sum();
    (rates > 0.0).then(|| thresholds.len() as f64 / rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let threshold = |reads| Threshold { name: String::new(), reads, because: String::new() };
        let mean = harmonic_mean(&[threshold(100), threshold(300)]).unwrap();
        assert!((mean - 150.0).abs() < 1e-9, "{mean}");
        assert_eq!(harmonic_mean(&[]), None);
    }
}
