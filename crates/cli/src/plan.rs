//! What a run is to do, all of it checked before anything runs or is created.

use std::fmt::Write;
use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use vpass_core::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_core::base::units::Ns;
use vpass_core::config::DriveConfig;
use vpass_core::slots::gc::GC;
use vpass_core::slots::reclaim::{RECLAIM, promise, technique};
use vpass_workload::fio::{FioOptions, FioSource, JobFile};
use vpass_workload::pass::PassSource;
use vpass_workload::phases::PhasesSource;
use vpass_workload::statistics::{StatisticsConfig, StatisticsSource};
use vpass_workload::synthetic::SyntheticSource;
use vpass_workload::traces::{
    FileSurvey, Fit, MissingClock, ReadOptions, Survey, TraceOptions, TraceReport, TraceSource, UnitBasis, format_named,
};

use crate::args::{Base, Gear, Setup, Watch};
use crate::attack::ADAPTIVE;
use crate::exit::Failure;
use crate::load::{self, Generated, Loaded};
use crate::overrides::Override;
use crate::progress::Progress;
use crate::run::Cycles;
use crate::suggest;

/// Drive, workload and how to run them.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) drive: Loaded<DriveConfig>,
    pub(crate) load: Load,
    pub(crate) reclaim: &'static str,
    pub(crate) gc: &'static str,
    pub(crate) gear: Gear,
    pub(crate) repeat: NonZeroU32,
    pub(crate) until_stable: bool,
    /// Requests that are served before anything is counted.
    pub(crate) warm_up: u64,
    /// The run ends by cycles of its blocks; requests are then the most that it may take.
    pub(crate) cycles: Option<Cycles>,
    /// P/E cycles of further drives that are run for the life's sake, rising.
    pub(crate) ages: Vec<u32>,
    pub(crate) seed: u64,
    pub(crate) oracle: Watch,
}

/// Where the requests come from.
#[derive(Clone, Debug)]
pub(crate) enum Load {
    Trace {
        survey: Arc<Survey>,
        options: TraceOptions,
    },
    Generated(Loaded<Generated>),
    Fio {
        path: PathBuf,
        jobs: JobFile,
        queue_depth: Option<u32>,
    },
    /// So many requests of an adversary, made as it goes.
    Adversary {
        requests: u64,
        depth: u32,
    },
}

impl Load {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Trace { survey, .. } => survey.files().iter().map(|f| f.path.display().to_string()).collect::<Vec<_>>().join(" "),
            Self::Generated(loaded) => loaded.name.clone(),
            Self::Fio { path, .. } => path.display().to_string(),
            Self::Adversary { .. } => format!("attack {ADAPTIVE}"),
        }
    }

    /// Whether no host ever sent these requests.
    pub(crate) fn is_generated(&self) -> bool {
        !matches!(self, Self::Trace { .. })
    }

    /// Where the requests come from, in words.
    pub(crate) fn source(&self) -> String {
        match self {
            Self::Trace { .. } => "trace".into(),
            Self::Fio { .. } => "generated from a fio job file".into(),
            Self::Adversary { .. } => "made in bursts by an adversary that looks again after each; the drive drains in between".into(),
            Self::Generated(loaded) => match &loaded.config {
                Generated::Workload(_) => "generated".into(),
                Generated::Phases(_) => "generated in phases".into(),
                Generated::Statistics(file) => generated_from(&file.statistics),
            },
        }
    }
}

