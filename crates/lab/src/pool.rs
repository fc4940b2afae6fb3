//! Many runs on several threads: as many drives at a time as memory holds, those with the same
//! requests together, the longest task first.

mod queue;

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;
use crate::memory;
use crate::plan::RunPlan;
use crate::progress::{Begin, Progress};
use crate::run::{Outcome, execute, execute_together, have_the_same_requests};
use crate::setup::Gear;
use queue::{Queue, Task};

/// A plan to be run.
pub struct Job<'a> {
    /// What is to be run.
    pub plan: &'a RunPlan,
    /// In all, where that is known.
    pub requests: Option<u64>,
}

/// A request in the timed gear takes about so many times as long as one in the untimed.
const TIMED_WEIGHT: u64 = 4;

impl Job<'_> {
    /// How long it takes, in requests of the untimed gear.
    fn weight(&self) -> Option<u64> {
        self.requests
            .map(|n| n.saturating_mul(if self.plan.gear == Gear::Timed { TIMED_WEIGHT } else { 1 }))
    }
}

/// How drives that serve the same requests go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As many as there are threads and memory for.
    Fastest,
    /// So few that some end every few seconds: each that has ended is kept by the caller, whatever
    /// becomes of the others.
    EndOften,
}

/// Requests of the untimed gear that drives serve together at most where some are to end often:
/// some ten seconds.
const OFTEN: u64 = 20_000_000;

/// Runs all jobs and gives what `keep` keeps of each, in their order. `threads`: as many as there
/// are cores where absent. Jobs under way take no more memory together than they may, however many
/// threads there are.
///
/// # Errors
/// What ended the first run that failed, or an interruption.
pub fn run_all<T: Send>(
    jobs: &[Job],
    threads: Option<NonZeroUsize>,
    pace: Pace,
    begin: Begin,
    keep: impl Fn(usize, &Outcome) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let keep =
        |i: usize, outcome: Result<&Outcome, &Failure>| keep(i, outcome.map_err(Clone::clone)?);
    run_jobs(jobs, threads, pace, begin, keep, |_| false)
}

/// Runs all jobs. A drive that stops leaves the others to go on, and `keep` gets the reason instead
/// of an outcome.
///
/// # Errors
/// What ended the first run that failed for another reason, or an interruption.
pub fn run_all_that_go_on<T: Send>(
    jobs: &[Job],
    threads: Option<NonZeroUsize>,
    pace: Pace,
    begin: Begin,
    keep: impl Fn(usize, Result<&Outcome, &Failure>) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    run_jobs(jobs, threads, pace, begin, keep, Failure::is_stop)
}

/// What is kept of each job, of its failure where that may stand.
fn run_jobs<T: Send>(
    jobs: &[Job],
    threads: Option<NonZeroUsize>,
    pace: Pace,
    begin: Begin,
    keep: impl Fn(usize, Result<&Outcome, &Failure>) -> Result<T, Failure> + Sync,
    may_stand: fn(&Failure) -> bool,
) -> Result<Vec<T>, Failure> {
    if jobs.is_empty() {
        return Ok(vec![]);
    }
    let needed = jobs.iter().map(|job| memory::require(job.plan)).collect::<Result<Vec<_>, _>>()?;
    let all = jobs.iter().try_fold(0, |sum: u64, job| sum.checked_add(job.requests?));
    let progress = Shared { all: begin(all, "requests"), cancelled: AtomicBool::new(false) };
    let threads = threads.map_or_else(cores, NonZeroUsize::get).min(jobs.len());
    let budget = memory::budget();
    let queue = Queue::new(tasks(jobs, &needed, threads, budget, pace), budget);
    let names = names(jobs);
    let one = |task: &[usize]| {
        let name = task.iter().map(|i| names[*i].as_str()).collect::<Vec<_>>().join(", ");
        let progress =
            OfTask { all: &progress, name: Some(name).filter(|_| jobs.len() > task.len()) };
        let plans: Vec<&RunPlan> = task.iter().map(|i| jobs[*i].plan).collect();
        let outcomes = match plans[..] {
            [plan] => match execute(plan, &progress) {
                Err(failure) if may_stand(&failure) => {
                    return Ok(vec![(task[0], keep(task[0], Err(&failure))?)]);
                }
                outcome => vec![outcome?],
            },
            _ => execute_together(&plans, &progress)?,
        };
        task.iter()
            .zip(outcomes)
            .map(|(i, outcome)| Ok((*i, keep(*i, Ok(&outcome))?)))
            .collect::<Result<Vec<_>, Failure>>()
    };
    let of_a_thread = || {
        let mut results = vec![];
        while let Some(lent) = queue.take() {
            let result = one(&lent.task.jobs);
            if result.is_err() {
                progress.cancel();
                queue.close();
            }
            results.push((lent.task.jobs[0], result));
        }
        results
    };
    let mut results: Vec<_> = self::threads(threads, &progress)?
        .broadcast(|_| of_a_thread())
        .into_iter()
        .flatten()
        .collect();
    // The cause of a stop counts, not who was stopped by it.
    results.sort_by_key(|(first, result)| {
        (result.as_ref().is_err_and(Failure::is_interruption), *first)
    });
    let results: Result<Vec<_>, Failure> = results.into_iter().map(|(_, result)| result).collect();
    let mut kept: Vec<_> = results?.into_iter().flatten().collect();
    kept.sort_by_key(|(i, _)| *i);
    Ok(kept.into_iter().map(|(_, kept)| kept).collect())
}

