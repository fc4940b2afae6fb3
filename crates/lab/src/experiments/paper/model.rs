//! Files of a recipe. vpass writes these files without a simulation. Some files show the settings,
//! the error model and the read limits of the drive. Other files show the requests of the
//! workloads. There are read limits for each layer and for several mixes of reads.
use std::fmt::Write;

use vpass_drive::base::span::DAY;
use vpass_drive::base::units::WordlineInBlock;
use vpass_drive::config::{BchConfig, BchTarget, DriveConfig};
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::error::bch::Bch;

use super::csv::field;
use super::recipe::Recipe;
use crate::failure::Failure;
use crate::load;

fn table(config: &DriveConfig) -> LimitTable {
    LimitTable::of(config).expect("the drives of the papers have tables")
}

/// Returns the read limit and alpha of each wordline group, at each P/E count of the disturb table.
/// Alpha is the weight of a read of a neighbouring wordline.
pub(super) fn parameters_csv(config: &DriveConfig) -> String {
    let table = table(config);
    let mut csv = String::from("pec_cycles,group,limit_reads,alpha\n");
    for row in &config.disturb.table {
        for (group, name) in config.disturb.groups.iter().enumerate() {
            let e = table.truth(group, row.pec);
            let _ = writeln!(
                csv,
                "{},{},{},{}",
                row.pec,
                field(name),
                e.limit.units(),
                e.alpha.weight()
            );
        }
    }
    csv
}

/// Returns the read limit of each layer of the weakest block, at the drive's starting P/E count.
pub(super) fn layers_csv(config: &DriveConfig) -> String {
    let table = table(config);
    let mut csv = String::from("layer,group,limit_reads\n");
    for (layer, wordline) in WordlineInBlock::range(0..config.geometry.wordlines_per_block)
        .step_by(config.geometry.strings_per_layer as usize)
        .enumerate()
    {
        let group = table.group_of(wordline);
        let limit =
            table.limit_of_worst_block(table.truth(group, config.start.pec).limit, wordline);
        let _ = writeln!(csv, "{layer},{},{}", field(&config.disturb.groups[group]), limit.units());
    }
    csv
}

/// Returns the number of reads that the weakest wordline of each wordline group endures. The number
/// depends on the share of reads that go to neighbouring wordlines, so there is a row for each of
/// several shares.
pub(super) fn mixes_csv(config: &DriveConfig) -> String {
    const STEPS: u32 = 10;
    let table = table(config);
    let mut csv = String::from("pec_cycles,group,share_on_neighbours,reads\n");
    for row in &config.disturb.table {
        for (group, name) in config.disturb.groups.iter().enumerate() {
            let e = table.truth(group, row.pec);
            for step in 0..=STEPS {
                let share = f64::from(step) / f64::from(STEPS);
                let per_read = 1.0 + (e.alpha.weight() - 1.0) * share;
                let _ = writeln!(
                    csv,
                    "{},{},{share},{}",
                    row.pec,
                    field(name),
                    (e.limit.units() / per_read).floor()
                );
            }
        }
    }
    csv
}

/// P/E counts of the rows in the table with the limits of the error-correcting code: the first
/// count, the last count, and the step between two rows.
const CODE_PEC: (u32, u32, usize) = (1000, 30_000, 500);

/// Returns a table with the largest number of reads and the largest age with which the drive's
/// error-correcting code still corrects data. There are rows for three targets: the drive's own
/// target, and the UBER of JESD218 for client drives and for enterprise drives.
///
/// The last column is for data that is both read and old. The column has the largest number of
/// reads at half of the largest age.
pub(super) fn code_csv(config: &DriveConfig) -> String {
    let mut csv = String::from(
        "target,pec_cycles,tolerable_rber,uber,reads,age_days,reads_at_half_age_if_shared\n",
    );
    let uber = |uber: f64| BchConfig { target: BchTarget::Uber, uber, ..config.bch.clone() };
    for (name, of) in
        [("own", config.bch.clone()), ("uber_1e-15", uber(1e-15)), ("uber_1e-16", uber(1e-16))]
    {
        let config = DriveConfig { bch: of, ..config.clone() };
        let Some(bch) = Bch::of(&config) else { break };
        let (_, data_bits, _) = bch.code();
        for pec in (CODE_PEC.0..=CODE_PEC.1).step_by(CODE_PEC.2) {
            let (reads, age) = (bch.reads(pec), bch.age(pec));
            let left = 1.0 - bch.retention(pec, (age / 2.0) as u64) / bch.tolerable();
            let (rber, uber) = (bch.tolerable(), bch.fails() / f64::from(data_bits));
            let _ = writeln!(
                csv,
                "{name},{pec},{rber:.6e},{uber:.4e},{reads},{:.1},{}",
                age / DAY as f64,
                (reads * left).floor()
            );
        }
    }
    csv
}

