//! A run in the fluid gear: a warm-up and what counts, each a span of time.

use std::time::Instant;

use vpass_core::base::units::Ns;
use vpass_core::time::FluidRun;

use super::summary::Served;
use super::{Measured, Outcome, begun};
use crate::failure::Failure;
use crate::plan::{Fluid, Plan};
use crate::progress::Progress;
use crate::session::Session;

pub(super) fn run(plan: &Plan, progress: &dyn Progress) -> Result<Outcome, Failure> {
    let (warm_up, counted) = plan.fluid_span()?;
    let mut source = plan.fluid()?;
    let mut session = begun(plan, progress)?;
    if warm_up > 0 {
        warm(plan, &mut session, &mut source, warm_up, progress)?;
        // Counting begins at time 0, and so do the requests.
        source = plan.fluid()?;
    }
    let mut run = Measured::begin(session);
    let started = Instant::now();
    let drive = &mut run.session.drive;
    let mut fluid = FluidRun::begin(drive, source.as_mut(), plan.seed);
    let mut steps = Steps::new(plan, progress);
    fluid.go_on(drive, source.as_mut(), counted, &mut |now, drive| {
        run.series.look(drive, Some(now));
        steps.advance(now)
    })?;
    fluid.end(drive);
    let host = drive.host_counts();
    let requests = host.read_requests + host.write_requests;
    let served = Served { requests, passes: plan.repeat.get().into(), stable: None, last_arrival: Some(counted), trace: None, jobs: None };
    Ok(run.conclude(plan, &served, started.elapsed().as_secs_f64()))
}

fn warm(plan: &Plan, session: &mut Session, source: &mut Fluid, until: Ns, progress: &dyn Progress) -> Result<(), Failure> {
    let mut steps = Steps::new(plan, progress);
    let drive = session.drive_mut();
    let mut fluid = FluidRun::begin(drive, source.as_mut(), plan.seed.wrapping_add(1));
    fluid.go_on(drive, source.as_mut(), until, &mut |now, _| steps.advance(now))?;
    fluid.end(drive);
    session.end_warm_up();
    Ok(())
}

/// Progress in requests, which this gear does not count one by one.
pub(crate) struct Steps<'a> {
    plan: &'a Plan,
    progress: &'a dyn Progress,
    told: u64,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(plan: &'a Plan, progress: &'a dyn Progress) -> Self {
        Self { plan, progress, told: 0 }
    }

    /// The run has come to this time; false where it is to end.
    pub(crate) fn advance(&mut self, now: Ns) -> bool {
        let so_far = self.plan.requests_in(now);
        let new = so_far.saturating_sub(self.told);
        self.told += new;
        self.progress.advance(new)
    }
}
