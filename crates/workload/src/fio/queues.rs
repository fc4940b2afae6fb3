//! Jobs of a stage with a queue each, as in fio: a clone asks again when one of its own requests is
//! complete, pauses when it has to think, and one with a rate asks by its clock. The drive tells of
//! completions; nothing here happens between them but at times known ahead.
//!
//! `thinktime` as fio 3.33 has it: after each request, once `thinktime_blocks` more have been
//! served, the clone waits until all of its requests are complete, and then pauses. A full queue
//! has to wait for a completion before that.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vpass_core::base::request::Request;
use vpass_core::base::units::Ns;

use super::fio_source::{NEVER, Running};
use super::job::Job;

/// See the module.
#[derive(Default)]
pub(super) struct Queues {
    /// One for each clone of the file; those of other stages are over.
    clones: Vec<CloneQueue>,
    /// When a clone asks next, in turns where times are equal.
    due: BinaryHeap<Reverse<(Ns, u64, usize)>>,
    turn: u64,
    began: Ns,
}

#[derive(Clone, Copy)]
struct CloneQueue {
    state: State,
    outstanding: u32,
    issued: u64,
    completed: u64,
    /// Served when it last began to pause.
    thought_at: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It asks at a time in `due`.
    Due,
    /// As many are outstanding as may be.
    Full,
    /// A pause begins when all are complete.
    Draining,
    Over,
}

const OVER: CloneQueue =
    CloneQueue { state: State::Over, outstanding: 0, issued: 0, completed: 0, thought_at: 0 };

impl Queues {
    /// Begins a stage at `now` for those of the clones that belong to it.
    pub(super) fn begin(clones: &[Running], stage: usize, now: Ns) -> Self {
        let mut queues =
            Self { clones: vec![OVER; clones.len()], due: BinaryHeap::new(), turn: 0, began: now };
        for (i, clone) in
            clones.iter().enumerate().filter(|(_, clone)| clone.worker.job.stage == stage)
        {
            let first =
                clone.clocks.as_ref().map_or(clone.worker.job.start_ns, |clocks| clocks.due().0);
            queues.ask_at(i, &clone.worker.job, now.saturating_add(first));
        }
        queues
    }

    /// Hands out what is due at `now`.
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
            let request = if over { None } else { clones[i].ask() };
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

    /// A request of a clone is complete.
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

    /// The time of the next request that is known; `Ns::MAX` where it follows from a completion,
    /// none where all is done.
    pub(super) fn waits_until(&self) -> Option<Ns> {
        let waits = || self.clones.iter().any(|clone| clone.outstanding > 0).then_some(Ns::MAX);
        self.due.peek().map(|Reverse((at, ..))| *at).or_else(waits)
    }

    fn after_request(&mut self, i: usize, clone: &Running, at: Ns) {
        if let Some(clocks) = &clone.clocks {
            self.ask_at(i, &clone.worker.job, self.began.saturating_add(clocks.due().0));
        } else if self.clones[i].outstanding >= clone.worker.job.depth {
            self.clones[i].state = State::Full;
        } else {
            self.go_on(i, &clone.worker.job, at);
        }
    }

    /// The next request now, or the pause before it.
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
        self.ask_at(i, job, now);
    }

    fn pause_if_drained(&mut self, i: usize, job: &Job, now: Ns) {
        if self.clones[i].outstanding == 0 {
            self.ask_at(i, job, now.saturating_add(job.think.map_or(0, |think| think.pause_ns)));
        }
    }

    fn ask_at(&mut self, i: usize, job: &Job, at: Ns) {
        // A job whose time ends while it waits is over then.
        let at = self.end(job).map_or(at, |end| at.min(end));
        if at >= NEVER {
            return self.retire(i, job.exit_all);
        }
        self.clones[i].state = State::Due;
        self.due.push(Reverse((at, self.turn, i)));
        self.turn += 1;
    }

    /// When a job's time is over.
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
