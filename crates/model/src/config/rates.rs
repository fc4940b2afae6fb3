//! `[error]`: the raw bit error rate of data by wear and age.

use serde::{Deserialize, Serialize};

use super::disturb::PEC_MAX;
use super::error::{ConfigError, require, require_ascending};
use super::flash::CellType;
use super::keys::Keys;
use crate::base::span::{Span, YEAR};

/// Law of the error rate without reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum ErrorLaw {
    /// Only reads cause errors, and data does not age.
    #[default]
    None,
    /// RBER = e + a PEC^k + b PEC^m t^n.
    PowerLaw,
    /// Table of error rates by P/E count, group and age.
    Table,
    /// Error rates that follow from `[bch]`: one code, with its tolerable reads and age at one P/E
    /// count.
    Bch,
}

/// Unit of t in the power law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Hours.
    #[default]
    Hours,
    /// Days.
    Days,
}

/// Error rates of each wordline group at one P/E count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
pub struct ErrorRow {
    /// P/E count of this row, one of those of `disturb.table`.
    #[key(unit = "P/E cycles", range = Whole(0, PEC_MAX as u64))]
    pub pec: u32,
    /// RBER of fresh data, per group.
    #[key(unit = "RBER", range = Real(0.0, RBER_MAX), note = ", one for each group")]
    pub base: Vec<f64>,
    /// RBER that age adds: a list for each group, with a number for each age of `error.ages`.
    #[key(
        unit = "RBER",
        range = Real(0.0, RBER_MAX),
        note = "; one list for each group; a list has one number for each age of error.ages, and \
            the numbers never fall"
    )]
    pub retention: Vec<Vec<f64>>,
}

/// `[error]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "error")]
pub struct ErrorConfig {
    /// Law of the RBER by wear and age, without reads: "none", "powerlaw", "table" or "bch".
    #[key(default = ErrorLaw::None)]
    pub model: ErrorLaw,
    /// e in RBER = e + a PEC^k + b PEC^m t^n, at 100 P/E cycles or more.
    #[key(unit = "RBER", range = Real(0.0, RBER_MAX), default = 0.0)]
    pub e: f64,
    /// a in the power law.
    #[key(unit = "RBER", range = Real(0.0, RBER_MAX), default = 0.0)]
    pub a: f64,
    /// k in the power law.
    #[key(range = Real(0.0, EXPONENT_MAX), default = 1.0)]
    pub k: f64,
    /// b in the power law: factor of the term of age.
    #[key(unit = "RBER", range = Real(0.0, RBER_MAX), default = 0.0)]
    pub b: f64,
    /// m in the power law.
    #[key(range = Real(0.0, EXPONENT_MAX), default = 1.0)]
    pub m: f64,
    /// n in the power law.
    #[key(range = Real(0.0, EXPONENT_MAX), default = 1.0)]
    pub n: f64,
    /// Unit of t in the power law: "hours" or "days".
    #[key(default = TimeUnit::Hours)]
    pub time_unit: TimeUnit,
    /// RBER of fresh data of each wordline group, as a multiple of the law; all 1 if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(range = Real(1.0 / FACTOR_MAX, FACTOR_MAX), note = ", one for each group", default)]
    pub base_by_group: Vec<f64>,
    /// RBER that age adds in each wordline group, as a multiple of the law; all 1 if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(range = Real(1.0 / FACTOR_MAX, FACTOR_MAX), note = ", one for each group", default)]
    pub retention_by_group: Vec<f64>,
    /// RBER of fresh data of each page kind, as a multiple of the law or table; LSB first; all 1 if
    /// empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(range = Real(1.0 / FACTOR_MAX, FACTOR_MAX), note = ", one for each page kind", default)]
    pub base_by_kind: Vec<f64>,
    /// Ages at which the rows of `table` give error rates, ascending.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(unit = "time", range = Time(LONGEST_AGE), note = ", ascending", default)]
    pub ages: Vec<Span>,
    /// Error rates by P/E count, at the counts of `disturb.table`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(range = Words("rows with the P/E counts of disturb.table, in ascending order"), default)]
    pub table: Vec<ErrorRow>,
    /// Temperature at which data ages, in degrees Celsius; `reference_c` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "degrees C", range = Real(COLDEST_C, HOTTEST_C))]
    pub temperature_c: Option<f64>,
    /// Temperature of the law or table, in degrees Celsius.
    #[key(
        unit = "degrees C",
        range = Real(COLDEST_C, HOTTEST_C),
        default = 40.0,
        source = "assumption: JESD218 states retention of enterprise drives at 40 C"
    )]
    pub reference_c: f64,
    /// Activation energy (Arrhenius), in electronvolts.
    #[key(
        unit = "eV",
        range = Real(0.0, 3.0),
        default = 1.1,
        source = "HeatWatch (HPCA 2018), second-hand: measured on planar flash; no figure is \
                  published for 3D"
    )]
    pub activation_ev: f64,
    /// Age up to which data is kept without refresh; older data is lost.
    #[key(
        unit = "time",
        range = Time(LONGEST_AGE),
        default = Span(YEAR),
        source = "JESD218: a client drive keeps data for a year"
    )]
    pub longest_age: Span,
    /// Whether retries and losses are drawn at random from the binomial tail. If not, they follow
    /// from dose, age and wear. Needs `ecc.codeword`.
    #[key(default = false)]
    pub noise: bool,
}

