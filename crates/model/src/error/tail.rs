//! Binomial tail: the probability that more than t of n bits are wrong, and the error rate at which
//! it has a given value.
//!
//! Terms are added from the largest on, each from the previous term by their ratio. The first term
//! is computed with logarithms, so nothing overflows or cancels. For codewords of 40,000 bits, the
//! first term and thus the tail are accurate to about 1e-10.

use libm::{exp, lgamma, log, log1p};

/// Returns P(X > t), where X of `n` bits are wrong, each with probability `p`.
pub fn beyond(n: u32, t: u32, p: f64) -> f64 {
    exp(ln_beyond(n, t, p))
}

/// Returns the natural logarithm of [`beyond`], for tails that are smaller than the smallest
/// number.
pub fn ln_beyond(n: u32, t: u32, p: f64) -> f64 {
    if t >= n || p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return 0.0;
    }
    let odds = p / (1.0 - p);
    if f64::from(t) + 1.0 > f64::from(n) * p {
        let terms = (t + 1..n).map(|k| f64::from(n - k) / f64::from(k + 1) * odds);
        ln_pmf(n, t + 1, p) + log(sum_of_ratios(terms))
    } else {
        let terms = (1..=t).rev().map(|k| f64::from(k) / f64::from(n - k + 1) / odds);
        log1p(-exp(ln_pmf(n, t, p) + log(sum_of_ratios(terms))))
    }
}

/// Returns the natural logarithm of P(X <= t).
pub fn ln_within(n: u32, t: u32, p: f64) -> f64 {
    // The right bits are all bits that are not wrong.
    if t >= n { 0.0 } else { ln_beyond(n, n - t - 1, 1.0 - p) }
}

/// Returns the error rate `p` at which P(X > t) is `target`.
pub fn rate_at(n: u32, t: u32, target: f64) -> f64 {
    let wanted = log(target);
    let (mut low, mut high) = (-70.0, 0.0);
    // The bisection ends when both ends are neighbouring numbers; 60 steps reduce 70 to below the
    // last bit.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if ln_beyond(n, t, exp(middle)) < wanted { &mut low } else { &mut high }) = middle;
    }
    exp(low)
}

/// Returns the smallest number of bits that a code must correct, so that P(X > t) is at most
/// `target` at the error rate `p`.
pub fn bits_for(n: u32, p: f64, target: f64) -> u32 {
    let wanted = log(target);
    let (mut too_few, mut enough) = (0, n);
    if ln_beyond(n, 0, p) <= wanted {
        return 0;
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        *(if ln_beyond(n, middle, p) <= wanted { &mut enough } else { &mut too_few }) = middle;
    }
    enough
}

/// Returns ln P(X = k).
fn ln_pmf(n: u32, k: u32, p: f64) -> f64 {
    let ln_factorial = |n: u32| lgamma(f64::from(n) + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
        + f64::from(k) * log(p)
        + f64::from(n - k) * log1p(-p)
}

/// Returns 1 + r1 + r1 r2 + ... Each ratio is below 1 and smaller than the previous one.
fn sum_of_ratios(ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for ratio in ratios {
        term *= ratio;
        sum += term;
        if term < sum * 1e-18 {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(is: f64, should_be: f64, within: f64) {
        assert!((is / should_be - 1.0).abs() < within, "{is} for {should_be}");
    }

    /// The expected values are from Python's fractions, which are exact.
    #[test]
    fn tails_of_codewords_are_those_of_exact_fractions() {
        for (n, t, p, tail) in [
            (4200, 8, 0.000_584, 9.965_263_469_758_43e-4),
            (36_864, 369, 0.0085, 9.447_598_082_797_22e-4),
            (36_864, 313, 0.0085, 4.927_606_207_600_59e-1),
            (36_864, 200, 0.0085, 9.999_999_999_961_84e-1),
            (36_864, 1000, 0.02075, 9.501_473_753_967_06e-17),
            (40_000, 40, 0.0001, 2.877_089_071_397_37e-27),
            (36_864, 900, 0.01, 1.447_917_321_707_52e-122),
        ] {
            close(beyond(n, t, p), tail, 1e-9);
        }
    }

    /// BCH(4200, 4096) of da-raid5-2013 corrects 8 bits.
    #[test]
    fn a_yield_gives_the_error_rate() {
        for (of_all, rate) in
            [(0.99, 8.36e-4), (0.999, 5.84e-4), (0.9999, 4.24e-4), (0.999_999, 2.35e-4)]
        {
            close(rate_at(4200, 8, 1.0 - of_all), rate, 2e-3);
            close(beyond(4200, 8, rate_at(4200, 8, 1.0 - of_all)), 1.0 - of_all, 1e-9);
        }
    }
}
