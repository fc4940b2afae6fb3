//! Extension module of the Python package: runs in this process, policies written in Python, and
//! the command. The package `vpass` gives all of it types and a surface.

mod error;
mod policy;
mod ran;
mod requests;
mod rewrite;
mod run;
mod shared;
mod stated;
mod view;
mod workload;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these words, of which the first is its own name. Returns the exit code.
#[pyfunction]
fn cli(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| vpass_cli::run_command(words))
}

/// vpass for Python.
#[pymodule]
mod _vpass {
    #[pymodule_export]
    use super::cli;
    #[pymodule_export]
    use crate::error::{Bug, DriveStopped, Error, UsageError};
    #[pymodule_export]
    use crate::ran::Ran;
    #[pymodule_export]
    use crate::requests::Listed;
    #[pymodule_export]
    use crate::rewrite::Rewrite;
    #[pymodule_export]
    use crate::run::{effective, run};
    #[pymodule_export]
    use crate::stated::Budget;
    #[pymodule_export]
    use crate::view::View;
    #[expect(non_upper_case_globals, reason = "the name that Python expects")]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
