//! Execution of several runs with the same stream of requests. Each request is generated once. The
//! drives then serve the request one after another.

use std::num::NonZeroU32;
use std::time::Instant;

use vpass_drive::base::request::{Request, RequestSource};
use vpass_drive::base::units::Bytes;
use vpass_drive::drive::Drive;
use vpass_drive::time::RunError;
use vpass_workload::pass::Passes;
use vpass_workload::synthetic::WorkloadConfig;

use super::summary::Served;
use super::{COUNT, Measured, Outcome, begun};
use crate::failure::Failure;
use crate::load::Generated;
use crate::plan::{RunPlan, Workload};
use crate::progress::Progress;
use crate::session::{Session, Step};
use crate::setup::Gear;

/// Number of requests that are generated at once. These requests need 12 MiB of memory. Each drive
/// serves all of them before the next drive begins. At each change of drives, the processor's
/// caches still hold the data of the previous drive, so changes should be rare. With 12 MiB at
/// once, runs took 10 % less time than with 3 MiB.
const CHUNK: usize = 512 << 10;

/// Returns whether two plans can share a stream of requests. The two plans may have different
/// drives and techniques.
pub fn have_the_same_requests(a: &RunPlan, b: &RunPlan) -> bool {
    follow_from(a).is_some_and(|of_a| follow_from(b) == Some(of_a))
}

/// Returns the values that determine which requests a plan has and which of these requests are
/// counted. Two plans with equal values have the same requests. Returns `None` if the requests may
/// depend on how the drive serves them, or if the plan has several passes.
fn follow_from(plan: &RunPlan) -> Option<(&WorkloadConfig, Option<Bytes>, Bytes, u64, u64)> {
    let Workload::Generated(loaded) = &plan.workload else { return None };
    let Generated::Workload(file) = &loaded.config else { return None };
    let config = &plan.drive.config;
    let once = plan.gear == Gear::Untimed
        && plan.repeat.get() == 1
        && !plan.until_stable
        && plan.cycles.is_none()
        && plan.ages.is_empty();
    let once = once && plan.before.is_none() && plan.fail.is_empty();
    once.then_some((
        &file.workload,
        config.drive.capacity,
        config.geometry.page_size,
        plan.seed,
        plan.warm_up,
    ))
}

/// Runs plans that have the same requests. The results are the same as those of separate runs.
///
/// # Errors
/// Returns an error if the workload is invalid, if a drive cannot be created or fails to serve a
/// request, or if the user interrupts the runs.
pub fn execute_together(
    plans: &[&RunPlan],
    progress: &dyn Progress,
) -> Result<Vec<Outcome>, Failure> {
    in_chunks(plans, CHUNK, progress)
}

fn in_chunks(
    plans: &[&RunPlan],
    chunk: usize,
    progress: &dyn Progress,
) -> Result<Vec<Outcome>, Failure> {
    let Some(any) = plans.first() else { return Ok(vec![]) };
    plans.iter().try_for_each(|plan| plan.require_no_acceleration())?;
    let mut sessions =
        plans.iter().map(|plan| begun(plan, progress)).collect::<Result<Vec<_>, _>>()?;
    let mut source = Passes::new(any.source()?, NonZeroU32::MIN);
    source.end_after(any.warm_up);
    warm_up_all(any, &mut source, &mut sessions, chunk, progress)?;
    source.begin(NonZeroU32::MIN);
    progress.stage(None, COUNT);
    let mut runs: Vec<(Measured, f64)> =
        sessions.into_iter().map(|session| (Measured::begin(any, session), 0.0)).collect();
    serve_all(&mut source, &mut runs, chunk, progress)?;
    progress.stage(None, "checking the end");
    let (requests, last_arrival) = source.numbers();
    let served = Served {
        requests,
        passes: 1,
        stable: None,
        last_arrival,
        has_times: last_arrival.is_some(),
        trace: None,
        jobs: None,
    };
    Ok(plans
        .iter()
        .zip(runs)
        .map(|(plan, (run, wall_s))| run.conclude(plan, &served, wall_s))
        .collect())
}

fn warm_up_all(
    plan: &RunPlan,
    source: &mut dyn RequestSource,
    sessions: &mut [Session],
    chunk: usize,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let (mut requests, mut served) = (Vec::with_capacity(chunk), 0);
    while draw(source, &mut requests, chunk)? {
        for session in &mut *sessions {
            take_turn(&mut |step| session.warm_up_part(&requests, step), &mut |_| (), progress)?;
        }
        served += requests.len() as u64;
    }
    if served < plan.warm_up {
        return Err(plan.short_pass(served));
    }
    if plan.warm_up > 0 {
        // The write buffer is written to flash only after the last part of the warm-up.
        sessions.iter_mut().for_each(Session::end_warm_up);
    }
    Ok(())
}

