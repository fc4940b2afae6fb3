//! Execution of one run. vpass creates a drive, prepares the drive, serves the requests, and checks
//! the drive at the end.

mod adaptive;
mod cycles;
mod fluid;
mod live;
mod serve;
mod stable;
mod stages;
mod summary;
mod together;

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Instant;

use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::Replay;
use vpass_oracle::OracleReport;
use vpass_oracle::snapshots::DoseRecord;
use vpass_workload::pass::Passes;

use crate::batch::BATCHES;
use crate::failure::Failure;
use crate::fault::caught;
use crate::plan::{RunPlan, Workload};
use crate::progress::{Progress, deaf};
use crate::results::{Ageing, Batch, BatchMeans, Before, Summary, Terms, has_settled};
use crate::series::Series;
use crate::session::{self, Beginning, Judged, Session};
use crate::setup::Gear;
pub use cycles::CyclesDone;
pub use live::Live;
use serve::{prepare, serve, warm_up};
pub(crate) use stages::memory_of_stages;
use stages::{ReadStages, watched};
use summary::{Served, simulated_s, summary};
pub use together::{execute_together, have_the_same_requests};

/// Finished run, with its summary and the data for its results folder.
pub struct Outcome {
    /// Results of the run.
    pub summary: Summary,
    /// Drive at the end of the run.
    pub drive: Drive,
    /// Engine of the timed gear; `None` in other gears.
    pub engine: Option<Replay>,
    /// Counts at many moments during the run.
    pub series: Series,
    /// Record of doses. `None` if the plan did not request the record, if there is no oracle, or if
    /// reads disturb nothing.
    pub doses: Option<DoseRecord>,
    /// Number of cycles of the run. `None` if the plan gave the length of the run as a number of
    /// requests.
    pub cycles: Option<CyclesDone>,
    ageing: Ageing,
}

/// Runs a plan to its end.
///
/// # Errors
/// Returns an error if the workload is invalid or cannot be read, or if the user interrupts the
/// run.
pub fn execute(plan: &RunPlan, progress: &dyn Progress) -> Result<Outcome, Failure> {
    plan.require_no_acceleration()?;
    caught(|| at_all_ages(plan, progress))
}

fn at_all_ages(plan: &RunPlan, progress: &dyn Progress) -> Result<Outcome, Failure> {
    let mut outcome = at_one_age(plan, progress)?;
    if !plan.ages.is_empty() {
        // Each drive is removed from memory before the next drive is created.
        let found = |pec: &u32| {
            at_one_age(&plan.at_age(*pec), progress)
                .map(|outcome| (outcome.summary, outcome.ageing))
        };
        let others = plan.ages.iter().map(found).collect::<Result<Vec<_>, _>>()?;
        let others: Vec<_> = plan
            .ages
            .iter()
            .copied()
            .zip(others.iter().map(|(summary, ageing)| (summary, ageing)))
            .collect();
        outcome.summary.join_ages(plan.drive.config.start.pec, &outcome.ageing, &others);
    }
    Ok(outcome)
}

fn at_one_age(plan: &RunPlan, progress: &dyn Progress) -> Result<Outcome, Failure> {
    if let Workload::Adversary { requests, depth, rate } = plan.workload {
        return adaptive::attacked(plan, requests, (depth, rate), progress);
    }
    if plan.is_fluid() {
        return fluid::run(plan, progress);
    }
    let mut session = begun(plan, progress)?;
    prepare(plan, &mut session, progress)?;
    let ends = Cell::new(false);
    let mut done = CyclesDone::default();
    let mut requests = Passes::new(plan.source()?, NonZeroU32::MIN).until(&ends);
    warm_up(plan, &mut requests, &ends, &mut session, &mut done, progress)?;
    progress.stage(None, COUNT);
    let mut run = Measured::begin(plan, session);
    run.session.drive.expect_failures(&plan.fail);
    if plan.stages {
        let stages = ReadStages::of(&run.session.drive);
        run.session.drive.observe(Box::new(stages));
    }
    let started = Instant::now();
    let served = serve(plan, requests, &ends, &mut run, &mut done, progress)?;
    progress.stage(None, "checking the end");
    let outcome = run.conclude(plan, &served, started.elapsed().as_secs_f64());
    Ok(Outcome { cycles: plan.cycles.map(|_| done), ..outcome })
}

