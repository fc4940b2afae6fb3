//! Limits that follow from one code. The code meets its target up to an error rate. This rate gives
//! the reads and the age that data endures.
//!
//! ```text
//! Y(p) = sum over k <= t of C(n, k) p^k (1 - p)^(n - k)                  da-raid5-2013, equation 3, of n = 4200 bits of which t = 8 are corrected
//! Y(p*) = the target, Y(p_a) = bch.at_yield                              by `tail`, in logarithms; means over `bch.spread_common` and `spread_own`
//! T_read(N)      = bch.reads x p* / p_a x (bch.pec / N)^reads_exponent                       reads of a block, whole ones
//! T_retention(N) = bch.age x (p* / p_a)^(1 / time_exponent) x (bch.pec / N)^age_exponent
//! ```
//!
//! So a read adds `p* / T_read` to the error rate, whatever the target. Age adds `p* (t /
//! T_retention)^time_exponent`. Fresh data without reads has no errors, because the paper considers
//! one factor at a time.
//!
//! With `target = "stripe"`, a stripe always has its parity on flash. Then p* is the error rate at
//! which the expected loss of a stripe is tolerable (`stripe`).
//!
//! The rows of `disturb.table` and `ecc.last_target` are filled in from `[bch]`. So all code that
//! uses them uses these limits.

use libm::pow;

use crate::base::units::Ns;
use crate::config::{
    BchConfig, BchTarget, ConfigError, DriveConfig, ErrorLaw, LIMIT_MAX, PerPec, require,
};

use super::stripe::Pages;
use super::tail::{beyond, rate_at};

/// Code of a drive, and values that follow from it.
#[derive(Clone, Debug)]
pub struct Bch {
    config: BchConfig,
    data_bits: u32,
    pages: Pages,
    /// Number of host pages of a stripe, if its parity raises limits.
    members: Option<u32>,
    /// Error rates p* and `p_a`.
    tolerable: f64,
    anchored: f64,
}

impl Bch {
    /// Returns the code of a checked configuration; `None` if `error.model` is another model.
    pub fn of(config: &DriveConfig) -> Option<Self> {
        if config.error.model != ErrorLaw::Bch {
            return None;
        }
        let (bits, data) = (config.ecc.codeword_bits()?, config.ecc.codeword?);
        let (corrects, data_bits) = (*config.ecc.corrects.first()?, data.0 as u32 * 8);
        let spread = config.bch.spread();
        let pages = Pages {
            bits,
            corrects,
            codewords: (config.geometry.page_size.0 / data.0) as f64,
            spread,
        };
        let alone = |share: f64| {
            if spread.is_none() { rate_at(bits, corrects, share) } else { pages.rate_alone(share) }
        };
        let members = config.parity.protects().filter(|_| config.bch.target == BchTarget::Stripe);
        let share = config.bch.fails(f64::from(data_bits));
        let tolerable =
            members.map_or_else(|| alone(share), |members| pages.rate_in_stripe(members, share));
        Some(Self {
            config: config.bch.clone(),
            data_bits,
            pages,
            members,
            tolerable,
            anchored: alone(1.0 - config.bch.at_yield),
        })
    }

    /// Returns the number of bits of a codeword, the number of its data bits, and the number of
    /// wrong bits that are corrected.
    pub fn code(&self) -> (u32, u32, u32) {
        (self.pages.bits, self.data_bits, self.pages.corrects)
    }

    /// Returns the code of the pages, with the spread of their error rates.
    pub fn pages(&self) -> &Pages {
        &self.pages
    }

    /// Returns the number of host pages of a stripe, if its parity raises limits.
    pub fn members(&self) -> Option<u32> {
        self.members
    }

    /// Returns the share of codewords that are lost at the limit. These are codewords that fail. If
    /// parity raises the limit, they are failed codewords that parity does not repair.
    pub fn lost(&self) -> f64 {
        self.config.fails(f64::from(self.data_bits))
    }

    /// Returns the share of codewords that fail at the limit.
    pub fn fails(&self) -> f64 {
        if self.members.is_some() { self.pages.codewords_fail(self.tolerable) } else { self.lost() }
    }

    /// Returns the share of codewords that fail for data at p* itself, around which error rates are
    /// spread.
    fn fails_there(&self) -> f64 {
        let is_plain = self.members.is_none() && self.pages.spread.is_none();
        if is_plain {
            self.lost()
        } else {
            beyond(self.pages.bits, self.pages.corrects, self.tolerable)
        }
    }

