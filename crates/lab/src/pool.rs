//! Execution of many runs on several threads. The available memory limits the number of
//! simultaneous drives. Drives that serve the same requests run together in one task. The longest
//! task starts first.

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
use queue::Queue;
pub(crate) use queue::Task;

/// Run that a thread has to execute.
pub struct Job<'a> {
    /// Plan of the run.
    pub plan: &'a RunPlan,
    /// Number of requests in the run; `None` if unknown.
    pub requests: Option<u64>,
}

/// Approximate time that the timed gear needs to simulate a request, divided by the time that the
/// untimed gear needs.
const TIMED_WEIGHT: u64 = 4;

impl Job<'_> {
    /// Returns the expected duration of the job. The unit is the time that the untimed gear needs
    /// for a request.
    pub(crate) fn weight(&self) -> Option<u64> {
        self.requests
            .map(|n| n.saturating_mul(if self.plan.gear == Gear::Timed { TIMED_WEIGHT } else { 1 }))
    }
}

/// Rule for grouping drives that serve the same requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Run as many drives together as threads and memory allow.
    Fastest,
    /// Run only few drives together, so that a drive ends every few seconds. The caller can then
    /// keep the results of each finished drive, even if other drives fail.
    EndOften,
}

/// Largest total number of requests for the drives that run together at the pace
/// [`Pace::EndOften`]. In the untimed gear, these requests take about ten seconds.
const OFTEN: u64 = 20_000_000;

