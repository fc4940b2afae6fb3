//! Probabilities that a read of a page takes more than k retries, by the error rate (RBER) of its
//! data.
//!
//! A level fails for a page if it fails for any codeword of the page. Probabilities are looked up:
//! the table has the logarithm of the binomial tail at a thousand rates, and is linear between
//! them.
//!
//! ```text
//! rate    calm ................. cap_0 ..... cap_K ................ gone
//!         below it no read       drawn, with the tail of each       above it no read
//!         takes a retry          level                              decodes
//! ```

use libm::{exp, expm1, log, log1p};

use super::ladder::Ladder;
use super::tail::{ln_beyond, ln_within, rate_at};

/// Probability below which an event never happens.
pub const NEVER: f64 = 1e-30;
const STEPS: usize = 1024;
/// Error rate at which a page has no information, because half of its bits are wrong.
const NONSENSE: f64 = 0.5;

/// Probabilities for the pages of one drive.
#[derive(Clone, Debug)]
pub struct Chances {
    /// Number of codewords of a page.
    codewords: f64,
    levels: usize,
    calm: f64,
    gone: f64,
    /// Number of steps per unit of RBER.
    per_rate: f64,
    /// Logarithm of the probability that a codeword is not decoded, by step and level.
    ln_fails: Vec<f64>,
    /// For each level: whether data that the level decodes may be beyond the last level, with a
    /// relevant probability.
    is_at_risk: Vec<bool>,
    /// Expected number of lost codewords of a page at the first level's cap.
    lost_at_first_cap: f64,
}

impl Chances {
    /// Returns the probabilities for a ladder with a known codeword.
    pub fn of(ladder: &Ladder, page_bytes: u32) -> Option<Self> {
        let (bits, _) = ladder.codeword()?;
        let (calm, codewords) = (calm(ladder, page_bytes)?, codewords(ladder, page_bytes)?);
        let (levels, last) = (ladder.retries() + 1, ladder.retries());
        let corrects = |level: usize| ladder.corrects(level).expect("a codeword is known");
        let gone = rate_never(bits, corrects(last), NEVER, codewords).max(calm * 1.001);
        let step = (gone - calm) / STEPS as f64;
        let rates = (0..=STEPS).map(|n| (calm + n as f64 * step).min(NONSENSE));
        let ln_fails = rates
            .flat_map(|rate| (0..levels).map(move |level| ln_beyond(bits, corrects(level), rate)))
            .collect();
        let is_at_risk = (0..levels)
            .map(|level| ln_beyond(bits, corrects(last), ladder.cap(level)) > log(NEVER))
            .collect();
        let mut chances = Self {
            codewords,
            levels,
            calm,
            gone,
            per_rate: 1.0 / step,
            ln_fails,
            is_at_risk,
            lost_at_first_cap: 0.0,
        };
        chances.lost_at_first_cap = chances.lost_codewords(ladder.cap(0));
        Some(chances)
    }

    /// Returns the probabilities if this share of codewords is lost at the first level's cap,
    /// because error rates are spread or parity repairs pages.
    #[must_use]
    pub fn with_lost_at_limit(self, share: f64) -> Self {
        Self { lost_at_first_cap: self.codewords * share, ..self }
    }

    /// Returns whether no read of a page at this error rate decodes it.
    pub fn is_gone(&self, rber: f64) -> bool {
        rber >= self.gone
    }

    /// Returns whether data that a read decoded with this number of retries may be beyond the last
    /// level, with a relevant probability.
    pub fn is_at_risk(&self, retries: u8) -> bool {
        self.is_at_risk[usize::from(retries)]
    }

    /// Returns the largest expected number of lost codewords of a page that no check sees, because
    /// the first level decodes the page. Returns 0 if that is too unlikely to count.
    pub fn lost_unseen(&self) -> f64 {
        if self.is_at_risk[0] { self.lost_at_first_cap } else { 0.0 }
    }

