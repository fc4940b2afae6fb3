//! Content of `manifest.json`: everything that is needed to repeat a run.

use std::collections::BTreeMap;
use vpass_drive::api::parity::NO_PARITY;
use vpass_workload::traces::shown;

use serde::Serialize;
use serde_json::{Value, json};
use vpass_drive::base::request::{Arrival, Op};
use vpass_drive::hints::HintRange;
use vpass_workload::traces::{
    BlkAction, FileSurvey, Format, MissingClock, TraceOptions, sha256_hex,
};

use crate::as_json;
use crate::failure::Failure;
use crate::plan::{RunPlan, Workload};
use crate::run::Outcome;

/// Content of `manifest.json`.
#[expect(clippy::struct_excessive_bools, reason = "each variant is a different value in the file")]
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// Version of the format of `manifest.json`: 1. A new key does not change the version.
    pub schema: u32,
    /// Version of vpass.
    pub vpass: &'static str,
    /// Git commit from which vpass was built. Null if vpass was built outside git. The commit does
    /// not show whether the source had uncommitted changes.
    pub git_commit: Option<&'static str>,
    /// Name of the command: run, compare or attack.
    pub command: &'static str,
    /// Words of the command line as the user typed them, beginning with the name of the program.
    /// Empty if a program used vpass as a library.
    pub command_line: Vec<String>,
    /// Assumptions of the run, as sentences. For example, a request rate may have been assumed for
    /// a trace.
    pub assumptions: Vec<String>,
    /// Preset or path of the drive.
    pub drive: String,
    /// Preset or path of the workload.
    pub workload: String,
    /// Whether vpass generated the requests. False if the requests were recorded from a host.
    pub workload_generated: bool,
    /// Text that describes the source of the requests.
    pub workload_source: String,
    /// Read-reclaim technique.
    pub reclaim: String,
    /// Whether the technique is counterfactual. A counterfactual technique changes the
    /// configuration of the drive. `drive_configuration` is then the changed configuration.
    pub counterfactual: bool,
    /// Garbage collection policy.
    pub gc: String,
    /// Refresh technique.
    pub refresh: String,
    /// Parity technique; absent without parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<String>,
    /// Gear: timed, untimed or fluid.
    pub gear: &'static str,
    /// Share of the whole drive's pages that was simulated. Absent if all pages were simulated. If
    /// present, `drive_configuration` describes a drive with only the simulated pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    /// Random seed.
    pub seed: u64,
    /// Number of passes over the workload.
    pub repeat: u32,
    /// Whether the workload was repeated until wear had settled. If true, `repeat` was not used.
    pub until_stable: bool,
    /// Number of requests in the warm-up. Results do not count these requests.
    pub warm_up_requests: u64,
    /// P/E counts of additional drives. These drives are simulated only to project the life.
    pub ages: Vec<u32>,
    /// Whether the oracle checked the run.
    pub oracle: bool,
    /// Level of the oracle's checks: off, on or full.
    pub oracle_level: &'static str,
    /// Hints that the host gave; absent without hints. In an address range without a hint, the
    /// access latency is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<HintRange>>,
    /// Record of the workload.
    #[serde(flatten)]
    pub of_workload: WorkloadRecord,
    /// Number of open blocks of each write stream.
    pub stream_widths: BTreeMap<&'static str, u32>,
    /// Configuration of the drive: every key with its value.
    pub drive_configuration: Value,
}

/// Record of a plan's workload.
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadRecord {
    /// Options for reading the trace. Null if the workload is not a trace.
    pub trace_options: Option<TraceOptionsRecord>,
    /// Trace files; empty for other workloads.
    pub traces: Vec<TraceFileRecord>,
    /// Configuration of the workload: every key with its value. Null for a trace.
    pub workload_configuration: Option<Value>,
}

/// Options for reading a trace.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct TraceOptionsRecord {
    /// Format of the trace; null if vpass detected the format.
    pub format: Option<&'static str>,
    /// Columns of the trace that the user gave. Absent if the trace has a known format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<&'static str>,
    /// Treatment of requests to addresses beyond the end of the drive.
    pub fit: String,
    /// Speed of the replay, as a multiple of the recorded speed.
    pub speed: f64,
    /// Whether the option `--strict` was given. This option refuses a trace in which a request has
    /// an earlier time than the preceding request.
    pub strict: bool,
    /// Queue depth of the closed loop. Null if the drive received requests at the times that the
    /// trace gives.
    pub queue_depth: Option<u32>,
    /// Names of the devices whose requests were replayed. Empty if the requests of all devices in
    /// the trace were replayed.
    pub only: Vec<String>,
    /// Whether several trace files were joined as parts of one trace.
    pub concat: bool,
    /// Whether recordings in a file were played one after the other.
    pub join_recordings: bool,
    /// Direction, read or write, that was assumed for all requests. Null if the trace gives the
    /// direction of each request.
    pub assume_op: Option<&'static str>,
    /// Number of requests per second that was assumed for the trace. Null if the trace has times.
    pub assume_rate_iops: Option<f64>,
    /// Time unit that was assumed for the trace: s, ms, us or ns. Null if the format defines the
    /// unit.
    pub time_unit: Option<String>,
    /// Kind of blktrace event (queued, issued or completed) that vpass counted as a request. Null
    /// if the user named no kind.
    pub blk_action: Option<&'static str>,
    /// Whether vpass skipped unreadable lines of the trace.
    pub skip_bad_lines: bool,
}

/// Trace file with its digest. The digest shows whether the file has changed since the run.
#[derive(Clone, Debug, Serialize)]
pub struct TraceFileRecord {
    /// Path of the file.
    pub name: String,
    /// Format of the file.
    pub format: &'static str,
    /// Digest of the file on disk, in hexadecimal digits.
    pub sha256: String,
}

