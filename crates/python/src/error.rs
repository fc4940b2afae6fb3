//! Exceptions of the package, with the sentences of the command.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use vpass_lab::failure::{Failure, Kind};

create_exception!(vpass, Error, PyException, "What could not be done, in a sentence.");
create_exception!(
    vpass,
    UsageError,
    Error,
    "A question that has no answer, and what would be right."
);
create_exception!(vpass, DriveStopped, Error, "The simulated drive could not go on.");
create_exception!(vpass, Bug, Error, "A fault of vpass. Please report it.");

/// Returns the exception of a failure.
pub(crate) fn raised(failure: Failure) -> PyErr {
    let sentence = failure.sentence;
    match failure.kind {
        Kind::Usage => UsageError::new_err(sentence),
        Kind::Failed => Error::new_err(sentence),
        Kind::Stopped => DriveStopped::new_err(sentence),
        Kind::Interrupted => PyKeyboardInterrupt::new_err(sentence),
    }
}
