//! Requests from Python: lists of requests in columns, and functions that yield such columns in
//! batches.

use std::fmt::Write;
use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sha2::{Digest, Sha256};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;
use vpass_workload::given::{ForDrive, Given};
use vpass_workload::listed::ListedSource;
use vpass_workload::pass::PassSource;

use crate::shared::Shared;

/// Requests in memory, which several runs can share.
#[pyclass(frozen)]
pub(crate) struct Listed {
    all: Arc<[Request]>,
    has_times: bool,
    digest: String,
}

#[pymethods]
impl Listed {
    /// Copies columns of the same length: offsets and sizes in bytes, 0/1/2 for read/write/trim,
    /// and times in ns.
    #[new]
    #[pyo3(signature = (offset, bytes, op, at=None))]
    fn new(
        offset: PyReadonlyArray1<'_, u64>,
        bytes: PyReadonlyArray1<'_, u32>,
        op: PyReadonlyArray1<'_, u8>,
        at: Option<PyReadonlyArray1<'_, u64>>,
    ) -> PyResult<Self> {
        let columns = Columns { offset, bytes, op, at };
        let (all, has_times) = (columns.requests()?, columns.at.is_some());
        let mut digest = Sha256::new();
        for request in &all {
            digest.update(request.at.to_le_bytes());
            digest.update(request.offset.to_le_bytes());
            digest.update(request.bytes.to_le_bytes());
            digest.update([request.op as u8]);
        }
        let mut hex = format!("{has_times} ");
        digest.finalize().iter().for_each(|byte| write!(hex, "{byte:02x}").expect("text grows"));
        Ok(Self { all: all.into(), has_times, digest: hex })
    }

    /// Digest of all requests, which identifies the workload.
    #[getter]
    fn digest(&self) -> &str {
        &self.digest
    }

    fn __len__(&self) -> usize {
        self.all.len()
    }
}

impl Listed {
    /// Makes a workload from the list of requests. A queue depth replaces the times of the
    /// requests.
    pub(crate) fn given(&self, name: String, queue_depth: Option<u32>) -> Given {
        let arrival = arrival(self.has_times, queue_depth);
        let all = self.all.clone();
        Given::new(name, format!("{} {arrival:?}", self.digest), move |_| {
            Ok(Box::new(ListedSource::new(all.clone(), arrival)))
        })
    }
}

/// Number of outstanding requests, if neither times nor a queue depth are given.
const DEFAULT_DEPTH: u32 = 64;

fn arrival(has_times: bool, queue_depth: Option<u32>) -> Arrival {
    match queue_depth {
        None if has_times => Arrival::Open,
        depth => Arrival::Closed { depth: depth.unwrap_or(DEFAULT_DEPTH) },
    }
}

/// Columns of requests from Python.
#[derive(FromPyObject)]
struct Columns<'py> {
    offset: PyReadonlyArray1<'py, u64>,
    bytes: PyReadonlyArray1<'py, u32>,
    op: PyReadonlyArray1<'py, u8>,
    at: Option<PyReadonlyArray1<'py, u64>>,
}

impl Columns<'_> {
    fn requests(&self) -> PyResult<Vec<Request>> {
        let rows = self.offset.len();
        let lengths =
            [self.bytes.len(), self.op.len(), self.at.as_ref().map_or(rows, |at| at.len())];
        if lengths.iter().any(|length| *length != rows) {
            return Err(PyValueError::new_err(format!(
                "columns of requests have {rows}, {}, {} and {} rows; equal numbers are expected",
                lengths[0], lengths[1], lengths[2]
            )));
        }
        let (offset, bytes, op) =
            (self.offset.as_array(), self.bytes.as_array(), self.op.as_array());
        let at = self.at.as_ref().map(PyReadonlyArray1::as_array);
        (0..rows)
            .map(|n| {
                Ok(Request {
                    at: at.as_ref().map_or(0, |at| at[n]),
                    offset: offset[n],
                    bytes: bytes[n],
                    op: match op[n] {
                        0 => Op::Read,
                        1 => Op::Write,
                        2 => Op::Trim,
                        other => {
                            return Err(PyValueError::new_err(format!(
                                "request {n} has the operation {other}; 0 (read), 1 (write) or 2 \
                                 (trim) is expected"
                            )));
                        }
                    },
                    origin: 0,
                    hint: None,
                })
            })
            .collect()
    }
}

