//! Source of a plan's requests. vpass finds the source, reads it, and checks that it suits the
//! drive.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use vpass_workload::traces::shown;

use vpass_drive::base::phrase::Opt;
use vpass_drive::base::request::Arrival;
use vpass_drive::config::DriveConfig;
use vpass_drive::phrase;
use vpass_workload::fio::JobFile;
use vpass_workload::given::Given;
use vpass_workload::traces::{Device, Fit, Format, MissingClock, Survey, TraceOptions};

use crate::failure::Failure;
use crate::hints::{HintFile, Kind, NamedExtent};
use crate::load::{self, Generated, Loaded};
use crate::overrides::Override;
use crate::progress::Begin;
use crate::setup::{HintSource, Named, Replay, Setup};

/// Text that describes the source of requests in the results, if the requests were generated from a
/// fio job file.
pub const FROM_JOBS: &str = "generated from a fio job file";

/// Name of the attack. Its adversary chooses requests during the run.
pub const ADAPTIVE: &str = "adaptive";

/// Source of the requests of a plan.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "few values of this type exist at a time, and patterns match their contents"
)]
pub enum Workload {
    /// Trace files, which are surveyed once.
    Trace {
        /// Survey of the trace files.
        survey: Arc<Survey>,
        /// Options for reading and replaying the trace.
        options: TraceOptions,
    },
    /// Workload that vpass generates from a file or a preset.
    Generated(Loaded<Generated>),
    /// Job file of fio.
    Fio {
        /// Path of the job file.
        path: PathBuf,
        /// Content of the job file.
        jobs: JobFile,
        /// Queue depth for all jobs. If `None`, each job has the queue depth of the job file.
        queue_depth: Option<u32>,
    },
    /// Workload that was created by a program that uses vpass as a library.
    Given(Given),
    /// Several workloads side by side. Each workload uses the whole drive, and sets the times of
    /// its own requests.
    Beside(Vec<Self>),
    /// Adversary that chooses its requests during the run.
    Adversary {
        /// Number of requests of the adversary.
        requests: u64,
        /// Queue depth of the adversary within a burst.
        depth: u32,
        /// Number of requests per second. If the number is given, the queue depth is not used.
        rate: Option<f64>,
    },
}

impl Workload {
    /// Returns the name of the workload in results. It is the name of a preset, of files, or of an
    /// attack.
    pub fn name(&self) -> String {
        match self {
            Self::Trace { survey, .. } => {
                survey.files().iter().map(|f| shown(&f.path)).collect::<Vec<_>>().join(" ")
            }
            Self::Generated(loaded) => loaded.name.clone(),
            Self::Fio { path, .. } => path.display().to_string(),
            Self::Given(given) => given.name().into(),
            Self::Beside(all) => all.iter().map(Self::name).collect::<Vec<_>>().join(" | "),
            Self::Adversary { .. } => format!("attack {ADAPTIVE}"),
        }
    }

    /// Returns true if vpass generates the requests, and false if the requests were recorded from a
    /// host.
    pub fn is_generated(&self) -> bool {
        match self {
            Self::Trace { .. } | Self::Given(_) => false,
            Self::Beside(all) => all.iter().all(Self::is_generated),
            _ => true,
        }
    }

    /// Describes the source of the requests.
    pub fn source(&self) -> String {
        match self {
            Self::Trace { .. } => "trace".into(),
            Self::Fio { .. } => FROM_JOBS.into(),
            Self::Given(_) => "given by the caller".into(),
            Self::Beside(_) => "several workloads side by side".into(),
            Self::Adversary { .. } => "made in bursts by an adversary that observes the drive \
                between two bursts, when no request is outstanding"
                .into(),
            Self::Generated(loaded) => match &loaded.config {
                Generated::Workload(_) => "generated".into(),
                Generated::Phases(_) => "generated in phases".into(),
                Generated::Parts(_) => "generated in parts".into(),
                Generated::Model(_) => "generated from a model".into(),
            },
        }
    }
}

impl Workload {
    /// Returns the address ranges to which the workload gives names, and the kind of these names.
    /// The list is empty if no range has a name.
    ///
    /// # Errors
    /// Returns an error if the files that fio jobs read and write do not fit on the drive.
    pub(super) fn extents(
        &self,
        drive: &DriveConfig,
    ) -> Result<(Option<Kind>, Vec<NamedExtent>), Failure> {
        Ok(match self {
            Self::Trace { survey, options } if options.fit == Fit::Error => {
                let extent = |d: &Device| NamedExtent {
                    name: d.name.clone(),
                    offset: d.base,
                    bytes: d.extent,
                };
                (Some(Kind::Device), survey.devices().iter().map(extent).collect())
            }
            Self::Fio { jobs, .. } => {
                let capacity = drive.drive.capacity.expect("a resolved drive has a capacity").0;
                let files = jobs.files(capacity, drive.geometry.page_size.0 as u32)?;
                (
                    Some(Kind::File),
                    files
                        .into_iter()
                        .map(|(name, offset, bytes)| NamedExtent { name, offset, bytes })
                        .collect(),
                )
            }
            _ => (None, vec![]),
        })
    }

