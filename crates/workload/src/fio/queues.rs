//! Queues of the jobs of a stage, one per clone, as in fio.
//!
//! A clone issues a request when one of its own requests is complete. It pauses if it has a
//! `thinktime`, and uses its clock if it has a rate. Each step happens at a completion, which the
//! drive reports, or at a time that is known before.
//!
//! `thinktime` works as in fio 3.33. After each request, the clone checks whether
//! `thinktime_blocks` more requests have been served. If so, it waits until all of its requests are
//! complete, then pauses. If the queue is full, it first waits for one completion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vpass_core::base::request::Request;
use vpass_core::base::units::Ns;

use super::fio_source::{NEVER, Running};
use super::job::Job;

/// Queues of the clones of a stage.
#[derive(Default)]
pub(super) struct Queues {
    /// One queue for each clone in the file. A clone that belongs to another stage has the state
    /// `Over`.
    clones: Vec<CloneQueue>,
    /// Times of the clones' next requests. Equal times keep the order in which they were entered.
    due: BinaryHeap<Reverse<(Ns, u64, usize)>>,
    entered: u64,
    began: Ns,
}

#[derive(Clone, Copy)]
struct CloneQueue {
    state: State,
    outstanding: u32,
    issued: u64,
    completed: u64,
    /// Number of requests that were served when the latest pause began.
    thought_at: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The next request has a time in `due`.
    Due,
    /// As many requests as allowed are outstanding.
    Full,
    /// A pause will begin when all requests are complete.
    Draining,
    Over,
}

const OVER: CloneQueue =
    CloneQueue { state: State::Over, outstanding: 0, issued: 0, completed: 0, thought_at: 0 };

impl Queues {
    /// Begins a stage at `now`, for the clones that belong to it.
    pub(super) fn begin(clones: &[Running], stage: usize, now: Ns) -> Self {
        let mut queues = Self {
            clones: vec![OVER; clones.len()],
            due: BinaryHeap::new(),
            entered: 0,
            began: now,
        };
        for (i, clone) in
            clones.iter().enumerate().filter(|(_, clone)| clone.worker.job.stage == stage)
        {
            let first =
                clone.clocks.as_ref().map_or(clone.worker.job.start_ns, |clocks| clocks.due().0);
            queues.issue_at(i, &clone.worker.job, now.saturating_add(first));
        }
        queues
    }

    /// Hands out the requests due at `now`.
    pub(super) fn fill(
        &mut self,
        clones: &mut [Running],
        now: Ns,
        out: &mut Vec<Request>,
        max: usize,
    ) {
        let end = out.len() + max;
        while out.len() < end {
            let Some(Reverse((at, _, i))) = self.due.peek().copied() else { return };
            if at > now {
                return;
            }
            self.due.pop();
            let over = self.end(&clones[i].worker.job).is_some_and(|end| at >= end);
            let request = if over { None } else { clones[i].issue() };
            let Some(mut request) = request else {
                self.retire(i, clones[i].worker.job.exit_all);
                continue;
            };
            (request.at, request.origin) = (at, i as u16);
            out.push(request);
            self.clones[i].outstanding += 1;
            self.clones[i].issued += 1;
            self.after_request(i, &clones[i], at);
        }
    }

    /// Records that a request of a clone is complete.
    pub(super) fn completed(&mut self, clones: &[Running], origin: u16, now: Ns) {
        let i = usize::from(origin);
        let clone = &mut self.clones[i];
        clone.outstanding -= 1;
        clone.completed += 1;
        if clone.state == State::Full {
            self.go_on(i, &clones[i].worker.job, now);
        } else if clone.state == State::Draining {
            self.pause_if_drained(i, &clones[i].worker.job, now);
        }
    }

    /// Returns the time of the next request, or `Ns::MAX` if the next request waits for a
    /// completion. Returns `None` if all requests are done.
    pub(super) fn waits_until(&self) -> Option<Ns> {
        let waits = || self.clones.iter().any(|clone| clone.outstanding > 0).then_some(Ns::MAX);
        self.due.peek().map(|Reverse((at, ..))| *at).or_else(waits)
    }

    fn after_request(&mut self, i: usize, clone: &Running, at: Ns) {
        if let Some(clocks) = &clone.clocks {
            self.issue_at(i, &clone.worker.job, self.began.saturating_add(clocks.due().0));
        } else if self.clones[i].outstanding >= clone.worker.job.depth {
            self.clones[i].state = State::Full;
        } else {
            self.go_on(i, &clone.worker.job, at);
        }
    }

    /// Issues the next request now, or begins a pause before the request.
    fn go_on(&mut self, i: usize, job: &Job, now: Ns) {
        let clone = &mut self.clones[i];
        let served = |counts_issued| if counts_issued { clone.issued } else { clone.completed };
        if let Some(think) = job.think
            && served(think.counts_issued) >= clone.thought_at + think.blocks
        {
            clone.thought_at = served(think.counts_issued);
            clone.state = State::Draining;
            self.pause_if_drained(i, job, now);
            return;
        }
        self.issue_at(i, job, now);
    }

    fn pause_if_drained(&mut self, i: usize, job: &Job, now: Ns) {
        if self.clones[i].outstanding == 0 {
            self.issue_at(i, job, now.saturating_add(job.think.map_or(0, |think| think.pause_ns)));
        }
    }

    fn issue_at(&mut self, i: usize, job: &Job, at: Ns) {
        // If the time of a job ends during a wait, the job ends at that time.
        let at = self.end(job).map_or(at, |end| at.min(end));
        if at >= NEVER {
            return self.retire(i, job.exit_all);
        }
        self.clones[i].state = State::Due;
        self.due.push(Reverse((at, self.entered, i)));
        self.entered += 1;
    }

    /// Returns the end of a job's time.
    fn end(&self, job: &Job) -> Option<Ns> {
        job.limits.runtime_ns.map(|ns| self.began.saturating_add(job.start_ns).saturating_add(ns))
    }

    fn retire(&mut self, i: usize, exit_all: bool) {
        self.clones[i].state = State::Over;
        if exit_all {
            self.due.clear();
            self.clones.iter_mut().for_each(|clone| clone.state = State::Over);
        }
    }
}