/// Largest RBER: with half of its bits wrong, a page holds no information.
const RBER_MAX: f64 = 0.5;
/// Largest factor of a group or page kind, and its inverse.
const FACTOR_MAX: f64 = 100.0;
/// Largest exponent of the law.
const EXPONENT_MAX: f64 = 10.0;
const LONGEST_AGE: Span = Span(10 * YEAR);
const COLDEST_C: f64 = -40.0;
const HOTTEST_C: f64 = 125.0;

impl ErrorConfig {
    pub(super) fn check(&self, groups: usize, cell: CellType) -> Result<(), ConfigError> {
        self.check_ranges()?;
        check_factors("error.base_by_group", &self.base_by_group, groups, "wordline group")?;
        check_factors(
            "error.retention_by_group",
            &self.retention_by_group,
            groups,
            "wordline group",
        )?;
        check_factors("error.base_by_kind", &self.base_by_kind, cell.kinds().len(), "page kind")?;
        self.check_table(groups)?;
        require(self.model != ErrorLaw::PowerLaw || self.e > 0.0 || self.a > 0.0, || {
            "error.model = \"powerlaw\": with error.e and error.a both 0, fresh data has no \
             errors; for flash without errors, set error.model = \"none\""
                .into()
        })?;
        require(self.model != ErrorLaw::Table || !self.table.is_empty(), || {
            "error.model = \"table\", but error.table is empty; error.table must have a row at \
             each P/E count of disturb.table"
                .into()
        })
    }

    fn check_table(&self, groups: usize) -> Result<(), ConfigError> {
        require(self.ages.windows(2).all(|w| w[0] < w[1]), || "error.ages must ascend".into())?;
        require_ascending("error.table", self.table.iter().map(|row| row.pec))?;
        require(self.table.is_empty() || !self.ages.is_empty(), || {
            "error.table is set, but error.ages is not; give the age of each retention number in \
             error.ages"
                .into()
        })?;
        self.table.iter().try_for_each(|row| self.check_row(row, groups))
    }

    fn check_row(&self, row: &ErrorRow, groups: usize) -> Result<(), ConfigError> {
        let pec = row.pec;
        let (of, ages) = (
            |n: usize, what: &str| format!("error.table, pec = {pec}: {what} has {n} entries"),
            self.ages.len(),
        );
        require(row.base.len() == groups, || {
            format!("{} for {groups} groups of disturb.groups", of(row.base.len(), "base"))
        })?;
        require(row.retention.len() == groups, || {
            format!(
                "{} for {groups} groups of disturb.groups",
                of(row.retention.len(), "retention")
            )
        })?;
        for rates in &row.retention {
            require(rates.len() == ages, || {
                format!(
                    "error.table, pec = {pec}: retention has {} numbers for {ages} ages",
                    rates.len()
                )
            })?;
            require(rates.windows(2).all(|w| w[0] <= w[1]), || {
                format!(
                    "error.table, pec = {pec}: retention must not fall with age, because flash \
                     does not heal"
                )
            })?;
        }
        Ok(())
    }
}

fn check_factors(key: &str, factors: &[f64], count: usize, what: &str) -> Result<(), ConfigError> {
    require(factors.is_empty() || factors.len() == count, || {
        format!(
            "{key} has {} numbers; one number for each {what} is expected, {count} in total",
            factors.len()
        )
    })
}
