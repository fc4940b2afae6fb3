//! Wrong answer or panic of a technique made at run time, called a fault. A fault ends the run
//! without a result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Wrong answer or panic of a technique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Name of the table of the technique's slot.
    pub slot: &'static str,
    /// Name of the technique.
    pub technique: &'static str,
    /// Name of the technique's method in which the fault occurred.
    pub method: &'static str,
    /// Text that says what was wrong, and what would be right.
    pub what: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Self { slot, technique, method, what } = self;
        write!(f, "{slot} technique `{technique}`, in {method}: {what}")
    }
}

impl Fault {
    /// Ends the run. The fault is the payload of the panic, and no panic message is printed.
    pub fn end_run(self) -> ! {
        resume_unwind(Box::new(self))
    }

    /// Returns the fault that ended a run; `None` if the run ended because of another panic.
    pub fn of(payload: &(dyn Any + Send)) -> Option<&Self> {
        payload.downcast_ref()
    }
}

/// Calls a method of a technique. If the method panics, the run ends with a fault that names the
/// technique.
pub(super) fn guarded<T>(
    slot: &'static str,
    technique: &'static str,
    method: &'static str,
    call: impl FnOnce() -> T,
) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| {
        if Fault::of(&*payload).is_some() {
            resume_unwind(payload);
        }
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        Fault { slot, technique, method, what: format!("it panicked: {text}") }.end_run()
    })
}
