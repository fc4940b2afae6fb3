//! Read-reclaim policies written in Python. Each drive has an object of its own, whose methods are
//! called at alarms.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use vpass_drive::api::card::Protection;
use vpass_drive::api::given::Given;
use vpass_drive::api::reclaim::{Action, Policy, Promise, Technique, Threshold, View as Core};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, Reads};

use crate::object::{Caller, controller_ram};
use crate::rewrite::Rewrite;
use crate::shared::Shared;
use crate::stated::{promise, thresholds};
use crate::view::View;

/// Python policy of one drive.
struct Asked {
    arm: Py<PyAny>,
    on_alarm: Py<PyAny>,
    erased: Option<Py<PyAny>>,
    budget: Option<Py<PyAny>>,
    thresholds: Option<Py<PyAny>>,
    protects: Protection,
    view: Py<View>,
    caller: Caller,
    controller_ram: u64,
}

impl Asked {
    /// Calls a method about a block. An exception ends the run. An answer that `read` rejects also
    /// ends the run.
    fn ask<T>(
        &self,
        (method, of): (&'static str, &Py<PyAny>),
        (view, block): (&Core, BlockId),
        more: Option<&str>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> T {
        self.caller.call(
            method,
            || format!("block {}", block.number()),
            |py| {
                let lent = self.view.bind(py).get();
                let answer = lent.lend(view, block, || match more {
                    None => of.call1(py, (&self.view,)),
                    Some(more) => of.call1(py, (&self.view, more)),
                });
                read(answer?.bind(py))
            },
        )
    }

    /// Calls a method about a P/E count. The answer holds for all blocks with this count.
    fn state<T>(
        &self,
        (method, of): (&'static str, &Py<PyAny>),
        view: &Core,
        pec: u32,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> T {
        self.caller.call(
            method,
            || format!("P/E count {pec}"),
            |py| {
                let lent = self.view.bind(py).get();
                let answer = lent.lend_at(view, pec, || of.call1(py, (&self.view, pec)));
                read(answer?.bind(py))
            },
        )
    }
}

/// Converts an answer to an alarm: a number of reads, or `None` for never.
fn alarm(answer: &Bound<'_, PyAny>) -> PyResult<Reads> {
    if answer.is_none() {
        return Ok(Reads::NEVER);
    }
    let never = f64::from(Reads::NEVER.0);
    match answer.extract::<f64>() {
        Ok(reads) if reads >= 0.0 => Ok(Reads(reads.min(never) as u32)),
        Ok(reads) => Err(PyValueError::new_err(format!(
            "the next alarm is {reads}: a number of reads, or None for never, is expected"
        ))),
        Err(_) => Err(PyTypeError::new_err(format!(
            "the policy returned a {}; it must return a number of reads, None, a Rewrite, a list \
             of Rewrites, or a tuple of a number and a list of Rewrites",
            answer.get_type().name()?
        ))),
    }
}

/// Adds the rewrites in an answer to `out`. Returns whether the answer is a rewrite or a list of
/// rewrites.
fn rewrites(
    answer: &Bound<'_, PyAny>,
    view: &Core,
    block: BlockId,
    out: &mut Vec<Action>,
) -> PyResult<bool> {
    if let Ok(rewrite) = answer.cast::<Rewrite>() {
        out.push(rewrite.get().action(view, block)?);
        return Ok(true);
    }
    let Ok(list) = answer.cast::<PyList>() else { return Ok(false) };
    for one in list {
        let rewrite = one.cast::<Rewrite>().map_err(|_| {
            PyTypeError::new_err(
                "a list that a policy returns must hold only objects of the class Rewrite",
            )
        })?;
        out.push(rewrite.get().action(view, block)?);
    }
    Ok(true)
}

/// Converts the answer at an alarm. If the answer is only a rewrite, the block may serve
/// `late_reads` more reads.
fn answer_to_alarm(
    answer: &Bound<'_, PyAny>,
    view: &Core,
    block: BlockId,
    out: &mut Vec<Action>,
) -> PyResult<Reads> {
    if rewrites(answer, view, block, out)? {
        return Ok(Reads(view.reads(block).0.saturating_add(view.late_in_a_job())));
    }
    let Ok(pair) = answer.cast::<PyTuple>() else { return alarm(answer) };
    if pair.len() != 2 {
        return Err(PyValueError::new_err(
            "a tuple that a policy returns must have two parts: a number of reads and a list of \
             Rewrites",
        ));
    }
    if !rewrites(&pair.get_item(1)?, view, block, out)? {
        return Err(PyTypeError::new_err(
            "the second part of a tuple that a policy returns must be a list of Rewrites",
        ));
    }
    alarm(&pair.get_item(0)?)
}

impl Policy for Asked {
    fn arm(&mut self, view: &Core, block: BlockId) -> Reads {
        self.ask(("arm", &self.arm), (view, block), None, alarm)
    }

    fn on_alarm(&mut self, view: &Core, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let read = |answer: &Bound<'_, PyAny>| answer_to_alarm(answer, view, block, out);
        self.ask(("on_alarm", &self.on_alarm), (view, block), None, read)
    }

    fn erased(&mut self, view: &Core, block: BlockId, cause: Cause) {
        if let Some(erased) = &self.erased {
            self.ask(("erased", erased), (view, block), Some(cause.name()), |_| Ok(()));
        }
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(self.controller_ram)
    }

    fn promise(&self, view: &Core, pec: u32) -> Promise {
        let read = |answer: &Bound<'_, PyAny>| promise(answer, self.protects, view);
        let stated = self.budget.as_ref().map(|of| self.state(("budget", of), view, pec, read));
        stated.unwrap_or(Promise::Nothing("this policy in Python states no budget"))
    }

    fn explain(&self, view: &Core, pec: u32) -> Vec<Threshold> {
        let stated = self
            .thresholds
            .as_ref()
            .map(|of| self.state(("thresholds", of), view, pec, thresholds));
        stated.unwrap_or_default()
    }
}

/// Makes the card of a policy object. Each drive gets a deep copy of the object.
///
/// # Errors
/// Reports a policy without its methods, or with a wrong value of `protects`.
pub(crate) fn card(
    policy: &Bound<'_, PyAny>,
    shared: &Arc<Shared>,
) -> PyResult<&'static Technique> {
    let methods = ["arm(view)", "on_alarm(view)"];
    let caller = Caller::of(("reclaim", "policy"), policy, &methods, shared)?;
    let name = caller.name.to_string();
    let protects: Option<String> =
        policy.getattr_opt("protects")?.map(|p| p.extract()).transpose()?;
    let protects = match protects.as_deref() {
        None | Some("nothing") => Protection::None,
        Some("unsafe") => Protection::Unsafe,
        Some("deceivable") => Protection::Deceivable,
        Some("sound") => Protection::Sound,
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "policy {name} has protects = {other:?}; it must be nothing, unsafe, deceivable or \
                 sound"
            )));
        }
    };
    let ram = controller_ram(policy)?;
    let given = Given { summary: "a policy in Python".into(), protects, ..Given::new(name) };
    let prototype = policy.clone().unbind();
    Ok(given.card::<dyn Policy>(move |_, config, seed| {
        Box::new(caller.begin(&prototype, config, seed.own(), |object| {
            Ok(Asked {
                arm: object.getattr("arm")?.unbind(),
                on_alarm: object.getattr("on_alarm")?.unbind(),
                erased: object.getattr_opt("erased")?.map(Bound::unbind),
                budget: object.getattr_opt("budget")?.map(Bound::unbind),
                thresholds: object.getattr_opt("thresholds")?.map(Bound::unbind),
                protects,
                view: Py::new(object.py(), View::none())?,
                caller: caller.clone(),
                controller_ram: ram,
            })
        }))
    }))
}
