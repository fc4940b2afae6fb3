//! Experiments: comparisons of combinations of techniques, at one or at several points. All runs
//! share the threads, and finished runs are kept on disk.

mod combinations;
pub mod net;
mod rows;

pub use combinations::Combinations;
pub use rows::{Hear, Note, OnDisk, Resumed, Rows};

use std::num::{NonZeroU32, NonZeroUsize};

use serde::Serialize;
use serde::de::DeserializeOwned;
use vpass_drive::base::phrase::Phrase;

use crate::compare::pairs::SEEDS;
use crate::compare::refused::Refused;
use crate::compare::{Comparison, Finished};
use crate::failure::Failure;
use crate::files::{self, File};
use crate::manifest::Call;
use crate::plan::{RunPlan, require_few, require_room, room_of_each};
use crate::pool::{self, Job, Pace};
use crate::progress::Begin;
use crate::results::{Batch, Summary};
use crate::run::Outcome;
use crate::setup::Setup;

/// Largest work of a row that is run with several seeds. The unit is the time that the untimed gear
/// needs for a request; the work takes about ten seconds on two cores.
const MOST_WORK: u64 = 40_000_000;

/// Finished run as it is kept on disk: its summary, its batches, and its files with their names. If
/// the drive stopped, the reason is kept instead.
type Record = Result<(Box<Summary>, Option<Vec<Batch>>, Vec<File>), String>;

/// Plans of one technique, in ascending order of the seeds.
pub struct Planned {
    /// Label of the technique.
    pub label: String,
    /// Plan of each seed.
    pub plans: Vec<RunPlan>,
}

/// Comparison whose runs are planned.
pub struct Experiment {
    /// Techniques that run. There is at least one.
    pub techniques: Vec<Planned>,
    /// Techniques that do not suit the drive or the workload.
    pub refused: Vec<Refused>,
    /// Reasons why techniques that the user did not name are left out.
    pub left_out: Vec<String>,
}

/// Function that stores the files of the run with this name.
pub type WriteRun<'a> = dyn Fn(&str, Vec<File>) -> Result<(), Failure> + Sync + 'a;

/// Receiver of the files of each run.
pub struct Files<'a> {
    /// Call of the program, for the manifests.
    pub call: Call,
    /// Function that stores the files of the run with this name.
    pub write: &'a WriteRun<'a>,
}

impl Experiment {
    /// Plans the runs of all combinations. If `seeds` is `None`, the length of a run determines the
    /// number of seeds.
    ///
    /// # Errors
    /// Returns an error for an unknown name, for a technique that is named twice, or if no
    /// combination suits the drive and the workload.
    pub fn new(
        setup: &Setup,
        combinations: &Combinations,
        seeds: Option<NonZeroU32>,
        begin: Begin,
    ) -> Result<Self, Failure> {
        // The trace may be long. Therefore only the first plan reads the trace, and all other plans
        // are made from the first plan.
        let first = RunPlan::unchecked(setup, combinations.first(), begin)?;
        let (mut rows, mut left_out, mut refused) = (vec![], vec![], vec![]);
        for named in combinations.all() {
            let label = combinations.label(named);
            let why = match first.with_room_or_not(named) {
                Ok(plan) => {
                    rows.push((label, plan));
                    continue;
                }
                Err(why) => why.in_dialect(first.dialect),
            };
            // If the user names no techniques, the comparison leaves out techniques that do not fit
            // the settings.
            if combinations.may_leave_out(named, |other| first.with_room_or_not(other).is_ok()) {
                let sentence = format!("left out: {why}");
                left_out.extend((!left_out.contains(&sentence)).then_some(sentence));
            } else {
                // `Refused::of` fails if a technique has an unknown name. The whole comparison then
                // ends.
                refused.push(Refused::of(named, label, why)?);
            }
        }
        let labels = rows.iter().map(|(label, _)| label);
        let labels: Vec<&String> = labels.chain(refused.iter().map(|row| &row.label)).collect();
        require_distinct(&labels)?;
        let rows = with_room(rows, &mut refused)?;
        if rows.is_empty() {
            let why = refused.first().map_or_else(|| left_out.join("; "), |row| row.why.clone());
            return Err(Failure::usage(why));
        }
        let plans: Vec<&RunPlan> = rows.iter().map(|(_, plan)| plan).collect();
        let seeds = seeds.map_or_else(|| seeds_by_default(&plans), |seeds| Ok(seeds.get()))?;
        require_few(rows.len(), seeds)?;
        let mut techniques = vec![];
        for (label, plan) in rows {
            plan.require_no_acceleration()?;
            let plans = (0..u64::from(seeds)).map(|i| plan.with_later_seed(i));
            techniques.push(Planned { label, plans: plans.collect::<Result<_, _>>()? });
        }
        Ok(Self { techniques, refused, left_out })
    }