    /// Returns the error rate at the limit (p*).
    pub fn tolerable(&self) -> f64 {
        self.tolerable
    }

    /// Returns the number of block reads that data without age endures at a P/E count. It is a
    /// whole number, at least one, and within the range of the counters.
    pub fn reads(&self, pec: u32) -> f64 {
        self.reads_to(self.tolerable, pec).floor().clamp(1.0, LIMIT_MAX)
    }

    /// Returns the number of reads that bring data without age to an error rate.
    pub fn reads_to(&self, rate: f64, pec: u32) -> f64 {
        let c = &self.config;
        c.reads
            * (rate / self.anchored)
            * pow(f64::from(c.pec) / f64::from(pec.max(1)), c.reads_exponent)
    }

    /// Returns the rows of `disturb.table`.
    fn table(&self) -> Vec<PerPec> {
        self.config
            .rows
            .iter()
            .map(|pec| PerPec { pec: *pec, limit: vec![self.reads(*pec)], alpha: vec![] })
            .collect()
    }

    /// Returns the age in ns that data without reads endures.
    pub fn age(&self, pec: u32) -> f64 {
        let c = &self.config;
        let by_target = pow(self.tolerable / self.anchored, 1.0 / c.time_exponent);
        c.age.0 as f64 * by_target * pow(f64::from(c.pec) / f64::from(pec.max(1)), c.age_exponent)
    }

    /// Returns the error rate that age adds.
    pub fn retention(&self, pec: u32, age: Ns) -> f64 {
        self.retention_of(self.age(pec), age)
    }

    /// Returns the error rate that age adds to data that endures the age `bears` in ns
    /// ([`Self::age`]).
    pub fn retention_of(&self, bears: f64, age: Ns) -> f64 {
        self.tolerable * pow(age as f64 / bears, self.config.time_exponent)
    }
}

/// Updates the values that follow from `[bch]` once the parity of the drive is known.
pub fn follow_parity(config: &mut DriveConfig) {
    if config.bch.target == BchTarget::Stripe
        && !config.disturb.table.is_empty()
        && let Some(bch) = Bch::of(config)
    {
        config.ecc.last_target = bch.fails_there();
        config.disturb.table = bch.table();
    }
}

/// Fills in the values that follow from `[bch]`. The tables that it uses have been checked by
/// themselves.
///
/// # Errors
/// Reports a key that does not agree with `[bch]`.
pub(crate) fn fill(config: &mut DriveConfig) -> Result<(), ConfigError> {
    if config.error.model != ErrorLaw::Bch {
        require(config.bch.target != BchTarget::Stripe, || {
            "bch.target = \"stripe\" needs error.model = \"bch\": with other models, all pages of \
             a block fail at the same read count, so a raised limit would seem to cost nothing"
                .into()
        })?;
        return require(config.bch == BchConfig::default(), || {
            "[bch] is set, but error.model is not \"bch\"; set error.model = \"bch\", or remove \
             [bch]"
                .into()
        });
    }
    require(config.ecc.codeword.is_some() && config.ecc.corrects.len() == 1, || {
        "error.model = \"bch\" computes limits from one code without retries: set ecc.codeword, \
         ecc.code_rate and one number in ecc.corrects, for example \"512B\", 0.97524 and [8]"
            .into()
    })?;
    let data_bits = config.ecc.codeword.map_or(0.0, |size| size.0 as f64 * 8.0);
    let fails = config.bch.fails(data_bits);
    require(fails <= 0.5, || {
        format!(
            "bch.uber = {:e}: more than half of the codewords of {data_bits} data bits would fail; \
             lower bch.uber (with 4096 data bits, about half of the codewords fail at bch.uber = \
             1e-4)",
            config.bch.uber
        )
    })?;
    let bch = Bch::of(config).expect("it was checked");
    let (given, fails) = (config.ecc.last_target, bch.fails_there());
    require(
        same(given, fails) || same(given, crate::config::EccConfig::default().last_target),
        || {
            format!(
                "ecc.last_target = {given:e} contradicts [bch], which gives {fails:.3e}; with \
                 error.model = \"bch\", remove ecc.last_target: bch.yield or bch.uber sets this \
                 value"
            )
        },
    )?;
    config.ecc.last_target = fails;
    let e = &config.error;
    require([e.e, e.a, e.b].into_iter().all(|number| same(number, 0.0)), || {
        "error.e, error.a and error.b belong to error.model = \"powerlaw\"; with [bch], remove them"
            .into()
    })?;
    let rows = bch.table();
    require(config.disturb.table.is_empty() || config.disturb.table == rows, || {
        "disturb.table must not be set with error.model = \"bch\": the limits at the P/E cycles of \
         bch.rows are computed from [bch]"
            .into()
    })?;
    config.disturb.table = rows;
    Ok(())
}

