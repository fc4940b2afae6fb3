//! `[disturb]`: the error model of the flash, and its numbers.

use serde::{Deserialize, Serialize};

use super::error::{ConfigError, require, require_ascending};
use super::flash::CellType;
use super::is_default;
use super::keys::{self, Keys};

/// Model of read disturb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum DisturbModel {
    /// Reads disturb nothing.
    None,
    /// Every read of a block disturbs all its other pages alike.
    Count,
    /// Reads disturb the neighbouring wordlines alpha times as much as the rest of the block.
    Wordline,
}

impl DisturbModel {
    /// Returns whether reads disturb anything.
    pub fn disturbs(self) -> bool {
        self != Self::None
    }

    /// Returns whether the model uses `disturb.table`: limits by wordline group and P/E count,
    /// which techniques may look up.
    pub fn has_table(self) -> bool {
        matches!(self, Self::Count | Self::Wordline)
    }

    /// Returns whether a read also counts for the wordline that is read.
    pub fn own_reads_disturb(self) -> bool {
        self == Self::Count
    }

    /// Returns whether reads of a neighbouring wordline weigh more than others. Alpha, groups and
    /// the spread within a group then have a meaning.
    pub fn has_neighbours(self) -> bool {
        self == Self::Wordline
    }

    /// Returns the name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Count => "count",
            Self::Wordline => "wordline",
        }
    }
}

/// Unit of the dose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Keys)]
#[serde(rename_all = "lowercase")]
pub enum DoseUnit {
    /// Every page read counts 1, as in the papers.
    Reads,
    /// A read counts its sensings over the mean sensings of the wordline's pages.
    Sensings,
}

/// Limit and neighbour weight of each wordline group at one P/E count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
pub struct PerPec {
    /// P/E count of this row.
    #[key(unit = "P/E cycles", range = Whole(0, PEC_MAX as u64))]
    pub pec: u32,
    /// `ERC_MAX` of each group: number of reads elsewhere in the block that the weakest wordline of
    /// the group endures.
    #[key(unit = "reads", range = Real(1.0, LIMIT_MAX), note = ", one for each group")]
    pub limit: Vec<f64>,
    /// Weight of a read of a neighbouring wordline, per group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[key(range = Real(1.0, ALPHA_MAX), note = ", one for each group", default)]
    pub alpha: Vec<f64>,
}

/// `[disturb]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "disturb")]
pub struct DisturbConfig {
    /// Error model: "none", "count" or "wordline".
    #[key(default = DisturbModel::None)]
    pub model: DisturbModel,
    /// Unit of the dose: "reads" or "sensings".
    #[key(
        default = DoseUnit::Reads,
        random = [DoseUnit::Reads, DoseUnit::Reads, DoseUnit::Sensings]
    )]
    pub dose: DoseUnit,
    /// Weight of a read for wordlines that are not yet programmed.
    #[key(range = Real(0.0, 1.0), default = 0.0, random = [0.0, 0.0, 0.3, 1.0])]
    pub preprogram_weight: f64,
    /// Names of the wordline groups, best first.
    #[key(range = Words("1 to 16 names"), default = vec!["all".into()])]
    pub groups: Vec<String>,
    /// Share of the wordlines in each group; equal shares if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(
        unit = "share",
        range = keys::SHARE,
        note = ", one for each group; the sum is 1",
        default
    )]
    pub group_share: Vec<f64>,
    /// Limit of each group's best layer, as a multiple of the limit of its worst layer, which is in
    /// `table`; all 1 if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(range = Real(1.0, SPREAD_MAX), note = ", one for each group", default)]
    pub spread: Vec<f64>,
    /// Share by which the limits of the best block exceed those of the worst block, which are in
    /// `table`.
    #[key(unit = "share", range = Real(0.0, SPREAD_MAX - 1.0), default = 0.0)]
    pub block_variation: f64,
    /// Scatter of the limits over blocks: standard deviation of the logarithm of a lognormal
    /// factor, truncated so that no factor is below 1 or above 4. This factor multiplies that of
    /// `block_variation`.
    #[serde(skip_serializing_if = "is_default")]
    #[key(range = Real(0.0, 1.0), default = 0.0)]
    pub limit_sigma_block: f64,
    /// Scatter of the limits over the layers of a block, like `limit_sigma_block`. A layer has the
    /// same factor in every block. This factor multiplies that of `spread`.
    #[serde(skip_serializing_if = "is_default")]
    #[key(range = Real(0.0, 1.0), default = 0.0)]
    pub limit_sigma_layer: f64,
    /// Limit of each page kind, as a multiple of the limit of the wordline's weakest page; LSB
    /// first; all 1 if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[key(
        range = Real(1.0, KIND_FACTOR_MAX),
        note = ", one for each page kind; at least one is 1",
        default,
        random = [1.0, 1.3, 1.8, 4.0]
    )]
    pub kind_factor: Vec<f64>,
    /// Limits by P/E count, ascending; linear between rows, and extrapolated beyond the last.
    #[key(range = Words("rows, in ascending order of pec"), default = vec![])]
    pub table: Vec<PerPec>,
    /// P/E cycles between two rows of the limits that reclaim techniques use. These rows are
    /// interpolated from `table` and rounded to the safe side. 0: the techniques use only the rows
    /// of `table`.
    #[key(
        unit = "P/E cycles",
        range = ZeroOr(10.0, PEC_MAX as f64),
        default = 100,
        source = "assumption: a firmware's table of limits has a row for every few per cent of the \
            rated life",
        random = [0, 10, 100, 2000]
    )]
    pub policy_row_cycles: u32,
}

