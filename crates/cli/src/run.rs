//! One run: a drive made, aged, measured and judged.

mod adaptive;
mod counted;
mod cycles;
mod stable;
mod summary;
mod together;

use std::any::Any;
use std::cell::Cell;
use std::time::Instant;

use vpass_core::base::request::RequestSource;
use vpass_core::config::ConfigError;
use vpass_core::drive::{Drive, Techniques};
use vpass_core::time::{Replay, run_untimed, warm_up};
use vpass_oracle::{Oracle, OracleReport};
use vpass_workload::pass::{PassSource, Repeated};
use vpass_workload::traces::TraceReport;
use vpass_workload::warm_up::{First, Since};

use crate::args::Gear;
use crate::exit::{Exit, Failure};
use crate::plan::{Load, Plan, Source};
use crate::progress::{Progress, deaf};
use crate::results::jobs::{JobResult, jobs};
use crate::results::{Ageing, Before, Summary};
use crate::series::Series;
use counted::Counted;
pub(crate) use cycles::{Cycles, CyclesDone};
use cycles::{Phase, Until};
use stable::{MOST_PASSES, Settling};
use summary::{Served, simulated_s, summary};
pub(crate) use together::{execute_together, have_the_same_requests};

/// A finished run: its summary, and what is needed to write its folder.
pub(crate) struct Outcome {
    pub(crate) summary: Summary,
    pub(crate) drive: Drive,
    pub(crate) engine: Option<Replay>,
    pub(crate) series: Series,
    /// Where the run's length was one of cycles.
    pub(crate) cycles: Option<CyclesDone>,
    ageing: Ageing,
}

/// Runs a plan to its end.
///
/// # Errors
/// The workload's, or an interruption.
pub(crate) fn execute(plan: &Plan, progress: &Progress) -> Result<Outcome, Failure> {
    let mut outcome = at_one_age(plan, progress)?;
    if !plan.ages.is_empty() {
        // Their drives are given back one by one.
        let found = |pec: &u32| at_one_age(&plan.at_age(*pec), progress).map(|outcome| (outcome.summary, outcome.ageing));
        let others = plan.ages.iter().map(found).collect::<Result<Vec<_>, _>>()?;
        let others: Vec<_> = plan.ages.iter().copied().zip(others.iter().map(|(summary, ageing)| (summary, ageing))).collect();
        outcome.summary.join_ages(plan.drive.config.start.pec, &outcome.ageing, &others);
    }
    Ok(outcome)
}

fn at_one_age(plan: &Plan, progress: &Progress) -> Result<Outcome, Failure> {
    if let Load::Adversary { requests, depth } = plan.load {
        return adaptive::attacked(plan, requests, depth, progress);
    }
    let mut drive = made(plan, progress)?;
    let mut done = CyclesDone::default();
    let source = warmed_up(plan, &mut drive, &mut done, progress)?;
    let mut run = Measured::begin(plan, drive);
    let started = Instant::now();
    let served = serve(plan, source, &mut run, &mut done, progress)?;
    let outcome = run.conclude(plan, &served, started.elapsed().as_secs_f64());
    Ok(Outcome { cycles: plan.cycles.map(|_| done), ..outcome })
}

/// The drive of a plan, aged.
fn made(plan: &Plan, progress: &Progress) -> Result<Drive, Failure> {
    let techniques = Techniques { reclaim: plan.reclaim.into(), gc: plan.gc.into(), seed: plan.seed };
    let made = deaf(|| {
        let mut drive = Drive::new(plan.drive.config.clone(), &techniques, plan.gear == Gear::Timed)?;
        if let Some(level) = plan.oracle.level() {
            drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config()).at(level)));
        }
        drive.precondition(plan.seed);
        Ok(drive)
    });
    let drive = made.map_err(|e: ConfigError| Failure::usage(e))?;
    if progress.may_go_on() { Ok(drive) } else { Err(Failure::interrupted()) }
}

/// A drive in the phase that counts.
struct Measured {
    drive: Drive,
    engine: Option<Replay>,
    series: Series,
    before: Before,
}

