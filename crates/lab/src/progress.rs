//! Progress reports. The caller of a long computation receives the reports, and can stop the
//! computation.

/// Receiver of progress reports from one or several tasks.
pub trait Progress: Sync {
    /// Reports that another `done` units of work have been completed. Returns false if the work
    /// must stop.
    fn advance(&self, done: u64) -> bool;

    /// Returns whether the work may continue.
    fn may_go_on(&self) -> bool {
        self.advance(0)
    }

    /// Reports whether the work can be stopped from now on. Some parts of the work, such as the
    /// creation of a drive, cannot be stopped. Before such a part, `listens` is false; after it,
    /// `listens` is true.
    fn listens(&self, _listens: bool) {}

    /// Reports that a stage of the work begins. `_what` describes the stage in a few words. If
    /// there are several tasks, `_whose` is the name of the task.
    fn stage(&self, _whose: Option<&str>, _what: &str) {}

    /// Reports a sentence for the user. The sentence is not part of the results.
    fn note(&self, _sentence: &str) {}
}

/// Function that begins to report the progress of a task. The arguments of the function are the
/// size of the task (`None` if unknown) and the unit of the size.
pub type Begin<'a> = &'a (dyn Fn(Option<u64>, &str) -> Box<dyn Progress> + Sync);

/// Does a part of the work that cannot be stopped. Tells the receiver when this part begins and
/// ends.
pub(crate) fn deaf<T>(progress: &dyn Progress, work: impl FnOnce() -> T) -> T {
    progress.listens(false);
    let done = work();
    progress.listens(true);
    done
}

/// Receiver that ignores all reports and never stops the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn advance(&self, _done: u64) -> bool {
        true
    }
}

/// Function of type [`Begin`] for work whose progress is not reported.
pub fn unwatched(_total: Option<u64>, _things: &str) -> Box<dyn Progress> {
    Box::new(Unwatched)
}
