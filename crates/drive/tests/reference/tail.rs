//! Binomial distribution of wrong bits.

/// Binomial distribution of wrong bits, term by term.
#[derive(Debug)]
pub(super) struct Tail {
    bits: usize,
    ln_factorial: Vec<f64>,
}

impl Tail {
    pub(super) fn new(bits: usize) -> Self {
        let next = |sum: &mut f64, n: usize| {
            *sum += (n.max(1) as f64).ln();
            Some(*sum)
        };
        Self { bits, ln_factorial: (0..=bits).scan(0.0, next).collect() }
    }

    fn ln_of(&self, wrong: usize, rate: f64) -> f64 {
        let ways = self.ln_factorial[self.bits]
            - self.ln_factorial[wrong]
            - self.ln_factorial[self.bits - wrong];
        ways + wrong as f64 * rate.ln() + (self.bits - wrong) as f64 * (-rate).ln_1p()
    }

    /// Returns the logarithm of the sum of the terms of these numbers of wrong bits. The largest
    /// term is the one nearest to the mean.
    fn ln_sum(&self, mut numbers: impl Iterator<Item = usize>, rate: f64) -> f64 {
        let Some(first) = numbers.next().map(|wrong| self.ln_of(wrong, rate)) else {
            return f64::NEG_INFINITY;
        };
        let (mut sum, mut most) = (1.0, first);
        for wrong in numbers {
            let ln = self.ln_of(wrong, rate);
            if ln > most {
                (sum, most) = (sum * (most - ln).exp() + 1.0, ln);
            } else {
                sum += (ln - most).exp();
                if ln - most < -45.0 {
                    break;
                }
            }
        }
        most + sum.ln()
    }

    /// Returns P(more than t bits are wrong).
    pub(super) fn above(&self, t: usize, rate: f64) -> f64 {
        self.ln_above(t, rate).exp()
    }

    /// Returns ln P(more than t bits are wrong).
    pub(super) fn ln_above(&self, t: usize, rate: f64) -> f64 {
        self.ln_sides(t, rate)[1]
    }

    /// Returns ln P(t or fewer bits are wrong).
    pub(super) fn ln_up_to(&self, t: usize, rate: f64) -> f64 {
        self.ln_sides(t, rate)[0]
    }

    /// Returns the logarithms of both sides of a cut after `t` wrong bits. The smaller side is
    /// summed. The logarithm of the larger side may be smaller than the rounding of its terms, so it
    /// follows from the smaller side.
    fn ln_sides(&self, t: usize, rate: f64) -> [f64; 2] {
        let rest = |ln: f64| (-ln.exp()).ln_1p();
        if rate <= 0.0 || t >= self.bits {
            return [0.0, f64::NEG_INFINITY];
        }
        if (t + 1) as f64 > self.bits as f64 * rate {
            let above = self.ln_sum(t + 1..=self.bits, rate);
            [rest(above), above]
        } else {
            let up_to = self.ln_sum((0..=t).rev(), rate);
            [up_to, rest(up_to)]
        }
    }
}