impl Measured {
    fn begin(plan: &Plan, mut drive: Drive) -> Self {
        drive.begin_measurement();
        let before = Before::of(&mut drive);
        let engine = (plan.gear == Gear::Timed).then(|| Replay::new(&drive));
        Self { drive, engine, series: Series::default(), before }
    }

    /// `wall_s`: seconds that this phase took.
    fn conclude(self, plan: &Plan, served: &Served, wall_s: f64) -> Outcome {
        let Self { mut drive, engine, mut series, before } = self;
        drive.report_unread_losses();
        series.end(&drive, engine.as_ref().map(Replay::last_completion));
        let watcher: Option<Box<dyn Any>> = drive.end_observation().map(|watcher| watcher as _);
        let oracle = watcher.and_then(|watcher| watcher.downcast::<Oracle>().ok()).map(|oracle| oracle.conclude(&drive));
        let ageing = Ageing::of(&mut drive, simulated_s(engine.as_ref(), served), &before);
        let summary = summary(plan, &drive, engine.as_ref(), served, wall_s, &ageing, oracle);
        Outcome { summary, drive, engine, series, cycles: None, ageing }
    }
}

/// The workload, behind the requests that are served before anything is counted.
fn warmed_up(plan: &Plan, drive: &mut Drive, done: &mut CyclesDone, progress: &Progress) -> Result<Since<Source>, Failure> {
    let mut source = plan.source()?;
    if plan.warm_up == 0 {
        return Ok(Since::new(source, 0));
    }
    let phase = plan.cycles.map(|cycles| Phase::begin(drive, cycles.blocks, cycles.warm_up));
    let is_over = Cell::new(false);
    let (mut served, mut origin) = (0, 0);
    while served < plan.warm_up && !is_over.get() {
        let mut last = 0;
        let mut step = |served: u64, drive: &Drive| {
            is_over.set(phase.is_some_and(|phase| phase.is_over(drive)));
            progress.advance(served - std::mem::replace(&mut last, served))
        };
        let mut first = Until::new(First::new(&mut source, plan.warm_up - served), u64::MAX, &is_over);
        let of_pass = warm_up(drive, &mut first, &mut step).map_err(Failure::from)?;
        origin = first.inner().last_arrival();
        served += of_pass;
        if !progress.may_go_on() {
            return Err(Failure::interrupted());
        }
        if served < plan.warm_up && !is_over.get() {
            // What repeats until it is stable has further passes.
            if !plan.until_stable || of_pass == 0 {
                return Err(too_short(plan, served));
            }
            source.next_pass()?;
        }
    }
    if let Some(phase) = phase {
        (done.warm_up, done.warm_up_capped) = phase.done(drive);
    }
    Ok(Since::new(source, origin))
}

fn too_short(plan: &Plan, requests: u64) -> Failure {
    Failure::usage(format!("--warm-up {}: the workload has only {requests} requests in a pass", plan.warm_up))
}

