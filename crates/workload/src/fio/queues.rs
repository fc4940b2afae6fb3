//! Queues of the jobs in a stage of a fio job file. As in fio, each clone of a job has its own
//! queue.
//!
//! A clone issues a request when one of its own requests is complete. A clone with a rate follows
//! its clock. A clone takes its next step when the drive reports a completion, or at a time that is
//! known in advance.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vpass_drive::base::request::Request;
use vpass_drive::base::units::Ns;

use super::fio_source::{NEVER, Running};
use super::job::Job;

/// Queues of the clones in a stage.
#[derive(Default)]
pub(super) struct Queues {
    /// Queue of each clone in the job file. Clones of other stages have the state `Over`.
    clones: Vec<CloneQueue>,
    /// Times of the clones' next requests. Requests with equal times keep the order in which they
    /// were entered.
    due: BinaryHeap<Reverse<(Ns, u64, usize)>>,
    entered: u64,
    began: Ns,
}

#[derive(Clone, Copy)]
struct CloneQueue {
    state: State,
    outstanding: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The time of the clone's next request is in `due`.
    Due,
    /// The clone has as many outstanding requests as allowed.
    Full,
    Over,
}

const OVER: CloneQueue = CloneQueue { state: State::Over, outstanding: 0 };

impl Queues {
    /// Begins a stage at time `now`, for the clones that belong to the stage.
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

    /// Hands out the requests whose time is `now` or earlier.
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
                self.clones[i].state = State::Over;
                continue;
            };
            (request.at, request.origin) = (at, i as u16);
            out.push(request);
            self.clones[i].outstanding += 1;
            self.after_request(i, &clones[i], at);
        }
    }

    /// Records that a request of a clone is complete.
    pub(super) fn completed(&mut self, clones: &[Running], origin: u16, now: Ns) {
        let i = usize::from(origin);
        let clone = &mut self.clones[i];
        clone.outstanding -= 1;
        if clone.state == State::Full {
            self.issue_at(i, &clones[i].worker.job, now);
        }
    }

    /// Returns the earliest time at which a clone will issue a request. Returns `Ns::MAX` if the
    /// next request waits for a completion, and `None` if all requests are done.
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
            self.issue_at(i, &clone.worker.job, at);
        }
    }

    fn issue_at(&mut self, i: usize, job: &Job, at: Ns) {
        // If a job's time limit passes while the job waits, the job ends without another request.
        let at = self.end(job).map_or(at, |end| at.min(end));
        if at >= NEVER {
            self.clones[i].state = State::Over;
            return;
        }
        self.clones[i].state = State::Due;
        self.due.push(Reverse((at, self.entered, i)));
        self.entered += 1;
    }

    /// Returns the time at which a job ends because of `runtime`, if the job has this option.
    fn end(&self, job: &Job) -> Option<Ns> {
        job.limits.runtime_ns.map(|ns| self.began.saturating_add(job.start_ns).saturating_add(ns))
    }
}
