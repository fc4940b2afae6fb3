//! One run: a drive made, aged, measured and judged.

use std::any::Any;
use std::time::Instant;

use vpass_core::config::ConfigError;
use vpass_core::drive::{Drive, Techniques};
use vpass_core::engine::{TimedEngine, run_untimed, warm_up};
use vpass_core::request::{Arrival, Request, RequestSource, SourceError};
use vpass_core::units::{Cause, Ns};
use vpass_oracle::{Oracle, OracleReport};
use vpass_workload::pass::{PassSource, Repeated};
use vpass_workload::traces::Device;
use vpass_workload::warm_up::{First, Since};

use crate::args::Gear;
use crate::exit::{Exit, Failure};
use crate::plan::{Load, Plan, Source};
use crate::progress::{Progress, deaf};
use crate::results::{ByCause, Flash, Host, Latencies, Reclaim, Simulation, Summary, Trace, TraceDevice, Wear};
use crate::series::Series;

/// A finished run: its summary, and what is needed to write its folder.
pub(crate) struct Outcome {
    pub(crate) summary: Summary,
    pub(crate) drive: Drive,
    pub(crate) engine: Option<TimedEngine>,
    pub(crate) series: Series,
}

/// Passes after which `--until stable` gives up, and the change of a share of erases that it takes for none.
const MOST_PASSES: u64 = 100;
const STABLE_WITHIN: f64 = 0.01;

/// Runs a plan to its end.
///
/// # Errors
/// The workload's, or an interruption.
pub(crate) fn execute(plan: &Plan, progress: &Progress) -> Result<Outcome, Failure> {
    let timed = plan.gear == Gear::Timed;
    let techniques = Techniques { reclaim: plan.reclaim.into(), gc: plan.gc.into() };
    let made = deaf(|| {
        let mut drive = Drive::new(plan.drive.config.clone(), &techniques, timed)?;
        if plan.oracle {
            drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
        }
        drive.precondition(plan.seed);
        Ok(drive)
    });
    let mut drive = made.map_err(|e: ConfigError| Failure::usage(e))?;
    if !progress.may_go_on() {
        return Err(Failure::interrupted());
    }
    let source = warmed_up(plan, &mut drive, progress)?;
    drive.begin_measurement();
    let worn_before = Wear::effective_mean(&drive);
    let mut engine = timed.then(|| TimedEngine::new(&drive));
    let started = Instant::now();
    let mut series = Series::default();
    let served = serve(plan, source, &mut drive, engine.as_mut(), &mut series, progress)?;
    let wall_s = started.elapsed().as_secs_f64();
    drive.report_unread_losses();
    series.end(&drive, engine.as_ref().map(TimedEngine::now));
    let watcher: Option<Box<dyn Any>> = drive.end_observation().map(|watcher| watcher as _);
    let oracle = watcher.and_then(|watcher| watcher.downcast::<Oracle>().ok()).map(|oracle| oracle.conclude(&drive));
    let summary = summary(plan, &drive, engine.as_ref(), &served, wall_s, worn_before, oracle);
    Ok(Outcome { summary, drive, engine, series })
}

/// What became of the workload.
struct Served {
    requests: u64,
    passes: u64,
    stable: Option<bool>,
    last_arrival: Option<Ns>,
    trace: Option<vpass_workload::traces::TraceReport>,
}

/// The workload, behind the requests that are served before anything is counted.
fn warmed_up(plan: &Plan, drive: &mut Drive, progress: &Progress) -> Result<Since<Source>, Failure> {
    let mut source = plan.source()?;
    if plan.warm_up == 0 {
        return Ok(Since::new(source, 0));
    }
    let (mut served, mut origin) = (0, 0);
    while served < plan.warm_up {
        let mut last = 0;
        let mut step = |served: u64, _: &Drive| progress.advance(served - std::mem::replace(&mut last, served));
        let mut first = First::new(&mut source, plan.warm_up - served);
        let of_pass = warm_up(drive, &mut first, &mut step).map_err(Failure::from)?;
        origin = first.last_arrival();
        served += of_pass;
        if !progress.may_go_on() {
            return Err(Failure::interrupted());
        }
        if served < plan.warm_up {
            // What repeats until it is stable has further passes.
            if !plan.until_stable || of_pass == 0 {
                return Err(Failure::usage(format!("--warm-up {}: the workload has only {served} requests in a pass", plan.warm_up)));
            }
            source.next_pass()?;
        }
    }
    Ok(Since::new(source, origin))
}

fn serve(
    plan: &Plan,
    source: Since<Source>,
    drive: &mut Drive,
    engine: Option<&mut TimedEngine>,
    series: &mut Series,
    progress: &Progress,
) -> Result<Served, Failure> {
    let timed = engine.is_some();
    let mut last = 0;
    let mut step = |served: u64, drive: &Drive| {
        series.look(drive, timed.then(|| drive.now()));
        // A second pass counts from 0 again.
        let new = served.checked_sub(last).unwrap_or(served);
        last = served;
        progress.advance(new)
    };
    let mut gear = Running { drive, engine };
    let (counted, requests, passes, stable) = if plan.until_stable {
        let mut counted = Counted::new(source);
        let (requests, passes, stable) = gear.until_stable(&mut counted, &mut step)?;
        (counted.numbers(), (requests, counted.inner.inner().report()), passes, Some(stable))
    } else {
        let mut counted = Counted::new(Repeated::new(source, plan.repeat));
        let requests = gear.serve(&mut counted, &mut step)?;
        (counted.numbers(), (requests, counted.inner.inner().inner().report()), u64::from(plan.repeat.get()), None)
    };
    let (requests, trace) = requests;
    if !progress.may_go_on() {
        return Err(Failure::interrupted());
    }
    let (generated, last_arrival) = counted;
    if generated != requests {
        return Err(Failure::failed(format!("of {generated} requests {requests} were served; this is a bug of vpass")));
    }
    Ok(Served { requests, passes, stable, last_arrival, trace })
}