/// Makes a workload from a Python function. The function is called again for each drive and each
/// pass. The function gets the drive and a seed, and returns an iterator of columns.
pub(crate) fn generated(
    (name, identity): (String, String),
    function: Py<PyAny>,
    queue_depth: Option<u32>,
    shared: Arc<Shared>,
) -> Given {
    let function = Arc::new(function);
    let identity = format!("{identity} {queue_depth:?}");
    Given::new(name.clone(), identity, move |drive| {
        let mut source = Generated {
            function: function.clone(),
            name: name.clone(),
            drive,
            shared: shared.clone(),
            iterator: None,
            batch: vec![],
            next: 0,
            pass: 0,
            later: 0,
            last: 0,
            is_over: false,
            has_times: false,
            queue_depth,
        };
        // The first batch shows whether the requests have times of their own.
        source.more()?;
        Ok(Box::new(source))
    })
}

/// Source of the requests that a Python function yields.
struct Generated {
    function: Arc<Py<PyAny>>,
    name: String,
    drive: ForDrive,
    shared: Arc<Shared>,
    iterator: Option<Py<PyAny>>,
    batch: Vec<Request>,
    next: usize,
    pass: u64,
    /// Time that is added to the arrival times of the current pass.
    later: Ns,
    last: Ns,
    is_over: bool,
    has_times: bool,
    queue_depth: Option<u32>,
}

impl Generated {
    /// Takes batches from the Python function until one of them contains a request.
    fn more(&mut self) -> Result<(), SourceError> {
        while self.next == self.batch.len() && !self.is_over {
            let shared = self.shared.clone();
            shared.timed(|| Python::attach(|py| self.take(py))).map_err(|error| {
                let sentence = format!("{}: it raised {error}", self.name);
                self.shared.fail(error);
                SourceError::new(sentence)
            })?;
        }
        Ok(())
    }

    fn take(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.iterator.is_none() {
            let drive = PyDict::new(py);
            drive.set_item("capacity_bytes", self.drive.capacity)?;
            drive.set_item("page_bytes", self.drive.page_bytes)?;
            let made = self.function.call1(py, (drive, self.drive.seed, self.pass))?;
            self.iterator = Some(made.bind(py).try_iter()?.into_any().unbind());
        }
        let iterator = self.iterator.as_ref().expect("it was made").bind(py).try_iter()?;
        let Some(batch) = iterator.into_iter().next() else {
            self.is_over = true;
            return Ok(());
        };
        let columns: Columns<'_> = batch?.extract()?;
        self.has_times = columns.at.is_some();
        self.batch = columns.requests()?;
        self.batch.iter_mut().for_each(|request| request.at += self.later);
        self.last = self.batch.last().map_or(self.last, |request| request.at);
        self.next = 0;
        Ok(())
    }
}

impl RequestSource for Generated {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        self.more()?;
        let end = self.batch.len().min(self.next.saturating_add(max));
        out.extend_from_slice(&self.batch[self.next..end]);
        self.next = end;
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        arrival(self.has_times, self.queue_depth)
    }
}

impl PassSource for Generated {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        (self.iterator, self.is_over, self.next) = (None, false, 0);
        self.batch.clear();
        (self.pass, self.later) = (self.pass + 1, self.last);
        self.more()
    }

    fn memory(&self) -> u64 {
        // The size of a batch from a Python function is unknown. One million requests are assumed.
        const BATCH: usize = 1 << 20;
        (BATCH * size_of::<Request>()) as u64
    }
}
