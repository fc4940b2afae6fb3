//! Observers written in Python, which get events in batches of columns, but no single reads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ns, Ppn};
use vpass_drive::watch::observer::{Event, Observer};
use vpass_drive::watch::row::{Row, reads_of};
use vpass_lab::plan::Watching;

use crate::object::{Caller, python_of};
use crate::shared::Shared;

/// Number in a column for an event to which the column does not apply.
const NONE: u32 = u32::MAX;

/// Number of the cause for an event without a cause.
const NO_CAUSE: u8 = u8::MAX;

/// Largest number of events of a batch.
const BATCH: usize = 1 << 16;

/// Observer of one drive, with the events that Python has not yet received. A batch also ends
/// before the reclaim technique is asked, and at the end of the run.
struct Told {
    events: Py<PyAny>,
    geometry: Geometry,
    caller: Caller,
    batch: Columns,
    at: Ns,
    requests: u64,
    reads: u64,
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

impl Columns {
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

impl Told {
    fn push(&mut self, row: Row) {
        let block = row.block.or(row.ppn.map(|ppn| self.geometry.block_of(ppn)));
        let columns = &mut self.batch;
        columns.kind.push(row.kind);
        columns.cause.push(row.cause.map_or(NO_CAUSE, |cause| cause as u8));
        columns.time_ns.push(self.at);
        columns.requests.push(self.requests);
        columns.reads.push(self.reads);
        columns.block.push(block.map_or(NONE, BlockId::number));
        columns.ppn.push(row.ppn.map_or(NONE, Ppn::number));
        columns.lpn.push(row.lpn.map_or(NONE, Lpn::number));
        columns.value.push(row.value);
        if columns.kind.len() == BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        let events = batch.kind.len();
        // After an exception, the run ends, and no further Python code is called.
        if events > 0 && !self.caller.shared.has_failed() {
            self.caller.call(
                "events",
                || format!("{events} events"),
                |py| self.events.call1(py, (batch.python(py)?,)).map(|_| ()),
            );
        }
    }
}

impl Observer for Told {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Now { at } => self.at = at,
            Event::Requests { first, requests } => self.requests = first + requests.len() as u64,
            _ => self.reads += reads_of(&event),
        }
        if let Some(row) = Row::of(&event) {
            self.push(row);
        }
        match event {
            Event::Alarm { .. } => self.flush(),
            Event::ClockRestarted { .. } => self.at = 0,
            _ => {}
        }
    }

    fn hears_alarms(&self) -> bool {
        true
    }
}

/// Reports the last events of a run, even if a panic ends it. A second panic is ignored.
impl Drop for Told {
    fn drop(&mut self) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.flush()));
    }
}

/// Makes the observers of drives for an observer object. The observer object is not copied, so that it can keep
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
        Box::new(Told {
            events,
            geometry: drive.geometry().clone(),
            caller: caller.clone(),
            batch: Columns::default(),
            at: 0,
            requests: 0,
            reads: 0,
        })
    }))
}

/// Returns the names of all kinds of events and of all causes, in the order of their numbers.
#[pyfunction]
pub(crate) fn event_names() -> (Vec<&'static str>, Vec<&'static str>) {
    (Row::KINDS.to_vec(), Cause::ALL.map(Cause::name).to_vec())
}