impl Plan {
    /// Reads what the arguments name.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn new(setup: &Setup, reclaim: &str, gc: &str) -> Result<Self, Failure> {
        let (reclaim, gc) = (reclaim_named(reclaim)?, gc_named(gc)?);
        let sets = load::overrides(&setup.base.set)?;
        let drive = load::drive(&setup.base.drive, &sets)?;
        // Before a long trace is looked through.
        if let Some(refusal) = refusal(&drive, reclaim, setup.base.gear) {
            return Err(refusal);
        }
        let load = load_of(setup, &sets, &drive.config)?;
        let plan = Self::once(&setup.base, drive, load, reclaim, gc);
        let plan =
            Self { repeat: setup.repeat, until_stable: setup.until.is_some(), warm_up: setup.warm_up, ages: ages(setup, &plan)?, ..plan };
        // Opened once to see that it can be; each run opens its own.
        plan.source()?;
        Ok(plan)
    }

    /// One pass of a workload at hand, with techniques of the lists.
    pub(crate) fn once(base: &Base, drive: Loaded<DriveConfig>, load: Load, reclaim: &'static str, gc: &'static str) -> Self {
        Self {
            drive,
            load,
            reclaim,
            gc,
            gear: base.gear,
            repeat: NonZeroU32::MIN,
            until_stable: false,
            warm_up: 0,
            cycles: None,
            ages: vec![],
            seed: base.seed,
            oracle: base.oracle,
        }
    }

    /// The same with other techniques.
    ///
    /// # Errors
    /// A name that nobody knows, or a technique that the drive's settings leave no room for.
    pub(crate) fn with(&self, reclaim: &str, gc: &str) -> Result<Self, Failure> {
        let plan = Self { reclaim: reclaim_named(reclaim)?, gc: gc_named(gc)?, ..self.clone() };
        plan.refusal().map_or(Ok(plan), Err)
    }

    /// Why these settings leave the technique no room, if they do not.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        refusal(&self.drive, self.reclaim, self.gear)
    }

    /// Whether its results are those of no real drive.
    pub(crate) fn is_counterfactual(&self) -> bool {
        technique(self.reclaim).is_some_and(|technique| technique.is_counterfactual())
    }

    /// What the user should know before the run, in sentences.
    ///
    /// # Errors
    /// The workload's.
    pub(crate) fn notes(&self) -> Result<Vec<String>, Failure> {
        let mut notes = match &self.load {
            Load::Trace { survey, options } => {
                let mut notes = trace_notes(survey);
                notes.extend(unit_notes(survey, options));
                notes.extend(self.trace_warnings());
                notes
            }
            Load::Generated(_) | Load::Adversary { .. } => vec![],
            Load::Fio { jobs, .. } => {
                let Source::Fio(source) = self.source()? else { unreachable!("a job file is run by its own source") };
                fio_notes(&self.load.name(), jobs, &source)
            }
        };
        notes.extend(self.promise_notes());
        Ok(notes)
    }

    /// What the user should know of the technique's promise while the drive wears as far as it is rated, in sentences.
    pub(crate) fn promise_notes(&self) -> Vec<String> {
        promise::notes(&self.drive.config).into_iter().chain(self.promise_warnings(0)).collect()
    }

    /// What ends the technique's promise up to the rated P/E count, or up to this one, in sentences.
    pub(crate) fn promise_warnings(&self, pec: u32) -> Vec<String> {
        let config = &self.drive.config;
        let technique = technique(self.reclaim).expect("its name was found");
        promise::warnings(config, technique, self.gear == Gear::Timed, config.drive.rated_pec.max(config.start.pec).max(pec))
    }

    /// What makes the results of a trace doubtful before it is run, in sentences: times in what is probably the wrong unit.
    pub(crate) fn trace_warnings(&self) -> Vec<String> {
        match &self.load {
            // A closed loop does not look at the times.
            Load::Trace { survey, options } if options.arrival == Arrival::Open => {
                survey.files().iter().filter_map(|file| file.doubts(options.read.time_unit)).collect()
            }
            _ => vec![],
        }
    }

    /// Requests in all passes, where that is known beforehand.
    pub(crate) fn requests(&self) -> Result<Option<u64>, Failure> {
        if let Load::Adversary { requests, .. } = self.load {
            return Ok(Some(requests));
        }
        let of_a_pass = self.source()?.len_hint().filter(|_| !self.until_stable);
        let of_a_run = of_a_pass.and_then(|n| n.checked_mul(u64::from(self.repeat.get())));
        Ok(of_a_run.and_then(|n| n.checked_mul(1 + self.ages.len() as u64)))
    }

    /// The same on a drive of this age, and no other.
    pub(crate) fn at_age(&self, pec: u32) -> Self {
        let mut plan = Self { ages: vec![], ..self.clone() };
        plan.drive.config.start.pec = pec;
        plan
    }

    /// The requests, from the beginning.
    pub(crate) fn source(&self) -> Result<Source, Failure> {
        let config = &self.drive.config;
        let capacity = config.drive.capacity.expect("a resolved drive has a capacity").0;
        let page = config.geometry.page_size.0 as u32;
        Ok(match &self.load {
            Load::Trace { survey, options } => Source::Trace(Box::new(TraceSource::new(survey.clone(), capacity, options.clone())?)),
            Load::Generated(loaded) => {
                let source: Result<Box<dyn PassSource>, _> = match &loaded.config {
                    Generated::Workload(file) => SyntheticSource::new(&file.workload, capacity, page, self.seed).map(|s| Box::new(s) as _),
                    Generated::Phases(file) => PhasesSource::new(&file.workload, capacity, page, self.seed).map(|s| Box::new(s) as _),
                    Generated::Statistics(file) => StatisticsSource::new(&file.statistics, capacity, self.seed).map(|s| Box::new(s) as _),
                };
                Source::Generated(source.map_err(|e| Failure::usage(format!("workload {}: {e}", loaded.name)))?)
            }
            Load::Fio { jobs, queue_depth, .. } => {
                let options = FioOptions { seed: self.seed, queue_depth: *queue_depth, has_clock: self.gear == Gear::Timed };
                Source::Fio(Box::new(FioSource::new(jobs, capacity, page, options)?))
            }
            Load::Adversary { .. } => unreachable!("an adversary makes its requests while the drive runs"),
        })
    }
}

