//! One read taken apart: how long it takes, what it does to its block, and when the block is
//! rewritten because of reads.

mod budget;
mod code;
mod hints;
mod stripe;
mod unit;

use std::collections::BTreeSet;

use serde::Serialize;
use vpass_core::base::dose::Quarters;
use vpass_core::base::geometry::Geometry;
use vpass_core::base::units::{transfer_ns, us};
use vpass_core::config::{ConfigError, DoseUnit, DriveConfig};
use vpass_core::disturb::table::{LimitTable, dose_per_kind};
use vpass_core::slots::reclaim::promise::Prospect;
use vpass_core::slots::reclaim::{Technique, Threshold};

pub use hints::Word;

pub use code::{Code, CodeLimits};
pub use stripe::{StripeLimit, Stripes};
pub use unit::{SmallWrite, Unit};

pub use budget::{ErrorBudget, Left, Level, PageBudget};

/// What is to be said of a read of a drive under a technique.
#[derive(Serialize)]
pub struct Explanation {
    /// Preset or path of the drive.
    pub drive: String,
    /// The technique.
    pub reclaim: &'static str,
    /// What the technique keeps in the controller.
    pub controller_ram_bytes: u64,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// The mapping unit, and the cost of smaller writes.
    pub mapping_unit: Unit,
    /// How long a read takes, by page kind.
    pub read: Vec<ReadLatency>,
    /// None where reads disturb nothing.
    pub dose: Option<Dose>,
    /// Whether what follows is the drive's nature as the technique makes it, which no drive has.
    pub counterfactual: bool,
    /// Limit of each page kind over that of the weakest.
    pub kind_factor: Vec<(&'static str, f64)>,
    /// What a block endures at the starting age of the drive and at each age of its table; none
    /// without a table.
    pub ages: Vec<Age>,
    /// What the code bears from which limits follow; none where they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// What parity adds to the reads that a block bears; none but with `bch.target = "stripe"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripes: Option<Stripes>,
    /// What wear, age and reads leave of a page at each retry, at the same P/E counts; none where
    /// the drive says nothing of errors.
    pub error_budget: Option<ErrorBudget>,
    /// What each word of a host's hints allows; none where reads take no retries, or a word of
    /// `[hints]` has no room for a read.
    pub hints: Option<Vec<Word>>,
}

/// Microseconds, of a whole page on an idle drive.
#[derive(Serialize)]
pub struct ReadLatency {
    /// LSB, CSB and so on.
    pub page_kind: &'static str,
    /// Times that the die senses.
    pub sensings: u32,
    /// Until it has.
    pub sensing_us: f64,
    /// The transfer to the controller.
    pub channel_us: f64,
    /// Decoding.
    pub ecc_us: f64,
    /// The transfer to the host.
    pub host_link_us: f64,
    /// All of these.
    pub total_us: f64,
}

/// What a read deposits in its block.
#[derive(Serialize)]
pub struct Dose {
    /// The error model.
    pub model: &'static str,
    /// What a dose counts.
    pub unit: &'static str,
    /// Dose units of one read of each page kind.
    pub weight: Vec<(&'static str, f64)>,
    /// How far away the two wordlines are that are disturbed most.
    pub neighbour_stride: u32,
    /// Wordlines of a block.
    pub wordlines_per_block: u32,
}

/// A block after so many P/E cycles.
#[derive(Serialize)]
pub struct Age {
    /// P/E cycles.
    pub pec: u32,
    /// What its wordlines endure.
    pub groups: Vec<Group>,
    /// When the technique acts.
    pub thresholds: Vec<Rewrite>,
    /// What the technique promises of such a block, and what that rests on.
    pub promise: String,
    /// Dose units left of the tightest budget of a wordline, below 0 where the promise does not
    /// hold; none where it promises nothing.
    pub slack: Option<f64>,
}

/// What a group of wordlines endures.
#[derive(Serialize)]
pub struct Group {
    /// As the drive names it.
    pub name: String,
    /// How many of a block belong to it.
    pub wordlines: u32,
    /// Dose units that they endure.
    pub limit: f64,
    /// How many times as much a neighbour takes as other wordlines do.
    pub alpha: f64,
}

/// A count of reads at which a technique acts.
#[derive(Serialize)]
pub struct Rewrite {
    /// What is done.
    pub what: String,
    /// Reads of the block.
    pub reads: u32,
    /// How they follow from the limits.
    pub because: String,
}

impl From<Threshold> for Rewrite {
    fn from(t: Threshold) -> Self {
        Self { what: t.name, reads: t.reads, because: t.because }
    }
}

/// Explains a read of this drive, as the technique has it.
///
/// # Errors
/// A drive that cannot be.
pub fn explanation(
    name: &str,
    config: &DriveConfig,
    reclaim: &'static Technique,
) -> Result<Explanation, ConfigError> {
    let geometry = Geometry::new(config);
    Ok(Explanation {
        drive: name.into(),
        reclaim: reclaim.name,
        controller_ram_bytes: reclaim.make(config, 0).controller_ram(&geometry).0
            + config.ecc.level_bytes(geometry.blocks).0,
        page_bytes: geometry.page_bytes,
        mapping_unit: Unit::of(geometry.page_bytes.into()),
        read: latencies(config, &geometry),
        dose: dose(config, &geometry),
        counterfactual: reclaim.is_counterfactual(),
        kind_factor: geometry
            .cell
            .kinds()
            .iter()
            .copied()
            .zip(config.disturb.kind_factor.iter().copied())
            .collect(),
        ages: ages_at(config, &geometry, reclaim, &ages(config))?,
        code: code::code(config, ages(config).into_iter()),
        stripes: stripe::stripes(config),
        error_budget: budget::error_budget(config, &ages(config))?,
        hints: hints::words(config, reclaim)?,
    })
}

fn latencies(config: &DriveConfig, geometry: &Geometry) -> Vec<ReadLatency> {
    let t = &config.timing;
    let page = u64::from(geometry.page_bytes);
    let (channel, host, ecc) =
        (transfer_ns(page, t.channel_mb_s), transfer_ns(page, t.host_mb_s), us(t.ecc_us));
    let cell = geometry.cell;
    let kinds = cell.kinds().iter().zip(cell.sensings()).zip(t.sense_per_kind_us(cell));
    let in_us = |ns: u64| ns as f64 / 1e3;
    kinds
        .map(|((kind, sensings), sense_us)| ReadLatency {
            page_kind: kind,
            sensings,
            sensing_us: in_us(us(sense_us)),
            channel_us: in_us(channel),
            ecc_us: in_us(ecc),
            host_link_us: in_us(host),
            total_us: in_us(us(sense_us) + channel + ecc + host),
        })
        .collect()
}

fn dose(config: &DriveConfig, geometry: &Geometry) -> Option<Dose> {
    if !config.disturb.model.disturbs() {
        return None;
    }
    let model = config.disturb.model.name();
    let unit = match config.disturb.dose {
        DoseUnit::Reads => "reads",
        DoseUnit::Sensings => "sensings",
    };
    let weights = dose_per_kind(config.disturb.dose, geometry.cell).map(Quarters::units);
    let weight = geometry.cell.kinds().iter().copied().zip(weights).collect();
    Some(Dose {
        model,
        unit,
        weight,
        neighbour_stride: geometry.neighbour_stride,
        wordlines_per_block: geometry.wordlines_per_block,
    })
}

/// The drive's starting age, in P/E cycles, and each age of its table.
fn ages(config: &DriveConfig) -> BTreeSet<u32> {
    config.disturb.table.iter().map(|row| row.pec).chain([config.start.pec]).collect()
}

/// A block of this age; none where there is no table of limits.
///
/// # Errors
/// A drive that cannot be.
pub fn age(
    config: &DriveConfig,
    pec: u32,
    reclaim: &Technique,
) -> Result<Option<Age>, ConfigError> {
    Ok(ages_at(config, &Geometry::new(config), reclaim, &BTreeSet::from([pec]))?.pop())
}

fn ages_at(
    config: &DriveConfig,
    geometry: &Geometry,
    technique: &Technique,
    counts: &BTreeSet<u32>,
) -> Result<Vec<Age>, ConfigError> {
    let prospect = Prospect::new(config, technique, true)?;
    let Some(table) = LimitTable::of(config) else { return Ok(vec![]) };
    let group = |g: usize, pec: u32| {
        let e = table.truth(g, pec);
        Group {
            name: config.disturb.groups[g].clone(),
            wordlines: geometry.wordlines_in_block().filter(|w| table.group_of(*w) == g).count()
                as u32,
            limit: e.limit.units(),
            alpha: e.alpha.weight(),
        }
    };
    let age = |pec| {
        let promise = prospect.promise(pec);
        Age {
            pec,
            groups: (0..table.groups()).map(|g| group(g, pec)).collect(),
            thresholds: prospect.thresholds(pec).into_iter().map(Rewrite::from).collect(),
            promise: promise.words(&config.disturb),
            slack: promise.budget().map(|budget| budget.slack()),
        }
    };
    Ok(counts.iter().copied().map(age).collect())
}
