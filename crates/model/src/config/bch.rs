//! `[bch]`: limits of reads and of age that follow from one code (da-raid5-2013 III-A).

use serde::{Deserialize, Serialize};

use super::disturb::PEC_MAX;
use super::error::{ConfigError, require};
use super::keys::Keys;
use crate::base::span::{DAY, Span, YEAR};
use crate::error::stripe::Spread;

/// Requirement for a codeword at its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum BchTarget {
    /// At the limit, a given share of codewords decodes.
    Yield,
    /// At the limit, a given number of codewords is lost per data bit read.
    Uber,
    /// Like `Uber`, but counted after repair by parity, if each stripe always has its parity on
    /// flash. Otherwise the same as `Uber`.
    Stripe,
}

/// Whether reads and age share the error rate that the code corrects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum Combine {
    /// Reads and age can each use the whole error budget.
    Independent,
    /// Reads and age share one error budget: their error rates add up.
    Sum,
}

/// `[bch]`: used with `error.model = "bch"`. The code itself stands in `[ecc]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "bch")]
pub struct BchConfig {
    /// Source of the tolerable error rate: "yield", "uber" or "stripe". "stripe" is "uber" after
    /// repair by parity; without parity it is "uber".
    #[key(default = BchTarget::Yield, source = "da-raid5-2013 III-A")]
    pub target: BchTarget,
    /// Share of codewords that decode at the limit, with target = "yield".
    #[key(
        unit = "share",
        range = Real(0.5, YIELD_MAX),
        default = 0.999,
        source = "da-raid5-2013 III-A"
    )]
    pub r#yield: f64,
    /// Uncorrectable bit error rate at the limit (codewords lost per data bit read), with target =
    /// "uber" or "stripe".
    #[key(
        unit = "UBER",
        range = Real(1e-24, 1e-4),
        default = 1e-15,
        source = "JESD218: a client drive"
    )]
    pub uber: f64,
    /// Whether reads and age each have the whole code ("independent") or share it ("sum").
    #[key(default = Combine::Independent)]
    pub combine: Combine,
    /// P/E count at which `reads` and `age` apply.
    #[key(
        unit = "P/E cycles",
        range = Whole(1, PEC_MAX as u64),
        default = 15_000,
        source = "da-raid5-2013 IV-A"
    )]
    pub pec: u32,
    /// Reads of a block after which the share `at_yield` of codewords still decodes, at `pec` P/E
    /// cycles and without age.
    #[key(
        unit = "reads",
        range = Real(1.0, 2e7),
        default = 46_000.0,
        source = "da-raid5-2013 IV-A, printed \"4,6000\""
    )]
    pub reads: f64,
    /// Age at which the share `at_yield` of codewords still decodes, at `pec` P/E cycles and
    /// without reads.
    #[key(
        unit = "time",
        range = Time(LONGEST_AGE),
        default = Span(381 * DAY),
        source = "da-raid5-2013 IV-A"
    )]
    pub age: Span,
    /// Share of codewords for which `reads` and `age` are given.
    #[key(
        unit = "share",
        range = Real(0.5, YIELD_MAX),
        default = 0.999,
        source = "da-raid5-2013 III-A: 99.9 % of the codewords of 512 bytes"
    )]
    pub at_yield: f64,
    /// Exponent with which the tolerable reads fall with the P/E count.
    #[key(
        range = Real(0.0, EXPONENT_MAX),
        default = 1.47,
        source = "inference: a fit to the slopes of 2Y-nm MLC in Cai et al., DSN 2015, recalled \
            from memory"
    )]
    pub reads_exponent: f64,
    /// Exponent with which the tolerable age falls with the P/E count.
    #[key(
        range = Real(0.0, EXPONENT_MAX),
        default = 0.75,
        source = "inference: the ratio m / n in the power law that Kim et al., FAST 2019, fitted \
            to 2y-nm MLC; the numbers are second-hand"
    )]
    pub age_exponent: f64,
    /// Exponent with which the error rate grows with the age.
    #[key(
        range = Real(0.1, EXPONENT_MAX),
        default = 3.33,
        source = "inference: n of the power law that Kim et al., FAST 2019, fitted to 2y-nm MLC; \
            the numbers are second-hand"
    )]
    pub time_exponent: f64,
    /// Standard deviation of the natural logarithm of error rates from stripe to stripe, common to
    /// all pages of a stripe.
    #[key(range = Real(0.0, SPREAD_MAX), default = 0.0)]
    pub spread_common: f64,
    /// Standard deviation of the natural logarithm of error rates from page to page within a
    /// stripe.
    #[key(range = Real(0.0, SPREAD_MAX), default = 0.0)]
    pub spread_own: f64,
    /// P/E counts at which `disturb.table` gets a row, ascending.
    #[key(
        unit = "P/E cycles",
        range = Whole(1, PEC_MAX as u64),
        note = ", ascending",
        default = ROWS.to_vec()
    )]
    pub rows: Vec<u32>,
}

/// Default P/E counts of the rows.
const ROWS: [u32; 15] = [
    1000, 1500, 2000, 3000, 4000, 5000, 6000, 8000, 10_000, 12_500, 15_000, 17_500, 20_000, 25_000,
    30_000,
];
/// Largest exponent of the laws.
const EXPONENT_MAX: f64 = 10.0;
/// Largest yield.
const YIELD_MAX: f64 = 1.0 - 1e-12;
/// Largest spread: error rates of three times or a third are one deviation away.
const SPREAD_MAX: f64 = 1.0;
const LONGEST_AGE: Span = Span(100 * YEAR);

impl BchConfig {
    /// Returns the share of codewords that may be lost at the limit, for a number of data bits.
    pub fn fails(&self, data_bits: f64) -> f64 {
        match self.target {
            BchTarget::Yield => 1.0 - self.r#yield,
            BchTarget::Uber | BchTarget::Stripe => self.uber * data_bits,
        }
    }

    /// Returns the spread of the pages' error rates around the error rate of their block.
    pub fn spread(&self) -> Spread {
        Spread { common: self.spread_common, own: self.spread_own }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        require(!self.rows.is_empty(), || {
            "bch.rows is empty; a P/E count for each row of disturb.table is expected".into()
        })?;
        require(self.rows.windows(2).all(|w| w[0] < w[1]), || "bch.rows must ascend".into())
    }
}
