//! Files that show doses and erases in the results folder of a run.

use std::fmt::Write;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::thinned::Thinned;
use vpass_drive::base::units::{BlockId, Ns};
use vpass_drive::config::DriveConfig;
use vpass_drive::flash::erasures::Erasure;
use vpass_oracle::snapshots::{DoseRecord, State};

use super::File;
use crate::plan::RunPlan;
use crate::run::Outcome;
use crate::setup::Gear;

/// Returns the files with doses and erases. Files with doses are present only if the run recorded
/// doses. The file with erases is present only if the run logged erases.
pub(super) fn files(plan: &RunPlan, outcome: &Outcome) -> Vec<File> {
    let has_times = plan.gear != Gear::Untimed;
    let doses = outcome.doses.as_ref();
    let (geometry, config) = (outcome.drive.geometry(), outcome.drive.config());
    let mut files = vec![];
    if let Some(doses) = doses {
        files.push(("dose.csv", dose_csv(doses, geometry, config, has_times)));
        files.push(("dose_map.csv", dose_map_csv(doses)));
        files.push(("dose_blocks.csv", dose_blocks_csv(doses, has_times)));
    }
    if let Some(erasures) = outcome.drive.erasures() {
        let shares = doses.map(|doses| &doses.shares);
        files.push(("erasures.csv", erasures_csv(erasures, shares, has_times)));
    }
    files.into_iter().map(|(name, text)| (name.to_owned(), text.into_bytes())).collect()
}

/// Formats a time in seconds. In the untimed gear, the text is empty.
fn seconds(at: Ns, has_times: bool) -> String {
    if has_times { (at as f64 / 1e9).to_string() } else { String::new() }
}

/// Formats a number. If the number is absent, the text is empty.
fn optional(number: Option<impl ToString>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// Formats a row for each wordline of the most disturbed blocks. The most disturbed block comes
/// first.
fn dose_csv(
    doses: &DoseRecord,
    geometry: &Geometry,
    config: &DriveConfig,
    has_times: bool,
) -> String {
    let mut csv = String::from(
        "block,die,plane,at_s,at_host_read_pages,pec_cycles,wordline,group,alpha,guard_levels,\
         reads,dose,limit,valid_pages,lost_pages\n",
    );
    for snapshot in &doses.snapshots {
        let block = snapshot.block;
        let begin = format!(
            "{block},{},{},{},{},{}",
            geometry.die_of(block),
            geometry.plane_of(block),
            seconds(snapshot.at, has_times),
            snapshot.host_reads,
            snapshot.cycles
        );
        for (wordline, w) in snapshot.wordlines.iter().enumerate() {
            let group = config.disturb.groups.get(usize::from(w.group));
            let _ = writeln!(
                csv,
                "{begin},{wordline},{},{},{},{},{},{},{},{}",
                group.map_or("", String::as_str),
                w.alpha,
                w.guard_levels,
                w.reads,
                w.dose,
                w.limit,
                w.valid,
                w.lost
            );
        }
    }
    csv
}

/// Formats `dose_map.csv`, with a row for each bin of neighbouring wordlines. `dose_map.csv` shows
/// more blocks than `dose.csv`. The most disturbed block comes first.
fn dose_map_csv(doses: &DoseRecord) -> String {
    let mut csv =
        String::from("rank,block,bin,first_wordline,wordlines,worst_ratio,state,ratio_at_end\n");
    for (rank, map) in (1..).zip(&doses.maps) {
        for ((number, bin), at_end) in (0..).zip(&map.bins).zip(&map.at_end) {
            let wordlines = map.wordlines_of(number);
            let state = match bin.state {
                State::None => "none",
                State::Data => "data",
                State::Lost => "lost",
            };
            let _ = writeln!(
                csv,
                "{rank},{},{number},{},{},{},{state},{}",
                map.block,
                wordlines.start,
                wordlines.len(),
                optional(bin.worst),
                optional(*at_end)
            );
        }
    }
    csv
}

/// Formats one row for each block of the drive.
fn dose_blocks_csv(doses: &DoseRecord, has_times: bool) -> String {
    let mut csv = String::from(
        "block,worst_ratio,worst_wordline,at_s,wordlines_past_limit,erases,share_used_at_erase\n",
    );
    for (block, row) in BlockId::all().zip(&doses.blocks) {
        let _ = writeln!(
            csv,
            "{block},{},{},{},{},{},{}",
            row.worst,
            optional(row.wordline),
            seconds(row.at, has_times && row.wordline.is_some()),
            row.past_limit,
            row.erases,
            optional(row.share_at_erase)
        );
    }
    csv
}

/// Formats a row for each erase, in order of time. For each erase, `shares` has the largest ratio
/// of dose to limit over the pages of the erased block, as measured by the oracle.
fn erasures_csv(
    erasures: &Thinned<Erasure>,
    shares: Option<&Thinned<f64>>,
    has_times: bool,
) -> String {
    let mut csv = String::from("block,at_s,cause,reads,share_used,every\n");
    let every = erasures.every();
    let shares = shares.map_or(&[][..], Thinned::kept);
    for (n, erasure) in erasures.kept().iter().enumerate() {
        let _ = writeln!(
            csv,
            "{},{},{},{},{},{every}",
            erasure.block,
            seconds(erasure.at, has_times),
            erasure.cause.name(),
            erasure.reads,
            optional(shares.get(n).copied())
        );
    }
    csv
}
