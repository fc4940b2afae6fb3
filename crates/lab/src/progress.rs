//! Progress of work: reports to the caller, which may stop the work.

/// Receiver of the progress of one or several pieces of work.
pub trait Progress: Sync {
    /// Notes that more work is done; returns false if the work has to stop.
    fn advance(&self, done: u64) -> bool;

    /// Returns whether the work may go on.
    fn may_go_on(&self) -> bool {
        self.advance(0)
    }

    /// Notes that work begins (false) or ends (true) during which no stop is noticed, such as the
    /// creation of a drive.
    fn listens(&self, _listens: bool) {}

    /// Notes that a stage of the work begins, in a few words; for one of several pieces of work,
    /// with its name.
    fn stage(&self, _whose: Option<&str>, _what: &str) {}

    /// Notes a sentence for the user that is not a result.
    fn note(&self, _sentence: &str) {}
}

/// Starts the report of a piece of work, with its size if known, and the unit of the size.
pub type Begin<'a> = &'a (dyn Fn(Option<u64>, &str) -> Box<dyn Progress> + Sync);

/// Does work during which no stop is noticed.
pub(crate) fn deaf<T>(progress: &dyn Progress, work: impl FnOnce() -> T) -> T {
    progress.listens(false);
    let done = work();
    progress.listens(true);
    done
}

/// Receiver that never stops the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn advance(&self, _done: u64) -> bool {
        true
    }
}

/// [`Begin`] for work that is not reported.
pub fn unwatched(_total: Option<u64>, _things: &str) -> Box<dyn Progress> {
    Box::new(Unwatched)
}
