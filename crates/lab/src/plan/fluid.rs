//! Plan of a run in the fluid gear: the rates at which the host reads pages, and the duration of
//! the run.

use std::sync::{Arc, Mutex, PoisonError};

use vpass_drive::base::daily::DailyHours;
use vpass_drive::base::phrase::Opt;
use vpass_drive::base::request::{Arrival, RequestSource};
use vpass_drive::base::units::{END_OF_TIME, Ns};
use vpass_drive::config::ConfigError;
use vpass_drive::drive::Drive;
use vpass_drive::phrase;
use vpass_drive::time::FluidSource;
use vpass_workload::daily::DailyRates;
use vpass_workload::model::{ModelLaw, ModelWorkload};
use vpass_workload::pass::PassSource;
use vpass_workload::phases::FluidPhases;
use vpass_workload::steady::SteadyRates;
use vpass_workload::traces::TraceReport;
use vpass_workload::windows::{Counted, Counting, FluidWindows, MOST_REQUESTS, StrataBy, Windows};

use super::{RunPlan, Workload};
use crate::failure::Failure;
use crate::load::{Generated, Loaded};
use crate::setup::{Gear, Watch};

/// Requests of a run in the fluid gear. The host's reads are given as rates. Requests of other
/// kinds are given one by one.
pub struct Fluid {
    /// Source of the read rates and of the write requests.
    pub source: Box<dyn FluidSource + Send>,
    /// Number of requests in one pass, for the whole drive.
    pub requests: u64,
    /// Duration of a pass in nanoseconds. Only hours of use are counted. For a workload without an
    /// end, the duration is longer than the simulated time.
    pub pass_ns: f64,
    /// Hours of each day in which the workload makes requests.
    pub hours: DailyHours,
    /// Facts about the trace; `None` for other workloads.
    pub report: Option<TraceReport>,
}

/// Streams of requests, one stream for each random seed, and for whole drives or for samples. Each
/// stream is divided into windows of time. Drives with the same workload share these windows.
#[derive(Default)]
pub struct Tables(Mutex<Vec<((u64, bool), Made)>>);

/// Stream of requests that is divided into windows of time. If the requests are those of a trace,
/// facts about the trace are included.
type Made = (Arc<Windows>, Option<TraceReport>);

/// Number of time windows in a pass. A window lasts between one second and one hour.
const WINDOWS: Ns = 100;
const SHORTEST: Ns = 1_000_000_000;
const LONGEST: Ns = 3600 * SHORTEST;

/// Number of passes in which the host writes as many bytes as the drive's flash has, if a pass is
/// one window. A mean block lives at most this number of passes between two erases. So a block sees
/// mean rates, whatever the order of requests within a pass.
const PASSES_PER_CYCLE: u64 = 30;

