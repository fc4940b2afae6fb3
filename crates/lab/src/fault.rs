//! Handling of faults in techniques that were added at run time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use vpass_drive::api::fault::Fault;

use crate::failure::Failure;

/// Runs a simulation. If a technique gives an invalid answer or panics, the simulation ends without
/// a result. The failure then names the technique.
///
/// # Errors
/// Returns an error if the simulation fails, or if a technique causes a fault.
pub(crate) fn caught<T>(simulation: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(simulation)).unwrap_or_else(|payload| {
        match Fault::of(&*payload) {
            Some(fault) => Err(Failure::usage(fault.to_string())),
            None => resume_unwind(payload),
        }
    })
}
