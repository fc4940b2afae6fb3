//! Everything needed to run the same again, as it stands in `manifest.json`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use vpass_core::base::request::{Arrival, Op};
use vpass_lab::failure::Failure;
use vpass_workload::traces::{BlkAction, FileSurvey, MissingClock, TraceOptions, sha256_hex};

use crate::out::to_value;
use crate::plan::{Load, Plan, Source};
use crate::run::Outcome;

/// What `manifest.json` holds.
#[expect(clippy::struct_excessive_bools, reason = "each is an answer of its own in the file")]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Manifest {
    pub(crate) vpass: &'static str,
    pub(crate) command: &'static str,
    pub(crate) drive: String,
    pub(crate) workload: String,
    /// Whether no host ever sent these requests.
    pub(crate) workload_generated: bool,
    /// Where they come from, in words.
    pub(crate) workload_source: String,
    pub(crate) reclaim: String,
    /// Whether the results are those of no real drive; `drive_configuration` is then the drive that was run.
    pub(crate) counterfactual: bool,
    pub(crate) gc: String,
    pub(crate) gear: &'static str,
    pub(crate) seed: u64,
    pub(crate) repeat: u32,
    pub(crate) until_stable: bool,
    pub(crate) warm_up_requests: u64,
    /// P/E cycles of further drives that were run for the life's sake.
    pub(crate) ages: Vec<u32>,
    pub(crate) oracle: bool,
    /// How much it checked: off, on or full.
    pub(crate) oracle_level: &'static str,
    pub(crate) trace_options: Option<TraceOptionsRecord>,
    pub(crate) traces: Vec<TraceFileRecord>,
    /// Open blocks of each stream.
    pub(crate) stream_widths: BTreeMap<&'static str, u32>,
    pub(crate) drive_configuration: Value,
    pub(crate) workload_configuration: Option<Value>,
}

/// What the user said of a trace.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TraceOptionsRecord {
    pub(crate) format: Option<&'static str>,
    pub(crate) fit: String,
    pub(crate) speed: f64,
    pub(crate) strict: bool,
    /// Null where the trace's own clock was followed.
    pub(crate) queue_depth: Option<u32>,
    pub(crate) only: Vec<String>,
    pub(crate) concat: bool,
    pub(crate) assume_op: Option<&'static str>,
    pub(crate) assume_rate_iops: Option<f64>,
    /// s, ms, us or ns, where it was said.
    pub(crate) time_unit: Option<String>,
    pub(crate) blk_action: Option<&'static str>,
    pub(crate) skip_bad_lines: bool,
}

/// A trace as it was, so that a changed one is noticed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TraceFileRecord {
    pub(crate) name: String,
    /// What it was taken for.
    pub(crate) format: &'static str,
    pub(crate) sha256: String,
}

impl Outcome {
    /// Everything needed to run the same again.
    ///
    /// # Errors
    /// A trace file that can no longer be read.
    pub(crate) fn manifest(&self, plan: &Plan, command: &'static str) -> Result<Manifest, Failure> {
        let (said, traces, workload_configuration) = match &plan.load {
            Load::Generated(loaded) => (None, vec![], Some(to_value(&loaded.config)?)),
            Load::Adversary { requests, depth } => {
                (None, vec![], Some(json!({ "attack": plan.load.name(), "requests": requests, "queue_depth": depth })))
            }
            Load::Fio { path, jobs, queue_depth } => {
                let Source::Fio(source) = plan.source()? else { unreachable!("a job file is run by its own source") };
                let name = path.display().to_string();
                let fio = json!({
                    "file": name, "sha256": sha256_hex(path)?, "not_applicable": jobs.left_out(),
                    "queue_depth": queue_depth, "jobs": source.jobs(),
                });
                (None, vec![], Some(json!({ "fio": fio })))
            }
            Load::Trace { survey, options } => {
                let record = |file: &FileSurvey| -> Result<_, Failure> {
                    Ok(TraceFileRecord { name: file.path.display().to_string(), format: file.format.name, sha256: sha256_hex(&file.path)? })
                };
                let records = survey.files().iter().map(record).collect::<Result<_, _>>()?;
                (Some(trace_options(options)), records, None)
            }
        };
        Ok(Manifest {
            vpass: env!("CARGO_PKG_VERSION"),
            command,
            drive: plan.drive.name.clone(),
            workload: plan.load.name(),
            workload_generated: plan.load.is_generated(),
            workload_source: plan.load.source(),
            reclaim: plan.reclaim.into(),
            counterfactual: plan.is_counterfactual(),
            gc: plan.gc.into(),
            gear: plan.gear.name(),
            seed: plan.seed,
            repeat: plan.repeat.get(),
            until_stable: plan.until_stable,
            warm_up_requests: plan.warm_up,
            ages: plan.ages.clone(),
            oracle: plan.oracle.level().is_some(),
            oracle_level: plan.oracle.name(),
            trace_options: said,
            traces,
            stream_widths: self.drive.stream_widths().into_iter().collect(),
            drive_configuration: to_value(self.drive.config())?,
            workload_configuration,
        })
    }
}

fn trace_options(options: &TraceOptions) -> TraceOptionsRecord {
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
