//! Experiments: sets of plans that run on shared threads. Finished runs are kept on disk.
//! Comparisons and sweeps are experiments.

mod rows;
pub mod seeds;

pub use rows::{Hear, Note, OnDisk, Resumed, Rows};

use std::num::NonZeroUsize;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::plan::RunPlan;
use crate::pool::{self, Job, Pace};
use crate::progress::Begin;
use crate::run::Outcome;

/// Engine of an experiment.
#[derive(Clone, Copy)]
pub struct Engine<'a> {
    /// Name of the experiment, such as `compare`. Experiments with different names never share
    /// finished rows on disk.
    pub name: &'a str,
    /// Finished rows on disk.
    pub rows: &'a Rows,
    /// Number of threads; `None` selects the number of cores.
    pub threads: Option<NonZeroUsize>,
    /// Function that starts the progress display of the runs.
    pub begin: Begin<'a>,
}

impl Engine<'_> {
    /// Returns a result for each plan, in order. A plan runs only if no earlier experiment has
    /// finished it.
    ///
    /// `asked` returns those settings of a row that are not in the row's plan. `row` makes the row
    /// that is kept on disk, from an outcome or from the reason why a drive stopped. `finish` makes
    /// the result from a row, which may be new or kept.
    ///
    /// # Errors
    /// Returns the first error of a run, of `row` or of `finish`. Also returns an error if the user
    /// interrupts the runs.
    pub fn run<T: Serialize + DeserializeOwned + Send, R: Send>(
        &self,
        plans: &[&RunPlan],
        asked: impl Fn(usize) -> String,
        row: impl Fn(usize, Result<&Outcome, &Failure>) -> Result<T, Failure> + Sync,
        finish: impl Fn(usize, T) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, Failure> {
        let resumed = self.rows.resumed(self.name, plans.to_vec(), asked)?;
        let (found, missing) = resumed.found();
        let mut finished = vec![];
        for (i, found) in found.into_iter().enumerate() {
            finished.push(found.map(|row| finish(i, row)).transpose()?);
        }
        let mut jobs = vec![];
        for i in &missing {
            jobs.push(Job { plan: plans[*i], requests: plans[*i].requests()? });
        }
        let pace = if resumed.are_kept() { Pace::EndOften } else { Pace::Fastest };
        let run = |job: usize, outcome: Result<&Outcome, &Failure>| {
            let i = missing[job];
            let row = row(i, outcome)?;
            resumed.keep(i, &row);
            finish(i, row)
        };
        let ended = pool::run_all_that_go_on(&jobs, self.threads, pace, self.begin, run)?;
        for (i, result) in missing.iter().zip(ended) {
            finished[*i] = Some(result);
        }
        Ok(finished.into_iter().map(|one| one.expect("a kept or finished run")).collect())
    }
}