fn same(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::span::DAY;
    use crate::disturb::table::LimitTable;
    use crate::error::ages::STEPS;
    use crate::error::budget::{AgedLimits, Asked};

    /// Stripes of a drive, by host pages in a stripe and by whether parity is always there.
    type Stripes = (Option<u32>, bool);
    const STRIPED: Stripes = (Some(8), true);
    const LATE_PARITY: Stripes = (Some(8), false);
    const NO_STRIPES: Stripes = (None, false);

    fn with_stripes(mut config: DriveConfig, stripes: Stripes) -> DriveConfig {
        (config.parity.stripe, config.parity.is_always_there) = stripes;
        follow_parity(&mut config);
        config
    }

    const DRIVE: &str = r#"
        geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "mlc", page_size = "8KiB" }
        timing = { sense_us = 400, program_us = 1600, erase_us = 1500, channel_mb_s = 0 }
        drive = { spare = 0.4 }
        disturb = { model = "count" }
        error = { model = "bch" }
        ecc = { codeword = "512B", code_rate = 0.9752380952380952, corrects = [8] }
    "#;

    fn drive(bch: &str) -> Result<DriveConfig, String> {
        toml::from_str::<DriveConfig>(&format!("{DRIVE}\nbch = {{ {bch} }}"))
            .unwrap()
            .resolve()
            .map_err(|e| e.to_string())
    }

    fn bch(keys: &str) -> Bch {
        Bch::of(&drive(keys).unwrap()).unwrap()
    }

    fn close(is: f64, should_be: f64) {
        assert!((is / should_be - 1.0).abs() < 1e-9, "{is} for {should_be}");
    }

    /// The expected values are from sums of equation 3 to 60 decimal digits, by 200 bisections
    /// (Python's decimal and comb).
    #[test]
    fn the_tolerable_error_rate_is_that_of_exact_sums() {
        close(bch("").tolerable(), 5.842_965_779_269_703e-4);
        close(bch("target = \"uber\"").tolerable(), 5.490_421_297_592_251e-5);
        close(bch("target = \"uber\", uber = 1e-16").tolerable(), 4.228_654_392_545_24e-5);
    }

    /// The expected values are 46,000 x 5.4904e-5 / 5.8430e-4 = 4,322.45 reads, and 381 days x
    /// 0.0939663^(1/3.33).
    #[test]
    fn a_standard_for_drives_leaves_a_tenth_of_the_reads() {
        let (published, client, enterprise) =
            (bch(""), bch("target = \"uber\""), bch("target = \"uber\", uber = 1e-16"));
        assert_eq!(
            [&published, &client, &enterprise].map(|of| of.reads(15_000) as u32),
            [46_000, 4322, 3329]
        );
        close(published.age(15_000) / DAY as f64, 381.0);
        close(client.age(15_000) / DAY as f64, 187.287_269_180_59);
        // A page of 8 KiB has 16 codewords. At the limit, a share 1 - 0.999^16 of the 128 pages of
        // a block is lost.
        let lost_pages = 128.0 * (1.0 - (1.0 - published.fails()).powi(16));
        assert!((lost_pages - 2.0327).abs() < 1e-4, "{lost_pages}");
        close(published.fails() / 4096.0, 2.441_406_25e-7);
    }

    /// The expected value is the ratio of the error rates, from sums on another grid (`stripe`),
    /// times 46,000 x 5.4904e-5 / 5.8430e-4.
    #[test]
    fn parity_that_is_always_there_raises_the_limit_of_a_stripe() {
        let under = |keys: &str, stripes: Stripes| {
            let text = DRIVE.replace("channels = 1", "channels = 9");
            let config = toml::from_str::<DriveConfig>(&format!("{text}\nbch = {{ {keys} }}"))
                .unwrap()
                .resolve()
                .unwrap();
            let config = with_stripes(config, stripes);
            let bch = Bch::of(&config).unwrap();
            let row = config
                .disturb
                .table
                .iter()
                .find(|row| row.pec == 15_000)
                .map(|row| row.limit[0] as u32);
            assert_eq!(row, Some(bch.reads(15_000) as u32), "the drive's table follows");
            assert!(
                (rate_at(4200, 8, config.ecc.last_target) / bch.tolerable() - 1.0).abs() < 1e-9,
                "and so does its ladder"
            );
            bch
        };
        let stripe = under("target = \"stripe\"", STRIPED);
        close(stripe.tolerable(), 1.904_301_839_418e-4);
        assert_eq!(stripe.reads(15_000) as u32, 14_992);
        close(stripe.lost(), 4.096e-12);
        assert!(
            stripe.fails() > 1e-7 && stripe.fails() < 1e-6,
            "before repair: {}",
            stripe.fails()
        );
        // Without parity, or with parity that may be late or missing, each page has its own limit.
        for stripes in [NO_STRIPES, LATE_PARITY] {
            close(under("target = \"stripe\"", stripes).tolerable(), 5.490_421_297_592_251e-5);
        }
        close(under("target = \"uber\"", STRIPED).tolerable(), 5.490_421_297_592_251e-5);
        close(
            under("target = \"stripe\", spread_common = 0.3, spread_own = 0.1", STRIPED)
                .tolerable(),
            9.019_762_592_296e-5,
        );
        close(
            under("target = \"stripe\", spread_common = 0.3, spread_own = 0.1", NO_STRIPES)
                .tolerable(),
            3.552_939_122_160e-5,
        );
        // A parity that was removed again leaves the plain limits.
        let config =
            toml::from_str::<DriveConfig>(&format!("{DRIVE}\nbch = {{ target = \"stripe\" }}"))
                .unwrap()
                .resolve()
                .unwrap();
        let there_and_back = with_stripes(with_stripes(config.clone(), STRIPED), NO_STRIPES);
        assert_eq!(there_and_back, config);
        // The anchor is the error rate of the published yield, whatever the spread.
        let published = under("spread_common = 0.3, spread_own = 0.1", NO_STRIPES);
        assert_eq!(published.reads(15_000) as u32, 46_000);
    }

    #[test]
    fn limits_fall_with_wear_and_the_error_rate_grows_with_age() {
        let published = bch("");
        let reads = [1000, 1500, 7500, 15_000, 30_000].map(|pec| published.reads(pec) as u32);
        assert_eq!(reads, [2_463_837, 1_357_556, 127_430, 46_000, 16_605]);
        close(published.age(30_000) / DAY as f64, 381.0 / 2f64.powf(0.75));
        close(published.retention(15_000, 381 * DAY), published.tolerable());
        close(
            published.retention(15_000, 190 * DAY + DAY / 2),
            published.tolerable() / 2f64.powf(3.33),
        );
    }

    /// At 15,000 P/E cycles, age alone uses up the code after 381 days. Younger data bears all of
    /// the 46,000 reads, and older data is lost without a read.
    #[test]
    fn age_with_a_budget_of_its_own_takes_all_reads_or_none() {
        let config = drive("").unwrap();
        let table = LimitTable::of(&config).unwrap();
        let aged = AgedLimits::of(&config).unwrap().expect("error rates");
        for step in 0..STEPS {
            let age = aged.ages().counts_as(step).unwrap_or(0);
            let limit = aged.truth(&table, 15_000, Asked { group: 0, kind: 0, level: 0, step });
            if age <= 381 * DAY {
                assert_eq!(limit, 46_000 * 1024, "after {age} ns");
            } else {
                assert!(limit < 0, "{limit} after {age} ns");
            }
        }
    }

    #[test]
    fn the_drive_gets_the_rows_and_reads_back_what_it_wrote() {
        let config = drive("rows = [10000, 15000]").unwrap();
        assert_eq!(
            config.disturb.table.iter().map(|row| row.limit[0] as u32).collect::<Vec<_>>(),
            [83_485, 46_000]
        );
        close(config.ecc.last_target, 1e-3);
        let again = toml::from_str::<DriveConfig>(&toml::to_string(&config).unwrap())
            .unwrap()
            .resolve()
            .unwrap();
        assert_eq!(again, config);
    }
}
