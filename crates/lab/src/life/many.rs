//! Simulation of many lives on several threads. If one drive stops, the other lives go on.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::{Lived, Until, live};
use crate::failure::{Failure, Kind};
use crate::memory;
use crate::plan::{RunPlan, Tables};
use crate::pool;
use crate::progress::{Begin, Progress};

/// Number of parts into which the progress of a life is divided.
pub(super) const PARTS: u64 = 1000;

/// Life to simulate.
#[derive(Clone, Copy, Debug)]
pub struct OneLife<'a> {
    /// Plan of the life.
    pub plan: &'a RunPlan,
    /// Number of P/E cycles for which an erase counts after the warm-up. The number is 1 for an
    /// exact life.
    pub acceleration: NonZeroU32,
}

/// Time at which the simulation of lives is stopped. `None` without a limit.
pub type Deadline = Option<Instant>;

/// Simulates lives and returns them in order. Lives of one workload share `tables`. Each finished
/// life is reported to `ended`. Without `threads`, the simulation uses all cores.
///
/// For each life, the list has the results, or the reason why the drive stopped or was refused.
/// Returns `None` if the deadline passes before all lives are finished.
///
/// # Errors
/// Returns the first error that concerns more than a single drive. Also returns an error if the
/// user interrupts the simulation.
pub fn live_each(
    asked: &[OneLife],
    until: Until,
    threads: Option<NonZeroUsize>,
    tables: &Tables,
    begin: Begin,
    deadline: Deadline,
    ended: &(dyn Fn(usize, &Lived) + Sync),
) -> Result<Option<Vec<Result<Lived, Failure>>>, Failure> {
    if asked.is_empty() {
        return Ok(Some(vec![]));
    }
    let needed =
        asked.iter().map(|one| memory::require(one.plan)).collect::<Result<Vec<_>, _>>()?;
    let at_once = memory::budget() / needed.iter().copied().max().unwrap_or(1).max(1);
    let threads = threads
        .map_or_else(pool::cores, NonZeroUsize::get)
        .min(asked.len())
        .min(at_once.max(1) as usize);
    let all = begin(Some(PARTS * asked.len() as u64), "parts of the lives");
    all.stage(None, "simulating lives");
    let progress = Watched { all, deadline, is_late: AtomicBool::new(false) };
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let lived: Mutex<Vec<(usize, Result<Lived, Failure>)>> = Mutex::new(vec![]);
    let one_after_the_other = || {
        while !failed.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = asked.get(i) else { return };
            let result = live(one, until, tables, &progress);
            failed.fetch_or(
                result.as_ref().is_err_and(|failure| !may_stand(failure)),
                Ordering::Relaxed,
            );
            if let Ok(lived) = &result {
                ended(i, lived);
            }
            lived.lock().unwrap_or_else(PoisonError::into_inner).push((i, result));
        }
    };
    pool::threads(threads.max(1), &progress)?.broadcast(|_| one_after_the_other());
    let mut lived = lived.into_inner().unwrap_or_else(PoisonError::into_inner);
    if progress.is_late.load(Ordering::Relaxed) && progress.all.may_go_on() && gave_up(&lived) {
        return Ok(None);
    }
    lived.sort_by_key(|(i, result)| (result.as_ref().is_err_and(Failure::is_interruption), *i));
    if let Some(why) = lived
        .iter()
        .find_map(|(_, result)| result.as_ref().err().filter(|failure| !may_stand(failure)))
    {
        return Err(why.clone());
    }
    lived.sort_by_key(|(i, _)| *i);
    Ok(Some(lived.into_iter().map(|(_, lived)| lived).collect()))
}

/// Returns whether a failure concerns only one drive. Other drives may then continue.
fn may_stand(failure: &Failure) -> bool {
    failure.is_stop() || failure.kind == Kind::Usage
}

/// Returns whether lives were interrupted. Returns false if any life failed for another reason that
/// concerns more than a single drive.
fn gave_up(lived: &[(usize, Result<Lived, Failure>)]) -> bool {
    let mut failures = lived
        .iter()
        .filter_map(|(_, result)| result.as_ref().err())
        .filter(|failure| !may_stand(failure));
    failures.next().is_some_and(Failure::is_interruption) && failures.all(Failure::is_interruption)
}

/// Reporter of progress that interrupts the simulation at the deadline.
struct Watched {
    all: Box<dyn Progress>,
    deadline: Deadline,
    is_late: AtomicBool,
}

impl Watched {
    fn is_in_time(&self) -> bool {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.is_late.fetch_or(is_late, Ordering::Relaxed);
        !is_late
    }
}

impl Progress for Watched {
    fn advance(&self, done: u64) -> bool {
        self.all.advance(done) && self.is_in_time()
    }

    fn may_go_on(&self) -> bool {
        self.all.may_go_on() && self.is_in_time()
    }

    fn listens(&self, listens: bool) {
        self.all.listens(listens);
    }

    fn note(&self, sentence: &str) {
        self.all.note(sentence);
    }
}
