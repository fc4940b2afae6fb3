//! Decides whether a run has settled. A run has settled if its last third resembles the previous
//! third.
//!
//! Windows grow with the run, so even a slow change shows in the end. Three decisions use this
//! module: the warm-up of `vpass life`, the life projected from a run, and `--until stable`. Each
//! adds conditions of its own.
//!
//! ```text
//! 18 cycles: cycles 7 to 12 are compared with cycles 13 to 18
//! two causes have 40 and 60 programs, later 42 and 58: equal within 3 %
//! ```

/// Returns three ends for `n` steps: the beginning of the middle third, its end, and `n`. Returns
/// `None` for fewer than three steps.
pub(crate) fn last_thirds(n: usize) -> Option<[usize; 3]> {
    let third = n / 3;
    (third > 0).then_some([n - 2 * third, n - third, n])
}

/// Returns whether two windows are alike. Each number may differ by at most the share `within` of
/// the sum of `norm`.
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
