//! Run in the fluid gear, with a warm-up and a counted part. The durations of both are known before
//! the run.

use std::time::Instant;

use vpass_drive::base::units::Ns;
use vpass_drive::time::FluidRun;

use super::summary::Served;
use super::{COUNT, Measured, Outcome, begun};
use crate::failure::Failure;
use crate::plan::{Fluid, RunPlan, Tables};
use crate::progress::Progress;
use crate::session::Session;

pub(super) fn run(plan: &RunPlan, progress: &dyn Progress) -> Result<Outcome, Failure> {
    let tables = Tables::default();
    let mut workload = plan.fluid(&tables)?;
    let (warm_up, counted) = workload.span(plan)?;
    let mut session = begun(plan, progress)?;
    if warm_up > 0 {
        warm(plan, &mut session, &mut workload, warm_up, progress)?;
        // The clock starts at 0 again for the counted part, so the requests must start at 0, too.
        workload = plan.fluid(&tables)?;
    }
    progress.stage(None, COUNT);
    let mut run = Measured::begin(plan, session);
    let started = Instant::now();
    let drive = &mut run.session.drive;
    let mut steps = Steps::new(plan, &workload, progress);
    let Fluid { source, report, .. } = &mut workload;
    let mut fluid = FluidRun::begin(drive, source.as_mut(), plan.seed);
    fluid.go_on(drive, source.as_mut(), counted, &mut |now, drive| {
        run.series.look(drive, Some(now));
        steps.advance(now)
    })?;
    fluid.end(drive);
    let host = drive.host_counts();
    let requests = host.read_requests + host.write_requests;
    let served = Served {
        requests,
        passes: plan.repeat.get().into(),
        stable: None,
        last_arrival: Some(counted),
        has_times: true,
        trace: report.take(),
        jobs: None,
    };
    progress.stage(None, "checking the end");
    Ok(run.conclude(plan, &served, started.elapsed().as_secs_f64()))
}

fn warm(
    plan: &RunPlan,
    session: &mut Session,
    workload: &mut Fluid,
    until: Ns,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let mut steps = Steps::new(plan, workload, progress);
    let source = &mut workload.source;
    let drive = session.drive_mut();
    let mut fluid = FluidRun::begin(drive, source.as_mut(), plan.seed.wrapping_add(1));
    fluid.go_on(drive, source.as_mut(), until, &mut |now, _| steps.advance(now))?;
    fluid.end(drive);
    session.end_warm_up();
    Ok(())
}

/// Progress of a run in the fluid gear. The number of served requests is computed from the
/// simulated time, because the fluid gear does not count single requests.
struct Steps<'a> {
    /// Number of requests that the simulated drive receives per nanosecond.
    requests: f64,
    progress: &'a dyn Progress,
    told: u64,
}

impl<'a> Steps<'a> {
    fn new(plan: &RunPlan, workload: &Fluid, progress: &'a dyn Progress) -> Self {
        let requests = workload.requests as f64 / workload.pass_ns / f64::from(plan.sample.of);
        Self { requests, progress, told: 0 }
    }

    /// Reports that the run has reached the simulated time `now`. Returns false if the run must
    /// stop.
    fn advance(&mut self, now: Ns) -> bool {
        let so_far = (self.requests * now as f64) as u64;
        let new = so_far.saturating_sub(self.told);
        self.told += new;
        self.progress.advance(new)
    }
}
