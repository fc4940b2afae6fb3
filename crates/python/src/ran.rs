//! Finished run, with its summary and its other results.

use std::path::PathBuf;
use std::sync::Mutex;

use numpy::PyArray1;
use pyo3::exceptions::{PyFileExistsError, PyOSError, PyValueError};
use pyo3::prelude::*;
use vpass_lab::as_json;
use vpass_lab::files;
use vpass_lab::manifest::Call;
use vpass_lab::plan::RunPlan;
use vpass_lab::run::Outcome;

use crate::error::raised;

/// Finished run with its results.
#[pyclass(frozen)]
pub(crate) struct Ran {
    /// Summary as JSON, as `vpass run --json` prints it.
    #[pyo3(get)]
    pub(crate) summary: String,
    /// Cycles of the warm-up and of the counted part as JSON, if they decide the length of the run.
    #[pyo3(get)]
    pub(crate) cycles: Option<String>,
    /// Seconds spent in Python code.
    #[pyo3(get)]
    pub(crate) python_s: f64,
    /// Number of calls of Python code.
    #[pyo3(get)]
    pub(crate) python_calls: u64,
    /// Whether the oracle or the drive has found a bug.
    #[pyo3(get)]
    pub(crate) is_bug: bool,
    /// Whether the drive could not keep up with the requests.
    #[pyo3(get)]
    pub(crate) fell_behind: bool,
    /// Whether the technique guarantees that no page is lost.
    #[pyo3(get)]
    pub(crate) is_sound: bool,
    pub(crate) of: Mutex<(RunPlan, Outcome)>,
}

type Columns<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl Ran {
    /// Returns latencies in microseconds, and the number of requests with each latency. Returns
    /// `None` without the timed gear.
    fn latency<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<Option<Columns<'py>>> {
        let of = self.of.lock().map_err(|_| PyValueError::new_err("the run is in use"))?;
        let Some(engine) = &of.1.engine else { return Ok(None) };
        let metrics = engine.metrics();
        let latency = match kind {
            "read" => &metrics.read,
            "write" => &metrics.write,
            "read_during_reclaim" => &metrics.read_during_reclaim,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "{kind}: read, write or read_during_reclaim is expected"
                )));
            }
        };
        let (mut us, mut count) = (vec![], vec![]);
        for step in latency.histogram().iter_recorded() {
            us.push(step.value_iterated_to() as f64 / 1e3);
            count.push(step.count_since_last_iteration());
        }
        Ok(Some((PyArray1::from_vec(py, us), PyArray1::from_vec(py, count))))
    }

    /// Returns the counts of equal parts of the run, as JSON.
    fn parts(&self, count: u32) -> PyResult<String> {
        let of = self.of.lock().map_err(|_| PyValueError::new_err("the run is in use"))?;
        as_json::text(&of.1.series.parts(count)).map_err(raised)
    }

    /// Returns a file of the folder that `--out` writes. Returns `None` if the run has not recorded
    /// its content.
    fn table(&self, name: &str) -> PyResult<Option<Vec<u8>>> {
        let of = self.of.lock().map_err(|_| PyValueError::new_err("the run is in use"))?;
        Ok(files::table(&of.0, &of.1, name).map(String::into_bytes))
    }

    /// Writes the folder that `--out` writes. The folder must not exist.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
    fn save(&self, folder: PathBuf) -> PyResult<()> {
        if folder.exists() {
            let what = format!("{} exists already; name a new folder", folder.display());
            return Err(PyFileExistsError::new_err(what));
        }
        let of = self.of.lock().map_err(|_| PyValueError::new_err("the run is in use"))?;
        let call = Call { command: "run", words: vec![], git_commit: None };
        let files = files::of_run(&of.0, &of.1, &call).map_err(raised)?;
        vpass_cli::save(&folder, &files)
            .map_err(|e| PyOSError::new_err(format!("{}: {e}", folder.display())))
    }
}