/// Runs all jobs. Calls `keep` with each outcome, and returns the results of `keep` in the order of
/// the jobs. If a drive stops, the other drives continue. For the stopped drive, `keep` gets the
/// reason instead of an outcome. If `threads` is `None`, all cores are used. With any number of
/// threads, simultaneous jobs stay within the memory budget.
///
/// # Errors
/// Returns the first error, or an error if the user interrupts the runs. A stopped drive is not an
/// error.
pub fn run_all<T: Send>(
    jobs: &[Job],
    threads: Option<NonZeroUsize>,
    pace: Pace,
    begin: Begin,
    keep: impl Fn(usize, Result<&Outcome, &Failure>) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    if jobs.is_empty() {
        return Ok(vec![]);
    }
    let needed = jobs.iter().map(|job| memory::require(job.plan)).collect::<Result<Vec<_>, _>>()?;
    let all = jobs.iter().try_fold(0, |sum: u64, job| sum.checked_add(job.requests?));
    let progress = begin(all, "requests");
    let threads = threads.map_or_else(cores, NonZeroUsize::get).min(jobs.len());
    let names = names(jobs);
    let one = |task: &[usize], mut progress: OfTask| {
        let name = task.iter().map(|i| names[*i].as_str()).collect::<Vec<_>>().join(", ");
        progress.name = Some(name).filter(|_| jobs.len() > task.len());
        let plans: Vec<&RunPlan> = task.iter().map(|i| jobs[*i].plan).collect();
        let outcomes = match plans[..] {
            [plan] => match execute(plan, &progress) {
                Err(failure) if failure.is_stop() => {
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
    let tasks = tasks(jobs, &needed, threads, memory::budget(), pace);
    run_tasks(tasks, threads, &*progress, one)
}

/// Runs tasks on several threads, within the memory budget. `one` runs the jobs of a task, and
/// returns their results with the numbers of the jobs. Returns all results in the order of the
/// jobs.
///
/// # Errors
/// Returns the first error of `one`. After an error, all other tasks stop.
pub(crate) fn run_tasks<T: Send>(
    tasks: Vec<Task>,
    threads: usize,
    all: &dyn Progress,
    one: impl Fn(&[usize], OfTask) -> Result<Vec<(usize, T)>, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let (queue, cancelled) = (Queue::new(tasks, memory::budget()), AtomicBool::new(false));
    let of_a_thread = || {
        let mut results = vec![];
        while let Some(lent) = queue.take() {
            let result = one(&lent.task.jobs, OfTask { all, cancelled: &cancelled, name: None });
            if result.is_err() {
                cancelled.store(true, Ordering::Relaxed);
                queue.close();
            }
            results.push((lent.task.jobs[0], result));
        }
        results
    };
    let pool = self::threads(threads, all)?;
    let mut results: Vec<_> = pool.broadcast(|_| of_a_thread()).into_iter().flatten().collect();
    // A failure of one run interrupts the other runs. The failure itself must be reported, so it is
    // sorted before the interruptions.
    results.sort_by_key(|(first, result)| {
        (result.as_ref().is_err_and(Failure::is_interruption), *first)
    });
    let results: Result<Vec<_>, Failure> = results.into_iter().map(|(_, result)| result).collect();
    let mut kept: Vec<_> = results?.into_iter().flatten().collect();
    kept.sort_by_key(|(i, _)| *i);
    Ok(kept.into_iter().map(|(_, kept)| kept).collect())
}

/// Progress of one task. If another task fails, this task stops. If there are several tasks, each
/// report contains the name of its task.
pub(crate) struct OfTask<'a> {
    all: &'a dyn Progress,
    cancelled: &'a AtomicBool,
    name: Option<String>,
}

impl Progress for OfTask<'_> {
    fn advance(&self, done: u64) -> bool {
        self.all.advance(done) && !self.cancelled.load(Ordering::Relaxed)
    }

    fn may_go_on(&self) -> bool {
        self.all.may_go_on() && !self.cancelled.load(Ordering::Relaxed)
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

/// Returns a name for each job: the name of the technique. If there are several seeds, the name
/// also contains the seed.
fn names(jobs: &[Job]) -> Vec<String> {
    let has_seeds = jobs.iter().any(|job| job.plan.seed != jobs[0].plan.seed);
    let seed =
        |plan: &RunPlan| if has_seeds { format!(" (seed {})", plan.seed) } else { String::new() };
    jobs.iter().map(|job| format!("{}{}", job.plan.reclaim, seed(job.plan))).collect()
}

/// Groups the jobs into tasks. The tasks are in the order in which they start. Tasks with jobs of
/// unknown length come first.
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
    // Each task has at most its share of the work and of the memory: the total divided by the
    // number of threads. A task with more work would leave other threads idle at the end. A task
    // with more memory would make other tasks wait.
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

/// Returns a thread pool with this number of threads. If the system cannot create threads, the pool
/// has only the current thread.
///
/// # Errors
/// Returns an error if even the current thread cannot be used.
pub fn threads(wanted: usize, progress: &dyn Progress) -> Result<ThreadPool, Failure> {
    ThreadPoolBuilder::new().num_threads(wanted).build().or_else(|e| {
        progress.note(&format!(
            "{wanted} threads are not available ({e}), so one thread does all the work"
        ));
        ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build()
            .map_err(|e| Failure::failed(e.to_string()))
    })
}

/// Returns the number of cores.
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
    fn without_further_threads_this_one_does_all() {
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
    fn equal_requests_go_together_within_a_threads_share_and_the_memory() {
        let untimed = |seed, until_stable| plan(Gear::Untimed, seed, until_stable);
        let plans =
            [untimed(1, false), untimed(2, false), plan(Gear::Timed, 1, false), untimed(1, true)];
        // The test has five drives of 100 requests, two of 50 requests, a timed drive, and a drive
        // with an unknown number of requests.
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
        // The sum of the weights is 1080, so the share of each of four threads is 270.
        let cut = [vec![8], vec![4], vec![0, 2, 3], vec![5, 7], vec![1, 6]];
        assert_eq!(of_tasks(4, 10, u64::MAX), cut);
        assert_eq!(of_tasks(1, 10, 39), cut, "space for three drives");
        assert_eq!(of_tasks(1, 10, 19).len(), 9, "no space for two");
        assert_eq!(of_tasks(1, 10, 5).len(), 9, "no space for one");
        assert_eq!(
            tasks(&jobs, &[1, 2, 3, 4, 5, 6, 7, 8, 9], 1, u64::MAX, Pace::Fastest)[1].needed,
            1 + 3 + 4 + 6 + 8
        );
    }
}