/// Largest factor of a lognormal scatter. Fixed-point limits are sized for it.
pub(crate) const SCATTER_MAX: f64 = 4.0;
/// Largest limit and alpha. The fixed-point counters are sized for them.
pub(crate) const LIMIT_MAX: f64 = 2e7;
pub(crate) const ALPHA_MAX: f64 = 32.0;
/// Largest P/E count; far beyond what flash endures.
pub(super) const PEC_MAX: u32 = 1_000_000;
/// Largest limit of a member relative to the weakest of its group.
const SPREAD_MAX: f64 = 10.0;
/// Largest limit of a page kind relative to the weakest kind.
const KIND_FACTOR_MAX: f64 = 10.0;

impl DisturbConfig {
    pub(super) fn check(&self, cell: CellType) -> Result<(), ConfigError> {
        self.check_ranges()?;
        if !self.model.has_table() {
            return Ok(());
        }
        let groups = self.groups.len();
        require((1..=16).contains(&groups), || {
            format!("disturb.groups has {groups} names; 1 to 16 are expected")
        })?;
        self.check_shares()?;
        self.check_spread()?;
        self.check_kinds(cell)?;
        require(!self.table.is_empty(), || {
            "disturb.table is empty; at least one row such as {pec = 0, limit = [100000]} is \
             expected"
                .into()
        })?;
        require_ascending("disturb.table", self.table.iter().map(|row| row.pec))?;
        require(self.model.has_neighbours() || groups == 1, || {
            format!(
                "disturb.model = \"{}\" allows only one wordline group, but disturb.groups names \
                 {groups}",
                self.model.name()
            )
        })?;
        for row in &self.table {
            self.check_row(row)?;
        }
        Ok(())
    }

    fn check_shares(&self) -> Result<(), ConfigError> {
        if self.group_share.is_empty() {
            return Ok(());
        }
        let sum: f64 = self.group_share.iter().sum();
        require(self.group_share.len() == self.groups.len() && (sum - 1.0).abs() < 1e-6, || {
            "disturb.group_share: one share per group, adding up to 1, is expected".into()
        })
    }

    fn check_spread(&self) -> Result<(), ConfigError> {
        let even = self.spread.is_empty() && self.block_variation == 0.0;
        require(even || self.model.has_neighbours(), || {
            "disturb.spread and disturb.block_variation can be used only with disturb.model = \
             \"wordline\""
                .into()
        })?;
        let scatters = self.limit_sigma_block > 0.0 || self.limit_sigma_layer > 0.0;
        require(!scatters || self.model.has_neighbours(), || {
            "disturb.limit_sigma_block and disturb.limit_sigma_layer can be used only with \
             disturb.model = \"wordline\""
                .into()
        })?;
        require(self.spread.is_empty() || self.spread.len() == self.groups.len(), || {
            format!(
                "disturb.spread has {} numbers for {} groups",
                self.spread.len(),
                self.groups.len()
            )
        })
    }

    fn check_kinds(&self, cell: CellType) -> Result<(), ConfigError> {
        if self.kind_factor.is_empty() {
            return Ok(());
        }
        let kinds = cell.kinds();
        require(self.kind_factor.len() == kinds.len(), || {
            format!(
                "disturb.kind_factor has {} numbers; one number for each page kind ({}) is \
                 expected",
                self.kind_factor.len(),
                kinds.join(", ")
            )
        })?;
        require(self.kind_factor.contains(&1.0), || {
            "disturb.kind_factor: no number is 1; disturb.table gives the limit of the weakest \
             page kind, whose factor is 1"
                .into()
        })
    }

    fn check_row(&self, row: &PerPec) -> Result<(), ConfigError> {
        let groups = self.groups.len();
        require(row.limit.len() == groups, || {
            format!(
                "disturb.table, pec = {}: limit has {} numbers for {groups} groups",
                row.pec,
                row.limit.len()
            )
        })?;
        if self.model.has_neighbours() {
            require(row.alpha.len() == groups, || {
                format!(
                    "disturb.table, pec = {}: alpha has {} numbers for {groups} groups",
                    row.pec,
                    row.alpha.len()
                )
            })?;
        }
        Ok(())
    }
}