/// Command line and version of the program that executed a run.
#[derive(Clone, Debug)]
pub struct Call {
    /// Name of the command: run, compare or attack.
    pub command: &'static str,
    /// Words of the command line, beginning with the name of the program. Empty if a program used
    /// vpass as a library.
    pub words: Vec<String>,
    /// Git commit from which the program was built. `None` if the program was built outside git.
    pub git_commit: Option<&'static str>,
}

impl Call {
    /// Returns the [`Call`] of a program that uses vpass as a library. This [`Call`] has no command
    /// line.
    pub fn of_library(command: &'static str) -> Self {
        Self { command, words: vec![], git_commit: None }
    }
}

impl Outcome {
    /// Returns the manifest, with everything that is needed to repeat the run.
    ///
    /// # Errors
    /// Returns an error if a trace file can no longer be read.
    pub fn manifest(&self, plan: &RunPlan, call: &Call) -> Result<Manifest, Failure> {
        Ok(Manifest {
            schema: as_json::SCHEMA,
            vpass: env!("CARGO_PKG_VERSION"),
            git_commit: call.git_commit,
            command: call.command,
            command_line: call.words.clone(),
            assumptions: plan.worded(&plan.assumptions()?),
            drive: plan.drive.name.clone(),
            workload: plan.workload.name(),
            workload_generated: plan.workload.is_generated(),
            workload_source: plan.workload.source(),
            reclaim: plan.reclaim.name.into(),
            counterfactual: plan.is_counterfactual(),
            gc: plan.gc.name.into(),
            refresh: plan.refresh.name.into(),
            parity: Some(plan.parity.name.into()).filter(|parity| parity != NO_PARITY),
            gear: plan.gear.name(),
            sample: (!plan.sample.is_whole()).then(|| plan.sample.to_string()),
            seed: plan.seed,
            repeat: plan.repeat.get(),
            until_stable: plan.until_stable,
            warm_up_requests: plan.warm_up,
            ages: plan.ages.clone(),
            oracle: plan.oracle.level().is_some(),
            oracle_level: plan.oracle.name(),
            hints: plan.drive.config.hints.said.clone(),
            of_workload: workload(plan)?,
            stream_widths: self.drive.stream_widths().into_iter().collect(),
            drive_configuration: as_json::value(self.drive.config())?,
        })
    }
}

/// Records a plan's workload.
///
/// # Errors
/// Returns an error if a trace file can no longer be read.
pub(crate) fn workload(plan: &RunPlan) -> Result<WorkloadRecord, Failure> {
    record_of(plan, &plan.workload)
}

fn record_of(plan: &RunPlan, workload: &Workload) -> Result<WorkloadRecord, Failure> {
    let (trace_options, traces, workload_configuration) = match workload {
        Workload::Generated(loaded) => (None, vec![], Some(as_json::value(&loaded.config)?)),
        Workload::Beside(all) => {
            let (mut traces, mut beside) = (vec![], vec![]);
            for one in all {
                let record = record_of(plan, one)?;
                traces.extend(record.traces);
                beside.push(
                    json!({ "name": one.name(), "configuration": record.workload_configuration }),
                );
            }
            (None, traces, Some(json!({ "beside": beside })))
        }
        Workload::Given(given) => {
            let given = json!({ "name": given.name(), "identity": given.identity() });
            (None, vec![], Some(json!({ "given": given })))
        }
        Workload::Adversary { requests, depth, rate } => {
            let coming = rate.map_or(("queue_depth", json!(depth)), |rate| ("rate", json!(rate)));
            (
                None,
                vec![],
                Some(json!({
                    "attack": workload.name(), "requests": requests, coming.0: coming.1,
                })),
            )
        }
        Workload::Fio { path, jobs, queue_depth } => {
            let source = plan.source_of(workload)?;
            let source = source.as_fio().expect("a job file is replayed by the fio source");
            let name = path.display().to_string();
            let fio = json!({
                "file": name, "sha256": sha256_hex(path)?, "not_applicable": jobs.left_out(),
                "queue_depth": queue_depth, "jobs": source.jobs(),
            });
            (None, vec![], Some(json!({ "fio": fio })))
        }
        Workload::Trace { survey, options } => {
            let record = |file: &FileSurvey| -> Result<_, Failure> {
                Ok(TraceFileRecord {
                    name: shown(&file.path).into_owned(),
                    format: file.format.name,
                    sha256: sha256_hex(&file.path)?,
                })
            };
            let records = survey.files().iter().map(record).collect::<Result<_, _>>()?;
            (Some(options_of(options)), records, None)
        }
    };
    Ok(WorkloadRecord { trace_options, traces, workload_configuration })
}

fn options_of(options: &TraceOptions) -> TraceOptionsRecord {
    TraceOptionsRecord {
        format: options.format.map(|f| f.name),
        columns: options.format.and_then(Format::given_columns),
        fit: options.fit.to_string(),
        speed: options.speed,
        strict: options.strict,
        queue_depth: match options.arrival {
            Arrival::Open | Arrival::Reactive => None,
            Arrival::Closed { depth } => Some(depth),
        },
        only: options.only.clone(),
        concat: options.concat,
        join_recordings: options.join_recordings,
        assume_op: options.assume_op.map(|op| if op == Op::Read { "read" } else { "write" }),
        assume_rate_iops: match options.clock {
            MissingClock::Rate(iops) => Some(iops),
            MissingClock::Refuse | MissingClock::Ignore => None,
        },
        time_unit: options.time_unit.map(|unit| unit.to_string()),
        blk_action: options.blk_action.map(BlkAction::letter),
        skip_bad_lines: options.skip_bad_lines,
    }
}
