//! Decision whether a run has settled. In a settled run, the counts of the last third are nearly
//! equal to those of the middle third.
//!
//! The thirds grow with the run, so even slow changes become visible. This module decides when the
//! warm-up of `vpass life` ends, whether a life can be projected from a run, and when a run with
//! `--until stable` ends. For each of these three decisions, another module adds further
//! conditions.
//!
//! ```text
//! after 18 cycles, cycles 7 to 12 are compared with cycles 13 to 18
//! two causes have 40 and 60 programs in the first window, and 42 and 58 in the second
//! the difference is 2 of 100 programs, so the windows are equal within 3 %
//! ```

/// Divides `n` steps into thirds. Returns the first step of the middle third, the first step of the
/// last third, and `n`. Returns `None` if there are fewer than three steps.
pub(crate) fn last_thirds(n: usize) -> Option<[usize; 3]> {
    let third = n / 3;
    (third > 0).then_some([n - 2 * third, n - third, n])
}

/// Returns whether the numbers of two windows, `one` and `norm`, are nearly equal. The largest
/// allowed difference between two numbers is `within` times the sum of `norm`.
pub(crate) fn are_alike<const N: usize>(one: &[f64; N], norm: &[f64; N], within: f64) -> bool {
    let all: f64 = norm.iter().sum();
    one.iter().zip(norm).all(|(one, norm)| (one - norm).abs() <= within * all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        assert_eq!(last_thirds(18), Some([6, 12, 18]));
        assert_eq!((last_thirds(20), last_thirds(2)), (Some([8, 14, 20]), None));
        assert!(are_alike(&[40.0, 60.0], &[42.0, 58.0], 0.03));
        assert!(!are_alike(&[40.0, 60.0], &[44.0, 56.0], 0.03), "the sums alone are equal");
    }
}
