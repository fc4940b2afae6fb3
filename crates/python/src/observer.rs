//! Observers written in Python, which get events in batches of columns, but no single reads.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn, WordlineInBlock};
use vpass_drive::watch::event::{Event, Fact};
use vpass_drive::watch::watcher::Watcher;
use vpass_lab::plan::Watching;

use crate::object::{Caller, python_of};
use crate::shared::Shared;

/// Number in a column for an event to which the column does not apply.
const NONE: u32 = u32::MAX;

/// Number of the cause for an event without a cause.
const NO_CAUSE: u8 = u8::MAX;

/// Observer of one drive, with the events that it has not yet received.
struct Told {
    events: Py<PyAny>,
    geometry: Geometry,
    caller: Caller,
}

/// Columns of a batch of events.
#[derive(Default)]
struct Columns {
    kind: Vec<u8>,
    cause: Vec<u8>,
    time_ns: Vec<u64>,
    requests: Vec<u64>,
    reads: Vec<u64>,
    block: Vec<u32>,
    ppn: Vec<u32>,
    lpn: Vec<u32>,
    value: Vec<u64>,
}

/// Parts of an event: cause, block, page on flash, page of the host, and value.
struct Parts {
    cause: Option<Cause>,
    block: Option<BlockId>,
    ppn: Option<Ppn>,
    lpn: Option<Lpn>,
    value: u64,
}

impl Parts {
    const NONE: Self = Self { cause: None, block: None, ppn: None, lpn: None, value: 0 };

    fn of(fact: &Fact) -> Self {
        let of_host = |lpn| Self { lpn: Some(lpn), ..Self::NONE };
        let of_block = |block| Self { block: Some(block), ..Self::NONE };
        let value = |value| Self { value, ..Self::NONE };
        match *fact {
            Fact::MeasuredPhase | Fact::RebuildDone => Self::NONE,
            Fact::ClockRestarted { passed } => value(passed),
            Fact::Wrote { lpn, whole, .. } => Self { value: whole.into(), ..of_host(lpn) },
            Fact::Trimmed { lpn }
            | Fact::Lost { lpn }
            | Fact::Rebuilt { lpn }
            | Fact::Superseded { lpn } => of_host(lpn),
            Fact::Programmed { ppn, lpn, cause, .. } => {
                Self { cause: Some(cause), ppn: Some(ppn), ..of_host(lpn) }
            }
            Fact::Padded { ppn, cause } => {
                Self { cause: Some(cause), ppn: Some(ppn), ..Self::NONE }
            }
            Fact::Merged { block, wordline, cause, .. } => {
                Self { cause: Some(cause), value: wordline.number().into(), ..of_block(block) }
            }
            Fact::Recoded { block, wordline, .. } => {
                let wordline = wordline.map_or(NONE, WordlineInBlock::number);
                Self { value: wordline.into(), ..of_block(block) }
            }
            Fact::Alarm { block } | Fact::JobEnded { block } => of_block(block),
            Fact::JobBegan { block, pages, cause } => {
                Self { cause: Some(cause), value: pages.unwrap_or(NONE).into(), ..of_block(block) }
            }
            Fact::Erased { block, cause } => Self { cause: Some(cause), ..of_block(block) },
            Fact::Failed { first, pages } => {
                Self { ppn: Some(first), value: pages.into(), ..Self::NONE }
            }
            Fact::Unprotected { stripe }
            | Fact::AwaitsParity { stripe }
            | Fact::NeedsNoParity { stripe } => value(stripe.into()),
            Fact::LivesIn { stage } => value(stage.into()),
        }
    }
}

impl Columns {
    fn of(batch: &[Event], geometry: &Geometry) -> Self {
        let mut columns = Self::default();
        columns.reserve(batch.len());
        for event in batch {
            let Parts { cause, block, ppn, lpn, value } = Parts::of(&event.fact);
            let block = block.or(ppn.map(|ppn| geometry.block_of(ppn)));
            columns.kind.push(event.fact.number());
            columns.cause.push(cause.map_or(NO_CAUSE, |cause| cause as u8));
            columns.time_ns.push(event.at);
            columns.requests.push(event.requests);
            columns.reads.push(event.reads);
            columns.block.push(block.map_or(NONE, BlockId::number));
            columns.ppn.push(ppn.map_or(NONE, Ppn::number));
            columns.lpn.push(lpn.map_or(NONE, Lpn::number));
            columns.value.push(value);
        }
        columns
    }

    fn reserve(&mut self, rows: usize) {
        self.kind.reserve(rows);
        self.cause.reserve(rows);
        self.time_ns.reserve(rows);
        self.requests.reserve(rows);
        self.reads.reserve(rows);
        self.block.reserve(rows);
        self.ppn.reserve(rows);
        self.lpn.reserve(rows);
        self.value.reserve(rows);
    }

    fn python(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let batch = PyDict::new(py);
        batch.set_item("kind", PyArray1::from_vec(py, self.kind))?;
        batch.set_item("cause", PyArray1::from_vec(py, self.cause))?;
        batch.set_item("time_ns", PyArray1::from_vec(py, self.time_ns))?;
        batch.set_item("requests", PyArray1::from_vec(py, self.requests))?;
        batch.set_item("reads", PyArray1::from_vec(py, self.reads))?;
        batch.set_item("block", PyArray1::from_vec(py, self.block))?;
        batch.set_item("ppn", PyArray1::from_vec(py, self.ppn))?;
        batch.set_item("lpn", PyArray1::from_vec(py, self.lpn))?;
        batch.set_item("value", PyArray1::from_vec(py, self.value))?;
        Ok(batch)
    }
}

impl Watcher for Told {
    fn events(&mut self, batch: &[Event]) {
        // After an exception, the run ends, and no further Python code is called.
        if self.caller.shared.has_failed() {
            return;
        }
        let columns = Columns::of(batch, &self.geometry);
        self.caller.call(
            "events",
            || format!("{} events", batch.len()),
            |py| self.events.call1(py, (columns.python(py)?,)).map(|_| ()),
        );
    }
}

/// Makes the watcher for an observer object. The observer object is not copied, so that it can keep
/// results.
///
/// # Errors
/// Reports an object without the required method.
pub(crate) fn watching(object: &Bound<'_, PyAny>, shared: &Arc<Shared>) -> PyResult<Watching> {
    let caller = Caller::of(("observer", "observer"), object, &["events(batch)"], shared)?;
    let object = object.clone().unbind();
    Ok(Watching::new(move |drive| {
        let events = caller.call(
            "begin",
            || "a new drive".into(),
            |py| {
                if let Some(begin) = object.bind(py).getattr_opt("begin")? {
                    begin.call1((python_of(py, drive.config())?,))?;
                }
                object.getattr(py, "events")
            },
        );
        Box::new(Told { events, geometry: drive.geometry().clone(), caller: caller.clone() })
    }))
}

/// Returns the names of all kinds of events and of all causes, in the order of their numbers.
#[pyfunction]
pub(crate) fn event_names() -> (Vec<&'static str>, Vec<&'static str>) {
    (Fact::NAMES.to_vec(), Cause::ALL.map(Cause::name).to_vec())
}
