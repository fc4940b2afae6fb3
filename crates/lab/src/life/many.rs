//! Simulation of many lives on several threads. If one drive stops, the other lives go on.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::windows::Windows;
use super::{Lived, Until, live};
use crate::failure::{Failure, Kind};
use crate::memory;
use crate::plan::{RunPlan, Tables};
use crate::pool;
use crate::progress::Begin;

/// Number of parts into which the progress of a life is divided.
pub(super) const PARTS: u64 = 1000;

/// Life to simulate.
#[derive(Clone, Copy, Debug)]
pub struct OneLife<'a> {
    /// Plan of the life.
    pub plan: &'a RunPlan,
    /// Windows of the life that are simulated. `None` if every P/E cycle is simulated.
    pub windows: Option<Windows>,
    /// Largest work of the simulation, in programmed pages. `None` without a limit.
    pub most_work: Option<u64>,
}

/// Simulates lives and returns them in order. Lives of one workload share `tables`. Each finished
/// life is reported to `ended`. Without `threads`, the simulation uses all cores.
///
/// For each life, the list has the results, or the reason why the drive stopped or was refused.
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
    ended: &(dyn Fn(usize, &Lived) + Sync),
) -> Result<Vec<Result<Lived, Failure>>, Failure> {
    if asked.is_empty() {
        return Ok(vec![]);
    }
    let needed =
        asked.iter().map(|one| memory::require(one.plan)).collect::<Result<Vec<_>, _>>()?;
    let at_once = memory::budget() / needed.iter().copied().max().unwrap_or(1).max(1);
    let threads = threads
        .map_or_else(pool::cores, NonZeroUsize::get)
        .min(asked.len())
        .min(at_once.max(1) as usize);
    let progress = begin(Some(PARTS * asked.len() as u64), "parts of the lives");
    progress.stage(None, "simulating lives");
    let progress = &*progress;
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let lived: Mutex<Vec<(usize, Result<Lived, Failure>)>> = Mutex::new(vec![]);
    let one_after_the_other = || {
        while !failed.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = asked.get(i) else { return };
            let result = live(one, until, tables, progress);
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
    pool::threads(threads.max(1), progress)?.broadcast(|_| one_after_the_other());
    let mut lived = lived.into_inner().unwrap_or_else(PoisonError::into_inner);
    lived.sort_by_key(|(i, result)| (result.as_ref().is_err_and(Failure::is_interruption), *i));
    if let Some(why) = lived
        .iter()
        .find_map(|(_, result)| result.as_ref().err().filter(|failure| !may_stand(failure)))
    {
        return Err(why.clone());
    }
    lived.sort_by_key(|(i, _)| *i);
    Ok(lived.into_iter().map(|(_, lived)| lived).collect())
}

/// Returns whether a failure concerns only one drive. Other drives may then continue.
fn may_stand(failure: &Failure) -> bool {
    failure.is_stop() || failure.kind == Kind::Usage
}
