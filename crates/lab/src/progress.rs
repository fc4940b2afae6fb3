//! Reports of progress. The caller receives the reports, and can stop the work.

/// Receiver for the progress of one or several tasks.
pub trait Progress: Sync {
    /// Reports that more work is done. Returns false if the work must stop.
    fn advance(&self, done: u64) -> bool;

    /// Returns whether the work may continue.
    fn may_go_on(&self) -> bool {
        self.advance(0)
    }

    /// Reports whether the work can be stopped now. Some parts of the work, such as creating a
    /// drive, cannot be stopped. The value is false when such a part of the work begins, and true
    /// when the part ends.
    fn listens(&self, _listens: bool) {}

    /// Reports in a few words that a stage of the work begins. If there are several tasks, `_whose`
    /// is the name of the task.
    fn stage(&self, _whose: Option<&str>, _what: &str) {}

    /// Reports a sentence for the user. The sentence is not part of the results.
    fn note(&self, _sentence: &str) {}
}

/// Function that starts the progress report of a task. The function gets the size of the task, if
/// known, and the unit of this size.
pub type Begin<'a> = &'a (dyn Fn(Option<u64>, &str) -> Box<dyn Progress> + Sync);

/// Does a part of the work that cannot be stopped.
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
