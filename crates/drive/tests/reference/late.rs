//! Reads that a block may serve during its job.

use vpass_drive::config::{DriveConfig, KindUs, PerPec, ProgramUnit, Schedule};

fn program_us(config: &DriveConfig, kind: u32) -> f64 {
    match &config.timing.program_us {
        KindUs::All(us) => *us,
        KindUs::PerKind(us) => us[kind as usize],
    }
}

/// Returns `R_late` before it is rounded down. It is `reclaim.late_reads`, if this is given. Otherwise it is the number of
/// reads of a die in the time of a job. It is at most an eighth of the reads beside them that the
/// weakest wordlines endure. It is 0 if jobs run at once. The pages of a block are added if moves
/// of blocks that are not recycled may read other blocks for rebuilds.
pub(super) fn late_reads(config: &DriveConfig) -> f64 {
    let leaves_alone = config.parity.by_wear().is_some_and(|by_wear| by_wear.last.is_some());
    let pages = config.geometry.wordlines_per_block * config.geometry.cell.bits();
    late_by_jobs(config) + if leaves_alone { f64::from(pages) } else { 0.0 }
}

fn late_by_jobs(config: &DriveConfig) -> f64 {
    if let Some(late) = config.reclaim.late_reads {
        return late.into();
    }
    if config.reclaim.schedule == Schedule::Foreground {
        return 0.0;
    }
    let (timing, geometry) = (&config.timing, &config.geometry);
    let bits = f64::from(geometry.cell.bits());
    let sense: f64 = timing.sense_per_kind_us(geometry.cell).iter().sum::<f64>() / bits;
    let together = if timing.program_unit == ProgramUnit::Wordline { bits } else { 1.0 };
    let program =
        (0..geometry.cell.bits()).map(|kind| program_us(config, kind)).sum::<f64>() / bits;
    let in_a_job =
        bits * f64::from(geometry.wordlines_per_block) * (1.0 + program / together / sense);
    let beside = |row: &PerPec| {
        let alpha = |group: usize| row.alpha.get(group).copied().unwrap_or(1.0);
        row.limit
            .iter()
            .enumerate()
            .map(|(group, limit)| limit / alpha(group))
            .fold(f64::INFINITY, f64::min)
    };
    let weakest = config.disturb.table.iter().map(beside).fold(f64::INFINITY, f64::min);
    (weakest / 8.0).min(in_a_job)
}
