//! Decision whether a run has settled. A run has settled if its last third resembles its middle
//! third.
//!
//! The thirds grow with the run, so even slow changes become visible. Three decisions use this
//! module: the end of the warm-up in `vpass life`, whether a run can project a life, and the end of
//! a run with `--until stable`. Each decision adds its own conditions.
//!
//! ```text
//! after 18 cycles, cycles 7 to 12 are compared with cycles 13 to 18
//! two causes have 40 and 60 programs in the first window, and 42 and 58 in the second
//! the difference is 2 of 100 programs, so the windows are equal within 3 %
//! ```

/// Returns three positions among `n` steps: the beginning of the middle third, its end, and `n`.
/// Returns `None` if there are fewer than three steps.
pub(crate) fn last_thirds(n: usize) -> Option<[usize; 3]> {
    let third = n / 3;
    (third > 0).then_some([n - 2 * third, n - third, n])
}

/// Returns whether two windows are alike. Each number may differ by at most the share `within` of
/// the sum of all numbers in `norm`.
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