fn serve(plan: &Plan, source: Since<Source>, run: &mut Measured, done: &mut CyclesDone, progress: &Progress) -> Result<Served, Failure> {
    let Measured { drive, engine, series, .. } = run;
    let timed = engine.is_some();
    let phase = plan.cycles.map(|cycles| Phase::begin(drive, cycles.blocks, cycles.counted));
    let is_over = Cell::new(false);
    let mut last = 0;
    let mut step = |served: u64, drive: &Drive| {
        series.look(drive, timed.then(|| drive.now()));
        is_over.set(phase.is_some_and(|phase| phase.is_over(drive)));
        // A second pass counts from 0 again.
        let new = served.checked_sub(last).unwrap_or(served);
        last = served;
        progress.advance(new)
    };
    let mut gear = Running { drive, engine: engine.as_mut() };
    if let (Some(engine), Some(groups)) = (gear.engine.as_deref_mut(), source.inner().groups()) {
        engine.count_groups(groups);
    }
    let (counted, requests, passes, stable) = if plan.until_stable {
        let mut counted = Counted::new(source);
        let (requests, passes, stable) = gear.until_stable(&mut counted, &mut step)?;
        let found = found(counted.inner.inner(), gear.engine.as_deref(), passes);
        (counted.numbers(), (requests, found), passes, Some(stable))
    } else {
        // A warm-up that ended by its cycles leaves more than the part that counts may take.
        let most = match plan.cycles {
            Some(_) => source.len_hint().map_or(u64::MAX, |n| n - plan.warm_up),
            None => u64::MAX,
        };
        let mut counted = Counted::new(Until::new(Repeated::new(source, plan.repeat), most, &is_over));
        let requests = gear.serve(&mut counted, &mut step)?;
        let passes = u64::from(plan.repeat.get());
        let found = found(counted.inner.inner().inner().inner(), gear.engine.as_deref(), passes);
        (counted.numbers(), (requests, found), passes, None)
    };
    if let Some(phase) = phase {
        (done.counted, done.counted_capped) = phase.done(gear.drive);
    }
    let (requests, (trace, jobs)) = requests;
    if !progress.may_go_on() {
        return Err(Failure::interrupted());
    }
    let (generated, last_arrival) = counted;
    if generated != requests {
        return Err(Failure::failed(format!("of {generated} requests {requests} were served; this is a bug of vpass")));
    }
    Ok(Served { requests, passes, stable, last_arrival, trace, jobs })
}

/// What a trace or the jobs of a fio file came to.
fn found(source: &Source, engine: Option<&Replay>, passes: u64) -> (Option<TraceReport>, Option<Vec<JobResult>>) {
    let fio = if let Source::Fio(source) = source { Some(source) } else { None };
    (source.report(), fio.map(|source| jobs(source, engine, passes)))
}

/// What is done now and then.
type Step<'a> = &'a mut dyn FnMut(u64, &Drive) -> bool;

/// A drive under one of the gears.
struct Running<'a> {
    drive: &'a mut Drive,
    engine: Option<&'a mut Replay>,
}

impl Running<'_> {
    fn serve(&mut self, source: &mut dyn RequestSource, step: Step) -> Result<u64, Failure> {
        let served = match &mut self.engine {
            Some(engine) => engine.run(self.drive, source, step),
            None => run_untimed(self.drive, source, step),
        };
        served.map_err(Failure::from)
    }

    /// Requests served, passes, and whether the end is a stable one.
    fn until_stable(&mut self, source: &mut Counted<Since<Source>>, step: Step) -> Result<(u64, u64, bool), Failure> {
        let mut requests = 0;
        let mut settling = Settling::begin(self.drive);
        for pass in 1..=MOST_PASSES {
            requests += self.serve(source, step)?;
            settling.note(self.drive);
            if settling.has_settled() {
                return Ok((requests, pass, true));
            }
            if pass < MOST_PASSES {
                source.inner.next_pass()?;
            }
        }
        Ok((requests, MOST_PASSES, false))
    }
}

impl Outcome {
    /// The exit code of `vpass run`.
    pub(crate) fn exit(&self) -> Exit {
        if self.is_bug() {
            Exit::Failed
        } else if self.summary.lost_data() {
            Exit::Lost
        } else {
            Exit::Done
        }
    }

    /// Whether the oracle found something that the drive did wrong.
    pub(crate) fn is_bug(&self) -> bool {
        self.summary.oracle.as_ref().is_some_and(OracleReport::is_bug)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn a_bug_of_the_drive_outranks_lost_data_and_that_outranks_success() {
        let words = "vpass run --drive tiny --workload uniform-read --set workload.requests=10";
        let Command::Run(args) = Cli::try_parse_from(words.split(' ')).unwrap().command else { panic!("vpass run") };
        let plan = Plan::new(&args.setup, "block", "greedy").unwrap();
        let mut outcome = execute(&plan, &Progress::new(None, "requests")).unwrap();
        assert_eq!(outcome.exit(), Exit::Done);
        outcome.summary.data_lost_pages = 1;
        assert_eq!(outcome.exit(), Exit::Lost);
        outcome.summary.oracle.as_mut().unwrap().books_errors = 1;
        assert_eq!(outcome.exit(), Exit::Failed);
    }
}
