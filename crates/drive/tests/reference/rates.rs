//! Limits of data under age and retries, computed from `[error]` and `[ecc]`. The error rates at
//! each P/E count come from the law itself, not from a line between rows.
//!
//! ```text
//! fresh data     has the error rate base; L reads without a retry bring it to cap_0
//! limit          L (cap_k - base - retention) / (cap_0 - base), with k retries and an age;
//!                below 0 if age alone needs more retries
//! age            none below an hour, else rounded up to the next 2^(n/16) hours
//! ```

use vpass_drive::base::span::{DAY, HOUR};
use vpass_drive::base::units::Ns;
use vpass_drive::config::{DriveConfig, EccConfig, ErrorConfig, ErrorLaw, TimeUnit};

use super::code::Code;
use super::limits::Endurances;

/// A second error rate, in units of the first cap. Error rates are linear in the dose through both
/// limits.
const SECOND_RATE: f64 = 1.25;
/// Subtraction for data that age alone has lost. It makes any limit negative.
const NOTHING: f64 = (1u64 << 37) as f64;

/// Group, page kind and age step that a limit belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whose {
    pub(super) group: usize,
    pub(super) kind: u32,
    /// Age step.
    pub(super) step: u32,
}

/// Error rates of one drive's flash, and those that retries decode.
#[derive(Debug)]
pub(super) struct ErrorRates {
    error: ErrorConfig,
    code: Option<Code>,
    /// Caps of the levels, and a second error rate near the first cap.
    caps: Vec<f64>,
    /// Hours by the error law for each hour of the run. The factor is not 1 if the flash is hotter
    /// or colder than in the law.
    acceleration: f64,
}

impl ErrorRates {
    /// Returns the error rates of a drive with this code; `None` if its data has none.
    pub(super) fn new(config: &DriveConfig, code: Option<Code>) -> Option<Self> {
        let error = &config.error;
        let kelvin = |celsius: f64| celsius + 273.15;
        let acceleration = error.temperature_c.map_or(1.0, |celsius| {
            (error.activation_ev * (1.0 / kelvin(error.reference_c) - 1.0 / kelvin(celsius))
                / 8.62e-5)
                .exp()
        });
        let with_second =
            |caps: Vec<f64>| caps.iter().copied().chain([SECOND_RATE * caps[0]]).collect();
        (error.model != ErrorLaw::None).then(|| Self {
            error: error.clone(),
            caps: with_second(
                code.as_ref().map_or_else(|| caps(&config.ecc), |code| vec![code.cap]),
            ),
            code,
            acceleration,
        })
    }

    /// Returns the caps of the levels.
    pub(super) fn level_caps(&self) -> &[f64] {
        &self.caps[..self.caps.len() - 1]
    }

    /// Returns the error rate of a page with this dose. `first` is its limit at the first cap, and
    /// `second` its limit at the second error rate.
    pub(super) fn rate(&self, dose: f64, first: i64, second: i64) -> f64 {
        let share = (dose - first as f64) / (second - first) as f64;
        match share {
            _ if second > first => (self.caps[0] * (1.0 + (SECOND_RATE - 1.0) * share)).max(0.0),
            _ if dose > first as f64 => 1.0,
            _ => self.caps[0],
        }
    }

    /// Returns the limits of a group's worst member in the worst block, in 1/1024, by the number of
    /// retries of a read. The last one is the limit at the second error rate.
    pub(super) fn limits(&self, endurances: &Endurances, pec: u32, whose: Whose) -> Vec<i64> {
        let fresh = endurances.truth(whose.group, pec).limit as f64;
        let gone =
            |retries: usize| self.is_apart() && self.retention(pec, whose) > self.caps[retries];
        let change = |retries: usize| {
            if gone(retries) { -NOTHING } else { self.change(fresh, pec, whose, retries) }
        };
        (0..self.caps.len()).map(|retries| (fresh + change(retries)).floor() as i64).collect()
    }

    /// Returns whether the limit of reads is independent of age.
    fn is_apart(&self) -> bool {
        self.code.as_ref().is_some_and(|code| code.apart)
    }

    /// Returns the change of this limit of fresh data: retries raise it, and age lowers it.
    fn change(&self, fresh: f64, pec: u32, whose: Whose, retries: usize) -> f64 {
        if self.is_apart() {
            return fresh * (self.caps[retries] / self.caps[0] - 1.0);
        }
        let room = self.caps[0] - self.base(pec, whose);
        if room <= 0.0 {
            return if whose.step == 0 { 0.0 } else { -NOTHING };
        }
        fresh * ((self.caps[retries] - self.caps[0]) - self.retention(pec, whose)) / room
    }

