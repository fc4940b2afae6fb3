//! State that a run shares with its Python code: the first exception, and the time spent in Python.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use vpass_lab::progress::Progress;

/// State that a run shares with its Python code.
#[derive(Default)]
pub(crate) struct Shared {
    error: Mutex<Option<PyErr>>,
    has_failed: AtomicBool,
    nanos: AtomicU64,
    calls: AtomicU64,
}

impl Shared {
    /// Keeps an exception if it is the first exception of the run.
    pub(crate) fn fail(&self, error: PyErr) {
        if let Ok(mut first) = self.error.lock() {
            first.get_or_insert(error);
        }
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Returns whether the run has had an exception.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Removes and returns the first exception of the run.
    pub(crate) fn take_error(&self) -> Option<PyErr> {
        self.error.lock().ok().and_then(|mut error| error.take())
    }

    /// Runs Python code. Counts the call and its time.
    pub(crate) fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        done
    }

    /// Returns the seconds spent in Python code, and the number of calls.
    pub(crate) fn spent(&self) -> (f64, u64) {
        let nanos = Duration::from_nanos(self.nanos.load(Ordering::Relaxed));
        (nanos.as_secs_f64(), self.calls.load(Ordering::Relaxed))
    }
}

/// Time between two checks for signals, and between two reports of progress.
pub(crate) const EVERY: Duration = Duration::from_millis(50);

/// Progress of a run, which calls a Python function and ends the run after an exception.
pub(crate) struct Heard {
    pub(crate) shared: Arc<Shared>,
    pub(crate) callback: Option<Py<PyAny>>,
    pub(crate) total: Option<u64>,
    pub(crate) done: AtomicU64,
    pub(crate) begun: Instant,
    pub(crate) next_nanos: AtomicU64,
}

impl Progress for Heard {
    fn advance(&self, done: u64) -> bool {
        let done = self.done.fetch_add(done, Ordering::Relaxed) + done;
        if self.shared.has_failed() {
            return false;
        }
        let now = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if now < self.next_nanos.load(Ordering::Relaxed) {
            return true;
        }
        let next = now + u64::try_from(EVERY.as_nanos()).unwrap_or(0);
        self.next_nanos.store(next, Ordering::Relaxed);
        let Some(callback) = &self.callback else { return true };
        let heard = Python::attach(|py| callback.call1(py, (done, self.total)).map(|_| ()));
        heard.map_err(|e| self.shared.fail(e)).is_ok()
    }
}