/// The ages of further runs, rising.
fn ages(setup: &Setup, plan: &Plan) -> Result<Vec<u32>, Failure> {
    let (start, rated) = (plan.drive.config.start.pec, plan.drive.config.drive.rated_pec);
    let mut ages = setup.ages.clone();
    ages.sort_unstable();
    ages.dedup();
    // The drive's own age is run anyway.
    ages.retain(|pec| *pec != start);
    match ages.iter().find(|pec| **pec < start || **pec >= rated) {
        None => Ok(ages),
        Some(pec) => Err(Failure::usage(format!(
            "--ages {pec}: a life goes from the drive's start.pec, {start}, to its rated P/E cycles, {rated}; ages between them are expected"
        ))),
    }
}

/// "generated from the statistics of w02 at scale 0.01".
pub(crate) fn generated_from(statistics: &StatisticsConfig) -> String {
    let mut text = format!("generated from the statistics of {}", statistics.disk);
    if statistics.scale < 1.0 {
        let _ = write!(text, " at scale {}", statistics.scale);
    }
    text
}

/// Why a technique is refused on this drive, if it is.
fn refusal(drive: &Loaded<DriveConfig>, reclaim: &str, gear: Gear) -> Option<Failure> {
    let technique = technique(reclaim).expect("its name was found");
    let checked = promise::check(&drive.config, technique, gear == Gear::Timed);
    checked.err().map(|e| Failure::usage(format!("drive {}: {e}", drive.name)))
}

fn load_of(setup: &Setup, sets: &[Override], drive: &DriveConfig) -> Result<Load, Failure> {
    if let Some(name) = &setup.workload {
        return Ok(Load::Generated(load::workload(name, sets, setup.base.queue_depth)?));
    }
    if let Some(set) = sets.iter().find(|s| s.is_of_workload()) {
        return Err(Failure::usage(format!(
            "--set {}: the keys of a workload are for --workload; a trace or a job file says itself what it asks for",
            set.text
        )));
    }
    if let Some(path) = &setup.fio {
        return Ok(Load::Fio { path: path.clone(), jobs: JobFile::read(path)?, queue_depth: setup.base.queue_depth });
    }
    let options = TraceOptions {
        read: read_options(setup)?,
        only: setup.replay.only.clone(),
        concat: setup.replay.concat,
        fit: setup.replay.fit,
        page_bytes: drive.geometry.page_size.0,
        strict: setup.replay.strict,
        speed: setup.replay.speed,
        arrival: setup.base.queue_depth.map_or(Arrival::Open, |depth| Arrival::Closed { depth }),
    };
    let survey = survey(&setup.trace, &options)?;
    check_capacity(&survey, &setup.trace, &options, drive)?;
    Ok(Load::Trace { survey: Arc::new(survey), options })
}

/// Whether a trace goes on a drive. Where it does not, it is read once more, so that the complaint can say whether `--fit pack` would help.
fn check_capacity(found: &Survey, paths: &[PathBuf], options: &TraceOptions, drive: &DriveConfig) -> Result<(), Failure> {
    let capacity = drive.drive.capacity.expect("a resolved drive has a capacity").0;
    let Err(too_large) = found.fits(capacity, options.fit) else { return Ok(()) };
    if options.fit != Fit::Error {
        return Err(too_large.into());
    }
    let packed = survey(paths, &TraceOptions { fit: Fit::Pack, ..options.clone() })?;
    Ok(packed.fits(capacity, Fit::Error)?)
}

/// Reads the files of a trace once.
pub(crate) fn survey(paths: &[PathBuf], options: &TraceOptions) -> Result<Survey, Failure> {
    let bytes = paths.iter().map(|path| fs::metadata(path).map_or(0, |m| m.len())).sum();
    let progress = Progress::new(Some(bytes), "bytes of the trace looked through");
    let survey = Survey::of(paths, options, &mut |bytes| progress.advance(bytes));
    if !progress.may_go_on() {
        return Err(Failure::interrupted());
    }
    Ok(survey?)
}

