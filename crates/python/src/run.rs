//! Run of a workload on a drive, in this process.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vpass_drive::api::card::Protection;
use vpass_drive::base::span::Span;
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::load;
use vpass_lab::memory;
use vpass_lab::plan::{Cards, Choose, Chosen, RunPlan, Workload};
use vpass_lab::progress::unwatched;
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, HintSource, Setup, Watch};

use crate::error::{Bug, Keywords, raised};
use crate::observer::watching;
use crate::ran::Ran;
use crate::shared::{EVERY, Heard, Shared};
use crate::workload::{One, named};
use crate::{policy, refresh, victims};

/// Drive, workload and options of a run, as the Python package gives them.
#[derive(FromPyObject)]
pub(crate) struct Asked {
    drive: String,
    workloads: Vec<One>,
    set: Vec<String>,
    reclaim: String,
    gc: String,
    refresh: Option<String>,
    parity: String,
    gear: String,
    oracle: String,
    seed: u64,
    warm_up: u64,
    repeat: u32,
    queue_depth: Option<u32>,
    ages: Vec<u32>,
    hints: Option<PathBuf>,
    /// Whether the run records what only a result folder contains.
    record: bool,
    /// Python objects that replace the techniques of three slots: reclaim, gc and refresh.
    policy: Option<Py<PyAny>>,
    chooser: Option<Py<PyAny>>,
    refresher: Option<Py<PyAny>>,
}

impl Asked {
    fn setup(&self, shared: &Arc<Shared>) -> PyResult<Setup> {
        let gear = match self.gear.as_str() {
            "timed" => Gear::Timed,
            "untimed" => Gear::Untimed,
            "fluid" => Gear::Fluid,
            other => return Err(wrong("gear", other, "timed, untimed or fluid")),
        };
        let oracle = match self.oracle.as_str() {
            "off" => Watch::Off,
            "on" => Watch::On,
            "full" => Watch::Full,
            other => return Err(wrong("oracle", other, "off, on or full")),
        };
        let (named, queue_depth) = named(&self.workloads, self.queue_depth, shared)?;
        let base = Base {
            drive: self.drive.clone(),
            gear,
            queue_depth,
            set: self.set.clone(),
            seed: self.seed,
            oracle,
            dialect: &Keywords,
        };
        let repeat =
            NonZeroU32::new(self.repeat).ok_or_else(|| wrong("repeat", "0", "1 or more"))?;
        let hints = self.hints.clone().map_or(HintSource::Workload, HintSource::File);
        let ages = self.ages.clone();
        let warm_up = self.warm_up;
        Ok(Setup { warm_up, repeat, ages, hints, ..Setup::new(base, named) })
    }

    fn cards(&self, py: Python<'_>, shared: &Arc<Shared>) -> PyResult<Cards> {
        let chosen = Chosen {
            reclaim: &self.reclaim,
            gc: &self.gc,
            refresh: self.refresh.as_deref(),
            parity: &self.parity,
        };
        let mut cards = chosen.cards().map_err(raised)?;
        if let Some(object) = &self.policy {
            cards.reclaim = policy::card(object.bind(py), shared)?;
        }
        if let Some(object) = &self.chooser {
            cards.gc = victims::card(object.bind(py), shared)?;
        }
        if let Some(object) = &self.refresher {
            cards.refresh = Some(refresh::card(object.bind(py), shared)?);
        }
        Ok(cards)
    }
}

fn wrong(what: &str, given: &str, right: &str) -> PyErr {
    PyValueError::new_err(format!("{what}={given:?}: {right} is expected"))
}