/// Returns the drive's settings. Papers list these settings in a table of parameters.
pub(super) fn settings_csv(config: &DriveConfig) -> String {
    let (geometry, timing) = (&config.geometry, &config.timing);
    let mean = |kinds: &[f64]| kinds.iter().sum::<f64>() / kinds.len() as f64;
    let table = table(config);
    let limit = (0..config.disturb.groups.len())
        .map(|group| table.truth(group, config.start.pec).limit)
        .min()
        .unwrap_or_default();
    let shown = [
        ("page_size", geometry.page_size.0 as f64, "bytes"),
        ("pages_per_block", f64::from(geometry.pages_per_block()), "pages"),
        (
            "page_read",
            mean(&timing.sense_per_kind_us(geometry.cell)),
            "microseconds, mean of the page kinds",
        ),
        ("page_program", timing.program_us.mean(), "microseconds"),
        ("block_erase", timing.erase_us, "microseconds"),
        ("spare", config.drive.spare.unwrap_or(0.0), "share of raw flash"),
        ("read_limit", limit.units(), "reads of a block"),
    ];
    let mut rows: Vec<(String, f64, &str)> =
        shown.map(|(setting, value, unit)| (setting.to_owned(), value, unit)).into();
    let page_kinds = timing.program_us.per_kind(geometry.cell).into_iter().enumerate();
    rows.extend(page_kinds.map(|(kind, us)| {
        (format!("page_program_{}", kind + 1), us, "microseconds to program a page of this kind")
    }));
    rows.extend(timing.erase_by_pec.iter().map(|row| {
        (format!("block_erase_from_{}", row.pec), row.us, "microseconds, from this P/E count on")
    }));
    let blocks = geometry.blocks_per_plane.unwrap_or(0);
    let block = f64::from(geometry.pages_per_block()) * geometry.page_size.0 as f64;
    for (setting, value, unit) in [
        ("block_size", block, "bytes"),
        ("blocks_per_plane", f64::from(blocks), "blocks"),
        ("planes", f64::from(geometry.planes()), "planes"),
        ("raw_flash", block * f64::from(blocks) * f64::from(geometry.planes()), "bytes"),
        (
            "capacity",
            config.drive.capacity.map_or(0.0, |capacity| capacity.0 as f64),
            "bytes that the host sees",
        ),
    ] {
        rows.push((setting.into(), value, unit));
    }
    let mut csv = String::from("setting,value,unit\n");
    for (setting, value, unit) in rows {
        let _ = writeln!(csv, "{setting},{value},{}", field(unit));
    }
    csv
}

/// Returns a row for each generated workload. The row has the size of the drive and the requests of
/// one pass.
///
/// # Errors
/// Returns an error if the drive is invalid.
pub(super) fn workloads_csv(recipe: &Recipe) -> Result<String, Failure> {
    let mut csv = String::from(
        "workload,volume_gib,read_share,read_gib_per_pass,write_gib_per_pass,distribution\n",
    );
    let gib = |bytes: f64| bytes / f64::from(1u32 << 30);
    for workload in recipe.workloads.iter().filter(|workload| !workload.is_beside()) {
        let sets: Vec<String> = recipe.set.iter().chain(&workload.set).cloned().collect();
        let volume = load::drive(&recipe.drive, &load::overrides(&sets)?)?
            .config
            .drive
            .capacity
            .map_or(0, |c| c.0);
        let config = &workload.config;
        let bytes = config.requests as f64 * config.block_size.map_or(0, |size| size.0) as f64;
        let (read, written) = (bytes * config.read_share, bytes * (1.0 - config.read_share));
        let (volume, read, written) = (gib(volume as f64), gib(read), gib(written));
        let _ = writeln!(
            csv,
            "{},{volume},{},{read:.2},{written:.2},{}",
            field(&workload.name),
            config.read_share,
            field(&config.distribution.to_string())
        );
    }
    Ok(csv)
}
