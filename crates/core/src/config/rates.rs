//! `[error]`: the raw bit error rate of data by wear and age.

use serde::{Deserialize, Serialize};

use super::disturb::PEC_MAX;
use super::error::{ConfigError, require, require_ascending, require_range};
use super::flash::CellType;
use crate::base::span::{Span, YEAR};

/// How the error rate without reads is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorLaw {
    /// Not at all: only reads wear at data, and none of it ages.
    #[default]
    None,
    /// RBER = e + a PEC^k + b PEC^m t^n.
    PowerLaw,
    /// Straight numbers by P/E count, group and age.
    Table,
    /// As `[bch]` has it: from one code and its tolerable reads and age at one P/E count.
    Bch,
}

/// What t counts in the power law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Hours.
    #[default]
    Hours,
    /// Days.
    Days,
}

/// Error rates of each wordline group at one P/E count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRow {
    /// The P/E count of this row, one of `disturb.table`'s.
    pub pec: u32,
    /// RBER of fresh data, per group.
    pub base: Vec<f64>,
    /// What age adds to it: for each group a list with a number for each of `error.ages`.
    pub retention: Vec<Vec<f64>>,
}

/// `[error]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ErrorConfig {
    /// "none", "powerlaw", "table" or "bch": how the RBER of data that nobody reads follows from
    /// wear and age.
    pub model: ErrorLaw,
    /// e in RBER = e + a PEC^k + b PEC^m t^n, at 100 P/E cycles or more.
    pub e: f64,
    /// a in that law.
    pub a: f64,
    /// k in that law.
    pub k: f64,
    /// b in that law: what age adds.
    pub b: f64,
    /// m in that law.
    pub m: f64,
    /// n in that law.
    pub n: f64,
    /// "hours" or "days": what t counts in that law.
    pub time_unit: TimeUnit,
    /// RBER of fresh data over that law's, per wordline group; all 1 where empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub base_by_group: Vec<f64>,
    /// What age adds, over that law's, per wordline group; all 1 where empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retention_by_group: Vec<f64>,
    /// RBER of fresh data over that of law or table, by page kind, LSB first; all 1 where empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub base_by_kind: Vec<f64>,
    /// Ages for which the rows of `table` have numbers, ascending.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ages: Vec<Span>,
    /// Error rates by P/E count, at the counts of `disturb.table`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<ErrorRow>,
    /// Temperature at which data ages, in degrees Celsius; that of the law where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
    /// Temperature of which law or table tell, in degrees Celsius.
    pub reference_c: f64,
    /// Activation energy (Arrhenius), in electronvolts.
    pub activation_ev: f64,
    /// Age up to which data is kept where nothing refreshes it; older data is lost.
    pub longest_age: Span,
    /// Whether retries, and losses, are drawn from the binomial tail, rather than following from
    /// dose, age and wear; needs `ecc.codeword`.
    pub noise: bool,
}

impl Default for ErrorConfig {
    fn default() -> Self {
        Self {
            model: ErrorLaw::None,
            e: 0.0,
            a: 0.0,
            k: 1.0,
            b: 0.0,
            m: 1.0,
            n: 1.0,
            time_unit: TimeUnit::Hours,
            base_by_group: vec![],
            retention_by_group: vec![],
            base_by_kind: vec![],
            ages: vec![],
            table: vec![],
            temperature_c: None,
            // Assumption: JESD218 states retention of enterprise drives at 40 C.
            reference_c: 40.0,
            // HeatWatch (HPCA 2018), second-hand: measured on planar flash; nobody published a
            // figure for 3D.
            activation_ev: 1.1,
            // JESD218: a client drive keeps data for a year.
            longest_age: Span(YEAR),
            noise: false,
        }
    }
}

/// A page of which half the bits are wrong says nothing.
const RBER_MAX: f64 = 0.5;
/// Largest factor of a group or page kind, and its inverse.
const FACTOR_MAX: f64 = 100.0;
/// Largest exponent of the law.
const EXPONENT_MAX: f64 = 10.0;
const LONGEST_AGE: Span = Span(10 * YEAR);
const COLDEST_C: f64 = -40.0;
const HOTTEST_C: f64 = 125.0;

