//! Run whose requests come from clients of a live drive. The caller serves the requests.

use std::time::Instant;

use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_drive::time::Device;

use super::summary::Served;
use super::{Measured, Outcome, begun};
use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::progress::Progress;
use crate::results::Before;
use crate::series::Series;
use crate::session;

/// Run whose requests come from clients. The drive is with the caller.
pub struct Live {
    plan: RunPlan,
    series: Series,
    before: Before,
    began: Instant,
}

impl Live {
    /// Begins a run of a plan in the timed gear. Returns the drive in its start-up state, and its
    /// dies and channels at time 0.
    ///
    /// # Errors
    /// Returns an error if the plan has another gear, or if the user interrupts the start.
    pub fn begin(plan: RunPlan, progress: &dyn Progress) -> Result<(Self, Drive, Device), Failure> {
        let Measured { session, series, before } = Measured::begin(&plan, begun(&plan, progress)?);
        let session::Measured { mut drive, engine } = session;
        let Some(engine) = engine else {
            return Err(Failure::usage("a live drive needs the gear timed"));
        };
        drive.expect_failures(&plan.fail);
        let run = Self { plan, series, before, began: Instant::now() };
        Ok((run, drive, engine.into()))
    }

    /// Returns the plan of the run.
    pub fn plan(&self) -> &RunPlan {
        &self.plan
    }

    /// Ends the run. `requests` is the number of requests that clients made, and `last` is the time
    /// of the last one.
    pub fn conclude(self, drive: Drive, device: Device, requests: u64, last: Ns) -> Outcome {
        let Self { plan, series, before, began } = self;
        let session = session::Measured { drive, engine: Some(device.into()) };
        let served = Served {
            requests,
            passes: 1,
            stable: None,
            last_arrival: Some(last),
            has_times: true,
            trace: None,
            jobs: None,
        };
        let run = Measured { session, series, before };
        run.conclude(&plan, &served, began.elapsed().as_secs_f64())
    }
}
