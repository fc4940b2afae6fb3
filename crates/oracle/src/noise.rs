//! Randomly drawn retries (`error.noise`). The oracle checks that a drive's retries are possible,
//! and that their number fits their probabilities.
//!
//! A read takes more than k retries if some codeword of its page has more wrong bits than level k
//! corrects. The oracle rejects a result with a probability below 1e-30. The probabilities of a
//! read are known before it. Over all reads, the number of retries may differ by an amount with a
//! probability of 1e-12, by Freedman's bound.

use vpass_drive::config::DriveConfig;
use vpass_drive::error::chance::Chances;
use vpass_drive::error::tail::{ln_beyond, ln_within};

use crate::limits::Limits;

const NEVER: f64 = 1e-30;
/// Logarithm of the smallest accepted probability for all reads together.
const LN_ODD: f64 = -27.6;
/// Largest relative error of the drive's table of probabilities.
const INEXACT: f64 = 2e-3;

/// Probabilities for one drive's pages, and the results of its reads.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    chances: Chances,
    /// Error rate of each level above which a read may fail, and the rate above which it always
    /// fails.
    may_fail: Vec<f64>,
    fails: Vec<f64>,
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
    pub(crate) fn new(config: &DriveConfig, limits: &Limits) -> Option<Self> {
        if !config.error.noise {
            return None;
        }
        let (ladder, page) = (limits.budget().ladder(), config.geometry.page_size.0);
        let (bits, data_bits) = ladder.codeword()?;
        let codewords = (page * 8 / u64::from(data_bits)) as f64;
        let rate_where = |is_below: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = (0.0, 0.5);
            for _ in 0..55 {
                let middle = 0.5 * (low + high);
                if is_below(middle) { low = middle } else { high = middle }
            }
            high
        };
        let corrects: Vec<u32> =
            (0..=ladder.retries()).filter_map(|level| ladder.corrects(level)).collect();
        let may_fail =
            |t: &u32| rate_where(&|rate| codewords * ln_beyond(bits, *t, rate).exp() < NEVER);
        let fails =
            |t: &u32| rate_where(&|rate| codewords * ln_within(bits, *t, rate) > NEVER.ln());
        Some(Self {
            chances: Chances::of(ladder, page as u32)?,
            may_fail: corrects.iter().map(may_fail).collect(),
            fails: corrects.iter().map(fails).collect(),
            seen: Seen::default(),
        })
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

    /// Returns mean and variance of the last level of a read that begins at `first`.
    fn expected(&self, first: u8, rate: f64) -> (f64, f64) {
        let (first, last) = (usize::from(first), self.fails.len() - 1);
        let (mut mean, mut square) = (first as f64, (first * first) as f64);
        for level in first..last {
            let more = self.chances.more_than(level, rate);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    fn noise() -> Noise {
        let config: DriveConfig = toml::from_str(
            r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 4, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4 }
            disturb = { model = "count", table = [{ pec = 0, limit = [1000.0] }] }
            error = { model = "powerlaw", e = 0.001, noise = true }
            ecc = { codeword = "512B", cap = [0.0085, 0.010625, 0.0133], retry_decode_us = [20, 20] }
            "#,
        )
        .unwrap();
        Noise::new(&config, &Limits::new(&config)).unwrap()
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
                    .find(|level| drawn >= noise.chances.more_than(*level, factor * rate))
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