    /// Returns the plan of the first technique and the first seed.
    pub fn first(&self) -> &RunPlan {
        &self.techniques[0].plans[0]
    }

    /// Returns the number of seeds.
    pub fn seeds(&self) -> u32 {
        self.techniques[0].plans.len() as u32
    }

    /// Returns the notes to print before the runs. A note about several techniques appears only
    /// once.
    ///
    /// # Errors
    /// Returns an error if a trace can no longer be read.
    pub fn notes(&self) -> Result<Vec<Phrase>, Failure> {
        notes(&self.plans().collect::<Vec<_>>())
    }

    /// Lets the runs record what their files need, if `files` is true.
    #[must_use]
    pub fn with_files(mut self, files: bool) -> Self {
        self.techniques.iter_mut().flat_map(|one| &mut one.plans).for_each(|p| p.files = files);
        self
    }

    fn plans(&self) -> impl Iterator<Item = &RunPlan> + Clone {
        self.techniques.iter().flat_map(|one| &one.plans)
    }

    fn twins(&self) -> Vec<RunPlan> {
        net::twins(&self.techniques[0].plans, &self.plans().collect::<Vec<_>>())
    }

    /// Returns the name of the results folder for each plan, in the order of the techniques.
    fn names(&self) -> impl Iterator<Item = String> {
        self.techniques.iter().flat_map(|Planned { label, plans }| {
            plans.iter().map(move |plan| match plans.len() {
                1 => label.replace(' ', ""),
                _ => format!("{}-seed{}", label.replace(' ', ""), plan.seed),
            })
        })
    }

    /// Compares finished runs. `plans` has the plans of the techniques, then those of the twins.
    fn compared(
        &self,
        plans: &[&RunPlan],
        mut finished: Vec<Result<Summary, Failure>>,
    ) -> Comparison {
        net::add(plans, &mut finished);
        let mut runs = finished.into_iter();
        let mut finished = vec![];
        for Planned { label, plans } in &self.techniques {
            let runs = runs.by_ref().take(plans.len()).collect();
            finished.push(Finished { plan: &plans[0], label: label.clone(), runs });
        }
        Comparison::of(finished, self.refused.clone())
    }
}

/// Returns the number of seeds for rows with these plans, which serve the same requests. The number
/// depends only on the plans, never on measured time.
///
/// # Errors
/// Returns an error if the workload is invalid or cannot be read.
fn seeds_by_default(rows: &[&RunPlan]) -> Result<u32, Failure> {
    if rows.iter().all(|plan| plan.ignores_seed()) {
        return Ok(1);
    }
    let job = Job { plan: rows[0], requests: rows[0].requests()? };
    let is_short = job.weight().is_some_and(|work| work <= MOST_WORK);
    Ok(if is_short { SEEDS as u32 } else { 1 })
}

/// Returns the notes of the first plan, and the notes that other plans add.
///
/// # Errors
/// Returns an error if a trace can no longer be read.
pub fn notes(plans: &[&RunPlan]) -> Result<Vec<Phrase>, Failure> {
    let mut notes = plans[0].notes()?;
    for note in plans[1..].iter().flat_map(|plan| plan.promise_notes()) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(notes)
}