/// Serves the counted requests. Returns the number of seconds that each drive took.
fn serve_all(
    source: &mut dyn RequestSource,
    runs: &mut [(Measured, f64)],
    chunk: usize,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let mut requests = Vec::with_capacity(chunk);
    while draw(source, &mut requests, chunk)? {
        for (run, wall_s) in &mut *runs {
            let started = Instant::now();
            let Measured { session, series, .. } = run;
            take_turn(
                &mut |step| session.serve_part(&requests, step),
                &mut |drive| series.look(drive, None),
                progress,
            )?;
            *wall_s += started.elapsed().as_secs_f64();
        }
    }
    if progress.may_go_on() { Ok(()) } else { Err(Failure::interrupted()) }
}

/// Replaces the content of `requests` with the next `chunk` requests of the source, or with all
/// remaining requests if there are fewer. Returns false if no request remains.
fn draw(
    source: &mut dyn RequestSource,
    requests: &mut Vec<Request>,
    chunk: usize,
) -> Result<bool, Failure> {
    requests.clear();
    while requests.len() < chunk {
        let before = requests.len();
        source.fill(requests, chunk - before)?;
        if requests.len() == before {
            break;
        }
    }
    Ok(!requests.is_empty())
}

/// Lets one drive serve the generated requests.
fn take_turn(
    serve: &mut dyn FnMut(Step) -> Result<(), RunError>,
    look: &mut dyn FnMut(&Drive),
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let mut last = 0;
    Ok(serve(&mut |served, drive| {
        look(drive);
        progress.advance(served - std::mem::replace(&mut last, served))
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    use crate::load::Loaded;
    use crate::plan::Chosen;
    use crate::progress::{Unwatched, unwatched};
    use crate::run::execute;
    use crate::setup::{Base, Named, Setup};

    /// Returns the results of a run, except its duration.
    fn found(outcome: &Outcome) -> (Value, String) {
        let mut summary = serde_json::to_value(&outcome.summary).unwrap();
        summary["simulation"].as_object_mut().unwrap().retain(|key, _| key == "simulated_s");
        (summary, outcome.series.csv())
    }

    /// Returns the plan with 1,000 requests per second.
    fn with_clock(mut plan: RunPlan) -> RunPlan {
        if let Workload::Generated(Loaded { config: Generated::Workload(file), .. }) =
            &mut plan.workload
        {
            (file.workload.queue_depth, file.workload.rate) = (None, Some(1000.0));
        }
        plan
    }

    #[test]
    fn drives_served_together_have_the_results_of_separate_runs() {
        // Reads of hot pages cause reclaim. The warm-up ends in the middle of a chunk, while the
        // write buffer holds partly written pages.
        let keys = "workload.requests=400000 workload.read_share=0.9 workload.block_size=2KiB \
             workload.distribution=hot-cold:0.01/0.95 \
             workload.write_distribution=hot-cold:0.01/0.95 workload.hot_sets=disjoint \
             workload.run=1MiB start.pec=3000";
        let set = keys.split_whitespace().map(str::to_owned).collect();
        let base = Base { gear: Gear::Untimed, set, ..Base::new("tiny") };
        let setup =
            Setup { warm_up: 50_001, ..Setup::new(base, Named::Workload("uniform-read".into())) };
        let plans = ["block", "page-type"].map(|reclaim| {
            with_clock(
                RunPlan::new(&setup, Chosen { reclaim, ..Chosen::default() }, &unwatched).unwrap(),
            )
        });
        assert!(have_the_same_requests(&plans[0], &plans[1]));
        let together = in_chunks(&[&plans[0], &plans[1]], 4096, &Unwatched).unwrap();
        for (plan, outcome) in plans.iter().zip(&together) {
            assert!(
                found(outcome) == found(&execute(plan, &Unwatched).unwrap()),
                "{}",
                plan.reclaim
            );
            assert!(
                outcome.summary.reclaim.counts.invocations > 0 && outcome.summary.oracle.is_some()
            );
            assert!(
                outcome.summary.simulation.simulated_s.is_some_and(|s| (300.0..400.0).contains(&s))
            );
        }
    }
}