impl ErrorConfig {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn check(&self, groups: usize, cell: CellType) -> Result<(), ConfigError> {
        for (key, value) in [("error.e", self.e), ("error.a", self.a), ("error.b", self.b)] {
            require_range(key, value, 0.0, RBER_MAX)?;
        }
        for (key, value) in [("error.k", self.k), ("error.m", self.m), ("error.n", self.n)] {
            require_range(key, value, 0.0, EXPONENT_MAX)?;
        }
        check_factors("error.base_by_group", &self.base_by_group, groups, "wordline group")?;
        check_factors(
            "error.retention_by_group",
            &self.retention_by_group,
            groups,
            "wordline group",
        )?;
        check_factors("error.base_by_kind", &self.base_by_kind, cell.kinds().len(), "page kind")?;
        self.check_temperature()?;
        check_age("error.longest_age", self.longest_age)?;
        self.check_table(groups)?;
        require(self.model != ErrorLaw::PowerLaw || self.e > 0.0 || self.a > 0.0, || {
            "error.model = \"powerlaw\": with error.e and error.a both 0, fresh data has no errors; flash without errors is \
             error.model = \"none\""
                .into()
        })?;
        require(self.model != ErrorLaw::Table || !self.table.is_empty(), || {
            "error.model = \"table\" and error.table is empty; a row at each P/E count of disturb.table belongs there".into()
        })
    }

    fn check_temperature(&self) -> Result<(), ConfigError> {
        if let Some(celsius) = self.temperature_c {
            require_range("error.temperature_c", celsius, COLDEST_C, HOTTEST_C)?;
        }
        require_range("error.reference_c", self.reference_c, COLDEST_C, HOTTEST_C)?;
        require_range("error.activation_ev", self.activation_ev, 0.0, 3.0)
    }

    fn check_table(&self, groups: usize) -> Result<(), ConfigError> {
        self.ages.iter().try_for_each(|age| check_age("error.ages", *age))?;
        require(self.ages.windows(2).all(|w| w[0] < w[1]), || "error.ages must ascend".into())?;
        require_ascending("error.table", self.table.iter().map(|row| row.pec))?;
        require(self.table.is_empty() || !self.ages.is_empty(), || {
            "error.table without error.ages; the ages that its retention numbers are for belong there".into()
        })?;
        self.table.iter().try_for_each(|row| self.check_row(row, groups))
    }

    fn check_row(&self, row: &ErrorRow, groups: usize) -> Result<(), ConfigError> {
        let pec = row.pec;
        require(pec <= PEC_MAX, || format!("error.table: pec is more than {PEC_MAX}"))?;
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
        row.base
            .iter()
            .try_for_each(|rate| require_range("error.table base", *rate, 0.0, RBER_MAX))?;
        for rates in &row.retention {
            require(rates.len() == ages, || {
                format!(
                    "error.table, pec = {pec}: retention has {} numbers for {ages} ages",
                    rates.len()
                )
            })?;
            rates.iter().try_for_each(|rate| {
                require_range("error.table retention", *rate, 0.0, RBER_MAX)
            })?;
            require(rates.windows(2).all(|w| w[0] <= w[1]), || {
                format!("error.table, pec = {pec}: retention falls with age; flash does not heal")
            })?;
        }
        Ok(())
    }
}

fn check_factors(key: &str, factors: &[f64], count: usize, what: &str) -> Result<(), ConfigError> {
    require(factors.is_empty() || factors.len() == count, || {
        format!("{key} has {} numbers; one for each {what} ({count}) is expected", factors.len())
    })?;
    factors.iter().try_for_each(|factor| require_range(key, *factor, 1.0 / FACTOR_MAX, FACTOR_MAX))
}

fn check_age(key: &str, age: Span) -> Result<(), ConfigError> {
    require(age.0 > 0 && age <= LONGEST_AGE, || {
        format!("{key} = \"{age}\" is not above 0 and at most {LONGEST_AGE}")
    })
}