    /// Returns the probability that a codeword is not decoded at a level.
    pub fn codeword_fails(&self, level: usize, rber: f64) -> f64 {
        if rber < self.calm {
            return 0.0;
        }
        let place = ((rber - self.calm) * self.per_rate).min(STEPS as f64);
        let below = (place as usize).min(STEPS - 1);
        let part = place - below as f64;
        let at = |step: usize| self.ln_fails[step * self.levels + level];
        exp(at(below) + part * (at(below + 1) - at(below)))
    }

    /// Returns the probability that a read of a page takes more than this number of retries.
    pub fn more_than(&self, retries: usize, rber: f64) -> f64 {
        let fails = self.codeword_fails(retries, rber);
        if fails < 1e-17 {
            self.codewords * fails
        } else {
            -expm1(self.codewords * log1p(-fails.min(1.0)))
        }
    }

    /// Returns the expected number of codewords of a page that the last level does not decode.
    pub fn lost_codewords(&self, rber: f64) -> f64 {
        if self.is_gone(rber) {
            self.codewords
        } else {
            self.codewords * self.codeword_fails(self.levels - 1, rber)
        }
    }

    /// Returns the number of retries of a read. `dice` is drawn evenly between 0 and 1. Returns
    /// `None` if no level decodes the page.
    pub fn retries(&self, rber: f64, dice: f64) -> Option<usize> {
        if self.is_gone(rber) {
            return None;
        }
        (0..self.levels).find(|level| dice >= self.more_than(*level, rber))
    }
}

/// Returns the error rate up to which no read of a page takes a retry; `None` without a known
/// codeword.
pub fn calm(ladder: &Ladder, page_bytes: u32) -> Option<f64> {
    let (bits, _) = ladder.codeword()?;
    Some(rate_at(bits, ladder.corrects(0)?, NEVER / codewords(ladder, page_bytes)?))
}

fn codewords(ladder: &Ladder, page_bytes: u32) -> Option<f64> {
    Some(f64::from(8 * page_bytes / ladder.codeword()?.1))
}

/// Returns the error rate at which all codewords of a page are decoded with this probability.
fn rate_never(bits: u32, corrects: u32, chance: f64, codewords: f64) -> f64 {
    let wanted = log(chance) / codewords;
    let (mut low, mut high) = (0.0, NONSENSE);
    // The bisection ends when both ends are neighbouring numbers.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if ln_within(bits, corrects, middle) > wanted { &mut low } else { &mut high }) = middle;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Bytes;
    use crate::config::EccConfig;
    use crate::error::tail::beyond;

    fn ladder() -> Ladder {
        let cap = (0..5).map(|k| 0.0085 * 1.25f64.powi(k)).collect();
        let config = EccConfig {
            codeword: Some(Bytes(4096)),
            cap,
            retry_decode_us: vec![20.0; 4],
            ..EccConfig::default()
        };
        Ladder::of(&config).unwrap().unwrap()
    }

    #[test]
    fn what_never_happens_is_not_drawn() {
        let chances = Chances::of(&ladder(), 16_384).unwrap();
        let calm = chances.calm;
        assert!((beyond(36_864, 369, calm) * 4.0 / NEVER - 1.0).abs() < 1e-6);
        assert_eq!(chances.retries(calm * 0.999, 1e-20), Some(0));
        assert_eq!(chances.retries(0.4, 1.0 - 1e-16), None, "no read decodes it");
        assert!(!chances.is_gone(0.0208) && chances.is_gone(0.04), "{}", chances.gone);
        // A smaller probability gives more retries.
        let drawn: Vec<_> = [0.5, 3e-3, 1e-4, 1e-19]
            .iter()
            .map(|dice| chances.retries(0.0085, *dice).unwrap())
            .collect();
        assert_eq!(drawn, [0, 1, 1, 2]);
        assert_eq!(
            chances.retries(0.0207, 1e-19),
            None,
            "an uncorrectable read of data that the last level decodes nearly always"
        );
        assert_eq!(chances.retries(0.0207, 1e-3), Some(4));
        assert_eq!(
            [0, 1, 2, 3, 4].map(|level| chances.is_at_risk(level)),
            [false, false, false, false, true]
        );
    }
}
