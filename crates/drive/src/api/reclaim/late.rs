//! Computes `R_late`: the number of host reads that a block may serve between its alarm and the end
//! of its job. It is a margin of the drive, alike in all gears. In the untimed and in the fluid gear
//! a job takes no time, but techniques keep the same margin, so that blocks are rewritten as often.
//!
//! With `da-raid5`, worn blocks are not recycled, and parity rebuilds their lost pages. A move of a
//! worn block may read pages of other blocks to rebuild its own. The drive cannot ask a policy
//! during a move. So `R_late` also reserves one such read per page of a block.

use crate::base::geometry::Geometry;
use crate::config::{DriveConfig, Schedule};

/// Returns `R_late`, including reads for rebuilds. Without rebuilds, `R_late` is 0 if jobs run in
/// the foreground. Otherwise, it is the number of reads that a die serves during a job. It is at
/// most an eighth of the smallest worst-case limit, because a larger value would rewrite blocks far
/// too early. If a block serves more reads during its job, the job is finished in the foreground.
pub(crate) fn late_reads(config: &DriveConfig, geometry: &Geometry) -> u32 {
    let leaves_alone = config.parity.by_wear().is_some_and(|by_wear| by_wear.last.is_some());
    let for_rebuilds = if leaves_alone { geometry.pages_per_block } else { 0 };
    late_by_jobs(config, geometry) + for_rebuilds
}

/// Returns the number of host reads that a block may serve during its job, without reads for
/// rebuilds.
fn late_by_jobs(config: &DriveConfig, geometry: &Geometry) -> u32 {
    if let Some(given) = config.reclaim.late_reads {
        return given;
    }
    if config.reclaim.schedule == Schedule::Foreground {
        return 0;
    }
    let read_us = config.sense_us_per_page();
    let job_us = f64::from(geometry.pages_per_block) * (read_us + config.program_us_per_page());
    let smallest = config.disturb.table.iter().flat_map(|row| {
        row.limit
            .iter()
            .enumerate()
            .map(|(g, limit)| limit / row.alpha.get(g).copied().unwrap_or(1.0))
    });
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    (job_us / read_us).min(smallest / 8.0).floor() as u32
}
