//! Files that show doses and erases in the results folder of a run.

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
    files.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
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
    let rows = doses.snapshots.iter().flat_map(|snapshot| {
        snapshot.wordlines.iter().enumerate().map(move |(wordline, w)| (snapshot, wordline, w))
    });
    csv!(rows, (snapshot, wordline, w) => {
        "block": snapshot.block,
        "die": geometry.die_of(snapshot.block),
        "plane": geometry.plane_of(snapshot.block),
        "at_s": seconds(snapshot.at, has_times),
        "at_host_read_pages": snapshot.host_reads,
        "pec_cycles": snapshot.cycles,
        "wordline": wordline,
        "group": config.disturb.groups.get(usize::from(w.group)).map_or("", String::as_str),
        "alpha": w.alpha,
        "guard_levels": w.guard_levels,
        "reads": w.reads,
        "dose": w.dose,
        "limit": w.limit,
        "valid_pages": w.valid,
        "lost_pages": w.lost,
    })
}

/// Formats `dose_map.csv`, with a row for each bin of neighbouring wordlines. `dose_map.csv` shows
/// more blocks than `dose.csv`. The most disturbed block comes first.
fn dose_map_csv(doses: &DoseRecord) -> String {
    let bins = (1..).zip(&doses.maps).flat_map(|(rank, map)| {
        let bins = (0..).zip(&map.bins).zip(&map.at_end);
        bins.map(move |((number, bin), at_end)| (rank, map, number, bin, at_end))
    });
    csv!(bins, (rank, map, number, bin, at_end) => {
        "rank": rank,
        "block": map.block,
        "bin": number,
        "first_wordline": map.wordlines_of(number).start,
        "wordlines": map.wordlines_of(number).len(),
        "worst_ratio": optional(bin.worst),
        "state": match bin.state {
            State::None => "none",
            State::Data => "data",
            State::Lost => "lost",
        },
        "ratio_at_end": optional(*at_end),
    })
}

/// Formats one row for each block of the drive.
fn dose_blocks_csv(doses: &DoseRecord, has_times: bool) -> String {
    csv!(BlockId::all().zip(&doses.blocks), (block, row) => {
        "block": block,
        "worst_ratio": row.worst,
        "worst_wordline": optional(row.wordline),
        "at_s": seconds(row.at, has_times && row.wordline.is_some()),
        "wordlines_past_limit": row.past_limit,
        "erases": row.erases,
        "share_used_at_erase": optional(row.share_at_erase),
    })
}

/// Formats a row for each erase, in order of time. For each erase, `shares` has the largest ratio
/// of dose to limit over the pages of the erased block, as measured by the oracle.
fn erasures_csv(
    erasures: &Thinned<Erasure>,
    shares: Option<&Thinned<f64>>,
    has_times: bool,
) -> String {
    let shares = shares.map_or(&[][..], Thinned::kept);
    csv!(erasures.kept().iter().enumerate(), (n, erasure) => {
        "block": erasure.block,
        "at_s": seconds(erasure.at, has_times),
        "cause": erasure.cause.name(),
        "reads": erasure.reads,
        "share_used": optional(shares.get(n).copied()),
        "every": erasures.every(),
    })
}
