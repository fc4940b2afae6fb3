//! Experiments: plans that share threads, and whose finished runs are kept on disk. Comparisons,
//! sweeps and recipes of papers run on this engine, and lives keep their rows by it.

pub mod paper;
mod rows;

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
    /// Name of the experiment, such as `compare`. Experiments of other names never share rows.
    pub name: &'a str,
    /// Rows that are kept on disk.
    pub rows: &'a Rows,
    /// Number of threads; `None` selects the number of cores.
    pub threads: Option<NonZeroUsize>,
    /// Function that begins the progress of the runs.
    pub begin: Begin<'a>,
}

impl Engine<'_> {
    /// Runs all plans that no earlier experiment finished, and returns a result for each plan, in
    /// order.
    ///
    /// `asked` returns settings of a row that are not in its plan. `row` makes the row that is kept
    /// of an outcome, or of the reason why a drive stopped. `finish` makes the result of a row that
    /// ran now or before.
    ///
    /// # Errors
    /// Returns the first error of a run, of `row` or of `finish`, or an interruption.
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
