//! Limits that `[bch]` gives for reads and ages. The code's tail is
//! summed term by term, and its error rate is found by bisection. Both laws start from their
//! anchor.

use vpass_drive::base::span::HOUR;
use vpass_drive::config::{BchTarget, Combine, DriveConfig, ErrorLaw};

use super::rates::ln_fails;
use super::stripe::Stripe;

/// Error-correcting code of a drive, with its tolerable error rate and its anchor.
#[derive(Clone, Debug)]
pub(super) struct Code {
    /// Tolerable error rate, and its ratio to the error rate at the anchor.
    pub(super) cap: f64,
    over_anchor: f64,
    anchor_pec: f64,
    anchor_reads: f64,
    anchor_hours: f64,
    exponents: [f64; 3],
    /// Whether reads and age each have the whole error rate for themselves.
    pub(super) apart: bool,
}

impl Code {
    /// Returns the code of a drive; `None` if limits do not follow from a code.
    pub(super) fn new(config: &DriveConfig) -> Option<Self> {
        if config.error.model != ErrorLaw::Bch {
            return None;
        }
        let (b, data) = (&config.bch, config.ecc.codeword?.0 as f64 * 8.0);
        let (bits, corrects) =
            ((data / config.ecc.code_rate).round() as u32, *config.ecc.corrects.first()?);
        let wanted = if b.target == BchTarget::Yield { 1.0 - b.r#yield } else { b.uber * data };
        let alone = Stripe::new(config, None)?;
        let rate_alone = |share: f64| {
            if alone.is_plain() { rate(bits, corrects, share) } else { alone.rate(share) }
        };
        let cap = match raised_by(config) {
            Some(others) => Stripe::new(config, Some(others))?.rate(wanted),
            None => rate_alone(wanted),
        };
        let anchor = rate_alone(1.0 - b.at_yield);
        Some(Self {
            cap,
            over_anchor: cap / anchor,
            anchor_pec: f64::from(b.pec),
            anchor_reads: b.reads,
            anchor_hours: b.age.0 as f64 / HOUR as f64,
            exponents: [b.reads_exponent, b.age_exponent, b.time_exponent],
            apart: b.combine == Combine::Independent,
        })
    }

    /// Returns the number of whole-block reads that fresh data endures.
    pub(super) fn reads(&self, pec: u32) -> f64 {
        let worn = (self.anchor_pec / f64::from(pec)).powf(self.exponents[0]);
        (self.anchor_reads * self.over_anchor * worn).floor().clamp(1.0, 2e7)
    }

    /// Returns the error rate that age has added so far.
    pub(super) fn by_age(&self, pec: u32, hours: f64) -> f64 {
        let [_, by_wear, by_time] = self.exponents;
        // Number of hours to the error rate of the anchor.
        let bears = self.anchor_hours * (self.anchor_pec / f64::from(pec)).powf(by_wear);
        self.cap / self.over_anchor * (hours / bears).powf(by_time)
    }
}

/// Returns the number of other pages in a stripe, if parity raises the limits of reads. Returns
/// `None` if wear decides which stripes have parity.
pub(super) fn raised_by(config: &DriveConfig) -> Option<u32> {
    config
        .parity
        .protects()
        .filter(|_| config.bch.target == BchTarget::Stripe && config.parity.by_wear().is_none())
}

/// Returns the error rate at which this share of codewords fails.
fn rate(bits: u32, corrects: u32, share: f64) -> f64 {
    let (mut low, mut high) = (1e-30f64, 0.5f64);
    // Each step halves the distance of the logarithms, which is 68 at first.
    for _ in 0..64 {
        let middle = (low * high).sqrt();
        if ln_fails(bits, corrects, middle) < share.ln() { low = middle } else { high = middle }
    }
    low
}
