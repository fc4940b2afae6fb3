//! Randomly drawn retries (`error.noise`). The oracle checks that a drive's retries are possible,
//! and that their number fits their probabilities.
//!
//! A read takes more than k retries if some codeword of its page has more wrong bits than level k
//! corrects. The oracle rejects a result with a probability below 1e-30. The probabilities of a
//! read are known before it. Over all reads, the number of retries may differ by an amount with a
//! probability of 1e-12, by Freedman's bound.

use vpass_drive::config::{DriveConfig, EccConfig};

const NEVER: f64 = 1e-30;
/// Logarithm of the smallest accepted probability for all reads together.
const LN_ODD: f64 = -27.6;
/// Largest relative error of the tables, here and in the drive.
const INEXACT: f64 = 2e-3;
const STEPS: usize = 2048;

/// Probabilities for one drive's pages, and the results of its reads.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    codewords: f64,
    /// Error rate of each level above which a read may fail, and the rate above which it always
    /// fails.
    may_fail: Vec<f64>,
    fails: Vec<f64>,
    /// Logarithms of P(codeword fails at a level). The steps go from the first of `may_fail` to the
    /// last of `fails`.
    more: Vec<Vec<f64>>,
    seen: Seen,
}

/// Levels of the reads so far.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    reads: u64,
    sum: f64,
    /// Lowest and highest expected sum. Error rates are known only up to the rounding of limits.
    low: f64,
    high: f64,
    variance: f64,
}

/// A read of a page: its first level, its retries, and the lowest and highest possible error rate
/// of its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    pub(crate) first: u8,
    pub(crate) retries: u8,
    /// Whether the read was decoded. `None` if the result shows nothing, because the program of the
    /// wordline over itself corrupted the page.
    pub(crate) good: Option<bool>,
    pub(crate) rates: (f64, f64),
}

impl Noise {
    /// Returns the probabilities of a drive; `None` if retries follow from the error rate.
    pub(crate) fn new(config: &DriveConfig, caps: &[f64]) -> Option<Self> {
        let ecc = &config.ecc;
        let data = ecc.codeword.filter(|_| config.error.noise)?.0 as f64;
        let codewords = (config.geometry.page_size.0 as f64 / data).floor();
        let tail = Tail::new((data * 8.0 / ecc.code_rate).round() as usize);
        let corrects = corrects(ecc, caps, &tail);
        let chance_is = |is: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = (0.0, 0.5);
            for _ in 0..55 {
                let middle = 0.5 * (low + high);
                if is(middle) { low = middle } else { high = middle }
            }
            high
        };
        let of_page = |t: usize, rate: f64| codewords * tail.above(t, rate);
        let may_fail: Vec<f64> =
            corrects.iter().map(|t| chance_is(&|rate| of_page(*t, rate) < NEVER)).collect();
        let fails: Vec<f64> = corrects
            .iter()
            .map(|t| chance_is(&|rate| codewords * tail.ln_up_to(*t, rate) > NEVER.ln()))
            .collect();
        let mut noise = Self { codewords, may_fail, fails, more: vec![], seen: Seen::default() };
        let (from, to) = noise.span();
        let at = |step: usize| from + (to - from) * step as f64 / STEPS as f64;
        noise.more = (0..=STEPS)
            .map(|step| corrects.iter().map(|t| tail.above(*t, at(step)).ln()).collect())
            .collect();
        Some(noise)
    }

    fn span(&self) -> (f64, f64) {
        (self.may_fail[0], self.fails[self.fails.len() - 1])
    }

    /// Returns the error rate above which a read may need a retry.
    pub(crate) fn calm(&self) -> f64 {
        self.may_fail[0]
    }

    /// Returns whether a read of data with this error rate may be uncorrectable.
    pub(crate) fn may_be_lost(&self, rate: f64) -> bool {
        rate >= self.may_fail[self.may_fail.len() - 1]
    }

    /// Returns whether a read of data with this error rate must be uncorrectable.
    pub(crate) fn is_lost(&self, rate: f64) -> bool {
        rate > self.fails[self.fails.len() - 1]
    }

    /// Returns whether a read may have ended as it did.
    pub(crate) fn is_possible(&self, read: Drawn) -> bool {
        let (last, (low, high)) = (self.fails.len() - 1, read.rates);
        let level = usize::from(read.first) + usize::from(read.retries);
        let may_fail = level == last && self.may_be_lost(high);
        let may_work = level <= last
            && low <= self.fails[level]
            && (read.retries == 0 || high >= self.may_fail[level - 1]);
        match read.good {
            Some(true) => may_work,
            Some(false) => may_fail,
            None => may_work || may_fail,
        }
    }

    /// Returns the probability that a read fails at this level.
    fn more_than(&self, level: usize, rate: f64) -> f64 {
        let (from, to) = self.span();
        let place = ((rate - from) / (to - from) * STEPS as f64).clamp(0.0, STEPS as f64);
        let step = (place as usize).min(STEPS - 1);
        let part = place - step as f64;
        let of_codeword = ((1.0 - part) * self.more[step][level]
            + part * self.more[step + 1][level])
            .exp()
            .min(1.0);
        -(self.codewords * (-of_codeword).ln_1p()).exp_m1()
    }

    /// Returns mean and variance of the last level of a read that begins at `first`.
    fn expected(&self, first: u8, rate: f64) -> (f64, f64) {
        let (first, last) = (usize::from(first), self.fails.len() - 1);
        let (mut mean, mut square) = (first as f64, (first * first) as f64);
        for level in first..last {
            let more = self.more_than(level, rate);
            mean += more;
            square += (2 * level + 1) as f64 * more;
        }
        (mean, (square - mean * mean).max(0.0))
    }

    /// Notes a finished read with drawn retries.
    pub(crate) fn note(&mut self, read: Drawn) {
        let ((low, of_low), (high, of_high)) =
            (self.expected(read.first, read.rates.0), self.expected(read.first, read.rates.1));
        self.seen.reads += 1;
        self.seen.sum += f64::from(read.first) + f64::from(read.retries);
        self.seen.low += low * (1.0 - INEXACT);
        self.seen.high += high * (1.0 + INEXACT);
        self.seen.variance += of_low.max(of_high);
    }

    /// Checks that all reads together took as many retries as their probabilities say.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Seen { reads, sum, low, high, variance } = self.seen;
        let most = (self.fails.len() - 1) as f64 * -LN_ODD / 3.0;
        let off = most + (most * most - 2.0 * LN_ODD * variance).sqrt();
        if sum < low - off || sum > high + off {
            return Err(format!(
                "{reads} reads of data with retries took {sum} levels in all; {low:.1} to \
                 {high:.1} are expected, within {off:.1}"
            ));
        }
        Ok(())
    }
}