impl RunPlan {
    /// Before drives or files are created, refuses plans that the fluid gear cannot run.
    pub(super) fn check_fluid(&self) -> Result<(), Failure> {
        if self.oracle == Watch::Full {
            return Err(Failure::usage(phrase![
                Opt::Oracle.to("full"),
                " follows every request, but the fluid gear does not simulate single reads",
            ])
            .with_remedy(phrase![
                "use ",
                Opt::Oracle.to("on"),
                " or ",
                Opt::Gear.to("untimed"),
            ]));
        }
        if self.until_stable {
            return Err(Failure::usage(phrase![
                Opt::Until.to("stable"),
                " compares passes, but the fluid gear has no passes",
            ])
            .with_remedy(phrase!["use ", Opt::Gear.to("untimed")]));
        }
        let is_constant =
            self.rated().is_some_and(|config| !matches!(config, Generated::Phases(_)));
        if self.warm_up > 0 && !is_constant {
            return Err(Failure::usage(phrase![
                Opt::WarmUp,
                " needs a workload with constant read rates (keys distribution and rate); with the \
                 given workload, the run after the warm-up would repeat the requests of the \
                 warm-up",
            ])
            .at(Opt::Gear.to("fluid"))
            .with_remedy(phrase!["use ", Opt::Gear.to("untimed")]));
        }
        match self.rated() {
            Some(Generated::Workload(file)) => {
                return self.named(file.workload.check_rates());
            }
            Some(Generated::Phases(file)) => return self.named(FluidPhases::check(&file.workload)),
            Some(Generated::Parts(file)) => return self.named(file.workload.check_rates()),
            Some(Generated::Model(_)) => return self.model_law().map(drop),
            None => {}
        }
        // This check comes before the jobs are opened: their messages are about the other gears.
        if let Workload::Fio { jobs, queue_depth: None, .. } = &self.workload
            && let Some(job) = jobs.job_without_rate()
        {
            return Err(Failure::usage(format!(
                "fio job {job} has no rate, so its requests wait for earlier requests, and the \
                 read rates that the fluid gear needs are unknown"
            ))
            .at(Opt::Gear.to("fluid"))
            .with_remedy(phrase![
                "give each fio job a rate_iops; commands other than `vpass life` also accept ",
                Opt::Gear.to("untimed"),
            ]));
        }
        let why = match &self.workload {
            Workload::Adversary { .. } => "an adversary chooses its requests one by one",
            Workload::Fio { .. } if self.source()?.arrival() != Arrival::Open => {
                "fio jobs without a rate wait for earlier requests"
            }
            Workload::Fio { .. } if self.source()?.has_next_stage() => {
                "some jobs of the fio file wait for earlier jobs"
            }
            _ if self.source()?.arrival() != Arrival::Open => {
                "requests in closed loop wait for earlier requests"
            }
            _ => return Ok(()),
        };
        Err(Failure::usage(format!(
            "{why}, so the read rates that the fluid gear needs are unknown"
        ))
        .at(Opt::Gear.to("fluid"))
        .with_remedy(phrase![
            "give each fio job a rate_iops, replay a trace by its own clock, set up a workload \
             with distribution and rate (vpass show workload zipf-read), or use ",
            Opt::Gear.to("untimed"),
        ]))
    }

    fn named<T>(&self, made: Result<T, ConfigError>) -> Result<T, Failure> {
        made.map_err(|e| Failure::usage(e).at(format!("workload {}", self.workload.name())))
    }

    /// Returns the workload file if read rates follow from its settings. Returns `None` for other
    /// workloads, whose requests are counted in windows of time.
    fn rated(&self) -> Option<&Generated> {
        let Workload::Generated(Loaded { config, .. }) = &self.workload else { return None };
        match config {
            Generated::Workload(file) if file.workload.stripes.is_some() => None,
            config => Some(config),
        }
    }

    /// Returns whether the workload sets the times of its requests. If so, the life of the drive is
    /// measured in years.
    pub(crate) fn has_rate(&self) -> bool {
        match self.rated() {
            Some(Generated::Workload(file)) => file.workload.rate.is_some(),
            _ => true,
        }
    }

    /// Returns the language model of the workload; `None` for other workloads.
    pub fn model(&self) -> Option<&ModelWorkload> {
        if let Generated::Model(file) = self.rated()? { Some(&file.workload) } else { None }
    }

    /// Returns the read rates of the workload's language model on the whole drive.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if the model is larger than the drive.
    ///
    /// # Panics
    /// Panics if the workload is not a language model.
    pub fn model_law(&self) -> Result<ModelLaw, Failure> {
        self.model_law_with_cache(0)
    }

    /// Returns the read rates of the workload's language model, for a host cache that is larger by
    /// `more` bytes.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if the model is larger than the drive.
    ///
    /// # Panics
    /// Panics if the workload is not a language model.
    pub fn model_law_with_cache(&self, more: u64) -> Result<ModelLaw, Failure> {
        let mut model = self.model().expect("the workload is a model").clone();
        model.model.cache.0 = model.model.cache.0.saturating_add(more);
        let page = self.drive.config.geometry.page_size.0 as u32;
        self.named(ModelLaw::new(&model, self.whole_capacity().0, page, self.seed))
    }