/// What the files of a trace were taken for.
fn trace_notes(survey: &Survey) -> Vec<String> {
    let detected = |f: &&FileSurvey| f.detected;
    let mut notes: Vec<String> = vec![];
    for file in survey.files().iter().filter(detected) {
        let format = file.format;
        // One sentence a format, however many files.
        let of_it: Vec<_> = survey.files().iter().filter(detected).filter(|f| std::ptr::eq(f.format, format)).collect();
        if of_it[0].path != file.path {
            continue;
        }
        let more = if of_it.len() > 1 { format!(" and {} more are", of_it.len() - 1) } else { " is".into() };
        notes.push(format!("{}{more} taken for {}: {}", file.path.display(), format.name, format.description));
    }
    notes
}

/// In which units times were taken that the formats leave open; nothing where a closed loop does not look at them.
pub(crate) fn unit_notes(survey: &Survey, options: &TraceOptions) -> Option<String> {
    let said = options.read.time_unit;
    let mut formats: Vec<_> = survey.files().iter().map(|file| file.format).filter(|_| options.arrival == Arrival::Open).collect();
    formats.sort_by_key(|format| format.name);
    formats.dedup_by_key(|format| format.name);
    let words = |unit: &str, why: &str, name: &str| format!("the times of {name} are taken for {unit}{why}");
    let notes: Vec<_> = formats
        .into_iter()
        .filter_map(|format| {
            let taken = format.times.taken(said)?;
            match taken.because {
                UnitBasis::Format => None,
                UnitBasis::Assumed => Some(words(taken.words, "; --time-unit says another unit", format.name)),
                UnitBasis::Said => Some(words(taken.words, ", as --time-unit says", format.name)),
            }
        })
        .collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// What of a job file does not count, or not as it stands.
fn fio_notes(name: &str, jobs: &JobFile, source: &FioSource) -> Vec<String> {
    let left_out = jobs.left_out().join(", ");
    let left_out = (!left_out.is_empty()).then(|| format!("{name}: not applicable to a simulated drive: {left_out}"));
    left_out.into_iter().chain(source.notes().iter().map(|note| format!("{name}: {note}"))).collect()
}

fn read_options(setup: &Setup) -> Result<ReadOptions, Failure> {
    Ok(ReadOptions {
        format: setup.replay.format.as_deref().map(format_named).transpose()?,
        assume_op: setup.replay.assume_op.map(Into::into),
        clock: match (setup.replay.assume_rate, setup.base.queue_depth) {
            (Some(iops), _) => MissingClock::Rate(iops),
            (None, Some(_)) => MissingClock::Ignore,
            (None, None) => MissingClock::Refuse,
        },
        blk_action: setup.replay.blk_action.map(Into::into),
        time_unit: setup.replay.time_unit,
        skip_bad_lines: setup.replay.skip_bad_lines,
    })
}

/// The technique of this name.
pub(crate) fn reclaim_named(name: &str) -> Result<&'static str, Failure> {
    let names = RECLAIM.iter().map(|t| t.name);
    names.clone().find(|known| *known == name).ok_or_else(|| Failure::usage(suggest::unknown("reclaim technique", name, names)))
}

/// The policy of this name.
pub(crate) fn gc_named(name: &str) -> Result<&'static str, Failure> {
    let names = GC.iter().map(|t| t.name);
    names.clone().find(|known| *known == name).ok_or_else(|| Failure::usage(suggest::unknown("GC policy", name, names)))
}

/// Requests of a trace, a generator or a job file.
pub(crate) enum Source {
    Trace(Box<TraceSource>),
    Generated(Box<dyn PassSource>),
    Fio(Box<FioSource>),
}

impl Source {
    /// What was read of a trace.
    pub(crate) fn report(&self) -> Option<TraceReport> {
        match self {
            Self::Trace(source) => Some(source.report()),
            Self::Generated(_) | Self::Fio(_) => None,
        }
    }

    /// The job of each origin, where there are several jobs whose latencies have to be told apart.
    pub(crate) fn groups(&self) -> Option<&[u16]> {
        if let Self::Fio(source) = self { Some(source.job_of()).filter(|_| source.jobs().len() > 1) } else { None }
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

impl RequestSource for Source {
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

    fn next_stage(&mut self) -> bool {
        self.inner_mut().next_stage()
    }

    fn len_hint(&self) -> Option<u64> {
        self.inner().len_hint()
    }
}

impl PassSource for Source {
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