    /// Returns the hints of the host. The hints are in the workload file, or in a separate file
    /// that the user gave.
    ///
    /// # Errors
    /// Returns an error if both files have hints, or if the hints in the workload file are wrong.
    pub(super) fn hints(
        &self,
        asked: &HintSource,
        given: Option<HintFile>,
    ) -> Result<Option<HintFile>, Failure> {
        let Self::Generated(Loaded { name, text, .. }) = self else { return Ok(given) };
        if *asked == HintSource::Off {
            return Ok(None);
        }
        let own = HintFile::of_workload(name, text)?;
        match (own, given) {
            (Some(own), Some(given)) => Err(Failure::usage(phrase![
                Opt::Hints.to(given.name()),
                " and ",
                own.place(),
                " both have [[hints.range]]; only one file may have hints",
            ])
            .with_remedy(phrase![
                "without ",
                Opt::Hints,
                " those of the workload apply",
            ])),
            (own, given) => Ok(own.or(given)),
        }
    }

    /// Reads the workload that the user named, and checks that it suits this drive.
    pub(super) fn new(
        setup: &Setup,
        sets: &[Override],
        drive: &DriveConfig,
        begin: Begin,
    ) -> Result<Self, Failure> {
        Self::of(&setup.workload, setup.base.queue_depth, sets, drive, begin)
    }

    fn of(
        named: &Named,
        queue_depth: Option<u32>,
        sets: &[Override],
        drive: &DriveConfig,
        begin: Begin,
    ) -> Result<Self, Failure> {
        let of_workload = sets.iter().find(|s| s.is_of_workload());
        match (named, of_workload) {
            (Named::Workload(name), _) => {
                Ok(Self::Generated(load::workload(name, sets, queue_depth)?))
            }
            (Named::Text { name, text }, _) => {
                let loaded = load::workload_of(name, text.clone(), sets, queue_depth)?;
                Ok(Self::Generated(loaded))
            }
            (_, Some(set)) => Err(Failure::usage(phrase![
                "workload keys are for ",
                Opt::Workload,
                "; a trace or a job file has its own settings",
            ])
            .at(set.said.clone())),
            (Named::Fio(path), None) => {
                Ok(Self::Fio { path: path.clone(), jobs: JobFile::read(path)?, queue_depth })
            }
            (Named::Given(_), None) if queue_depth.is_some() => Err(Failure::usage(
                "a workload object has its own queue depth or clock; no queue depth is \
                 expected",
            )),
            (Named::Given(given), None) => Ok(Self::Given(given.clone())),
            (Named::Beside(all), None) => {
                let of = |one| Self::of(one, queue_depth, sets, drive, begin);
                all.iter().map(of).collect::<Result<_, _>>().map(Self::Beside)
            }
            (Named::Trace { files, replay }, None) => {
                let options = trace_options(replay, queue_depth, drive)?;
                let survey = survey(files, &options, begin)?;
                check_capacity(&survey, files, &options, drive, begin)?;
                Ok(Self::Trace { survey: Arc::new(survey), options })
            }
        }
    }
}

fn trace_options(
    replay: &Replay,
    queue_depth: Option<u32>,
    drive: &DriveConfig,
) -> Result<TraceOptions, Failure> {
    Ok(TraceOptions {
        format: Format::chosen(replay.format.as_deref(), replay.columns.as_deref())?,
        assume_op: replay.assume_op,
        clock: match (replay.assume_rate, queue_depth) {
            (Some(iops), _) => MissingClock::Rate(iops),
            (None, Some(_)) => MissingClock::Ignore,
            (None, None) => MissingClock::Refuse,
        },
        blk_action: replay.blk_action,
        time_unit: replay.time_unit,
        skip_bad_lines: replay.skip_bad_lines,
        only: replay.only.clone(),
        concat: replay.concat,
        join_recordings: replay.join_recordings,
        fit: replay.fit,
        page_bytes: drive.geometry.page_size.0,
        strict: replay.strict,
        speed: replay.speed,
        arrival: queue_depth.map_or(Arrival::Open, |depth| Arrival::Closed { depth }),
    })
}

/// Checks that a trace fits on a drive. A trace that does not fit is read a second time, so that
/// the error can tell whether `--fit pack` would help.
fn check_capacity(
    found: &Survey,
    paths: &[PathBuf],
    options: &TraceOptions,
    drive: &DriveConfig,
    begin: Begin,
) -> Result<(), Failure> {
    let capacity = drive.drive.capacity.expect("a resolved drive has a capacity").0;
    let Err(too_large) = found.fits(capacity, options.fit) else { return Ok(()) };
    if options.fit != Fit::Error {
        return Err(too_large.into());
    }
    let packed = survey(paths, &TraceOptions { fit: Fit::Pack, ..options.clone() }, begin)?;
    Ok(packed.fits(capacity, Fit::Error)?)
}

/// Reads all files of a trace once, and returns a survey of the trace.
///
/// # Errors
/// Returns an error if the trace is invalid, or if the user interrupts the work.
fn survey(paths: &[PathBuf], options: &TraceOptions, begin: Begin) -> Result<Survey, Failure> {
    let bytes = paths.iter().map(|path| fs::metadata(path).map_or(0, |m| m.len())).sum();
    let progress = begin(Some(bytes), "bytes of the trace read");
    let survey = Survey::of(paths, options, &mut |bytes| progress.advance(bytes));
    if !progress.may_go_on() {
        return Err(Failure::interrupted());
    }
    Ok(survey?)
}
