//! Endurance of a data sheet: rated P/E cycles, and a longer life than the preset's.
//!
//! ```text
//! 3,504 TB x 4.0 bytes programmed per byte written / 2.2 TB of flash = 6,370 P/E cycles
//! ```

use vpass_core::base::geometry::Geometry;
use vpass_core::base::phrase::Opt;
use vpass_core::config::{DriveConfig, ErrorLaw};
use vpass_core::slots::gc::GC;
use vpass_core::slots::reclaim::RECLAIM;

use super::draft::Draft;
use super::{Endurance, Sheet, copy, parse};
use crate::estimate::{self, Answer};
use crate::failure::Failure;
use crate::load::Loaded;
use crate::plan::RunPlan;
use crate::setup::{Base, Gear, Watch};

/// Largest `drive.rated_pec`.
const MOST_CYCLES: f64 = 1_000_000.0;
/// Rated P/E cycles are a multiple of this, rounded up.
const STEP: f64 = 10.0;

/// Solves for the rated P/E cycles.
pub(super) fn solve(draft: &mut Draft, sheet: &Sheet) -> Result<(), Failure> {
    let Some(endurance) = sheet.endurance else { return Ok(()) };
    let wanted = endurance.terabytes(sheet.capacity);
    let mut drive = draft.drive()?;
    let of_preset = drive.config.drive.rated_pec;
    // The data that can be written grows linearly with the cycles, after those of the start.
    let mut at = |rated: u32| {
        drive.config.drive.rated_pec = rated;
        terabytes(&drive)
    };
    let (low, high) = (at(of_preset)?, at(2 * of_preset)?);
    let per_cycle = (high - low) / f64::from(of_preset);
    let exact = f64::from(of_preset) + (wanted - low) / per_cycle;
    let rated = ((exact / STEP).ceil() * STEP).max(STEP);
    if rated > MOST_CYCLES {
        return Err(Failure::usage(format!(
            "{wanted} TB on {} need {rated:.0} P/E cycles of each block; at most {MOST_CYCLES} \
             are possible, so at most {:.0} TB",
            parse::size_word(sheet.capacity),
            wanted * MOST_CYCLES / rated
        ))
        .at(option(endurance)));
    }
    draft.set(
        "drive.rated_pec",
        rated,
        format!(
            "sheet: {}, with the write amplification of random writes that `vpass life` estimates",
            in_words(endurance, sheet)
        ),
    );
    let config = &drive.config;
    let last = config.disturb.table.iter().map(|row| f64::from(row.pec)).fold(0.0, f64::max);
    // Within the table, the preset's law may still end a life before the sheet does.
    if rated > last || draft.config().is_err() {
        stretch(draft, config, rated / f64::from(of_preset));
    }
    Ok(())
}

/// Returns the option that gives an endurance.
fn option(endurance: Endurance) -> Opt {
    match endurance {
        Endurance::Tbw(_) => Opt::Tbw,
        Endurance::Dwpd { .. } => Opt::Dwpd,
    }
}

/// Describes an endurance.
pub(super) fn in_words(endurance: Endurance, sheet: &Sheet) -> String {
    match endurance {
        Endurance::Tbw(terabytes) => format!("{terabytes} TBW"),
        Endurance::Dwpd { per_day, years } => {
            format!(
                "{per_day} DWPD x 365 days x {years} years x {}",
                parse::size_word(sheet.capacity)
            )
        }
    }
}

/// Lets wear count as a share of a longer life, for limits against reads and for error rates.
/// Without this, the preset's error law would end the life first.
fn stretch(draft: &mut Draft, config: &DriveConfig, by: f64) {
    let why = format!(
        "assumption: the error law of the preset, in which wear counts as a share of the rated \
         life; the rated life is {by:.3} times that of the preset"
    );
    let rows: Vec<String> = config
        .disturb
        .table
        .iter()
        .map(|row| {
            let pec = (f64::from(row.pec) * by).round();
            let list = |numbers: &[f64]| {
                numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            let (limit, alpha) = (list(&row.limit), list(&row.alpha));
            format!("    {{ pec = {pec}, limit = [{limit}], alpha = [{alpha}] }},\n")
        })
        .collect();
    draft.set("disturb.table", format!("[\n{}]", rows.concat()), why.clone());
    let e = &config.error;
    if e.model == ErrorLaw::PowerLaw {
        for (key, factor, power) in [("a", e.a, e.k), ("b", e.b, e.m)] {
            let value = format!("{:.4e}", factor * by.powf(-power));
            draft.set(&format!("error.{key}"), value, why.clone());
        }
    }
}

/// Returns the bytes of flash of a drive.
pub(super) fn flash_bytes(config: &DriveConfig) -> f64 {
    let geometry = Geometry::new(config);
    f64::from(geometry.raw_pages()) * f64::from(geometry.page_bytes)
}

/// Returns the number of 10^12 bytes that the host can write if each byte is programmed once.
pub(super) fn terabytes_at_one(config: &DriveConfig) -> f64 {
    let cycles = config.drive.rated_pec.saturating_sub(config.start.pec);
    flash_bytes(config) * f64::from(cycles) / 1e12
}

/// Estimates a life under random writes of whole pages, as `vpass life` does.
///
/// # Errors
/// Reports an impossible drive.
pub(super) fn estimated(drive: &Loaded<DriveConfig>) -> Result<Answer, Failure> {
    let page = drive.config.geometry.page_size;
    let workload = copy::generated(
        "random writes",
        &format!(
            "read_share = 0\nblock_size = \"{page}\"\nrate = 1000\ndistribution = \"uniform\""
        ),
    )?;
    let base = Base { gear: Gear::Untimed, oracle: Watch::Off, ..Base::new(drive.name.clone()) };
    let plan = RunPlan::once(&base, drive.clone(), workload, &RECLAIM[0], &GC[0]);
    estimate::of(&plan)
}

fn terabytes(drive: &Loaded<DriveConfig>) -> Result<f64, Failure> {
    let host_bytes = estimated(drive)?.map(|estimate| estimate.host_bytes.unwrap_or(0.0));
    host_bytes.map(|bytes| bytes / 1e12).map_err(|why| Failure::usage(why).at(Opt::Tbw))
}