/// Refuses a label that stands twice in the list.
///
/// # Errors
/// Returns an error that names the label.
pub fn require_distinct(labels: &[&String]) -> Result<(), Failure> {
    let twice = (1..labels.len()).find(|n| labels[..*n].contains(&labels[*n]));
    twice.map_or(Ok(()), |n| {
        let label = labels[n];
        Err(Failure::usage(format!("{label} is named twice; name each technique once")))
    })
}

/// Returns the plans whose drives have room for the parity pages. All drives offer the same
/// capacity to the host. Plans without room are added to `refused`. If no plan has room, the error
/// names the largest capacity at which all plans have room.
fn with_room(
    rows: Vec<(String, RunPlan)>,
    refused: &mut Vec<Refused>,
) -> Result<Vec<(String, RunPlan)>, Failure> {
    let plans: Vec<&RunPlan> = rows.iter().map(|(_, plan)| plan).collect();
    let why = room_of_each(&plans);
    if why.iter().all(Option::is_some) {
        require_room(&plans)?;
    }
    let mut fitting = vec![];
    for ((label, plan), why) in rows.into_iter().zip(why) {
        match why {
            None => fitting.push((label, plan)),
            Some(why) => refused.push(Refused::of(plan.chosen(), label, why)?),
        }
    }
    Ok(fitting)
}

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
        let pace = if resumed.are_kept() { Pace::EndOften } else { Pace::Fastest };
        resumed.completed(&finish, |missing| {
            let mut jobs = vec![];
            for i in missing {
                jobs.push(Job { plan: plans[*i], requests: plans[*i].requests()? });
            }
            let run = |job: usize, outcome: Result<&Outcome, &Failure>| {
                let i = missing[job];
                let row = row(i, outcome)?;
                resumed.keep(i, &row);
                finish(i, row)
            };
            pool::run_all(&jobs, self.threads, pace, self.begin, run)
        })
    }

    /// Runs the comparisons of these experiments. If `files` is given, it receives the files of
    /// each run.
    ///
    /// # Errors
    /// Returns the first error of a run or of `files`. A drive that stops is not an error.
    pub fn compare(
        &self,
        experiments: &[&Experiment],
        files: Option<&Files>,
    ) -> Result<Vec<Comparison>, Failure> {
        let twins: Vec<Vec<RunPlan>> = experiments.iter().map(|one| one.twins()).collect();
        let plans: Vec<Vec<&RunPlan>> = experiments
            .iter()
            .zip(&twins)
            .map(|(one, twins)| one.plans().chain(twins).collect())
            .collect();
        let all = plans.concat();
        // Twins have no name and no files.
        let names: Vec<Option<String>> = experiments
            .iter()
            .zip(&plans)
            .flat_map(|(one, plans)| {
                let names = one.names().map(Some).chain(std::iter::repeat(None));
                names.take(plans.len()).collect::<Vec<_>>()
            })
            .collect();
        let record = |i: usize, outcome: Result<&Outcome, &Failure>| -> Result<Record, Failure> {
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(stop) => return Ok(Err(stop.in_dialect(all[i].dialect))),
            };
            let files = match files.filter(|_| names[i].is_some()) {
                Some(files) => files::of_run(all[i], outcome, &files.call)?,
                None => vec![],
            };
            let summary = &outcome.summary;
            Ok(Ok((Box::new(summary.clone()), summary.batches.clone(), files)))
        };
        let finish = |i: usize, record: Record| {
            let (summary, batches, own) = match record {
                Ok(parts) => parts,
                Err(why) => return Ok(Err(Failure::stopped(why))),
            };
            if let (Some(files), Some(name)) = (files, &names[i]) {
                (files.write)(name, own)?;
            }
            Ok(Ok(Summary { batches, ..*summary }))
        };
        let mut finished = self.run(&all, |_| String::new(), record, finish)?.into_iter();
        let compared = experiments.iter().zip(&plans);
        Ok(compared
            .map(|(one, plans)| one.compared(plans, finished.by_ref().take(plans.len()).collect()))
            .collect())
    }
}
