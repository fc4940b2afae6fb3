//! `[bch]`: limits of reads and of age that follow from one code, as da-raid5-2013 has them
//! (III-A).

use serde::{Deserialize, Serialize};

use super::disturb::PEC_MAX;
use super::error::{ConfigError, require, require_range};
use crate::base::span::{DAY, Span, YEAR};
use crate::error::stripe::Spread;

/// What a codeword at its limit is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BchTarget {
    /// A share of codewords decodes.
    Yield,
    /// So many codewords are lost by each data bit that is read.
    Uber,
    /// The same after parity has repaired what it can, where each stripe has its parity whenever
    /// the host goes on. Elsewhere as `Uber`.
    Stripe,
}

/// How reads and age share what the code corrects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Combine {
    /// Each has all of it, as if the other were not there.
    Independent,
    /// One budget: their error rates add up.
    Sum,
}

/// `[bch]`; means something with `error.model = "bch"`. The code itself is that of `[ecc]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BchConfig {
    /// "yield", "uber" or "stripe": what the tolerable error rate is worked out from. "stripe" is
    /// "uber" after repair by parity, and "uber" without.
    pub target: BchTarget,
    /// Share of codewords that decode at the limit, with target = "yield".
    pub r#yield: f64,
    /// Uncorrectable bit error rate at the limit, codewords lost by data bits read, with target =
    /// "uber" or "stripe".
    pub uber: f64,
    /// "independent" or "sum": whether reads and age have the code for themselves or share it.
    pub combine: Combine,
    /// The P/E count of `reads` and `age`.
    pub pec: u32,
    /// Reads of a block after which codewords decode with the share `at_yield`, at that P/E count
    /// and without age.
    pub reads: f64,
    /// Age at which they do, at that P/E count and without reads.
    pub age: Span,
    /// The share of codewords for which `reads` and `age` are given.
    pub at_yield: f64,
    /// Exponent with which the tolerable reads fall with the P/E count.
    pub reads_exponent: f64,
    /// Exponent with which the tolerable age falls with the P/E count.
    pub age_exponent: f64,
    /// Exponent with which the error rate grows with the age.
    pub time_exponent: f64,
    /// Standard deviation of the natural logarithm of error rates from stripe to stripe: what all
    /// pages of a stripe have in common.
    pub spread_common: f64,
    /// The same from page to page within a stripe.
    pub spread_own: f64,
    /// P/E counts at which `disturb.table` gets a row, ascending.
    pub rows: Vec<u32>,
}

impl Default for BchConfig {
    /// da-raid5-2013 III-A and IV-A: 99.9 % of the codewords of 512 bytes; 46,000 reads (printed
    /// "4,6000") and 381 days at 15,000 cycles.
    fn default() -> Self {
        Self {
            target: BchTarget::Yield,
            r#yield: 0.999,
            // JESD218: a client drive.
            uber: 1e-15,
            combine: Combine::Independent,
            pec: 15_000,
            reads: 46_000.0,
            age: Span(381 * DAY),
            at_yield: 0.999,
            // Inference: a fit to the slopes of 2Y-nm MLC in Cai et al., DSN 2015, as remembered.
            reads_exponent: 1.47,
            // Inference: m / n and n of the power law that Kim et al., FAST 2019, fitted to 2y-nm
            // MLC; its numbers second-hand.
            age_exponent: 0.75,
            time_exponent: 3.33,
            spread_common: 0.0,
            spread_own: 0.0,
            rows: vec![
                1000, 1500, 2000, 3000, 4000, 5000, 6000, 8000, 10_000, 12_500, 15_000, 17_500,
                20_000, 25_000, 30_000,
            ],
        }
    }
}

/// Largest exponent of the laws.
const EXPONENT_MAX: f64 = 10.0;
/// Nobody promises more of a codeword.
const YIELD_MAX: f64 = 1.0 - 1e-12;
/// Error rates three times as high, or a third, are one deviation away.
const SPREAD_MAX: f64 = 1.0;
const LONGEST_AGE: Span = Span(100 * YEAR);

impl BchConfig {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The share of codewords of so many data bits that may be lost at the limit.
    pub fn fails(&self, data_bits: f64) -> f64 {
        match self.target {
            BchTarget::Yield => 1.0 - self.r#yield,
            BchTarget::Uber | BchTarget::Stripe => self.uber * data_bits,
        }
    }

    /// How far error rates of pages lie around that of their block.
    pub fn spread(&self) -> Spread {
        Spread { common: self.spread_common, own: self.spread_own }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        require_range("bch.yield", self.r#yield, 0.5, YIELD_MAX)?;
        require_range("bch.at_yield", self.at_yield, 0.5, YIELD_MAX)?;
        require_range("bch.uber", self.uber, 1e-24, 1e-4)?;
        require_range("bch.reads", self.reads, 1.0, 2e7)?;
        for (key, value) in
            [("reads_exponent", self.reads_exponent), ("age_exponent", self.age_exponent)]
        {
            require_range(&format!("bch.{key}"), value, 0.0, EXPONENT_MAX)?;
        }
        require_range("bch.time_exponent", self.time_exponent, 0.1, EXPONENT_MAX)?;
        for (key, value) in [("spread_common", self.spread_common), ("spread_own", self.spread_own)]
        {
            require_range(&format!("bch.{key}"), value, 0.0, SPREAD_MAX)?;
        }
        require((1..=PEC_MAX).contains(&self.pec), || {
            format!("bch.pec = {} is outside 1 to {PEC_MAX}", self.pec)
        })?;
        require(self.age.0 > 0 && self.age <= LONGEST_AGE, || {
            format!("bch.age = \"{}\" is not above 0 and at most {LONGEST_AGE}", self.age)
        })?;
        require(!self.rows.is_empty(), || {
            "bch.rows is empty; a P/E count for each row of disturb.table is expected".into()
        })?;
        require(self.rows.windows(2).all(|w| w[0] < w[1]), || "bch.rows must ascend".into())?;
        require(self.rows.iter().all(|pec| (1..=PEC_MAX).contains(pec)), || {
            format!(
                "bch.rows = {:?}: P/E counts from 1 to {PEC_MAX} are expected; without wear reads would do no harm",
                self.rows
            )
        })
    }
}
