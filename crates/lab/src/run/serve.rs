//! Serving of a plan's requests: first the requests that are not counted, then the counted
//! requests.

use std::cell::Cell;

use vpass_drive::base::request::RequestSource;
use vpass_drive::drive::Drive;
use vpass_workload::pass::Passes;

use super::Measured;
use super::cycles::{CyclesDone, Phase};
use super::stable::{MOST_PASSES, Settling};
use super::summary::Served;
use crate::failure::Failure;
use crate::plan::{RunPlan, Stream};
use crate::progress::Progress;
use crate::results::jobs::jobs;
use crate::session::{self, Session, Step};

/// Serves the workload that comes before the main workload, in the untimed gear. Afterwards, the
/// clock is set back, so that the main workload also begins at time 0.
pub(super) fn prepare(
    plan: &RunPlan,
    session: &mut Session,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let Some(mut requests) = plan.source_before()? else { return Ok(()) };
    let mut last = 0;
    let mut step =
        |served: u64, _: &Drive| progress.advance(served - std::mem::replace(&mut last, served));
    session.warm_up(&mut requests, &mut step)?;
    session.restart_clock();
    if progress.may_go_on() { Ok(()) } else { Err(Failure::interrupted()) }
}

/// Serves the requests of the warm-up. If the plan gives the length of the warm-up in cycles, sets
/// `ends` to true after these cycles.
pub(super) fn warm_up(
    plan: &RunPlan,
    requests: &mut Passes<Stream>,
    ends: &Cell<bool>,
    session: &mut Session,
    done: &mut CyclesDone,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    if plan.warm_up == 0 {
        return Ok(());
    }
    let phase =
        plan.cycles.map(|cycles| Phase::begin(session.drive(), cycles.blocks, cycles.warm_up));
    let mut served = 0;
    while served < plan.warm_up && !ends.get() {
        let mut last = 0;
        let mut step = |served: u64, drive: &Drive| {
            ends.set(phase.is_some_and(|phase| phase.is_over(drive)));
            progress.advance(served - std::mem::replace(&mut last, served))
        };
        requests.end_after(plan.warm_up - served);
        let of_pass = session.warm_up(requests, &mut step)?;
        served += of_pass;
        if !progress.may_go_on() {
            return Err(Failure::interrupted());
        }
        if served < plan.warm_up && !ends.get() {
            // With `--until stable`, a warm-up can be longer than a pass, because the workload is
            // repeated.
            if !plan.until_stable || of_pass == 0 {
                return Err(plan.short_pass(served));
            }
            requests.next_pass()?;
        }
    }
    if let Some(phase) = phase {
        (done.warm_up, done.warm_up_capped) = phase.done(session.drive());
    }
    ends.set(false);
    Ok(())
}

/// Serves the counted requests. Returns the number of served requests, the number of passes, and
/// other results of the workload.
pub(super) fn serve(
    plan: &RunPlan,
    mut requests: Passes<Stream>,
    ends: &Cell<bool>,
    run: &mut Measured,
    done: &mut CyclesDone,
    progress: &dyn Progress,
) -> Result<Served, Failure> {
    let Measured { session, series, .. } = run;
    let timed = session.engine.is_some();
    let phase =
        plan.cycles.map(|cycles| Phase::begin(&session.drive, cycles.blocks, cycles.counted));
    let mut last = 0;
    let mut step = |served: u64, drive: &Drive| {
        series.look(drive, timed.then(|| drive.now()));
        // With `--until stable`, a run ends when wear has settled. The number of cycles does not
        // matter.
        ends.set(!plan.until_stable && phase.is_some_and(|phase| phase.is_over(drive)));
        // In each pass, the number of served requests starts from 0.
        let new = served.checked_sub(last).unwrap_or(served);
        last = served;
        progress.advance(new)
    };
    // Results are separated by job only if there are several jobs. Each request carries the number
    // of a clone as its origin.
    let several = requests.source().fio().filter(|source| source.jobs().len() > 1);
    if let (Some(engine), Some(source)) = (&mut session.engine, several) {
        engine.count_groups(source.job_of());
    }
    requests.begin(plan.repeat);
    let (served, passes, stable) = if plan.until_stable {
        let (served, passes, stable) = until_stable(session, &mut requests, &mut step)?;
        (served, passes, Some(stable))
    } else {
        if plan.cycles.is_some() {
            // If the warm-up had enough cycles early, the pass has more requests left than the
            // counted part may serve.
            requests.end_after(requests.source().len_hint().map_or(u64::MAX, |n| n - plan.warm_up));
        }
        (session.serve(&mut requests, &mut step)?, u64::from(plan.repeat.get()), None)
    };
    if let Some(phase) = phase {
        (done.counted, done.counted_capped) = phase.done(&session.drive);
    }
    if !progress.may_go_on() {
        return Err(Failure::interrupted());
    }
    let (generated, last_arrival) = requests.numbers();
    if generated != served {
        return Err(Failure::failed(format!(
            "only {served} of {generated} requests were served; this is a bug in vpass"
        )));
    }
    let stream = requests.source();
    let fio = stream.fio();
    Ok(Served {
        requests: served,
        passes,
        stable,
        last_arrival,
        has_times: last_arrival.is_some(),
        trace: stream.trace_report(),
        jobs: fio.map(|fio| jobs(fio, session.engine.as_ref(), passes)),
    })
}

/// Returns the number of served requests, the number of passes, and whether the wear has settled.
fn until_stable(
    session: &mut session::Measured,
    requests: &mut Passes<Stream>,
    step: Step,
) -> Result<(u64, u64, bool), Failure> {
    let mut served = 0;
    let mut settling = Settling::begin(&session.drive);
    for pass in 1..=MOST_PASSES {
        served += session.serve(requests, step)?;
        settling.note(&session.drive);
        if settling.has_settled() {
            return Ok((served, pass, true));
        }
        if pass < MOST_PASSES {
            requests.next_pass()?;
        }
    }
    Ok((served, MOST_PASSES, false))
}
