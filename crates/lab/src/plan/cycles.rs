//! Cycles of blocks: runs that end after a number of them, and drives whose blocks begin at random
//! moments of a reclaim cycle.

use vpass_drive::api::reclaim::Technique;
use vpass_drive::base::phrase::Opt;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::start::reads::MostStartReads;
use vpass_drive::phrase;

use super::RunPlan;
use crate::explain;
use crate::failure::Failure;
use crate::setup::{Gear, Watch};

impl RunPlan {
    /// Refuses cycles, an earlier workload or stages that this run cannot have.
    pub(super) fn check_schedule(&self) -> Result<(), Failure> {
        if self.stages && (self.gear != Gear::Timed || self.oracle != Watch::Off) {
            return Err(Failure::usage("stages of page reads need the clock, and no oracle")
                .with_remedy(phrase![
                    "use ",
                    Opt::Gear.to("timed"),
                    " and ",
                    Opt::Oracle.to("off")
                ]));
        }
        if self.is_fluid() && (self.before.is_some() || self.cycles.is_some()) {
            return Err(Failure::usage(
                "an earlier workload and a length in cycles need requests one by one",
            )
            .at(Opt::Gear.to("fluid"))
            .with_remedy(phrase!["use ", Opt::Gear.to("untimed")]));
        }
        let Some(cycles) = self.cycles else { return Ok(()) };
        let amounts = [Some(cycles.blocks), cycles.warm_up, cycles.counted].into_iter().flatten();
        if amounts.into_iter().any(|amount| !(amount > 0.0 && amount.is_finite())) {
            return Err(Failure::usage("cycles and their blocks must be numbers above 0"));
        }
        if cycles.warm_up.is_some() && self.warm_up == 0 {
            return Err(Failure::usage("a warm-up in cycles needs a largest number of requests")
                .at(Opt::WarmUp.to(0)));
        }
        Ok(())
    }
}

/// Returns the largest number of reads that a block may have served at the start, for blocks that
/// are at random moments of a reclaim cycle. The number is `share` of the reads after which the
/// technique first acts.
///
/// # Errors
/// Returns an error if the drive is invalid, or if `share` is not a share.
pub(super) fn start_reads(
    drive: &DriveConfig,
    reclaim: &Technique,
    share: f64,
) -> Result<u32, Failure> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Failure::usage(format!(
            "out of phase by {share}: a share of a reclaim cycle, from 0 to 1, is expected"
        )));
    }
    let age = explain::age(drive, drive.start.pec, reclaim)?;
    let first = age.and_then(|age| age.thresholds.iter().map(|t| t.reads).min());
    let reads = (f64::from(first.unwrap_or(0)) * share) as u32;
    // Blocks that served more reads would lose data while their first job waits for its turn.
    Ok(MostStartReads::of(drive).map_or(reads, |most| reads.min(most.reads)))
}
