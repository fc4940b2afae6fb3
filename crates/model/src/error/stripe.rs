//! Probabilities of losses in stripes with parity, if the error rates of pages are spread around
//! the rate of their block.
//!
//! ```text
//! rate of a page      p x C x O      p: what wear, age and reads make of it; ln C and ln O are normal, deviations spread_common, spread_own
//! f(p) = P(a codeword fails)         the binomial tail
//! F(C) = mean of f over O            Q(C) = mean over O of 1 - (1 - f)^codewords, the chance that a page fails
//! a page alone        loses          mean over C of F
//! a page of a stripe                 mean over C of F (1 - (1 - Q)^N)      it fails, and so does one of the N other members
//! ```
//!
//! C belongs to a stripe, and O to a page. Pages of a stripe were written and read alike, so they
//! fail together more often than independent pages. All members count as pages of the same p. A
//! member that fails anywhere repairs nothing. A controller that rebuilds sector by sector would
//! lose less. Means are sums over evenly spaced points, which are accurate to about 1e-9 for such
//! functions.

use libm::{exp, expm1, log, log1p};

use super::tail::beyond;

/// Largest distance between two points of a mean, in standard deviations. Points go from 7
/// deviations below the middle to 11 above it, because rare high rates cause most losses. The
/// logarithms of their rates are at most `LN_STEP` apart, so that several points lie between a
/// readable and a lost page.
const STEP: f64 = 0.25;
const LN_STEP: f64 = 0.125;
const BELOW: f64 = 7.0;
const ABOVE: f64 = 11.0;
/// Largest error rate.
const RATE_MAX: f64 = 0.5;

/// Spread of the pages' error rates around the rate of their block, as standard deviations of
/// natural logarithms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Standard deviation of the factor that all pages of a stripe share.
    pub common: f64,
    /// Standard deviation of the factor of each page alone.
    pub own: f64,
}

impl Spread {
    /// Returns whether all pages have the error rate of their block.
    pub fn is_none(self) -> bool {
        self.common <= 0.0 && self.own <= 0.0
    }
}

/// Code of a drive's pages, and spread of their error rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pages {
    /// Number of bits of a codeword.
    pub bits: u32,
    /// Number of wrong bits that are corrected.
    pub corrects: u32,
    /// Number of codewords of a page.
    pub codewords: f64,
    /// Spread of the pages' error rates.
    pub spread: Spread,
}

/// Other members of a stripe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Others {
    /// Number of other members, which is the number of host pages of a stripe.
    pub members: u32,
    /// Error rate of their blocks.
    pub rate: f64,
}

impl Pages {
    /// Returns the share of codewords that fail, for pages in a block of this error rate.
    pub fn codewords_fail(&self, rate: f64) -> f64 {
        mean(self.spread.common, |common| [self.given(rate * common)[0]])[0]
    }

    /// Returns the share of pages that cannot be read, in a block of this error rate.
    pub fn pages_fail(&self, rate: f64) -> f64 {
        mean(self.spread.common, |common| [self.given(rate * common)[1]])[0]
    }

    /// Returns the share of codewords that fail and are not rebuilt, because another member of the
    /// stripe fails, too.
    pub fn codewords_lost(&self, rate: f64, others: Others) -> f64 {
        let lost = |common: f64| {
            let [fail, of_pages] = self.given(rate * common);
            let of_others = if others.rate.total_cmp(&rate).is_eq() {
                of_pages
            } else {
                self.given(others.rate * common)[1]
            };
            [fail * any(of_others, f64::from(others.members))]
        };
        mean(self.spread.common, lost)[0]
    }

    /// Returns the probabilities that a codeword and a page fail, for a known common factor.
    fn given(&self, rate: f64) -> [f64; 2] {
        mean(self.spread.own, |own| {
            let fails = beyond(self.bits, self.corrects, (rate * own).min(RATE_MAX));
            [fails, any(fails, self.codewords)]
        })
    }

    /// Returns the error rate of a block at which this share of codewords fails, without repair.
    pub fn rate_alone(&self, share: f64) -> f64 {
        rate_where(|rate| self.codewords_fail(rate), share)
    }

    /// Returns the error rate of a stripe's blocks at which this share of codewords is lost.
    pub fn rate_in_stripe(&self, members: u32, share: f64) -> f64 {
        rate_where(|rate| self.codewords_lost(rate, Others { members, rate }), share)
    }
}

impl Pages {
    /// Returns the error rate of a page's block at which this share of its codewords is lost, for
    /// fixed rates of the other members.
    pub fn rate_beside(&self, others: Others, share: f64) -> f64 {
        rate_where(|rate| self.codewords_lost(rate, others), share)
    }
}

