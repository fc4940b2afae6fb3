//! Simulation of many lives on several threads. If one drive stops, the other lives go on.

use std::num::NonZeroUsize;

use super::windows::Windows;
use super::{Lived, Until, live};
use crate::failure::{Failure, Kind};
use crate::memory;
use crate::plan::{RunPlan, Tables};
use crate::pool::{self, Task};
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
    let mut tasks = vec![];
    for (i, one) in asked.iter().enumerate() {
        tasks.push(Task { jobs: vec![i], needed: memory::require(one.plan)? });
    }
    let threads = threads.map_or_else(pool::cores, NonZeroUsize::get).min(asked.len());
    let progress = begin(Some(PARTS * asked.len() as u64), "parts of the lives");
    progress.stage(None, "simulating lives");
    pool::run_tasks(tasks, threads, &*progress, |jobs, progress| {
        let i = jobs[0];
        let result = live(&asked[i], until, tables, &progress);
        match &result {
            Ok(lived) => ended(i, lived),
            Err(failure) if may_stand(failure) => {}
            Err(failure) => return Err(failure.clone()),
        }
        Ok(vec![(i, result)])
    })
}

/// Returns whether a failure concerns only one drive. Other drives may then continue.
fn may_stand(failure: &Failure) -> bool {
    failure.is_stop() || failure.kind == Kind::Usage
}
