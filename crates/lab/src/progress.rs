//! Reports of progress to the caller, who may stop the work.

/// Receiver of the progress of one or more pieces of work.
pub trait Progress: Sync {
    /// Reports that more work is done. Returns false if the work has to stop.
    fn advance(&self, done: u64) -> bool;

    /// Returns whether the work may go on.
    fn may_go_on(&self) -> bool {
        self.advance(0)
    }

    /// Reports a part of the work that cannot be stopped: false at its beginning, true at its end.
    /// The creation of a drive is such a part.
    fn listens(&self, _listens: bool) {}

    /// Reports that a stage of the work begins, in a few words. `_whose` is the name of the work if
    /// there are several pieces of work.
    fn stage(&self, _whose: Option<&str>, _what: &str) {}

    /// Reports a sentence for the user that is not a result.
    fn note(&self, _sentence: &str) {}
}

/// Function that starts the report of a piece of work. It takes the size of the work, if known, and
/// the unit of the size.
pub type Begin<'a> = &'a (dyn Fn(Option<u64>, &str) -> Box<dyn Progress> + Sync);

/// Does a part of the work that cannot be stopped.
pub(crate) fn deaf<T>(progress: &dyn Progress, work: impl FnOnce() -> T) -> T {
    progress.listens(false);
    let done = work();
    progress.listens(true);
    done
}

/// Receiver that reports nothing and never stops the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn advance(&self, _done: u64) -> bool {
        true
    }
}

/// Function of type [`Begin`] for work without a report.
pub fn unwatched(_total: Option<u64>, _things: &str) -> Box<dyn Progress> {
    Box::new(Unwatched)
}
