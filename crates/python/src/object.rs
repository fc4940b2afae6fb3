//! Python object that the user gave, copied for one drive, and calls of its methods.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use vpass_drive::api::fault::Fault;
use vpass_drive::config::DriveConfig;

use crate::shared::Shared;

/// Kind and name of the user's Python object, for the notes that are added to its exceptions.
#[derive(Clone)]
pub(crate) struct Caller {
    /// Slot of the object's technique, or `observer`.
    pub(crate) slot: &'static str,
    /// Noun for the object in sentences.
    pub(crate) word: &'static str,
    pub(crate) name: Arc<str>,
    pub(crate) shared: Arc<Shared>,
}

impl Caller {
    /// Makes the caller of a Python object, and checks that the object has its methods.
    ///
    /// # Errors
    /// Reports a method that the object lacks.
    pub(crate) fn of(
        (slot, word): (&'static str, &'static str),
        object: &Bound<'_, PyAny>,
        methods: &[&str],
        shared: &Arc<Shared>,
    ) -> PyResult<Self> {
        let name: String = match object.getattr_opt("name")? {
            Some(name) => name.extract()?,
            None => object.get_type().name()?.extract()?,
        };
        for method in methods {
            let of = method.split('(').next().unwrap_or(method);
            if !object.getattr_opt(of)?.is_some_and(|of| of.is_callable()) {
                return Err(PyTypeError::new_err(format!("{word} {name} has no method {method}")));
            }
        }
        Ok(Self { slot, word, name: name.into(), shared: shared.clone() })
    }

    /// Calls a method of the object. An exception ends the run. A note is added to the exception,
    /// with the name of the method and the subject of the call.
    pub(crate) fn call<T>(
        &self,
        method: &'static str,
        about: impl FnOnce() -> String,
        work: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> T {
        let answer = self.shared.timed(|| {
            Python::attach(|py| {
                work(py).map_err(|error| {
                    let note = format!("{} {}, {method}, {}", self.word, self.name, about());
                    // Python 3.10 has no notes on exceptions, so this call may fail.
                    let _ = error.value(py).call_method1("add_note", (note,));
                    self.shared.fail(error);
                })
            })
        });
        answer.unwrap_or_else(|()| {
            let (technique, what) = ("an object in Python", "it raised an exception".into());
            Fault { slot: self.slot, technique, method, what }.end_run()
        })
    }

    /// Makes a deep copy of the user's object for one drive. The method `begin` of the copy gets
    /// the configuration and a random generator with the given seed. `more` gets the methods of the
    /// copy.
    pub(crate) fn begin<T>(
        &self,
        prototype: &Py<PyAny>,
        config: &DriveConfig,
        seed: u64,
        more: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> T {
        self.call(
            "begin",
            || "a new drive".into(),
            |py| {
                let object = py.import("copy")?.call_method1("deepcopy", (prototype,))?;
                if object.hasattr("begin")? {
                    let random = py.import("numpy.random")?.getattr("default_rng")?;
                    object
                        .call_method1("begin", (python_of(py, config)?, random.call1((seed,))?))?;
                }
                more(&object)
            },
        )
    }
}

/// Returns the configuration of a drive as a Python dict.
pub(crate) fn python_of<'py>(py: Python<'py>, config: &DriveConfig) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(config).map_err(|e| PyValueError::new_err(e.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// Returns the memory in bytes that a controller would need, according to the object.
pub(crate) fn controller_ram(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    let ram: Option<u64> =
        object.getattr_opt("controller_ram_bytes")?.map(|ram| ram.extract()).transpose()?;
    Ok(ram.unwrap_or(0))
}
