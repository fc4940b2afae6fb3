//! Exact division by a number known at start-up, without a divide instruction. For n < 2^31, `n /
//! d` is one multiplication and one shift (Granlund and Montgomery, PLDI '94).

/// Divisor, prepared for fast division of numbers below 2^31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reciprocal {
    mul: u64,
    shift: u32,
    divisor: u32,
}

impl Reciprocal {
    /// Prepares division by `divisor` (1 to 2^31).
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0 && divisor <= 1 << 31);
        let log = divisor.next_power_of_two().trailing_zeros();
        let shift = 31 + log;
        Self { mul: (1u64 << shift) / u64::from(divisor) + 1, shift, divisor }
    }

    /// Returns `n / divisor`; n must be below 2^31.
    #[inline(always)]
    // Two instructions on the read path.
    pub fn quotient(self, n: u32) -> u32 {
        debug_assert!(n < 1 << 31);
        ((u64::from(n) * self.mul) >> self.shift) as u32
    }

    /// Returns `n % divisor`; n must be below 2^31.
    #[inline(always)]
    // Three instructions on the write path.
    pub fn remainder(self, n: u32) -> u32 {
        n - self.quotient(n) * self.divisor
    }

    /// Returns the divisor.
    pub fn divisor(self) -> u32 {
        self.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_exact(n in 0u32..1 << 31, d in 1u32..=1 << 31) {
            prop_assert_eq!((Reciprocal::new(d).quotient(n), Reciprocal::new(d).remainder(n)), (n / d, n % d));
        }
    }

    #[test]
    fn is_exact_at_the_edges() {
        for d in [1u32, 2, 3, 4, 5, 7, 192, 2568, 7704, 65_535, (1 << 31) - 1, 1 << 31] {
            for n in [0, 1, d - 1, d, d.saturating_mul(2).saturating_sub(1), (1 << 31) - 1] {
                let n = n.min((1 << 31) - 1);
                assert_eq!(Reciprocal::new(d).quotient(n), n / d, "{n} / {d}");
            }
        }
    }
}
