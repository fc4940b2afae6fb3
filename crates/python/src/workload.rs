//! Workload that the Python package gives: a file, a text, traces, or requests from Python.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vpass_drive::base::phrase::Phrase;
use vpass_drive::base::request::Op;
use vpass_lab::failure::Failure;
use vpass_lab::load::{self, Generated};
use vpass_lab::setup::{Named, Replay};
use vpass_workload::synthetic::WorkloadConfig;
use vpass_workload::traces::BlkAction;

use crate::error::Keywords;
use crate::requests::{Listed, generated};
use crate::shared::Shared;

/// Workload that the Python package gives.
#[derive(FromPyObject)]
pub(crate) struct One {
    /// Kind of the workload: file, text, fio, trace, requests or generator.
    kind: String,
    /// Name of the workload. For the kinds file and fio, it is a preset or a path.
    name: String,
    text: String,
    files: Vec<PathBuf>,
    replay: Option<Options>,
    listed: Option<Py<Listed>>,
    function: Option<Py<PyAny>>,
    identity: String,
}

/// Options for reading and replaying a trace.
#[derive(FromPyObject)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
struct Options {
    fit: String,
    only: Vec<String>,
    concat: bool,
    join_recordings: bool,
    format: Option<String>,
    columns: Option<String>,
    assume_op: Option<String>,
    assume_rate: Option<f64>,
    time_unit: Option<String>,
    blk_action: Option<String>,
    skip_bad_lines: bool,
    speed: f64,
    strict: bool,
}

fn wrong(what: &str, given: &str, right: &str) -> PyErr {
    PyValueError::new_err(format!("Trace({what}={given:?}) is invalid; {right} is expected"))
}

fn in_python(why: &Phrase) -> PyErr {
    PyValueError::new_err(why.in_dialect(&Keywords))
}

impl Options {
    fn replay(&self) -> PyResult<Replay> {
        let assume_op = match self.assume_op.as_deref() {
            None => None,
            Some("read") => Some(Op::Read),
            Some("write") => Some(Op::Write),
            Some(other) => return Err(wrong("assume_op", other, "read or write")),
        };
        let blk_action = match self.blk_action.as_deref().map(str::to_uppercase).as_deref() {
            None => None,
            Some("Q") => Some(BlkAction::Q),
            Some("D") => Some(BlkAction::D),
            Some("C") => Some(BlkAction::C),
            Some(other) => return Err(wrong("blk_action", other, "Q, D or C")),
        };
        let unit = self.time_unit.as_deref().map(str::parse).transpose();
        Ok(Replay {
            only: self.only.clone(),
            concat: self.concat,
            join_recordings: self.join_recordings,
            fit: self.fit.parse().map_err(|why: Phrase| in_python(&why))?,
            format: self.format.clone(),
            columns: self.columns.clone(),
            assume_op,
            assume_rate: self.assume_rate,
            time_unit: unit.map_err(|why: String| PyValueError::new_err(why))?,
            blk_action,
            skip_bad_lines: self.skip_bad_lines,
            speed: self.speed,
            strict: self.strict,
        })
    }
}

impl One {
    /// Returns whether the queue depth belongs to the workload and not to the run.
    fn is_given(&self) -> bool {
        self.kind == "requests" || self.kind == "generator"
    }

    fn named(&self, queue_depth: Option<u32>, shared: &Arc<Shared>) -> PyResult<Named> {
        Ok(match (self.kind.as_str(), &self.listed, &self.function) {
            ("file", ..) => Named::Workload(self.name.clone()),
            ("text", ..) => Named::Text { name: self.name.clone(), text: self.text.clone() },
            ("fio", ..) => Named::Fio(self.name.clone().into()),
            ("requests", Some(listed), _) => {
                Named::Given(listed.get().given(self.name.clone(), queue_depth))
            }
            ("generator", _, Some(function)) => {
                let function = Python::attach(|py| function.clone_ref(py));
                let named = (self.name.clone(), self.identity.clone());
                Named::Given(generated(named, function, queue_depth, shared.clone()))
            }
            _ => Named::Trace {
                files: self.files.clone(),
                replay: self.replay.as_ref().map(Options::replay).transpose()?.unwrap_or_default(),
            },
        })
    }
}

/// Returns the workload, and the queue depth of the run.
///
/// # Errors
/// Reports an invalid option.
pub(crate) fn named(
    all: &[One],
    queue_depth: Option<u32>,
    shared: &Arc<Shared>,
) -> PyResult<(Named, Option<u32>)> {
    let of_run = queue_depth.filter(|_| !all.iter().any(One::is_given));
    let mut named =
        all.iter().map(|one| one.named(queue_depth, shared)).collect::<PyResult<Vec<_>>>()?;
    let one = if named.len() == 1 { named.remove(0) } else { Named::Beside(named) };
    Ok((one, of_run))
}

/// Returns the table `[workload]` of a workload that is served before the others.
///
/// # Errors
/// Reports a workload without such a table, and an invalid key.
pub(crate) fn earlier(one: &One, set: &[String]) -> Result<WorkloadConfig, Failure> {
    let sets = load::overrides(set)?;
    let loaded = match one.kind.as_str() {
        "file" => Some(load::workload(&one.name, &sets, None)?),
        "text" => Some(load::workload_of(&one.name, one.text.clone(), &sets, None)?),
        _ => None,
    };
    match loaded.map(|loaded| loaded.config) {
        Some(Generated::Workload(file)) if file.workload.stripes.is_none() => Ok(file.workload),
        _ => Err(Failure::usage(format!(
            "the workload `{}` cannot be served before another; a table [workload] with the key \
             distribution is expected",
            one.name
        ))),
    }
}
