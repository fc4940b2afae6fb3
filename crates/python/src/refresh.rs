//! Refresh techniques written in Python, which are called for blocks with old data.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use vpass_drive::api::given::Given;
use vpass_drive::api::refresh::{self, Refresh, RefreshTechnique, Wanted};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{Bytes, Moment, Ns};

use crate::object::{Caller, controller_ram};
use crate::rewrite::Rewrite;
use crate::shared::Shared;

/// Block that is due for refresh, as a Python technique sees it.
#[pyclass(frozen, get_all, module = "vpass")]
pub(crate) struct Aged {
    /// Number of the block.
    block: u32,
    /// Current time, in ns after the clock began.
    now_ns: Moment,
    /// Time at which the oldest page of the block was programmed, in ns after the clock began. The
    /// time is negative if the page was programmed before the clock began.
    since_ns: Moment,
    /// Number of refresh jobs that are running.
    under_way: u32,
}

#[pymethods]
impl Aged {
    /// Makes a block that is due, for tests of a technique without a drive.
    #[new]
    #[pyo3(signature = (*, block, now_ns, since_ns, under_way = 0))]
    fn new(block: u32, now_ns: Moment, since_ns: Moment, under_way: u32) -> Self {
        Self { block, now_ns, since_ns, under_way }
    }
}

/// Python refresh technique of one drive.
struct Asked {
    first_look: Py<PyAny>,
    done_by: Py<PyAny>,
    on_time: Py<PyAny>,
    set_back: Option<Py<PyAny>>,
    /// Answers of `done_by`, kept because the drive needs them at each step of a job.
    known: RefCell<HashMap<Moment, Option<Moment>>>,
    caller: Caller,
    controller_ram: u64,
}

/// Largest number of answers that are kept. Fewer blocks than this have a running job at one time.
const MOST_KNOWN: usize = 4096;

/// Converts an answer to a time in ns, or to `None` for never.
fn moment(answer: &Bound<'_, PyAny>) -> PyResult<Option<Moment>> {
    if answer.is_none() {
        return Ok(None);
    }
    if let Ok(whole) = answer.extract::<Moment>() {
        return Ok(Some(whole));
    }
    match answer.extract::<f64>() {
        // A time of up to 2^53 ns (104 days) is exact as float64. A longer time is rounded.
        Ok(ns) if ns.is_finite() && ns.abs() < Moment::MAX as f64 => Ok(Some(ns as Moment)),
        Ok(ns) => Err(PyValueError::new_err(format!(
            "the time is {ns}: a number of ns, or None for never, is expected"
        ))),
        Err(_) => Err(PyTypeError::new_err(format!(
            "the refresh policy returned a {}; a number of ns is expected",
            answer.get_type().name()?
        ))),
    }
}

/// Converts the answer about a block that is due.
fn wanted(answer: &Bound<'_, PyAny>) -> PyResult<Wanted> {
    if let Ok(rewrite) = answer.cast::<Rewrite>() {
        return if rewrite.get().is_whole() {
            Ok(Wanted::Rewrite)
        } else {
            Err(PyValueError::new_err(
                "a refresh policy must return Rewrite() without wordlines and pages: a refresh \
                 rewrites the whole block, because a block is as old as its oldest page",
            ))
        };
    }
    let later = moment(answer)?;
    later.map(Wanted::Later).ok_or_else(|| {
        PyTypeError::new_err(
            "the refresh policy returned None; a later time in ns, or Rewrite(), is expected",
        )
    })
}

impl Asked {
    /// Calls a method that returns a time. The time depends only on the time at which the data was
    /// programmed.
    fn time(&self, method: &'static str, of: &Py<PyAny>, since: Moment) -> Option<Moment> {
        self.caller.call(
            method,
            || format!("data since {since} ns"),
            |py| moment(of.call1(py, (since,))?.bind(py)),
        )
    }
}

impl Refresh for Asked {
    fn first_look(&self, since: Moment) -> Option<Moment> {
        self.time("first_look", &self.first_look, since)
    }

    fn done_by(&self, since: Moment) -> Option<Moment> {
        if let Some(known) = self.known.borrow().get(&since) {
            return *known;
        }
        let time = self.time("done_by", &self.done_by, since);
        let mut known = self.known.borrow_mut();
        if known.len() == MOST_KNOWN {
            known.clear();
        }
        known.insert(since, time);
        time
    }

    fn on_time(&mut self, aged: &refresh::Aged) -> Wanted {
        let refresh::Aged { block, now, since, under_way } = *aged;
        let block = block.number();
        self.caller.call(
            "on_time",
            || format!("block {block}"),
            |py| {
                let aged = Aged { block, now_ns: now, since_ns: since, under_way };
                wanted(self.on_time.call1(py, (aged,))?.bind(py))
            },
        )
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(self.controller_ram)
    }

    fn set_back(&mut self, by: Ns) {
        self.known.get_mut().clear();
        if let Some(of) = &self.set_back {
            let about = || format!("{by} ns");
            self.caller.call("set_back", about, |py| of.call1(py, (by,)).map(|_| ()));
        }
    }
}

/// Makes the card of a refresh object. Each drive gets a deep copy of the object.
///
/// # Errors
/// Reports an object that lacks a method.
pub(crate) fn card(
    object: &Bound<'_, PyAny>,
    shared: &Arc<Shared>,
) -> PyResult<&'static RefreshTechnique> {
    let methods = ["first_look(since_ns)", "done_by(since_ns)", "on_time(aged)"];
    let caller = Caller::of(("refresh", "refresh"), object, &methods, shared)?;
    let controller_ram = controller_ram(object)?;
    let given =
        Given { summary: "a refresh in Python".into(), ..Given::new(caller.name.to_string()) };
    let prototype = object.clone().unbind();
    Ok(given.card::<dyn Refresh>(move |_, config, seed| {
        Box::new(caller.begin(&prototype, config, seed.own(), |object| {
            Ok(Asked {
                first_look: object.getattr("first_look")?.unbind(),
                done_by: object.getattr("done_by")?.unbind(),
                on_time: object.getattr("on_time")?.unbind(),
                set_back: object.getattr_opt("set_back")?.map(Bound::unbind),
                known: RefCell::default(),
                caller: caller.clone(),
                controller_ram,
            })
        }))
    }))
}
