//! What `[bch]` says of reads and ages, by arithmetic of the oracle's own: the code's tail summed term by term, its rate found by halving, and both
//! laws taken from their anchor.

use vpass_core::base::span::HOUR;
use vpass_core::config::{BchTarget, Combine, DriveConfig, ErrorLaw};

use crate::error_rates::ln_fails;

/// The code of a drive with the numbers that it is held to.
#[derive(Debug)]
pub(crate) struct Code {
    /// The error rate that is tolerable, and its ratio to that of the anchor.
    pub(crate) cap: f64,
    over_anchor: f64,
    anchor_pec: f64,
    anchor_reads: f64,
    anchor_hours: f64,
    exponents: [f64; 3],
    /// Reads and age do not share it.
    pub(crate) apart: bool,
}

impl Code {
    /// None where limits do not follow from a code.
    pub(crate) fn new(config: &DriveConfig) -> Option<Self> {
        if config.error.model != ErrorLaw::Bch {
            return None;
        }
        let (b, data) = (&config.bch, config.ecc.codeword?.0 as f64 * 8.0);
        let (bits, corrects) = ((data / config.ecc.code_rate).round() as u32, *config.ecc.corrects.first()?);
        let wanted = if b.target == BchTarget::Yield { 1.0 - b.r#yield } else { b.uber * data };
        let (cap, anchor) = (rate(bits, corrects, wanted), rate(bits, corrects, 1.0 - b.at_yield));
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

    /// Whole reads of a block that young data bears.
    pub(crate) fn reads(&self, pec: u32) -> f64 {
        let worn = (self.anchor_pec / f64::from(pec)).powf(self.exponents[0]);
        (self.anchor_reads * self.over_anchor * worn).floor().max(1.0)
    }

    /// The error rate that age has brought so far.
    pub(crate) fn by_age(&self, pec: u32, hours: f64) -> f64 {
        let [_, by_wear, by_time] = self.exponents;
        // At the anchor's own rate, and from there.
        let bears = self.anchor_hours * (self.anchor_pec / f64::from(pec)).powf(by_wear);
        self.cap / self.over_anchor * (hours / bears).powf(by_time)
    }
}

/// The error rate at which this share of codewords fails.
fn rate(bits: u32, corrects: u32, share: f64) -> f64 {
    let (mut low, mut high) = (1e-30f64, 0.5f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if ln_fails(bits, corrects, middle) < share.ln() { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bch: &str) -> Code {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "mlc", page_size = "8KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.4 }}
            disturb = {{ model = "count" }}
            error = {{ model = "bch" }}
            ecc = {{ codeword = "512B", code_rate = 0.9752380952380952, corrects = [8] }}
            bch = {{ {bch} }}
            "#
        );
        Code::new(&toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap()).unwrap()
    }

    /// The rates are from sums of 60 decimal digits.
    #[test]
    fn the_anchor_holds_and_a_stricter_target_leaves_a_tenth() {
        let (published, client) = (code(""), code("target = \"uber\""));
        let close = |is: f64, exact: f64| assert!((is / exact - 1.0).abs() < 1e-9, "{is} for {exact}");
        close(published.cap, 5.842_965_779_269_703e-4);
        close(client.cap, 5.490_421_297_592_251e-5);
        assert_eq!([15_000, 12_500].map(|pec| published.reads(pec) as u32), [46_000, 60_138]);
        assert!((client.reads(15_000) - 4322.0).abs() < 1e-9);
        for code in [&published, &client] {
            close(code.by_age(15_000, 381.0 * 24.0), 5.842_965_779_269_703e-4);
        }
    }
}