    /// Returns the number of requests in a pass, and the number of requests per second during the
    /// hours of use. Both numbers are for the whole drive. Returns `None` if the numbers are not
    /// known before the run.
    fn known_pace(&self) -> Option<(u64, f64)> {
        let (requests, rate) = match self.rated()? {
            Generated::Model(file) => {
                let of_token = self.model_law().ok()?.requests_per_token();
                let model = &file.workload.model;
                let requests = (model.tokens as f64 * of_token).round().max(1.0);
                (requests as u64, Some(model.tokens_per_second * of_token))
            }
            Generated::Parts(file) => (file.workload.requests, Some(file.workload.rate())),
            Generated::Workload(file) => (file.workload.requests, file.workload.rate),
            Generated::Phases(file) => (file.workload.requests(), file.workload.rate),
        };
        Some((requests, rate.expect("a checked workload of the fluid gear has a rate")))
    }

    /// Returns the expected number of requests that the simulated drives receive in all passes.
    /// Returns `None` if the number is not known before the run.
    pub(crate) fn fluid_requests(&self) -> Result<Option<u64>, Failure> {
        let of_a_pass = match self.known_pace() {
            Some((requests, _)) => Some(requests),
            None => self.source()?.len_hint(),
        };
        let all =
            of_a_pass.map(|n| n as f64 * f64::from(self.repeat.get()) / f64::from(self.sample.of));
        Ok(all.map(|n| n as u64 * (1 + self.ages.len() as u64)))
    }

    /// Returns the requests of the workload for the plan's sample of the drive. The reads are given
    /// as rates.
    ///
    /// # Errors
    /// Returns an error if the reads of the workload cannot be given as rates, or if a trace cannot
    /// be read.
    pub fn fluid(&self, tables: &Tables) -> Result<Fluid, Failure> {
        let page = self.drive.config.geometry.page_size.0 as u32;
        let (capacity, seed, sample) = (self.whole_capacity().0, self.seed, self.sample);
        let Some(config) = self.rated() else {
            let (table, report) = self.windows(tables)?;
            let (requests, pass_ns) = (table.requests(), table.pass() as f64);
            let source = if !sample.is_whole() {
                FluidWindows::new(Arc::new(table.sampled(sample, self.strata_by())))
            } else if self.workload.is_generated() {
                FluidWindows::drawn(table, self.source()?)
            } else {
                FluidWindows::new(table)
            };
            return Ok(Fluid {
                source: Box::new(source),
                requests,
                pass_ns,
                hours: DailyHours::ALWAYS,
                report,
            });
        };
        let source: Box<dyn FluidSource + Send> = match config {
            Generated::Workload(file) => {
                let of = SteadyRates::of_table(&file.workload, capacity, page, seed, sample);
                Box::new(self.named(of)?)
            }
            Generated::Phases(file) => {
                let of = FluidPhases::new(&file.workload, capacity, page, seed, sample);
                Box::new(self.named(of)?)
            }
            Generated::Parts(file) => {
                let of = SteadyRates::of_parts(&file.workload, capacity, page, seed, sample);
                Box::new(self.named(of)?)
            }
            Generated::Model(file) => {
                let of = SteadyRates::of_model(&file.workload, capacity, page, seed, sample);
                Box::new(self.named(of)?)
            }
        };
        let (requests, rate) = self.known_pace().expect("it has a table of its own");
        let (hours, pass_ns) = (self.hours(), requests as f64 / rate * 1e9);
        let source = match hours {
            DailyHours::ALWAYS => source,
            hours => Box::new(DailyRates::new(source, hours)),
        };
        Ok(Fluid { source, requests, pass_ns, hours, report: None })
    }

    /// Returns the workload's stream of requests, divided into windows of time.
    fn windows(&self, tables: &Tables) -> Result<Made, Failure> {
        let mut made = tables.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (is_drawn, for_samples) = (self.workload.is_generated(), !self.sample.is_whole());
        let key = (self.seed, is_drawn && for_samples);
        if let Some((_, known)) = made.iter().find(|(of, _)| *of == key) {
            return Ok(known.clone());
        }
        let page_bytes = self.drive.config.geometry.page_size.0 as u32;
        let pages = (self.whole_capacity().0 / u64::from(page_bytes)) as u32;
        let passes = if is_drawn {
            Counted::Many { for_samples }
        } else {
            Counted::One {
                width: self.span_of_requests() / WINDOWS,
                short_bytes: self.whole_flash_bytes() / PASSES_PER_CYCLE,
            }
        };
        let mut source = self.source()?;
        let table = Arc::new(Windows::of(&mut source, Counting { page_bytes, pages, passes })?);
        let new = (table, source.trace_report());
        made.push((key, new.clone()));
        Ok(new)
    }

