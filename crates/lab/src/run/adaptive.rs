//! Run in which an adversary chooses the requests. Between bursts of requests, the adversary knows
//! the physical place of all data, and the dose of each page.

use std::time::Instant;

use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_oracle::Adversary;

use super::summary::Served;
use super::{COUNT, Measured, Outcome, begun};
use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::progress::Progress;

/// Runs a plan in which an adversary makes `requests` requests. Within a burst, either `depth`
/// requests are outstanding, or `rate` requests arrive per second.
pub(super) fn attacked(
    plan: &RunPlan,
    requests: u64,
    (depth, rate): (u32, Option<f64>),
    progress: &dyn Progress,
) -> Result<Outcome, Failure> {
    let mut run = Measured::begin(plan, begun(plan, progress)?);
    progress.stage(None, COUNT);
    let timed = run.session.engine.is_some();
    let started = Instant::now();
    let mut last = 0;
    let mut step = |served: u64, drive: &Drive| {
        run.series.look(drive, timed.then(|| drive.now()));
        progress.advance(served - std::mem::replace(&mut last, served))
    };
    let mut adversary = Adversary::new(plan.seed, depth);
    if let Some(rate) = rate {
        adversary = adversary.by_a_clock((1e9 / rate) as Ns);
    }
    let served =
        adversary.attack(&mut run.session.drive, run.session.engine.as_mut(), requests, &mut step);
    let requests = served.map_err(Failure::from)?;
    if !progress.may_go_on() {
        return Err(Failure::interrupted());
    }
    let served = Served {
        requests,
        passes: 1,
        stable: None,
        last_arrival: None,
        has_times: rate.is_some(),
        trace: None,
        jobs: None,
    };
    progress.stage(None, "checking the end");
    Ok(run.conclude(plan, &served, started.elapsed().as_secs_f64()))
}
