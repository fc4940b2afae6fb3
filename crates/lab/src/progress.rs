//! How far work is, and whether it is to go on: what the lab tells its caller, and asks.

/// Whoever waits for a piece of work, or for several at the same time.
pub trait Progress: Sync {
    /// Takes note that so much more was done; false where the work is to stop.
    fn advance(&self, done: u64) -> bool;

    /// Whether the work is to go on.
    fn may_go_on(&self) -> bool {
        self.advance(0)
    }

    /// Work begins (false) or is over (true) that does not look whether it is to go on, such as a
    /// drive being made.
    fn listens(&self, _listens: bool) {}

    /// A stage of the work begins, said in a few words; of one piece of work of several, with its
    /// name.
    fn stage(&self, _whose: Option<&str>, _what: &str) {}

    /// Something to know that is no result, in a sentence.
    fn note(&self, _sentence: &str) {}
}

/// Begins to wait for a piece of work: so many of these things in all, where that is known.
pub type Begin<'a> = &'a (dyn Fn(Option<u64>, &str) -> Box<dyn Progress> + Sync);

/// Does something that cannot be asked to stop.
pub(crate) fn deaf<T>(progress: &dyn Progress, work: impl FnOnce() -> T) -> T {
    progress.listens(false);
    let done = work();
    progress.listens(true);
    done
}

/// Nobody waits: work is done to its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn advance(&self, _done: u64) -> bool {
        true
    }
}

/// [`Begin`] of work that nobody waits for.
pub fn unwatched(_total: Option<u64>, _things: &str) -> Box<dyn Progress> {
    Box::new(Unwatched)
}