/// Returns the number of bits of a codeword that each level corrects. It is configured, or it is
/// the smallest number that meets the level's target at its cap.
fn corrects(ecc: &EccConfig, caps: &[f64], tail: &Tail) -> Vec<usize> {
    if !ecc.corrects.is_empty() {
        return ecc.corrects.iter().map(|t| *t as usize).collect();
    }
    let fewest = |(level, cap): (usize, &f64)| {
        let target = if level + 1 == caps.len() { ecc.last_target } else { ecc.target };
        let (mut low, mut high) = (0, tail.bits);
        while low < high {
            let middle = usize::midpoint(low, high);
            if tail.above(middle, *cap) <= target { high = middle } else { low = middle + 1 }
        }
        low
    };
    caps.iter().enumerate().map(fewest).collect()
}

/// Binomial distribution of wrong bits, term by term.
#[derive(Debug)]
struct Tail {
    bits: usize,
    ln_factorial: Vec<f64>,
}

impl Tail {
    fn new(bits: usize) -> Self {
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
    fn above(&self, t: usize, rate: f64) -> f64 {
        if rate <= 0.0 { 0.0 } else { self.ln_sum(t + 1..=self.bits, rate).exp().min(1.0) }
    }

    /// Returns ln P(t or fewer bits are wrong).
    fn ln_up_to(&self, t: usize, rate: f64) -> f64 {
        if rate <= 0.0 { 0.0 } else { self.ln_sum((0..=t.min(self.bits)).rev(), rate).min(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use vpass_drive::base::units::Bytes;

    fn noise() -> Noise {
        let mut config: DriveConfig = toml::from_str(
            r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 4, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4 }
            error = { noise = true }
            "#,
        )
        .unwrap();
        config.ecc.codeword = Some(Bytes(512));
        Noise::new(&config, &[0.0085, 0.010_625, 0.0133]).unwrap()
    }

    #[test]
    fn tails_are_those_of_exact_fractions() {
        let tail = Tail::new(36_864);
        let close =
            |is: f64, exact: f64| assert!((is / exact - 1.0).abs() < 1e-8, "{is} for {exact}");
        close(tail.above(369, 0.0085), 9.447_598_082_797_22e-4);
        close(tail.above(200, 0.0085), 9.999_999_999_961_84e-1);
        close(tail.above(1000, 0.02075), 9.501_473_753_967_06e-17);
        close(1.0 - tail.ln_up_to(313, 0.0085).exp(), 4.927_606_207_600_59e-1);
    }

    #[test]
    fn what_is_impossible_is_refused() {
        let noise = noise();
        let judged = |first, retries, good, rate| {
            noise.is_possible(Drawn { first, retries, good, rates: (rate, rate) })
        };
        let read = |first, retries, good, rate| judged(first, retries, Some(good), rate);
        assert!(read(0, 0, true, 0.001) && !read(0, 1, true, 0.001), "calm");
        assert!(read(0, 0, true, 0.0085) && read(0, 1, true, 0.0085) && !read(0, 0, true, 0.05));
        assert!(!read(0, 3, true, 0.0085), "there are two");
        assert!(
            !read(0, 2, false, 0.001) && read(0, 2, false, 0.0133) && !read(0, 1, false, 0.0133),
            "given up too early"
        );
        assert!(read(1, 0, true, 0.001) && read(1, 1, false, 0.0133) && !read(1, 1, true, 0.001));
        // A page that was corrupted in place fails to decode or holds wrong data. This shows
        // nothing about the draw.
        assert!(
            judged(0, 0, None, 0.001)
                && judged(0, 2, None, 0.0133)
                && !judged(0, 1, None, 0.001)
                && !judged(0, 1, None, 0.05)
        );
        assert!(noise.is_lost(0.1) && !noise.is_lost(0.0133) && !noise.may_be_lost(0.001));
    }

    /// The check accepts reads with their true error rate and rejects reads with a rate 10% higher
    /// or lower.
    #[test]
    fn retries_come_as_often_as_their_chances_say() {
        for (factor, is_right) in [(1.0, true), (1.1, false), (0.9, false)] {
            let (mut noise, mut dice) = (noise(), Dice::new(5));
            for n in 0..20_000u32 {
                let rate = 0.009 + 1e-7 * f64::from(n);
                let drawn = dice.unit();
                let level = (0..2)
                    .find(|level| drawn >= noise.more_than(*level, factor * rate))
                    .unwrap_or(2) as u8;
                let first = (n % 3 / 2) as u8;
                noise.note(Drawn {
                    first,
                    retries: level.saturating_sub(first),
                    good: Some(true),
                    rates: (rate, rate),
                });
            }
            assert_eq!(noise.check().is_ok(), is_right, "{factor}: {:?}", noise.check());
        }
    }
}