/// Returns the probability that any of `of` independent parts fails.
fn any(fails: f64, of: f64) -> f64 {
    if fails >= 1.0 { 1.0 } else { -expm1(of * log1p(-fails)) }
}

/// Returns the means of several functions over a factor whose logarithm is normal.
fn mean<const N: usize>(deviation: f64, of: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    if deviation <= 0.0 {
        return of(1.0);
    }
    let (mut sums, mut weights) = ([0.0; N], 0.0);
    let step = STEP.min(LN_STEP / deviation);
    for point in (-BELOW / step) as i32..=(ABOVE / step) as i32 {
        let z = f64::from(point) * step;
        let weight = exp(-0.5 * z * z);
        sums.iter_mut().zip(of(exp(deviation * z))).for_each(|(sum, value)| *sum += weight * value);
        weights += weight;
    }
    sums.map(|sum| sum / weights)
}

/// Returns the rate at which a rising share reaches the wanted value. The search bisects until the
/// logarithm is nearly linear, and then uses the chord (the Illinois rule).
fn rate_where(share: impl Fn(f64) -> f64, wanted: f64) -> f64 {
    let above = |ln_rate: f64| log(share(exp(ln_rate)).max(f64::MIN_POSITIVE)) - log(wanted);
    let (mut low, mut high) = (-40.0, log(RATE_MAX));
    for _ in 0..10 {
        let middle = 0.5 * (low + high);
        *(if above(middle) < 0.0 { &mut low } else { &mut high }) = middle;
    }
    let (mut below_by, mut above_by) = (above(low), above(high));
    for _ in 0..40 {
        let next = low - below_by * (high - low) / (above_by - below_by);
        let at = above(next);
        if at.abs() < 1e-13 || !(next > low && next < high) {
            return exp(next.clamp(low, high));
        }
        if at < 0.0 {
            (low, below_by, above_by) = (next, at, 0.5 * above_by);
        } else {
            (high, above_by, below_by) = (next, at, 0.5 * below_by);
        }
    }
    exp(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Share of lost codewords for the paper's code, with 16 codewords per page of 8 KiB, and a
    /// loss of 1e-15 per data bit.
    const CLIENT: f64 = 1e-15 * 4096.0;

    fn pages(common: f64, own: f64) -> Pages {
        Pages { bits: 4200, corrects: 8, codewords: 16.0, spread: Spread { common, own } }
    }

    fn close(is: f64, should_be: f64, within: f64) {
        assert!((is / should_be - 1.0).abs() < within, "{is:e} for {should_be:e}");
    }

    /// The expected values are sums on another grid (steps of a tenth of a deviation, 12 deviations
    /// on each side). They have all terms of the tail and 52 bisections, in Python.
    #[test]
    fn the_rate_at_which_a_stripe_keeps_its_target_is_that_of_another_sum() {
        for (members, common, own, in_stripe, alone) in [
            (8, 0.0, 0.0, 1.904_301_839_418e-4, 5.490_421_297_592e-5),
            (4, 0.0, 0.0, 1.985_780_555_851e-4, 5.490_421_297_592e-5),
            (8, 0.3, 0.1, 9.019_762_592_296e-5, 3.552_939_122_160e-5),
            (8, 0.1, 0.3, 1.227_186_733_921e-4, 3.552_939_122_160e-5),
            (8, 0.5, 0.0, 3.248_786_545_244e-5, 1.881_293_863_578e-5),
            (8, 0.0, 0.5, 7.326_336_024_681e-5, 1.881_293_863_578e-5),
        ] {
            close(pages(common, own).rate_in_stripe(members, CLIENT), in_stripe, 1e-9);
            close(pages(common, own).rate_alone(CLIENT), alone, 1e-9);
        }
    }

    /// Random numbers between 0 and 1: the high bits of a linear congruential generator (Knuth's
    /// MMIX).
    struct Draws(u64);

    impl Draws {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 12) as f64 + 0.5) / (1u64 << 52) as f64
        }

        /// Returns a normal number (Box and Muller).
        fn normal(&mut self) -> f64 {
            (-2.0 * self.next().ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos()
        }
    }

    /// The test draws stripes bit by bit. The code is small, with four codewords per page and three
    /// other members.
    #[test]
    fn stripes_that_are_drawn_lose_as_often() {
        const STRIPES: u32 = 60_000;
        let code = Pages {
            bits: 40,
            corrects: 2,
            codewords: 4.0,
            spread: Spread { common: 0.4, own: 0.3 },
        };
        let (mut draws, mut failed, mut failed_pages, mut lost) = (Draws(7), 0u32, 0u32, 0u32);
        for _ in 0..STRIPES {
            let common = (0.4 * draws.normal()).exp();
            let mut fail_of_member = || {
                let rate = 0.02 * common * (0.3 * draws.normal()).exp();
                (0..4).filter(|_| (0..40).filter(|_| draws.next() < rate).count() > 2).count()
                    as u32
            };
            let own = fail_of_member();
            let others: u32 = (0..3).map(|_| fail_of_member()).sum();
            failed += own;
            failed_pages += u32::from(own > 0);
            lost += if others > 0 { own } else { 0 };
        }
        // Codewords of a page fail together. Standard deviations are at most twice those of
        // independent codewords.
        let within = |counted: u32, of: f64, share: f64| {
            let expected = of * share;
            assert!(
                (f64::from(counted) - expected).abs() < 5.0 * 2.0 * expected.sqrt(),
                "{counted} for {expected}"
            );
        };
        let all = f64::from(STRIPES);
        within(failed, 4.0 * all, code.codewords_fail(0.02));
        within(failed_pages, all, code.pages_fail(0.02));
        let shares = code.codewords_lost(0.02, Others { members: 3, rate: 0.02 });
        within(lost, 4.0 * all, shares);
        // Members with independent factors would lose far fewer codewords, so the draw
        // distinguishes the two models.
        let apart = code.codewords_fail(0.02) * any(code.pages_fail(0.02), 3.0);
        assert!(
            (f64::from(lost) - 4.0 * all * apart).abs() > 10.0 * f64::from(lost).sqrt(),
            "{lost}, {apart}"
        );
    }

    #[test]
    fn limits_are_those_of_simple_cases() {
        let (plain, rate) = (pages(0.0, 0.0), 3e-4);
        let fails = beyond(4200, 8, rate);
        close(plain.codewords_fail(rate), fails, 1e-14);
        close(plain.pages_fail(rate), 1.0 - (1.0 - fails).powi(16), 1e-9);
        let of_eight = Others { members: 8, rate };
        close(plain.codewords_lost(rate, of_eight), fails * (1.0 - (1.0 - fails).powi(128)), 1e-9);
        // One other page is a mirror. With infinitely many members, one of them always fails, and
        // parity does not help.
        close(
            plain.codewords_lost(rate, Others { members: 1, rate }),
            fails * (1.0 - (1.0 - fails).powi(16)),
            1e-9,
        );
        close(plain.codewords_lost(rate, Others { members: u32::MAX, rate }), fails, 1e-9);
        // Members that never fail repair everything.
        assert!(plain.codewords_lost(rate, Others { members: 8, rate: 0.0 }) <= 0.0);
        // A very small spread changes almost nothing.
        close(
            pages(1e-5, 1e-5).codewords_lost(rate, of_eight),
            plain.codewords_lost(rate, of_eight),
            1e-6,
        );
        // At the highest error rate, every codeword fails.
        close(pages(1.0, 1.0).codewords_lost(0.5, Others { members: 8, rate: 0.5 }), 1.0, 1e-2);
    }

    #[test]
    fn what_is_lost_rises_with_the_rate_the_members_and_what_they_have_in_common() {
        let all = pages(0.2, 0.2);
        let rises =
            |values: Vec<f64>| assert!(values.windows(2).all(|w| w[0] < w[1]), "{values:?}");
        let lost = |rate: f64, members: u32| all.codewords_lost(rate, Others { members, rate });
        rises((1..40).map(|n| lost(1e-5 * f64::from(n), 8)).collect());
        rises([1, 2, 4, 8, 16, 64].map(|members| lost(1e-4, members)).to_vec());
        rises(
            (1..20)
                .map(|n| all.codewords_lost(2e-4, Others { members: 8, rate: 1e-5 * f64::from(n) }))
                .collect(),
        );
        // The total deviation is constant, and its common part grows.
        let apart = |degrees: f64| {
            let (common, own) = degrees.to_radians().sin_cos();
            pages(0.3 * common, 0.3 * own).codewords_lost(1e-4, Others { members: 8, rate: 1e-4 })
        };
        rises([0.0, 20.0, 45.0, 70.0, 90.0].map(apart).to_vec());
        let alone = [0.0f64, 45.0, 90.0].map(|degrees| {
            let (common, own) = degrees.to_radians().sin_cos();
            pages(0.3 * common, 0.3 * own).codewords_fail(1e-4)
        });
        close(alone[0], alone[1], 1e-8);
        close(alone[2], alone[1], 1e-8);
    }
}
