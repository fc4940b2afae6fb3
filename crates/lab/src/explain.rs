//! Explanation of a read: how long the read takes, how much the read disturbs the block, and after
//! how many reads the block is rewritten.

mod budget;
mod code;
mod hints;
mod stripe;
mod unit;

use std::collections::BTreeSet;

use serde::Serialize;
use vpass_drive::api::reclaim::promise::Prospect;
use vpass_drive::api::reclaim::{Technique, Threshold};
use vpass_drive::base::dose::Quarters;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{WordlineInBlock, transfer_ns, us};
use vpass_drive::config::{ConfigError, DoseUnit, DriveConfig};
use vpass_drive::disturb::table::{LimitTable, dose_per_kind};

pub use hints::Word;

pub use code::{Code, CodeLimits};
pub use stripe::{StripeLimit, Stripes};
pub use unit::{SmallWrite, Unit};

pub use budget::{ErrorBudget, Left, Level, PageBudget};

/// Facts about a read on a drive with one reclaim technique.
#[derive(Serialize)]
pub struct Explanation {
    /// Preset or path of the drive.
    pub drive: String,
    /// Reclaim technique.
    pub reclaim: &'static str,
    /// Number of bytes of controller memory that the technique needs.
    pub controller_ram_bytes: u64,
    /// Number of bytes of a page.
    pub page_bytes: u32,
    /// Mapping unit of the drive, and the cost of writes that are smaller than this unit.
    pub mapping_unit: Unit,
    /// Latency of a read, by page kind.
    pub read: Vec<ReadLatency>,
    /// Dose of a read; `None` if reads do not disturb the block.
    pub dose: Option<Dose>,
    /// Whether the technique is counterfactual. A counterfactual technique changes the physics of
    /// the flash, so no real drive can use the technique.
    pub counterfactual: bool,
    /// Read limit of each page kind, divided by the read limit of the weakest page kind.
    pub kind_factor: Vec<(&'static str, f64)>,
    /// Read endurance of a block at the drive's starting P/E count, and at each P/E count of the
    /// disturb table. Empty without a disturb table.
    pub ages: Vec<Age>,
    /// Error-correcting code from which the read limits follow; `None` if the drive's read limits
    /// do not follow from a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// Numbers of reads that a block endures with and without parity. Present only with `bch.target
    /// = "stripe"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripes: Option<Stripes>,
    /// Error budget of a page at the drive's starting P/E count, and at each P/E count of the
    /// disturb table. Wear, age and reads share the budget. Each further retry gives a larger
    /// budget. `None` if the drive has no error rates.
    pub error_budget: Option<ErrorBudget>,
    /// Effects of each hint. `None` if the drive makes no retries, or if a latency budget in the
    /// table `[hints]` is too short for a read.
    pub hints: Option<Vec<Word>>,
}

/// Latency of reading a whole page on an idle drive, in microseconds.
#[derive(Serialize)]
pub struct ReadLatency {
    /// Page kind: LSB, CSB and so on.
    pub page_kind: &'static str,
    /// Number of times that a read senses the wordline.
    pub sensings: u32,
    /// Time of all sensings.
    pub sensing_us: f64,
    /// Time of the transfer to the controller.
    pub channel_us: f64,
    /// Time of the decoding.
    pub ecc_us: f64,
    /// Time of the transfer to the host.
    pub host_link_us: f64,
    /// Latency of the read: the sum of the times for sensing, decoding and both transfers.
    pub total_us: f64,
}

/// Dose that a read adds to the wordlines of the block.
#[derive(Serialize)]
pub struct Dose {
    /// Error model.
    pub model: &'static str,
    /// Unit of a dose.
    pub unit: &'static str,
    /// Number of dose units that a read adds, by kind of the read page.
    pub weight: Vec<(&'static str, f64)>,
    /// Distance, in wordlines, between the read wordline and each of the two most disturbed
    /// wordlines.
    pub neighbour_stride: u32,
    /// Number of wordlines of a block.
    pub wordlines_per_block: u32,
}

/// Read endurance of a block at one P/E count.
#[derive(Serialize)]
pub struct Age {
    /// Number of P/E cycles.
    pub pec: u32,
    /// Read endurance of each wordline group of the block.
    pub groups: Vec<Group>,
    /// Actions of the technique, each with the number of reads at which the action happens.
    pub thresholds: Vec<Rewrite>,
    /// Guarantee that the technique gives for the block, and the reason why the guarantee holds or
    /// fails.
    pub promise: String,
    /// Smallest margin of the guarantee over all wordlines, in dose units. The margin is negative
    /// if the guarantee does not hold. `None` without a guarantee.
    pub slack: Option<f64>,
}

/// Read endurance of a group of wordlines.
#[derive(Serialize)]
pub struct Group {
    /// Name of the group in the drive file.
    pub name: String,
    /// Number of wordlines that belong to the group in each block.
    pub wordlines: u32,
    /// Number of dose units that a wordline of the group endures.
    pub limit: f64,
    /// Ratio of two doses that a read adds: to a neighbouring wordline, and to a more distant
    /// wordline.
    pub alpha: f64,
}

/// Action of a technique, and the number of reads at which the action happens.
#[derive(Serialize)]
pub struct Rewrite {
    /// Name of the action.
    pub what: String,
    /// Number of reads of the block at which the action happens.
    pub reads: u32,
    /// Explanation of how the value of `reads` follows from the read limits.
    pub because: String,
}

impl From<Threshold> for Rewrite {
    fn from(t: Threshold) -> Self {
        Self { what: t.name, reads: t.reads, because: t.because }
    }
}

/// Explains a read on a drive that uses the given reclaim technique.
///
/// # Errors
/// Returns an error if the drive is invalid.
pub fn explanation(
    name: &str,
    config: &DriveConfig,
    reclaim: &'static Technique,
) -> Result<Explanation, ConfigError> {
    let geometry = Geometry::new(config);
    Ok(Explanation {
        drive: name.into(),
        reclaim: reclaim.name,
        controller_ram_bytes: reclaim
            .asked(config, 0)
            .ask("controller_ram", |policy| policy.controller_ram(&geometry))
            .0
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

/// Returns the group and the read limit of each layer of the weakest block, at the drive's starting
/// P/E count. Returns an empty list if the drive has no disturb table.
pub fn layers(config: &DriveConfig) -> Vec<(&str, f64)> {
    let Some(table) = LimitTable::of(config) else { return vec![] };
    let layer = |wordline| {
        let group = table.group_of(wordline);
        let limit = table.truth(group, config.start.pec).limit;
        let weakest = table.limit_of_worst_block(limit, wordline);
        (config.disturb.groups[group].as_str(), weakest.units())
    };
    WordlineInBlock::range(0..config.geometry.wordlines_per_block)
        .step_by(config.geometry.strings_per_layer as usize)
        .map(layer)
        .collect()
}

/// Returns the drive's starting P/E count and all P/E counts of the disturb table.
fn ages(config: &DriveConfig) -> BTreeSet<u32> {
    config.disturb.table.iter().map(|row| row.pec).chain([config.start.pec]).collect()
}

/// Describes a block that has the given number of P/E cycles. Returns `None` if the drive has no
/// disturb table.
///
/// # Errors
/// Returns an error if the drive is invalid.
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
    let prospect = Prospect::new(config, technique)?;
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
