//! Tests of the binomial tail of whole codewords with whole numbers. At p = a / 2^s, the
//! probabilities of n bits are whole multiples of 2^-sn.

use crate::error::tail::{beyond, ln_within};

/// Whole number, its lowest 32 bits first.
#[derive(Clone)]
struct Whole(Vec<u32>);

impl Whole {
    fn times(&mut self, by: u32) {
        let mut carry = 0;
        for digit in &mut self.0 {
            carry += u64::from(*digit) * u64::from(by);
            *digit = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Divides without a remainder.
    fn divided(&mut self, by: u32) {
        let mut rest = 0;
        for digit in self.0.iter_mut().rev() {
            rest = rest << 32 | u64::from(*digit);
            *digit = (rest / u64::from(by)) as u32;
            rest %= u64::from(by);
        }
        assert_eq!(rest, 0);
    }

    fn plus(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()) + 1, 0);
        let mut carry = 0;
        for (digit, more) in self.0.iter_mut().zip(other.0.iter().chain(std::iter::repeat(&0))) {
            carry += u64::from(*digit) + u64::from(*more);
            *digit = carry as u32;
            carry >>= 32;
        }
    }

    /// Returns 2^`bits` minus this number.
    fn up_to_power(&self, bits: u32) -> Self {
        assert!(bits.is_multiple_of(32));
        let mut borrow = 0;
        let digits = (0..bits as usize / 32).map(|n| {
            let less = u64::from(self.0.get(n).copied().unwrap_or(0)) + borrow;
            borrow = u64::from(less > 0);
            (1u64 << 32).wrapping_sub(less) as u32
        });
        Self(digits.collect())
    }

    /// Returns this number divided by 2^`bits`, from its three highest digits.
    fn of_power(&self, bits: u32) -> f64 {
        let top = self.0.iter().rposition(|digit| *digit > 0).expect("more than nothing");
        let digit = |n: usize| top.checked_sub(n).map_or(0.0, |at| f64::from(self.0[at]));
        let head = digit(0) + (digit(1) + digit(2) / 4_294_967_296.0) / 4_294_967_296.0;
        // The scaling has two steps, because a single factor might be too small for a number.
        let exponent = i32::try_from(32 * top).expect("far fewer") - bits.cast_signed();
        head * f64::powi(2.0, exponent / 2) * f64::powi(2.0, exponent - exponent / 2)
    }
}

/// Returns P(X > t) and P(X <= t) of n bits at p = a / 2^shift.
fn exact(n: u32, t: u32, a: u32, shift: u32) -> (f64, f64) {
    let right = (1 << shift) - a;
    let mut term = Whole(vec![1]);
    (0..n).for_each(|_| term.times(right));
    let mut up_to = term.clone();
    for k in 0..t {
        // C(n, k + 1) = C(n, k) (n - k) / (k + 1). One right bit becomes wrong.
        term.times(n - k);
        term.divided(k + 1);
        term.times(a);
        term.divided(right);
        up_to.plus(&term);
    }
    (up_to.up_to_power(n * shift).of_power(n * shift), up_to.of_power(n * shift))
}

#[test]
fn tails_of_codewords_are_those_of_whole_numbers() {
    // The codes are BCH(4200, 4096), LDPC of 4 KiB and a code of 512 bytes. LDPC is tested at and
    // beyond the caps of the presets (near 0.0085 and 0.02075).
    for (n, t, a, shift) in [
        (4200, 8, 612, 20),
        (36_864, 369, 557, 16),
        (36_864, 1000, 1360, 16),
        (36_864, 340, 557, 16),
        (4608, 61, 557, 16),
    ] {
        let p = f64::from(a) / f64::from(1u32 << shift);
        let (more, up_to) = exact(n, t, a, shift);
        assert!(
            (beyond(n, t, p) / more - 1.0).abs() < 1e-9,
            "{n} {t} {p}: {} for {more}",
            beyond(n, t, p)
        );
        assert!(
            (ln_within(n, t, p).exp() / up_to - 1.0).abs() < 1e-9,
            "{n} {t} {p}: up to {up_to}"
        );
    }
    // Far below the mean, hardly any codeword is decoded.
    let (_, up_to) = exact(4608, 10, 4096, 16);
    assert!(
        up_to < 1e-90 && (ln_within(4608, 10, 0.0625).exp() / up_to - 1.0).abs() < 1e-8,
        "{up_to}"
    );
}
