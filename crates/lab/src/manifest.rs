//! Everything needed to run the same again, as it stands in `manifest.json`.

use std::collections::BTreeMap;
use vpass_core::slots::parity::NO_PARITY;

use serde::Serialize;
use serde_json::{Value, json};
use vpass_core::base::request::{Arrival, Op};
use vpass_core::hints::HintRange;
use vpass_workload::traces::{BlkAction, FileSurvey, MissingClock, TraceOptions, sha256_hex};

use crate::as_json;
use crate::failure::Failure;
use crate::plan::{RunPlan, Stream, Workload};
use crate::run::Outcome;

/// What `manifest.json` holds.
#[expect(clippy::struct_excessive_bools, reason = "each is an answer of its own in the file")]
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// Version of vpass.
    pub vpass: &'static str,
    /// What made it: run, compare or attack.
    pub command: &'static str,
    /// Preset or path of the drive.
    pub drive: String,
    /// Preset or path of the workload.
    pub workload: String,
    /// Whether no host ever sent these requests.
    pub workload_generated: bool,
    /// Where they come from, in words.
    pub workload_source: String,
    /// Read-reclaim technique.
    pub reclaim: String,
    /// Whether the results are those of no real drive; `drive_configuration` is then the drive that
    /// was run.
    pub counterfactual: bool,
    /// Garbage collection policy.
    pub gc: String,
    /// Refresh technique.
    pub refresh: String,
    /// Parity technique; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<String>,
    /// timed, untimed or fluid.
    pub gear: &'static str,
    /// The share of the drive's pages that was simulated, on the drive of `drive_configuration`;
    /// absent where it was all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    /// Of all chance.
    pub seed: u64,
    /// Passes over the workload.
    pub repeat: u32,
    /// Whether it was repeated until wear had settled instead.
    pub until_stable: bool,
    /// Requests that were served before anything was counted.
    pub warm_up_requests: u64,
    /// P/E cycles of further drives that were run for the life's sake.
    pub ages: Vec<u32>,
    /// Whether the oracle watched.
    pub oracle: bool,
    /// How much it checked: off, on or full.
    pub oracle_level: &'static str,
    /// What the host said of how slow reads of its data may be, null standing for none; absent
    /// where it said nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<HintRange>>,
    /// Null where the workload is no trace.
    pub trace_options: Option<TraceOptionsRecord>,
    /// Empty where the workload is no trace.
    pub traces: Vec<TraceFileRecord>,
    /// Open blocks of each stream.
    pub stream_widths: BTreeMap<&'static str, u32>,
    /// Every key of the drive.
    pub drive_configuration: Value,
    /// Every key of the workload; null where it is a trace.
    pub workload_configuration: Option<Value>,
}

/// What the user said of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct TraceOptionsRecord {
    /// Null where it was recognised.
    pub format: Option<&'static str>,
    /// What became of requests beyond the drive.
    pub fit: String,
    /// How many times faster than recorded.
    pub speed: f64,
    /// Whether requests earlier than the one before were refused.
    pub strict: bool,
    /// Null where the trace's own clock was followed.
    pub queue_depth: Option<u32>,
    /// Devices taken; all where there are none.
    pub only: Vec<String>,
    /// Whether the files were parts of one trace.
    pub concat: bool,
    /// Direction of all requests, where it was said.
    pub assume_op: Option<&'static str>,
    /// Requests a second, where they were said.
    pub assume_rate_iops: Option<f64>,
    /// s, ms, us or ns, where it was said.
    pub time_unit: Option<String>,
    /// Event of a blktrace text that counted, where it was said.
    pub blk_action: Option<&'static str>,
    /// Whether lines that could not be read were passed over.
    pub skip_bad_lines: bool,
}

/// A trace as it was, so that a changed one is noticed.
#[derive(Clone, Debug, Serialize)]
pub struct TraceFileRecord {
    /// Its path.
    pub name: String,
    /// What it was taken for.
    pub format: &'static str,
    /// Of the file as it lies there, in hexadecimal digits.
    pub sha256: String,
}

impl Outcome {
    /// Everything needed to run the same again.
    ///
    /// # Errors
    /// A trace file that can no longer be read.
    pub fn manifest(&self, plan: &RunPlan, command: &'static str) -> Result<Manifest, Failure> {
        let WorkloadRecord { trace_options, traces, configuration } = workload(plan)?;
        Ok(Manifest {
            vpass: env!("CARGO_PKG_VERSION"),
            command,
            drive: plan.drive.name.clone(),
            workload: plan.workload.name(),
            workload_generated: plan.workload.is_generated(),
            workload_source: plan.workload.source(),
            reclaim: plan.reclaim.into(),
            counterfactual: plan.is_counterfactual(),
            gc: plan.gc.into(),
            refresh: plan.refresh.into(),
            parity: Some(plan.parity.into()).filter(|parity| parity != NO_PARITY),
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
            trace_options,
            traces,
            stream_widths: self.drive.stream_widths().into_iter().collect(),
            drive_configuration: as_json::value(self.drive.config())?,
            workload_configuration: configuration,
        })
    }
}

/// What a plan's workload was.
pub(crate) struct WorkloadRecord {
    /// None where the workload is no trace.
    pub(crate) trace_options: Option<TraceOptionsRecord>,
    /// Empty where the workload is no trace.
    pub(crate) traces: Vec<TraceFileRecord>,
    /// Every key of the workload; none where it is a trace.
    pub(crate) configuration: Option<Value>,
}

/// Records a plan's workload.
///
/// # Errors
/// A trace file that can no longer be read.
pub(crate) fn workload(plan: &RunPlan) -> Result<WorkloadRecord, Failure> {
    let (trace_options, traces, configuration) = match &plan.workload {
        Workload::Generated(loaded) => (None, vec![], Some(as_json::value(&loaded.config)?)),
        Workload::Adversary { requests, depth, rate } => {
            let coming = rate.map_or(("queue_depth", json!(depth)), |rate| ("rate", json!(rate)));
            (
                None,
                vec![],
                Some(
                    json!({ "attack": plan.workload.name(), "requests": requests, coming.0: coming.1 }),
                ),
            )
        }
        Workload::Fio { path, jobs, queue_depth } => {
            let Stream::Fio(source) = plan.source()? else {
                unreachable!("a job file is run by its own source")
            };
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
                    name: file.path.display().to_string(),
                    format: file.format.name,
                    sha256: sha256_hex(&file.path)?,
                })
            };
            let records = survey.files().iter().map(record).collect::<Result<_, _>>()?;
            (Some(options_of(options)), records, None)
        }
    };
    Ok(WorkloadRecord { trace_options, traces, configuration })
}

fn options_of(options: &TraceOptions) -> TraceOptionsRecord {
    TraceOptionsRecord {
        format: options.read.format.map(|f| f.name),
        fit: options.fit.to_string(),
        speed: options.speed,
        strict: options.strict,
        queue_depth: match options.arrival {
            Arrival::Open | Arrival::Reactive => None,
            Arrival::Closed { depth } => Some(depth),
        },
        only: options.only.clone(),
        concat: options.concat,
        assume_op: options.read.assume_op.map(|op| if op == Op::Read { "read" } else { "write" }),
        assume_rate_iops: match options.read.clock {
            MissingClock::Rate(iops) => Some(iops),
            MissingClock::Refuse | MissingClock::Ignore => None,
        },
        time_unit: options.read.time_unit.map(|unit| unit.to_string()),
        blk_action: options.read.blk_action.map(BlkAction::letter),
        skip_bad_lines: options.read.skip_bad_lines,
    }
}