/// Progress of all runs; the failure of one stops the others.
struct Shared {
    all: Box<dyn Progress>,
    cancelled: AtomicBool,
}

impl Shared {
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Progress for Shared {
    fn advance(&self, done: u64) -> bool {
        self.all.advance(done) && !self.cancelled.load(Ordering::Relaxed)
    }

    fn may_go_on(&self) -> bool {
        self.all.may_go_on() && !self.cancelled.load(Ordering::Relaxed)
    }

    fn listens(&self, listens: bool) {
        self.all.listens(listens);
    }

    fn stage(&self, whose: Option<&str>, what: &str) {
        self.all.stage(whose, what);
    }

    fn note(&self, sentence: &str) {
        self.all.note(sentence);
    }
}

/// Progress of a task, under its name where there are others.
struct OfTask<'a> {
    all: &'a Shared,
    name: Option<String>,
}

impl Progress for OfTask<'_> {
    fn advance(&self, done: u64) -> bool {
        self.all.advance(done)
    }

    fn may_go_on(&self) -> bool {
        self.all.may_go_on()
    }

    fn listens(&self, listens: bool) {
        self.all.listens(listens);
    }

    fn stage(&self, _whose: Option<&str>, what: &str) {
        self.all.stage(self.name.as_deref(), what);
    }

    fn note(&self, sentence: &str) {
        self.all.note(sentence);
    }
}

/// A name for each job: its technique, and its seed where jobs have several.
fn names(jobs: &[Job]) -> Vec<String> {
    let has_seeds = jobs.iter().any(|job| job.plan.seed != jobs[0].plan.seed);
    let seed =
        |plan: &RunPlan| if has_seeds { format!(" (seed {})", plan.seed) } else { String::new() };
    jobs.iter().map(|job| format!("{}{}", job.plan.reclaim, seed(job.plan))).collect()
}

/// Which jobs go together, in the order in which they are to begin. What nobody knows the length of
/// goes first.
fn tasks(jobs: &[Job], needed: &[u64], threads: usize, budget: u64, pace: Pace) -> Vec<Task> {
    let mut alike: Vec<Vec<usize>> = vec![];
    for (i, job) in jobs.iter().enumerate() {
        match alike.iter_mut().find(|group| have_the_same_requests(jobs[group[0]].plan, job.plan)) {
            Some(group) => group.push(i),
            None => alike.push(vec![i]),
        }
    }
    let weight = |task: &Task| {
        task.jobs
            .iter()
            .map(|i| jobs[*i].weight())
            .try_fold(0, |sum: u64, w| Some(sum.saturating_add(w?)))
    };
    // No task is much longer than a thread's share of all the work, or threads would idle in the
    // end; and none takes more than a thread's share of the memory, or they would wait.
    let share = jobs.iter().filter_map(Job::weight).fold(0, u64::saturating_add) / threads as u64;
    let cut = |group: &Vec<usize>| -> Vec<Task> {
        let weight = jobs[group[0]].weight();
        let by_share = weight.map_or(1, |weight| share.div_ceil(weight.max(1))).max(1);
        let by_pace =
            if pace == Pace::EndOften { OFTEN / weight.unwrap_or(OFTEN).max(1) } else { u64::MAX };
        let largest = group.iter().map(|i| needed[*i]).max().unwrap_or(0);
        let most =
            by_share.min(by_pace).min(budget / threads as u64 / largest.max(1)).max(1) as usize;
        let parts = group.chunks(group.len().div_ceil(group.len().div_ceil(most)));
        parts
            .map(|part| Task { jobs: part.to_vec(), needed: part.iter().map(|i| needed[*i]).sum() })
            .collect()
    };
    let mut tasks: Vec<Task> = alike.iter().flat_map(cut).collect();
    tasks.sort_by_key(|task| weight(task).map_or((0, Reverse(0)), |weight| (1, Reverse(weight))));
    tasks
}

