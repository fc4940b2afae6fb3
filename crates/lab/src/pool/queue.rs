//! Queue of tasks that wait for memory. A task starts when the running tasks leave enough memory
//! for it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Jobs that run together on one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// Indexes of the jobs in the list of all jobs.
    pub(crate) jobs: Vec<usize>,
    /// Number of bytes that the jobs need together.
    pub(crate) needed: u64,
}

/// Tasks that have not started, and the memory that the running tasks do not use.
pub(super) struct Queue {
    state: Mutex<State>,
    given_back: Condvar,
}

struct State {
    tasks: Vec<Task>,
    left: u64,
    under_way: usize,
}

/// Running task. When the task ends, its memory becomes free again.
pub(super) struct Lent<'a> {
    queue: &'a Queue,
    bytes: u64,
    pub(super) task: Task,
}

impl Queue {
    pub(super) fn new(tasks: Vec<Task>, budget: u64) -> Self {
        Self {
            state: Mutex::new(State { tasks, left: budget, under_way: 0 }),
            given_back: Condvar::new(),
        }
    }

    /// Waits until a task fits into the free memory, and returns the task. A task that exceeds the
    /// whole budget runs alone. Returns `None` if no task is left.
    pub(super) fn take(&self) -> Option<Lent<'_>> {
        let mut state = self.state();
        loop {
            if state.tasks.is_empty() {
                return None;
            }
            let first = if state.under_way == 0 {
                Some(0)
            } else {
                state.tasks.iter().position(|task| task.needed <= state.left)
            };
            if let Some(first) = first {
                let task = state.tasks.remove(first);
                let bytes = task.needed.min(state.left);
                state.left -= bytes;
                state.under_way += 1;
                return Some(Lent { queue: self, bytes, task });
            }
            state = self.given_back.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Cancels all tasks that are still waiting.
    pub(super) fn close(&self) {
        self.state().tasks.clear();
        self.given_back.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.under_way -= 1;
        state.left += self.bytes;
        if thread::panicking() {
            state.tasks.clear();
        }
        drop(state);
        self.queue.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn tasks(needed: &[u64]) -> Vec<Task> {
        needed
            .iter()
            .enumerate()
            .map(|(i, needed)| Task { jobs: vec![i], needed: *needed })
            .collect()
    }

    fn jobs(lent: Option<&Lent>) -> Option<usize> {
        lent.map(|lent| lent.task.jobs[0])
    }

    #[test]
    fn the_first_task_that_fits_begins_and_one_that_never_fits_runs_alone() {
        let queue = Queue::new(tasks(&[60, 50, 40, 150, 100]), 100);
        let (first, second) = (queue.take(), queue.take());
        assert_eq!((jobs(first.as_ref()), jobs(second.as_ref())), (Some(0), Some(2)));
        drop(first);
        let third = queue.take();
        assert_eq!(jobs(third.as_ref()), Some(1));
        drop((second, third));
        let alone = queue.take();
        assert_eq!(jobs(alone.as_ref()), Some(3));
        assert_eq!(queue.state().left, 0);
        drop(alone);
        assert_eq!(queue.state().left, 100, "the returned memory equals the assigned memory");
        queue.close();
        assert!(queue.take().is_none());
    }

    #[test]
    fn running_tasks_stay_within_the_budget() {
        let needed: Vec<u64> = (0..400).map(|i| 1 + i * 37 % 50).collect();
        let (queue, under_way, most, done) = (
            Queue::new(tasks(&needed), 100),
            AtomicU64::new(0),
            AtomicU64::new(0),
            AtomicU64::new(0),
        );
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    while let Some(lent) = queue.take() {
                        let now = under_way.fetch_add(lent.task.needed, Ordering::SeqCst)
                            + lent.task.needed;
                        most.fetch_max(now, Ordering::SeqCst);
                        done.fetch_add(1, Ordering::SeqCst);
                        thread::yield_now();
                        under_way.fetch_sub(lent.task.needed, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 400);
        // The number of tasks that run at once depends on the machine. The first test shows that
        // several tasks can run at once.
        assert!(most.into_inner() <= 100);
    }

    #[test]
    fn a_panic_leaves_no_thread_waiting() {
        let queue = Queue::new(tasks(&[100, 100, 100]), 100);
        thread::scope(|scope| {
            let lent = queue.take();
            let waits = scope.spawn(|| queue.take().is_some());
            let panics = scope.spawn(move || {
                let _lent = lent;
                panic!("on purpose");
            });
            assert!(panics.join().is_err());
            assert!(!waits.join().unwrap(), "no further task begins");
        });
    }
}
