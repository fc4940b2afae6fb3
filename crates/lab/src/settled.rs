//! Whether a run has settled: its last third is like the third before it.
//!
//! Windows grow with the run, so a slow change shows in the end. Three places ask: a warm-up of
//! `vpass life`, a life projected from a run, and `--until stable`. Each adds what else must hold.
//!
//! ```text
//! 18 cycles: 7 to 12 against 13 to 18
//! 40 and 60 programs by cause against 42 and 58: alike within 3 %
//! ```

/// Ends of the last two thirds of `n` steps: where the first begins, where they meet, and `n`; none
/// for fewer than three steps.
pub(crate) fn last_thirds(n: usize) -> Option<[usize; 3]> {
    let third = n / 3;
    (third > 0).then_some([n - 2 * third, n - third, n])
}

/// Whether two windows are alike: each number differs by at most the share `within` of the sum of
/// `norm`.
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
        assert!(!are_alike(&[40.0, 60.0], &[44.0, 56.0], 0.03), "a sum alone would be the same");
    }
}
