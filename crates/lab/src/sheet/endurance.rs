//! Rated P/E cycles of a drive, computed from the endurance on its data sheet. If a drive has more
//! rated P/E cycles than its preset, read limits may have to be adapted.
//!
//! ```text
//! the host may write 3,504 TB, at 4.0 bytes programmed per byte written
//! the drive has 2.2 TB of flash, so it needs 3,504 x 4.0 / 2.2 = 6,370 P/E cycles
//! ```

use vpass_drive::api::reclaim::NO_RECLAIM;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::phrase::Opt;
use vpass_drive::config::{DriveConfig, ErrorLaw};
use vpass_techniques::card;

use super::draft::Draft;
use super::{Endurance, Sheet, copy, parse};
use crate::estimate::{self, Answer};
use crate::failure::Failure;
use crate::load::Loaded;
use crate::plan::RunPlan;
use crate::setup::{Base, Gear, Watch};

/// Largest value that `drive.rated_pec` may have.
const MOST_CYCLES: f64 = 1_000_000.0;
/// Rated P/E cycles are rounded up to a multiple of this number.
const STEP: f64 = 10.0;

/// Sets the rated P/E cycles that are needed for the endurance on the data sheet.
pub(super) fn solve(draft: &mut Draft, sheet: &Sheet) -> Result<(), Failure> {
    let Some(endurance) = sheet.endurance else { return Ok(()) };
    let wanted = endurance.terabytes(sheet.capacity);
    let mut drive = draft.drive()?;
    let of_preset = drive.config.drive.rated_pec;
    // The amount of data that the host can write is a linear function of the rated P/E cycles.
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
            "{wanted} TB on {} need {rated:.0} P/E cycles of each block; at most {MOST_CYCLES} are \
             possible, so that at most {:.0} TB can be written",
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
    // The preset's limits must be adapted if the rated P/E cycles lie beyond the last row of the
    // disturb table. With an error law, limits can be too low even before the last row.
    if rated > last || draft.config().is_err() {
        stretch(draft, config, rated / f64::from(of_preset));
    }
    Ok(())
}

/// Returns the command-line option with which the user gave the endurance.
fn option(endurance: Endurance) -> Opt {
    match endurance {
        Endurance::Tbw(_) => Opt::Tbw,
        Endurance::Dwpd { .. } => Opt::Dwpd,
    }
}

/// Describes an endurance in words.
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

/// Adapts read limits and error rates to a longer life. `by` is the new rated life divided by the
/// preset's rated life. All P/E counts in the disturb table and in the error law are multiplied by
/// `by`.
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

/// Returns the amount of flash of a drive, in bytes.
pub(super) fn flash_bytes(config: &DriveConfig) -> f64 {
    let geometry = Geometry::new(config);
    f64::from(geometry.raw_pages()) * f64::from(geometry.page_bytes)
}

/// Returns the amount of data that the host can write with a write amplification of 1, in units of
/// 10^12 bytes.
pub(super) fn terabytes_at_one(config: &DriveConfig) -> f64 {
    let cycles = config.drive.rated_pec.saturating_sub(config.start.pec);
    flash_bytes(config) * f64::from(cycles) / 1e12
}

/// Estimates the life of a drive under random writes of whole pages, with the equations of `vpass
/// life`.
///
/// # Errors
/// Returns an error if the drive cannot be simulated.
pub(super) fn estimated(drive: &Loaded<DriveConfig>) -> Result<Answer, Failure> {
    let page = drive.config.geometry.page_size;
    let workload = copy::generated(
        "random writes",
        &format!(
            "read_share = 0\nblock_size = \"{page}\"\nrate = 1000\ndistribution = \"uniform\""
        ),
    )?;
    let base = Base { gear: Gear::Untimed, oracle: Watch::Off, ..Base::new(drive.name.clone()) };
    let plan = RunPlan::once(&base, drive.clone(), workload, card(NO_RECLAIM), card("greedy"));
    estimate::of(&plan)
}

fn terabytes(drive: &Loaded<DriveConfig>) -> Result<f64, Failure> {
    let host_bytes = estimated(drive)?.map(|estimate| estimate.host_bytes.unwrap_or(0.0));
    host_bytes.map(|bytes| bytes / 1e12).map_err(|why| Failure::usage(why).at(Opt::Tbw))
}