    /// Returns how pages are chosen for samples. Hints name ranges of addresses, so hinted pages
    /// stay in the order of their addresses.
    fn strata_by(&self) -> StrataBy {
        let is_hinted = self.drive.config.hints.said.is_some();
        if is_hinted { StrataBy::Address } else { StrataBy::Counts }
    }

    /// Returns whether the drive is a sample whose pages stand for pages of similar rates.
    pub(crate) fn has_similar_pages(&self) -> bool {
        !self.sample.is_whole() && self.rated().is_none()
    }

    /// Returns how many pages are read or written by the requests of all windows. Returns `None` if
    /// the read rates of the workload are known without windows.
    pub(super) fn touched_by_windows(&self, tables: &Tables) -> Result<Option<u64>, Failure> {
        if self.rated().is_some() {
            return Ok(None);
        }
        Ok(Some(self.windows(tables)?.0.touched()))
    }

    /// Returns the approximate duration of a pass, in simulated nanoseconds.
    fn span_of_requests(&self) -> Ns {
        let span = match &self.workload {
            Workload::Trace { survey, options } => {
                (survey.files().iter().map(|file| file.span_ns).sum::<Ns>() as f64 / options.speed)
                    as Ns
            }
            _ => SHORTEST * WINDOWS,
        };
        span.clamp(SHORTEST * WINDOWS, LONGEST * WINDOWS)
    }

    /// Returns an upper limit of the memory for the read rates, in bytes.
    pub(crate) fn fluid_memory(&self) -> Result<u64, Failure> {
        let pages = self.whole_capacity().0 / self.drive.config.geometry.page_size.0;
        let own = match self.rated() {
            Some(Generated::Workload(_)) => {
                SteadyRates::memory_of_table(pages / u64::from(self.sample.of))
            }
            Some(Generated::Phases(_)) => FluidPhases::memory(pages),
            Some(Generated::Model(_)) => {
                SteadyRates::memory_of_model(pages / u64::from(self.sample.of))
            }
            Some(Generated::Parts(file)) => {
                let parts = file.workload.part.len() as u64;
                SteadyRates::memory_of_parts(pages / u64::from(self.sample.of), parts)
            }
            None => {
                let source = self.source()?;
                let of_pass = source.len_hint().unwrap_or(0);
                let writes = match (self.workload.is_generated(), self.sample.is_whole()) {
                    (true, true) => 0,
                    (true, false) => MOST_REQUESTS / 2 + of_pass,
                    (false, _) => of_pass,
                };
                source.memory() + Windows::memory(writes, pages)
            }
        };
        Ok(own + Drive::memory_of_bulk_reads(&self.drive.config))
    }

    /// Returns whether the run simulates host reads in bulk instead of one by one.
    pub fn is_fluid(&self) -> bool {
        self.gear == Gear::Fluid
    }
}

impl Fluid {
    /// Returns the durations of the warm-up and of the counted part, in nanoseconds.
    ///
    /// # Errors
    /// Returns an error if the warm-up is longer than a pass, or if the run is longer than the
    /// largest simulated time.
    pub(crate) fn span(&self, plan: &RunPlan) -> Result<(Ns, Ns), Failure> {
        if plan.warm_up > self.requests {
            return Err(plan.short_pass(self.requests));
        }
        let counted = self.requests as f64 * f64::from(plan.repeat.get()) - plan.warm_up as f64;
        let each = self.pass_ns / self.requests.max(1) as f64;
        if (counted + plan.warm_up as f64) * each > END_OF_TIME as f64 * self.hours.share() {
            return Err(Failure::usage(format!(
                "{} requests at {} per second take longer than the largest simulated time, 2^62 \
                 ns (146 years)",
                counted,
                1e9 / each * self.hours.share()
            )));
        }
        let begin = self.hours.reaches((plan.warm_up as f64 * each) as Ns);
        let end = self.hours.reaches(((plan.warm_up as f64 + counted) * each) as Ns);
        Ok((begin, end - begin))
    }
}
