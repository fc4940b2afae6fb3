//! Run of a workload on a drive, in this process.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vpass_drive::api::card::Protection;
use vpass_drive::base::request::RequestSource;
use vpass_drive::base::span::Span;
use vpass_lab::as_json;
use vpass_lab::explain;
use vpass_lab::failure::Failure;
use vpass_lab::load;
use vpass_lab::memory;
use vpass_lab::plan::{self, Cards, Choose, Chosen, RunPlan, Workload};
use vpass_lab::progress::unwatched;
use vpass_lab::run::execute;
use vpass_lab::samples::Samples;
use vpass_lab::setup::{Base, Gear, HintSource, Setup, Watch};
use vpass_workload::synthetic::Sample;

use crate::error::{Bug, Keywords, raised};
use crate::observer::watching;
use crate::ran::Ran;
use crate::shared::{EVERY, Heard, Shared};
use crate::workload::{One, earlier, named};
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
    until: Option<String>,
    sample: Option<String>,
    residue: u32,
    fail: Vec<String>,
    /// Workload that is served before the others, if any, and its values of keys.
    before: Vec<One>,
    before_set: Vec<String>,
    cycles: Option<Cycles>,
    stages: bool,
    out_of_phase: f64,
    /// Whether the run records what only a result folder contains.
    record: bool,
    /// Python objects that replace the techniques of three slots: reclaim, gc and refresh.
    policy: Option<Py<PyAny>>,
    chooser: Option<Py<PyAny>>,
    refresher: Option<Py<PyAny>>,
}

/// Length of a run in cycles of its blocks, as the Python package gives it.
#[derive(FromPyObject)]
struct Cycles {
    blocks: f64,
    counted: Option<f64>,
    warm_up: Option<f64>,
}

impl From<&Cycles> for plan::Cycles {
    fn from(of: &Cycles) -> Self {
        Self { blocks: of.blocks, counted: of.counted, warm_up: of.warm_up }
    }
}

impl Asked {
    fn setup(&self, shared: &Arc<Shared>) -> PyResult<Setup> {
        let mut gears = [Gear::Timed, Gear::Untimed, Gear::Fluid].into_iter();
        let gear = gears.find(|gear| gear.name() == self.gear);
        let gear = gear.ok_or_else(|| wrong("gear", &self.gear, "timed, untimed or fluid"))?;
        let mut levels = [Watch::Off, Watch::On, Watch::Full].into_iter();
        let oracle = levels.find(|level| level.name() == self.oracle);
        let oracle = oracle.ok_or_else(|| wrong("oracle", &self.oracle, "off, on or full"))?;
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
        Ok(Setup {
            warm_up: self.warm_up,
            repeat,
            ages: self.ages.clone(),
            hints,
            until_stable: match self.until.as_deref() {
                None => false,
                Some("stable") => true,
                Some(other) => return Err(wrong("until", other, "stable")),
            },
            sample: self.sample()?,
            fail: self
                .fail
                .iter()
                .map(|text| text.parse().map_err(PyValueError::new_err::<String>))
                .collect::<PyResult<_>>()?,
            before: self
                .before
                .first()
                .map(|one| earlier(one, &self.before_set))
                .transpose()
                .map_err(raised)?,
            cycles: self.cycles.as_ref().map(Into::into),
            stages: self.stages,
            out_of_phase: self.out_of_phase,
            ..Setup::new(base, named)
        })
    }

    fn sample(&self) -> PyResult<Sample> {
        let Some(text) = &self.sample else { return Ok(Sample::WHOLE) };
        let samples: Samples = text.parse().map_err(|why: String| wrong("sample", text, &why))?;
        if samples.count != 1 || self.residue >= samples.of {
            return Err(wrong("sample", text, "1/N, and a residue below N,"));
        }
        Ok(Sample { of: samples.of, residue: self.residue })
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
    let done = done.ok_or_else(|| PyErr::new::<Bug, _>("vpass stopped; its message is above"))?;
    let (plan, outcome) = done.map_err(raised)?;
    let summary = as_json::text(&outcome.summary).map_err(raised)?;
    let cycles = outcome.cycles.as_ref().map(as_json::text).transpose().map_err(raised)?;
    let (python_s, python_calls) = shared.spent();
    Ok(Ran {
        summary,
        cycles,
        python_s,
        python_calls,
        is_bug: outcome.is_bug(),
        fell_behind: outcome.summary.backlog_grows(),
        is_sound: plan.reclaim.protects == Protection::Sound,
        of: Mutex::new((plan, outcome)),
    })
}

/// Runs `work` on a new thread, and waits without the GIL. Ctrl-C ends the wait at once, and the
/// thread ends at its next report of progress. Returns `None` if the thread panicked, or after an
/// exception.
pub(crate) fn awaited<T: Send + 'static>(
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
    planned(py, &asked, |plan| {
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
    })
}

/// Plans a run without running it, and passes the plan to `work`.
fn planned<T: Send>(
    py: Python<'_>,
    asked: &Asked,
    work: impl FnOnce(RunPlan) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let shared = Arc::new(Shared::default());
    let (setup, cards) = (asked.setup(&shared)?, asked.cards(py, &shared)?);
    let found = py.detach(|| RunPlan::new(&setup, cards, &unwatched).and_then(work));
    // An exception of the user's code has precedence over any other result.
    shared.take_error().map_or_else(|| found.map_err(raised), Err)
}

/// Columns of requests: offsets and sizes in bytes, 0/1/2 for read/write/trim, and times in ns.
type Columns<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u64>>,
);

/// Returns the first requests of a run, at most `count`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
pub(crate) fn requests(py: Python<'_>, asked: Asked, count: usize) -> PyResult<Columns<'_>> {
    let drawn = planned(py, &asked, |plan| {
        let (mut source, mut all) = (plan.source()?, vec![]);
        loop {
            let before = all.len();
            source.fill(&mut all, count - before)?;
            if all.len() == before || all.len() == count {
                return Ok(all);
            }
        }
    })?;
    Ok((
        PyArray1::from_iter(py, drawn.iter().map(|request| request.offset)),
        PyArray1::from_iter(py, drawn.iter().map(|request| request.bytes)),
        PyArray1::from_iter(py, drawn.iter().map(|request| request.op as u8)),
        PyArray1::from_iter(py, drawn.iter().map(|request| request.at)),
    ))
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
    let files = asked.record;
    let needed = planned(py, &asked, |plan| memory::needed(&RunPlan { files, ..plan }))?;
    Ok(memory::budget() / needed.max(1))
}

/// Returns the configuration of a drive as JSON, with all values resolved.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
pub(crate) fn config(drive: String, set: Vec<String>) -> PyResult<String> {
    let resolved = load::overrides(&set).and_then(|sets| load::drive(&drive, &sets));
    resolved.and_then(|loaded| as_json::text(&loaded.config)).map_err(raised)
}

/// Returns the group and the read limit of each layer of a drive's weakest block.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes arguments from Python by value")]
pub(crate) fn layers(drive: String, set: Vec<String>) -> PyResult<Vec<(String, f64)>> {
    let resolved = load::overrides(&set).and_then(|sets| load::drive(&drive, &sets));
    let config = resolved.map_err(raised)?.config;
    Ok(explain::layers(&config).into_iter().map(|(group, of)| (group.into(), of)).collect())
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