/// What is done now and then.
type Step<'a> = &'a mut dyn FnMut(u64, &Drive) -> bool;

/// A drive under one of the gears.
struct Running<'a> {
    drive: &'a mut Drive,
    engine: Option<&'a mut TimedEngine>,
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
        let mut erases_before = ByCause::default();
        let mut shares_before: Option<[f64; Cause::COUNT]> = None;
        for pass in 1..=MOST_PASSES {
            requests += self.serve(source, step)?;
            let erases = self.drive.flash_counts().erases;
            let in_pass = ByCause(std::array::from_fn(|c| erases[c] - erases_before.0[c]));
            erases_before = ByCause(erases);
            // A pass without erases says nothing about their shares.
            let shares = (in_pass.sum() > 0).then(|| in_pass.0.map(|n| n as f64 / in_pass.sum() as f64));
            if let (Some(before), Some(now)) = (shares_before, shares)
                && before.iter().zip(now).all(|(b, n)| (b - n).abs() < STABLE_WITHIN)
            {
                return Ok((requests, pass, true));
            }
            shares_before = shares;
            if pass < MOST_PASSES {
                source.inner.next_pass()?;
            }
        }
        Ok((requests, MOST_PASSES, false))
    }
}

/// A source that counts what it hands out.
struct Counted<S> {
    inner: S,
    requests: u64,
    last_arrival: Ns,
    /// Whether every request so far had a clock of its own.
    open: bool,
}

impl<S: RequestSource> Counted<S> {
    fn new(inner: S) -> Self {
        Self { inner, requests: 0, last_arrival: 0, open: true }
    }

    /// Requests, and the arrival of the last where they all have a clock of their own.
    fn numbers(&self) -> (u64, Option<Ns>) {
        (self.requests, self.open.then_some(self.last_arrival))
    }
}

impl<S: RequestSource> RequestSource for Counted<S> {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let before = out.len();
        self.open &= self.inner.arrival() == Arrival::Open;
        self.inner.fill(out, max)?;
        self.requests += (out.len() - before) as u64;
        self.last_arrival = out[before..].last().map_or(self.last_arrival, |r| r.at);
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.inner.arrival()
    }

    fn tell_time(&mut self, now: Ns) {
        self.inner.tell_time(now);
    }

    fn next_stage(&mut self) -> bool {
        self.inner.next_stage()
    }

    fn len_hint(&self) -> Option<u64> {
        self.inner.len_hint()
    }
}

fn summary(
    plan: &Plan,
    drive: &Drive,
    engine: Option<&TimedEngine>,
    served: &Served,
    wall_s: f64,
    worn_before: f64,
    oracle: Option<OracleReport>,
) -> Summary {
    let host = Host::of(drive);
    let flash = Flash::of(drive);
    // In the untimed gear time passes only by the clock of the requests.
    let simulated_s = engine.map(TimedEngine::now).or(served.last_arrival).map(|ns| ns as f64 / 1e9);
    let throughput = host.throughput(simulated_s.filter(|_| engine.is_some()));
    let programs = flash.programs.sum() as f64;
    Summary {
        vpass: env!("CARGO_PKG_VERSION"),
        drive: plan.drive.name.clone(),
        workload: plan.load.name(),
        workload_generated: plan.load.is_generated(),
        workload_source: plan.load.source(),
        reclaim_technique: plan.reclaim.into(),
        counterfactual: plan.is_counterfactual(),
        gc_technique: plan.gc.into(),
        gear: plan.gear.name(),
        seed: plan.seed,
        passes: served.passes,
        stable: served.stable,
        write_amplification: (host.write_pages > 0).then(|| programs / host.write_pages as f64),
        host,
        latency_us: Latencies::of(engine),
        throughput,
        flash,
        reclaim: Reclaim::of(drive),
        wear: Wear::of(drive, simulated_s, worn_before),
        uncorrectable_reads: drive.uncorrectable_reads(),
        data_lost_pages: drive.lost_pages(),
        oracle,
        controller_ram_bytes: drive.controller_ram().0,
        trace: trace(plan, served),
        simulation: Simulation::new(simulated_s, wall_s, served.requests),
    }
}

fn trace(plan: &Plan, served: &Served) -> Option<Trace> {
    let (Load::Trace { survey, .. }, Some(report)) = (&plan.load, &served.trace) else { return None };
    let files: Vec<_> = survey.files().iter().map(|f| f.path.display().to_string()).collect();
    let device = |d: &Device| TraceDevice {
        name: d.name.clone(),
        file: files[d.file].clone(),
        base_bytes: d.base,
        extent_bytes: d.extent,
        rows: d.rows,
    };
    Some(Trace {
        devices: survey.devices().iter().map(device).collect(),
        files,
        formats: report.formats.clone(),
        rows: report.rows,
        clamped: report.clamped,
        refitted: report.refitted,
        bad_lines: report.skipped.count,
        first_bad_line: report.skipped.first.clone(),
        several_devices: report.several_devices,
        span_s: report.span_ns as f64 / 1e9,
    })
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

impl Summary {
    /// Whether any of the host's data was lost or could not be read.
    pub(crate) fn lost_data(&self) -> bool {
        self.data_lost_pages > 0 || self.uncorrectable_reads > 0
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
