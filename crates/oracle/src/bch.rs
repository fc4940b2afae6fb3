//! Limits that `[bch]` gives for reads and ages, by the oracle's own arithmetic. The code's tail is
//! summed term by term, and its error rate is found by bisection. Both laws start from their
//! anchor.

use vpass_drive::base::span::HOUR;
use vpass_drive::config::{BchTarget, Combine, DriveConfig, ErrorLaw};
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::error::ages::STEPS;
use vpass_drive::error::budget::{AgedLimits, Asked};

use crate::endurance::Endurances;
use crate::error_rates::{ErrorRates, Whose, ln_fails};
use crate::stripe::Stripe;

/// Error-correcting code of a drive, with its tolerable error rate and its anchor.
#[derive(Debug)]
pub(crate) struct Code {
    /// Tolerable error rate, and its ratio to the error rate at the anchor.
    pub(crate) cap: f64,
    over_anchor: f64,
    anchor_pec: f64,
    anchor_reads: f64,
    anchor_hours: f64,
    exponents: [f64; 3],
    /// Whether reads and age each have the whole error rate for themselves.
    pub(crate) apart: bool,
}

impl Code {
    /// Returns the code of a drive; `None` if limits do not follow from a code.
    pub(crate) fn new(config: &DriveConfig) -> Option<Self> {
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
    pub(crate) fn reads(&self, pec: u32) -> f64 {
        let worn = (self.anchor_pec / f64::from(pec)).powf(self.exponents[0]);
        (self.anchor_reads * self.over_anchor * worn).floor().clamp(1.0, 2e7)
    }

    /// Returns the error rate that age has added so far.
    pub(crate) fn by_age(&self, pec: u32, hours: f64) -> f64 {
        let [_, by_wear, by_time] = self.exponents;
        // Number of hours to the error rate of the anchor.
        let bears = self.anchor_hours * (self.anchor_pec / f64::from(pec)).powf(by_wear);
        self.cap / self.over_anchor * (hours / bears).powf(by_time)
    }
}

/// Returns the number of other pages in a stripe, if parity raises the limits of reads. Returns
/// `None` if wear decides which stripes have parity.
pub(crate) fn raised_by(config: &DriveConfig) -> Option<u32> {
    config
        .parity
        .protects()
        .filter(|_| config.bch.target == BchTarget::Stripe && config.parity.by_wear().is_none())
}

/// Returns the error rate at which this share of codewords fails.
fn rate(bits: u32, corrects: u32, share: f64) -> f64 {
    let (mut low, mut high) = (1e-30f64, 0.5f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if ln_fails(bits, corrects, middle) < share.ln() { low = middle } else { high = middle }
    }
    low
}

/// A limit of a drive that differs from the oracle's, each in 1/1024 reads. If age alone has spoilt
/// the data, both limits are below 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Apart {
    pec: u32,
    age_step: u32,
    of_drive: i64,
    own: i64,
}

/// Returns the first limit at these P/E counts, of any age, that differs by a read or more between
/// the two configurations. The drive computes the first one, and the oracle the second.
pub(crate) fn limits_apart(
    of_drive: &DriveConfig,
    of_oracle: &DriveConfig,
    pecs: &[u32],
) -> Option<Apart> {
    let table = LimitTable::of(of_drive)?;
    let limits = AgedLimits::of(of_drive).ok()??;
    let (rates, endurances) = (ErrorRates::new(of_oracle)?, Endurances::new(of_oracle));
    let of = |(pec, step): (u32, u32)| {
        let of_drive =
            limits.truth(&table, pec, Asked { group: 0, kind: 0, level: 0, step: step as usize });
        let own = rates.limit(&endurances, pec, Whose { group: 0, kind: 0, step }, 0);
        Apart { pec, age_step: step, of_drive, own }
    };
    let mut all =
        pecs.iter().flat_map(|pec| (0..STEPS as u32).map(move |step| (*pec, step))).map(of);
    all.find(|limit| {
        (limit.of_drive - limit.own).abs() > 1024 && (limit.of_drive >= 0 || limit.own >= 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::api::parity;
    use vpass_techniques::card;

    const PECS: [u32; 9] = [900, 1000, 1400, 8000, 14_000, 15_000, 15_001, 22_000, 40_000];

    fn drive(bch: &str) -> DriveConfig {
        let text = format!(
            r#"
            geometry = {{ channels = 9, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "mlc", page_size = "8KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.4 }}
            disturb = {{ model = "count" }}
            error = {{ model = "bch" }}
            ecc = {{ codeword = "512B", code_rate = 0.9752380952380952, corrects = [8] }}
            bch = {{ {bch} }}
            "#
        );
        toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap()
    }

    fn code(bch: &str) -> Code {
        Code::new(&drive(bch)).unwrap()
    }

    #[test]
    fn drive_and_oracle_have_the_same_limits_at_every_age_and_notice_what_is_not_so() {
        for keys in [
            "",
            "combine = \"sum\"",
            "target = \"uber\"",
            "target = \"uber\", combine = \"sum\", age = \"90d\"",
        ] {
            let config = drive(keys);
            assert_eq!(limits_apart(&config, &config, &PECS), None, "{keys}");
            for wrong in [
                "combine = \"sum\", time_exponent = 3",
                "yield = 0.998",
                "age = \"380d\", age_exponent = 0.7",
                "reads = 46001",
            ] {
                assert!(
                    limits_apart(&drive(wrong), &config, &PECS).is_some(),
                    "{wrong} is taken for {keys}"
                );
            }
        }
    }

    #[test]
    fn drive_and_oracle_raise_limits_alike_and_notice_what_is_not_so() {
        let stripe = |keys: &str| drive(&format!("target = \"stripe\", {keys}"));
        let raid5 = |keys: &str| parity::drive(stripe(keys), card("raid5"));
        let plain = |keys: &str| drive(&format!("target = \"uber\", {keys}"));
        for keys in [
            "",
            "spread_own = 0.3",
            "spread_common = 0.2",
            "spread_common = 1.0",
            "uber = 1e-9, combine = \"sum\"",
        ] {
            let config = raid5(keys);
            assert_eq!(limits_apart(&config, &config, &PECS), None, "{keys}");
            assert!(limits_apart(&plain(keys), &config, &PECS).is_some(), "not raised: {keys}");
            let late = parity::drive(stripe(keys), card("ppc"));
            assert_eq!(limits_apart(&plain(keys), &late, &PECS), None, "late parity: {keys}");
        }
        let both = raid5("spread_common = 0.3, spread_own = 0.1");
        assert_eq!(limits_apart(&both, &both, &PECS), None);
        for wrong in ["", "spread_common = 0.3", "spread_own = 0.1"] {
            assert!(limits_apart(&raid5(wrong), &both, &PECS).is_some(), "{wrong}");
        }
    }

    /// The expected rates come from sums with 60 decimal digits.
    #[test]
    fn the_anchor_holds_and_a_stricter_target_leaves_a_tenth() {
        let (published, client) = (code(""), code("target = \"uber\""));
        let close =
            |is: f64, exact: f64| assert!((is / exact - 1.0).abs() < 1e-9, "{is} for {exact}");
        close(published.cap, 5.842_965_779_269_703e-4);
        close(client.cap, 5.490_421_297_592_251e-5);
        assert_eq!([15_000, 12_500].map(|pec| published.reads(pec) as u32), [46_000, 60_138]);
        assert!((client.reads(15_000) - 4322.0).abs() < 1e-9);
        for code in [&published, &client] {
            close(code.by_age(15_000, 381.0 * 24.0), 5.842_965_779_269_703e-4);
        }
    }
}
