//! Extension module of the Python package: runs in this process, policies written in Python, and
//! the command. The Python package `vpass` adds types and the public interface.

mod error;
mod object;
mod observer;
mod policy;
mod ran;
mod refresh;
mod requests;
mod rewrite;
mod run;
mod shared;
mod stated;
mod verdict;
mod victims;
mod view;
mod workload;

use std::ffi::OsString;
use std::io::{self, Write};

use pyo3::prelude::*;

use crate::error::Told;

/// Runs the command with the given words, the first of which is the program's name. Returns the
/// exit code.
#[pyfunction]
fn cli(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| vpass_cli::run_command(words))
}

/// Runs the command as `cli` does, but writes a failure as one line of JSON to standard error.
#[pyfunction]
fn ask(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| {
        vpass_cli::run_command_telling(words, &|failure| {
            // If standard error is closed, the failure is lost, but its exit code is still
            // returned.
            let _ = writeln!(io::stderr().lock(), "{}", Told::of(failure).json());
        })
    })
}

/// Extension module of vpass for Python.
#[pymodule]
mod _vpass {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{ask, cli};
    #[pymodule_export]
    use crate::error::{Bug, DriveStopped, Error, UsageError};
    #[pymodule_export]
    use crate::observer::event_names;
    #[pymodule_export]
    use crate::ran::Ran;
    #[pymodule_export]
    use crate::refresh::Aged;
    #[pymodule_export]
    use crate::requests::Listed;
    #[pymodule_export]
    use crate::rewrite::Rewrite;
    #[pymodule_export]
    use crate::run::{config, duration_ns, effective, fit_in_memory, layers, requests, run};
    #[pymodule_export]
    use crate::stated::Budget;
    #[pymodule_export]
    use crate::verdict::{read_wear_net, verdict};
    #[pymodule_export]
    use crate::victims::Candidates;
    #[pymodule_export]
    use crate::view::View;
    #[expect(non_upper_case_globals, reason = "the name that Python expects")]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Gives every exception class the attributes of a failure, with the value `None`.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let error = module.py().get_type::<Error>();
        super::Told::NAMES.iter().try_for_each(|name| error.setattr(*name, module.py().None()))
    }
}