/// So many threads, or what is to be had: none but this one where the system gives no other.
///
/// # Errors
/// Not even this thread can be used.
pub fn threads(wanted: usize, progress: &dyn Progress) -> Result<ThreadPool, Failure> {
    ThreadPoolBuilder::new().num_threads(wanted).build().or_else(|e| {
        progress.note(&format!("{wanted} threads are not to be had ({e}): one does all the work"));
        ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build()
            .map_err(Failure::failed)
    })
}

/// As many as there are cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Chosen;
    use crate::progress::unwatched;
    use crate::setup::{Base, Named, Setup};

    fn plan(gear: Gear, seed: u64, until_stable: bool) -> RunPlan {
        let base = Base { gear, seed, ..Base::new("tiny") };
        let setup =
            Setup { until_stable, ..Setup::new(base, Named::Workload("uniform-read".into())) };
        RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap()
    }

    #[test]
    fn where_no_thread_is_to_be_had_this_one_does_all() {
        let alone = || {
            ThreadPoolBuilder::new()
                .num_threads(1)
                .use_current_thread()
                .build()
                .unwrap()
                .broadcast(|_| 7)
        };
        assert_eq!(std::thread::spawn(alone).join().unwrap(), [7]);
    }

    #[test]
    fn what_has_the_same_requests_goes_together_up_to_a_threads_share_and_what_memory_holds() {
        let untimed = |seed, until_stable| plan(Gear::Untimed, seed, until_stable);
        let plans =
            [untimed(1, false), untimed(2, false), plan(Gear::Timed, 1, false), untimed(1, true)];
        // Five drives of 100 requests, two of 50, one timed, one that ends nobody knows when.
        let of = [0, 1, 0, 0, 2, 0, 1, 0, 3];
        let jobs = of
            .map(|p| Job { plan: &plans[p], requests: [Some(100), Some(50), Some(120), None][p] });
        let of_tasks = |threads, needed: u64, budget| -> Vec<Vec<usize>> {
            tasks(&jobs, &[needed; 9], threads, budget, Pace::Fastest)
                .into_iter()
                .map(|task| task.jobs)
                .collect()
        };
        let (five, two) = (vec![0, 2, 3, 5, 7], vec![1, 6]);
        assert_eq!(of_tasks(1, 10, u64::MAX), [vec![8], five.clone(), vec![4], two.clone()]);
        assert_eq!(of_tasks(2, 10, 100), [vec![8], five, vec![4], two]);
        // 1080 in all: 270 a thread.
        let cut = [vec![8], vec![4], vec![0, 2, 3], vec![5, 7], vec![1, 6]];
        assert_eq!(of_tasks(4, 10, u64::MAX), cut);
        assert_eq!(of_tasks(1, 10, 39), cut, "room for three drives");
        assert_eq!(of_tasks(1, 10, 19).len(), 9, "no room for two");
        assert_eq!(of_tasks(1, 10, 5).len(), 9, "nor for one");
        assert_eq!(
            tasks(&jobs, &[1, 2, 3, 4, 5, 6, 7, 8, 9], 1, u64::MAX, Pace::Fastest)[1].needed,
            1 + 3 + 4 + 6 + 8
        );
    }
}