/// Name of the measured phase in progress reports.
const COUNT: &str = "measuring";

/// Begins a session with the drive that a plan describes.
pub(crate) fn begun(plan: &RunPlan, progress: &dyn Progress) -> Result<Session, Failure> {
    let techniques = Techniques {
        reclaim: plan.reclaim,
        gc: plan.gc,
        refresh: plan.refresh,
        parity: plan.parity,
        seed: plan.seed,
    };
    let beginning = Beginning {
        config: &plan.drive.config,
        techniques: &techniques,
        timed: plan.gear == Gear::Timed,
        oracle: plan.oracle.level(),
        seed: plan.start_seed.unwrap_or(plan.seed),
    };
    progress.stage(None, "preparing the drive");
    let mut session = deaf(progress, || Session::new(&beginning))?;
    if plan.files {
        session.record_doses();
    }
    for watching in &plan.watchers {
        session.watch(watching.of(session.drive()));
    }
    if plan.warm_up > 0 || plan.before.is_some() {
        progress.stage(None, "warming up");
    }
    if progress.may_go_on() { Ok(session) } else { Err(Failure::interrupted()) }
}

/// Session in the counted phase. It records the drive's counts at many moments.
struct Measured {
    session: session::Measured,
    series: Series,
    before: Before,
}

impl Measured {
    fn begin(plan: &RunPlan, session: Session) -> Self {
        let mut session = session.measure();
        if let Some(engine) = &mut session.engine {
            engine.keep_course();
            if plan.files {
                engine.keep_windows();
            }
        }
        let before = Before::of(&mut session.drive);
        Self { session, series: Series::default(), before }
    }

    /// Ends the counted phase. `wall_s` is the wall-clock time of the phase, in seconds.
    fn conclude(self, plan: &RunPlan, served: &Served, wall_s: f64) -> Outcome {
        let Self { mut session, mut series, before } = self;
        let stages =
            plan.stages.then(|| session.drive.end_observation().and_then(watched)).flatten();
        let Judged { mut drive, engine, oracle, threshold_used, doses } = session.judge();
        let end = engine
            .as_ref()
            .map(Replay::last_completion)
            .or(served.last_arrival.filter(|_| plan.is_fluid()));
        series.end(&drive, end);
        let terms = Terms {
            has_times: served.has_times,
            drives: plan.sample.of.into(),
            capacity_bytes: plan.whole_capacity().0,
        };
        let ageing = Ageing::of(&mut drive, simulated_s(engine.as_ref(), served), &before, terms);
        let mut summary = summary(plan, &drive, engine.as_ref(), served, wall_s, &ageing, oracle);
        summary.page_reads = stages;
        summary.threshold_used = threshold_used;
        let batches = series.batches::<BATCHES>();
        summary.wear.life_settled = has_settled(
            before.turned(&drive),
            batches.as_deref(),
            drive.geometry().pages_per_block.into(),
        );
        summary.batch_means =
            BatchMeans::of(&series, engine.as_ref(), drive.geometry().pages_per_block.into());
        summary.batches = Some(Batch::all(&series, engine.as_ref()));
        Outcome { summary, drive, engine, series, doses, cycles: None, ageing }
    }
}

impl Outcome {
    /// Returns whether the oracle found an error in the drive.
    pub fn is_bug(&self) -> bool {
        self.summary.oracle.as_ref().is_some_and(OracleReport::is_bug)
    }
}