    fn base(&self, pec: u32, whose: Whose) -> f64 {
        let e = &self.error;
        let law = match e.model {
            ErrorLaw::Table => self.in_table(pec, |n| e.table[n].base[whose.group]),
            ErrorLaw::Bch => 0.0,
            _ => e.e + e.a * f64::from(pec.max(100)).powf(e.k),
        };
        law * of(&e.base_by_group, whose.group) * of(&e.base_by_kind, whose.kind as usize)
    }

    fn retention(&self, pec: u32, whose: Whose) -> f64 {
        if whose.step == 0 {
            return 0.0;
        }
        let e = &self.error;
        let hours = (end_of(whose.step) as f64 / HOUR as f64) * self.acceleration;
        let law = if let Some(code) = &self.code {
            code.by_age(pec.max(100), hours)
        } else if e.model == ErrorLaw::Table {
            self.in_table(pec, |n| self.at_age(&e.table[n].retention[whose.group], hours))
        } else {
            let t = if e.time_unit == TimeUnit::Days {
                hours * HOUR as f64 / DAY as f64
            } else {
                hours
            };
            e.b * f64::from(pec.max(100)).powf(e.m) * t.powf(e.n)
        };
        law * of(&e.retention_by_group, whose.group)
    }

    /// Interpolates linearly between the rows. Beyond the last row the line continues, but never
    /// falls.
    fn in_table(&self, pec: u32, value: impl Fn(usize) -> f64) -> f64 {
        let rows = &self.error.table;
        let last = rows.len() - 1;
        if last == 0 || pec <= rows[0].pec {
            return value(0);
        }
        let to = rows.iter().position(|row| pec <= row.pec).unwrap_or(last);
        let part = f64::from(pec - rows[to - 1].pec) / f64::from(rows[to].pec - rows[to - 1].pec);
        let value_there = value(to - 1) + part * (value(to) - value(to - 1));
        if pec > rows[last].pec { value_there.max(value(last)) } else { value_there }
    }

    /// Interpolates linearly over the logarithm of the age. Below the first age, the first rate
    /// holds.
    fn at_age(&self, rates: &[f64], hours: f64) -> f64 {
        let ages: Vec<f64> = self.error.ages.iter().map(|age| age.0 as f64 / HOUR as f64).collect();
        if ages.len() == 1 || hours <= ages[0] {
            return rates[0];
        }
        let to = ages.iter().position(|age| hours <= *age).unwrap_or(ages.len() - 1);
        let part = (hours / ages[to - 1]).ln() / (ages[to] / ages[to - 1]).ln();
        rates[to - 1] + part * (rates[to] - rates[to - 1])
    }
}

fn of(factors: &[f64], n: usize) -> f64 {
    if factors.is_empty() { 1.0 } else { factors[n] }
}

/// Returns the first age beyond a step.
pub(super) fn end_of(step: u32) -> Ns {
    (HOUR as f64 * (f64::from(step) / 16.0).exp2()).round() as Ns
}

/// Last age step, which includes all older data.
const LAST_STEP: u32 = 265;

/// Returns the age step of data; 0 below an hour.
pub(super) fn step_of(age: Ns) -> u32 {
    if age < HOUR {
        return 0;
    }
    let near = (16.0 * (age as f64 / HOUR as f64).log2()) as u32;
    (near..LAST_STEP).find(|step| age < end_of(*step)).unwrap_or(LAST_STEP)
}

/// Returns the largest error rate that each level decodes. It is configured, or it is the rate at
/// which a codeword with this correction fails as often as the target says.
fn caps(ecc: &EccConfig) -> Vec<f64> {
    if !ecc.cap.is_empty() {
        return ecc.cap.clone();
    }
    let bits = ecc.codeword.map_or(0.0, |size| (size.0 as f64 * 8.0 / ecc.code_rate).round());
    let last = ecc.corrects.len() - 1;
    let cap = |(level, corrects): (usize, &u32)| {
        let target = if level == last { ecc.last_target } else { ecc.target };
        let (mut low, mut high) = (1e-30f64, 0.5f64);
        // Each step halves the distance of the logarithms, which is 68 at first.
        for _ in 0..64 {
            let middle = (low * high).sqrt();
            if ln_fails(bits as u32, *corrects, middle) < target.ln() {
                low = middle
            } else {
                high = middle
            }
        }
        low
    };
    ecc.corrects.iter().enumerate().map(cap).collect()
}

/// Returns the logarithm of the probability that more than `t` of `n` bits are wrong. It sums every
/// term, relative to the largest one.
pub(super) fn ln_fails(n: u32, t: u32, p: f64) -> f64 {
    let (ln_p, ln_q) = (p.ln(), (-p).ln_1p());
    let mut ln_term = f64::from(n) * ln_q;
    let mut terms = Vec::with_capacity((n - t) as usize);
    for k in 1..=n {
        ln_term += (f64::from(n - k + 1) / f64::from(k)).ln() + ln_p - ln_q;
        if k > t {
            terms.push(ln_term);
        }
    }
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + terms.iter().map(|term| (term - most).exp()).sum::<f64>().ln()
}
