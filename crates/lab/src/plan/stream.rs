//! Streams of a plan's requests. A stream begins with the first request.

use vpass_drive::base::daily::DailyHours;
use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;
use vpass_workload::daily::Daily;
use vpass_workload::fio::{FioOptions, FioSource};
use vpass_workload::given::ForDrive;
use vpass_workload::model::ModelSource;
use vpass_workload::parts::{PartsSource, Side, SideBySide};
use vpass_workload::pass::PassSource;
use vpass_workload::phases::PhasesSource;
use vpass_workload::stripes::StripesSource;
use vpass_workload::synthetic::SyntheticSource;
use vpass_workload::traces::{TraceReport, TraceSource};

use super::{RunPlan, Workload};
use crate::failure::Failure;
use crate::load::Generated;
use crate::setup::Gear;

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
    pub(crate) fn source_of(&self, workload: &Workload) -> Result<Stream, Failure> {
        let (capacity, page) = self.addresses();
        Ok(match workload {
            Workload::Trace { survey, options } => Stream::Trace(Box::new(TraceSource::new(
                survey.clone(),
                capacity,
                options.clone(),
            )?)),
            Workload::Generated(loaded) => {
                let source: Result<Box<dyn PassSource>, _> = match &loaded.config {
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
                Stream::Generated(match hours_of(workload) {
                    DailyHours::ALWAYS => source,
                    hours => Box::new(Daily::new(source, hours)),
                })
            }
            Workload::Fio { jobs, queue_depth, .. } => {
                let options = FioOptions {
                    seed: self.seed,
                    queue_depth: *queue_depth,
                    has_clock: self.gear == Gear::Timed,
                };
                Stream::Fio(Box::new(FioSource::new(jobs, capacity, page, options)?))
            }
            Workload::Given(given) => {
                let drive = ForDrive { capacity, page_bytes: page, seed: self.seed };
                Stream::Generated(given.source(drive)?)
            }
            Workload::Beside(all) => {
                let side = |one| self.source_of(one).map(|source| Side::new(source, 0));
                let sides = all.iter().map(side).collect::<Result<_, _>>()?;
                Stream::Generated(Box::new(SideBySide::new(sides)?))
            }
            Workload::Adversary { .. } => {
                unreachable!("an adversary makes its requests while the drive runs")
            }
        })
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

/// Stream of requests from a trace, a generator or a job file.
pub enum Stream {
    /// Requests of trace files.
    Trace(Box<TraceSource>),
    /// Requests of a generator.
    Generated(Box<dyn PassSource>),
    /// Requests of a job file.
    Fio(Box<FioSource>),
}

impl Stream {
    /// Returns facts about the trace. Returns `None` if the requests do not come from a trace.
    pub fn report(&self) -> Option<TraceReport> {
        match self {
            Self::Trace(source) => Some(source.report()),
            Self::Generated(_) | Self::Fio(_) => None,
        }
    }

    /// Returns, for each clone of a fio job, the number of the job. Each request carries the number
    /// of a clone as its origin. Returns `None` if there are fewer than two jobs, because results
    /// are then not separated by job.
    pub fn groups(&self) -> Option<&[u16]> {
        if let Self::Fio(source) = self {
            Some(source.job_of()).filter(|_| source.jobs().len() > 1)
        } else {
            None
        }
    }

    fn inner(&self) -> &dyn PassSource {
        match self {
            Self::Trace(source) => source.as_ref(),
            Self::Generated(source) => source.as_ref(),
            Self::Fio(source) => source.as_ref(),
        }
    }

    fn inner_mut(&mut self) -> &mut dyn PassSource {
        match self {
            Self::Trace(source) => source.as_mut(),
            Self::Generated(source) => source.as_mut(),
            Self::Fio(source) => source.as_mut(),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl RequestSource for Stream {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        self.inner_mut().fill(out, max)
    }

    fn arrival(&self) -> Arrival {
        self.inner().arrival()
    }

    fn tell_time(&mut self, now: Ns) {
        self.inner_mut().tell_time(now);
    }

    fn completed(&mut self, origin: u16) {
        self.inner_mut().completed(origin);
    }

    fn waits_until(&self) -> Option<Ns> {
        self.inner().waits_until()
    }

    fn ends_at(&self) -> Option<Ns> {
        self.inner().ends_at()
    }

    fn take_flushes(&mut self) -> Vec<(usize, Ns)> {
        self.inner_mut().take_flushes()
    }

    fn next_stage(&mut self) -> bool {
        self.inner_mut().next_stage()
    }

    fn len_hint(&self) -> Option<u64> {
        self.inner().len_hint()
    }
}

impl PassSource for Stream {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        self.inner_mut().next_pass()
    }

    fn memory(&self) -> u64 {
        self.inner().memory()
    }

    fn has_next_stage(&self) -> bool {
        self.inner().has_next_stage()
    }
}