/// Runs a workload on a drive. The observers receive the events of the drive.
#[pyfunction]
#[pyo3(signature = (asked, observers, progress=None))]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
pub(crate) fn run(
    py: Python<'_>,
    asked: Asked,
    observers: Vec<Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Ran> {
    let shared = Arc::new(Shared::default());
    let (setup, cards) = (asked.setup(&shared)?, asked.cards(py, &shared)?);
    let watchers: Vec<_> =
        observers.iter().map(|one| watching(one, &shared)).collect::<PyResult<_>>()?;
    let (record, of_run) = (asked.record, shared.clone());
    let work = move || -> Result<_, Failure> {
        let plan = RunPlan::new(&setup, cards, &unwatched)?;
        let plan = RunPlan { files: record, watchers, ..plan };
        memory::require(&plan)?;
        let heard = Heard {
            shared: of_run,
            callback: progress,
            total: plan.requests()?,
            done: AtomicU64::new(0),
            begun: Instant::now(),
            next_nanos: AtomicU64::new(0),
        };
        let outcome = execute(&plan, &heard)?;
        Ok((plan, outcome))
    };
    let done = awaited(py, &shared, work);
    // An exception of the user's code has precedence over any result or error of the run.
    if let Some(error) = shared.take_error() {
        return Err(error);
    }
    let done = done.ok_or_else(|| Bug::new_err("vpass stopped; its message is above"))?;
    let (plan, outcome) = done.map_err(raised)?;
    let summary = as_json::text(&outcome.summary).map_err(raised)?;
    let (python_s, python_calls) = shared.spent();
    Ok(Ran {
        summary,
        python_s,
        python_calls,
        is_bug: outcome.is_bug(),
        is_sound: plan.reclaim.protects == Protection::Sound,
        of: Mutex::new((plan, outcome)),
    })
}

/// Runs `work` on a new thread, and waits without the GIL. Ctrl-C ends the wait at once, and the
/// thread ends at its next report of progress. Returns `None` if the thread panicked, or after an
/// exception.
fn awaited<T: Send + 'static>(
    py: Python<'_>,
    shared: &Shared,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (send, mut receive) = mpsc::channel();
    // The thread stays attached to Python, which makes each call of Python code much cheaper.
    thread::spawn(move || send.send(Python::attach(|py| py.detach(work))));
    loop {
        let (heard, back) = py.detach(move || (receive.recv_timeout(EVERY), receive));
        receive = back;
        match heard {
            Ok(done) => return Some(done),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(error) = py.check_signals() {
            shared.fail(error);
            return None;
        }
    }
}

/// Returns the effective configuration of a run as JSON, without running it.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
pub(crate) fn effective(py: Python<'_>, asked: Asked) -> PyResult<String> {
    let shared = Arc::new(Shared::default());
    let (setup, cards) = (asked.setup(&shared)?, asked.cards(py, &shared)?);
    let effective = py.detach(|| {
        let plan = RunPlan::new(&setup, cards, &unwatched)?;
        let config =
            serde_json::to_value(&plan.drive.config).map_err(|e| Failure::failed(e.to_string()))?;
        let workload = of_workload(&plan.workload)?;
        as_json::text(&serde_json::json!({
            "vpass": env!("CARGO_PKG_VERSION"),
            "drive": config,
            "workload": workload,
            "reclaim": plan.reclaim.name,
            "gc": plan.gc.name,
            "refresh": plan.refresh.name,
            "parity": plan.parity.name,
        }))
    });
    // An exception of the user's code has precedence over any other result.
    shared.take_error().map_or_else(|| effective.map_err(raised), Err)
}

/// Returns a span of time such as `"30d"` in ns.
#[pyfunction]
pub(crate) fn duration_ns(text: &str) -> PyResult<u64> {
    Span::parse(text).map(|span| span.0).map_err(PyValueError::new_err)
}

/// Returns the number of runs like this one that fit into memory at the same time.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
pub(crate) fn fit_in_memory(py: Python<'_>, asked: Asked) -> PyResult<u64> {
    let shared = Arc::new(Shared::default());
    let (setup, cards) = (asked.setup(&shared)?, asked.cards(py, &shared)?);
    let needed = py.detach(|| {
        let plan = RunPlan { files: asked.record, ..RunPlan::new(&setup, cards, &unwatched)? };
        memory::needed(&plan)
    });
    match shared.take_error() {
        Some(error) => Err(error),
        None => Ok(memory::budget() / needed.map_err(raised)?.max(1)),
    }
}

/// Returns the configuration of a drive as JSON, with all values resolved.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
pub(crate) fn config(drive: String, set: Vec<String>) -> PyResult<String> {
    let resolved = load::overrides(&set).and_then(|sets| load::drive(&drive, &sets));
    resolved.and_then(|loaded| as_json::text(&loaded.config)).map_err(raised)
}

/// Returns everything that determines the requests of a workload, except the contents of files.
fn of_workload(workload: &Workload) -> Result<serde_json::Value, Failure> {
    match workload {
        Workload::Generated(loaded) => {
            serde_json::to_value(&loaded.config).map_err(|e| Failure::failed(e.to_string()))
        }
        Workload::Given(given) => Ok(serde_json::json!([given.name(), given.identity()])),
        Workload::Beside(all) => {
            all.iter().map(of_workload).collect::<Result<Vec<_>, _>>().map(Into::into)
        }
        other => Ok(other.name().into()),
    }
}
