//! What the error model of a drive says by itself: its parameters, the limit of every layer, and lives under mixes of reads.

use std::fmt::Write;

use vpass_core::config::DriveConfig;
use vpass_core::disturb::table::{ALPHA_ONE, DOSE_ONE, LimitTable};

fn table(config: &DriveConfig) -> LimitTable {
    LimitTable::of(config)
}

/// Limit and alpha by group, at the P/E counts of the table.
pub(super) fn parameters_csv(config: &DriveConfig) -> String {
    let table = table(config);
    let mut csv = String::from("pec_cycles,group,limit_reads,alpha\n");
    for row in &config.disturb.table {
        for (group, name) in config.disturb.groups.iter().enumerate() {
            let e = table.truth(group, row.pec);
            let _ = writeln!(csv, "{},{name},{},{}", row.pec, e.limit as f64 / DOSE_ONE as f64, e.alpha as f64 / ALPHA_ONE as f64);
        }
    }
    csv
}

/// The limit of each layer of the worst block, at the drive's P/E count.
pub(super) fn layers_csv(config: &DriveConfig) -> String {
    let table = table(config);
    let mut csv = String::from("layer,group,limit_reads\n");
    for (layer, wordline) in (0..config.geometry.wordlines_per_block).step_by(config.geometry.strings_per_layer as usize).enumerate() {
        let group = table.group_of(wordline);
        let limit = table.limit_of_worst_block(table.truth(group, config.start.pec).limit, wordline);
        let _ = writeln!(csv, "{layer},{},{}", config.disturb.groups[group], limit as f64 / DOSE_ONE as f64);
    }
    csv
}

/// Reads that the worst wordline of each group endures where a share of them hits its neighbours.
pub(super) fn mixes_csv(config: &DriveConfig) -> String {
    const STEPS: u32 = 10;
    let table = table(config);
    let mut csv = String::from("pec_cycles,group,share_on_neighbours,reads\n");
    for row in &config.disturb.table {
        for (group, name) in config.disturb.groups.iter().enumerate() {
            let e = table.truth(group, row.pec);
            for step in 0..=STEPS {
                let share = f64::from(step) / f64::from(STEPS);
                let per_read = 1.0 + (e.alpha as f64 / ALPHA_ONE as f64 - 1.0) * share;
                let _ = writeln!(csv, "{},{name},{share},{}", row.pec, (e.limit as f64 / DOSE_ONE as f64 / per_read).floor());
            }
        }
    }
    csv
}
