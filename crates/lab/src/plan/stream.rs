//! Streams of a plan's requests. A stream begins with the first request.

use vpass_drive::base::daily::DailyHours;
use vpass_workload::daily::Daily;
use vpass_workload::fio::{FioOptions, FioSource, JobFile};
use vpass_workload::given::ForDrive;
use vpass_workload::model::ModelSource;
use vpass_workload::parts::{PartsSource, Side, SideBySide};
use vpass_workload::pass::PassSource;
use vpass_workload::phases::PhasesSource;
use vpass_workload::stripes::StripesSource;
use vpass_workload::synthetic::SyntheticSource;
use vpass_workload::traces::TraceSource;

use super::{RunPlan, Workload};
use crate::failure::Failure;
use crate::load::Generated;
use crate::setup::Gear;

/// Stream of requests from a trace, a generator or a job file.
pub type Stream = Box<dyn PassSource>;

impl RunPlan {
    /// Opens the stream of requests. The stream begins with the first request.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub fn source(&self) -> Result<Stream, Failure> {
        self.source_of(&self.workload)
    }

    /// Opens a stream of requests from one workload of the plan. The stream begins with the
    /// workload's first request.
    fn source_of(&self, workload: &Workload) -> Result<Stream, Failure> {
        let (capacity, page) = self.addresses();
        Ok(match workload {
            Workload::Trace { survey, options } => {
                Box::new(TraceSource::new(survey.clone(), capacity, options.clone())?)
            }
            Workload::Generated(loaded) => {
                let source: Result<Stream, _> = match &loaded.config {
                    Generated::Workload(file) if file.workload.stripes.is_some() => {
                        StripesSource::new(&file.workload, capacity, page, self.seed)
                            .map(|s| Box::new(s) as _)
                    }
                    Generated::Workload(file) => {
                        SyntheticSource::new(&file.workload, capacity, page, self.seed)
                            .map(|s| Box::new(s) as _)
                    }
                    Generated::Model(file) => {
                        ModelSource::new(&file.workload, capacity, page, self.seed)
                            .map(|s| Box::new(s) as _)
                    }
                    Generated::Phases(file) => {
                        PhasesSource::new(&file.workload, capacity, page, self.seed)
                            .map(|s| Box::new(s) as _)
                    }
                    Generated::Parts(file) => {
                        PartsSource::new(&file.workload, capacity, page, self.seed)
                            .map(|s| Box::new(s) as _)
                    }
                };
                let source = source
                    .map_err(|e| Failure::usage(e).at(format!("workload {}", loaded.name)))?;
                match hours_of(workload) {
                    DailyHours::ALWAYS => source,
                    hours => Box::new(Daily::new(source, hours)),
                }
            }
            Workload::Fio { jobs, queue_depth, .. } => {
                Box::new(self.fio_source(jobs, *queue_depth)?)
            }
            Workload::Given(given) => {
                let drive = ForDrive { capacity, page_bytes: page, seed: self.seed };
                given.source(drive)?
            }
            Workload::Beside(all) => {
                let side = |one| self.source_of(one).map(|source| Side::new(source, 0));
                let sides = all.iter().map(side).collect::<Result<_, _>>()?;
                Box::new(SideBySide::new(sides)?)
            }
            Workload::Adversary { .. } => {
                unreachable!("an adversary makes its requests while the drive runs")
            }
        })
    }

    /// Opens the source of requests of a job file.
    pub(crate) fn fio_source(
        &self,
        jobs: &JobFile,
        queue_depth: Option<u32>,
    ) -> Result<FioSource, Failure> {
        let (capacity, page) = self.addresses();
        let has_clock = self.gear == Gear::Timed;
        let options = FioOptions { seed: self.seed, queue_depth, has_clock };
        Ok(FioSource::new(jobs, capacity, page, options)?)
    }

    /// Returns the daily hours during which the workload makes requests.
    pub fn hours(&self) -> DailyHours {
        hours_of(&self.workload)
    }

    /// Opens the stream of requests from the earlier workload, which is served before the main
    /// workload. Returns `None` without an earlier workload.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub fn source_before(&self) -> Result<Option<SyntheticSource>, Failure> {
        let (capacity, page) = self.addresses();
        let source = self
            .before
            .as_ref()
            .map(|before| SyntheticSource::earlier(before, capacity, page, self.seed));
        source.transpose().map_err(|e| Failure::usage(e).at("the workload before the counted one"))
    }

    /// Returns two sizes in bytes: the size of the whole drive, even if the plan is for a sample,
    /// and the size of a page.
    fn addresses(&self) -> (u64, u32) {
        (self.whole_capacity().0, self.drive.config.geometry.page_size.0 as u32)
    }
}

/// Returns the daily hours during which a workload makes requests. If several workloads run side by
/// side, returns all 24 hours of the day. Each of these workloads has already been limited to its
/// own hours.
fn hours_of(workload: &Workload) -> DailyHours {
    let Workload::Generated(loaded) = workload else { return DailyHours::ALWAYS };
    match &loaded.config {
        Generated::Workload(file) => file.workload.hours(),
        Generated::Phases(file) => file.workload.hours(),
        Generated::Parts(file) => file.workload.hours(),
        Generated::Model(file) => file.workload.hours(),
    }
}
