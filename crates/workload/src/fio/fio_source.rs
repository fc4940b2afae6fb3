//! Joins the jobs of a fio job file into one stream of requests for a drive.
//!
//! The jobs between two `stonewall`s are a stage. A stage begins when all requests of the previous
//! stage are complete. Within a stage:
//! - A single job runs as a closed loop with `iodepth` outstanding requests.
//! - If a stage has several jobs, or a single job that starts late, each clone of a job (`numjobs`)
//!   has its own queue ([`super::queues`]). A clone issues its next request when one of its own
//!   requests is complete.
//! - If all jobs have a rate, the stage is an open loop. Requests of all jobs are merged by arrival
//!   time ([`super::rate_clocks`]).
//!
//! The untimed gear has no clock. In this gear, jobs without a rate form one closed loop. If the
//! user gives a queue depth for the run, all jobs form one closed loop in every gear, and the rates
//! of the jobs are ignored. In a closed loop, the share of each job in the requests is proportional
//! to the depth of the job.
//!
//! A job with the option `runtime` ends when this simulated time has passed. The end is exact
//! except for a single job without a rate. Such a job may issue about 100 more requests, because
//! the source hands out these requests in advance.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

use rand_core::SeedableRng;
use vpass_drive::base::phrase::Phrase;
use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;

use super::file::{FioOptions, JobFile};
use super::job::Job;
use super::layout::{Part, layout};
use super::queues::Queues;
use super::rate_clocks::RateClocks;
use super::record::{JobCounts, JobRecord};
use super::worker::Worker;
use crate::pass::PassSource;
use crate::synthetic::random::Random;

/// Source of the requests of a fio job file.
pub struct FioSource {
    workers: Vec<Running>,
    stages: usize,
    stage: usize,
    options: FioOptions,
    records: Vec<JobRecord>,
    notes: Vec<Phrase>,
    /// Clones that still have requests. The clone that issues the next request comes first. In a
    /// closed loop, each clone has a counter that grows by `step` with each request, and the lowest
    /// counter comes first. In an open loop, the earliest next request comes first.
    queue: BinaryHeap<Reverse<(u128, usize)>>,
    /// Sum of the queue depths of all clones in `queue`. `depth` is the sum that was last reported
    /// to the drive.
    active_depth: u32,
    depth: u32,
    /// Queues of the clones, if each clone has a queue of its own. If this field is set, `queue` is
    /// not used.
    queues: Option<Queues>,
    now: Ns,
    stage_began: Ns,
    /// Job number of each clone, and counts of each job's requests so far.
    job_of: Vec<u16>,
    counts: Vec<JobCounts>,
}

/// Clone of a fio job that is running.
pub(super) struct Running {
    pub(super) worker: Worker,
    pub(super) clocks: Option<RateClocks>,
    /// Number that each request adds to the clone's counter in a closed loop ([`STEP`]).
    step: u128,
}

impl Running {
    /// Returns the next request of the clone, and advances the clock of the request's direction.
    pub(super) fn issue(&mut self) -> Option<Request> {
        let Some(clocks) = &mut self.clocks else { return self.worker.next(None) };
        let (due, op) = clocks.due();
        let request = if due < NEVER { self.worker.next(Some(op)) } else { None };
        if let Some(request) = &request {
            clocks.arrived(op, request.bytes, &mut self.worker.streams.arrival);
        }
        request
    }
}

/// Largest number of requests that the source hands out at once while a job has a time limit.
const SHORT_BATCH: usize = 64;
/// Number that a request adds to the counter of a clone whose queue depth is 1. At depth n, a
/// request adds 1/n of this number. As a result, the clone gets n times as many requests.
const STEP: u128 = 1 << 32;
/// Largest total size of the random maps of all jobs, in bits. This size is 1 GiB.
const MAP_BITS: u64 = 1 << 33;
/// Time that stands for "never", in ns. The value is 146 years.
pub(super) const NEVER: Ns = 1 << 62;

impl FioSource {
    /// Makes the source of requests for a drive that has `capacity` bytes and pages of `page_bytes`
    /// bytes.
    ///
    /// # Errors
    /// Returns an error if a job does not fit onto the drive, or if the gear cannot run a job.
    pub fn new(
        file: &JobFile,
        capacity: u64,
        page_bytes: u32,
        options: FioOptions,
    ) -> Result<Self, SourceError> {
        let mut root = Random::seed_from_u64(options.seed);
        let mut map_bits = MAP_BITS;
        let mut notes = file.notes.clone();
        let parts = layout(&file.name, &file.jobs, capacity, page_bytes, &mut notes)?;
        let (mut workers, mut records, mut job_of) = (Vec::new(), Vec::new(), Vec::new());
        for (i, (job, parts)) in file.jobs.iter().zip(&parts).enumerate() {
            file.check(job, options, &mut notes)?;
            let shared = Arc::new(job.clone());
            for part in parts {
                let worker = new_worker(&shared, part, &mut root, &mut map_bits)?;
                let clocks = RateClocks::new(job).filter(|_| options.queue_depth.is_none());
                // As in fio, there are at most 4,096 clones, so job numbers fit into 16 bits.
                job_of.push(i as u16);
                workers.push(Running { worker, clocks, step: STEP / u128::from(job.depth) });
            }
            records.push(JobRecord::new(job, parts));
        }
        let stages = file.jobs.last().map_or(0, |job| job.stage) + 1;
        let mut source = Self {
            workers,
            stages,
            stage: 0,
            options,
            counts: vec![JobCounts::default(); records.len()],
            records,
            notes,
            job_of,
            queues: None,
            queue: BinaryHeap::new(),
            active_depth: 0,
            depth: 1,
            now: 0,
            stage_began: 0,
        };
        source.begin_stage(0);
        Ok(source)
    }

    /// Returns the record of each job for the results.
    pub fn jobs(&self) -> &[JobRecord] {
        &self.records
    }

    /// Returns the counts of each job's requests, over all passes so far.
    pub fn counts(&self) -> &[JobCounts] {
        &self.counts
    }

    /// Returns the job number of each clone. The `origin` of a request is the number of its clone.
    pub fn job_of(&self) -> &[u16] {
        &self.job_of
    }

    /// Returns notes for the user. Each note is one sentence.
    pub fn notes(&self) -> &[Phrase] {
        &self.notes
    }

    fn begin_stage(&mut self, stage: usize) {
        (self.stage, self.stage_began) = (stage, self.now);
        let of_stage = self.workers.iter().enumerate().filter(|(_, r)| r.worker.job.stage == stage);
        self.queue = of_stage
            .map(|(i, r)| Reverse((r.clocks.as_ref().map_or(0, |c| u128::from(c.due().0)), i)))
            .collect();
        self.active_depth =
            self.queue.iter().map(|Reverse((_, i))| self.workers[*i].worker.job.depth).sum();
        self.depth = self.active_depth.max(1);
        self.queues = self.is_reactive().then(|| Queues::begin(&self.workers, stage, self.now));
    }

    /// Returns whether each clone of the stage waits for completions of its own requests.
    fn is_reactive(&self) -> bool {
        if !self.options.has_clock || self.options.queue_depth.is_some() {
            return false;
        }
        let mut clones = self.workers.iter().filter(|r| r.worker.job.stage == self.stage);
        let several = clones.clone().nth(1).is_some();
        clones.any(|r| r.clocks.is_none() && (several || r.worker.job.start_ns > 0))
    }

    /// Counts requests that were handed out, each for its own job.
    fn count(&mut self, requests: &[Request]) {
        for request in requests {
            self.counts[usize::from(self.job_of[usize::from(request.origin)])].add(request);
        }
    }

    fn is_open(&self) -> bool {
        self.options.queue_depth.is_none()
            && self.workers.iter().any(|r| r.worker.job.stage == self.stage && r.clocks.is_some())
    }

    /// Removes a clone from the stage. Before this call, the clone must have been removed from
    /// `queue`.
    fn retire(&mut self, worker: usize) {
        self.active_depth -= self.workers[worker].worker.job.depth;
    }

    /// Removes clones from the closed loop if their time limit has passed. Returns true if one of
    /// the remaining clones has a time limit.
    fn retire_by_time(&mut self) -> bool {
        if !self.options.has_clock {
            return false;
        }
        let passed = self.now - self.stage_began;
        let runtime = |workers: &[Running], i: usize| workers[i].worker.job.limits.runtime_ns;
        let over = |i: usize| runtime(&self.workers, i).is_some_and(|ns| ns <= passed);
        let over: Vec<usize> =
            self.queue.iter().map(|Reverse((_, i))| *i).filter(|i| over(*i)).collect();
        if !over.is_empty() {
            self.queue.retain(|Reverse((_, i))| !over.contains(i));
            for i in over {
                self.retire(i);
            }
        }
        self.queue.iter().any(|Reverse((_, i))| runtime(&self.workers, *i).is_some())
    }

    fn fill_closed(&mut self, out: &mut Vec<Request>, max: usize) {
        let most = if self.retire_by_time() { max.min(SHORT_BATCH) } else { max };
        let end = out.len() + most;
        while out.len() < end {
            if !self.queue.is_empty() {
                self.depth = self.active_depth.max(1);
            }
            let Some(mut first) = self.queue.peek_mut() else { return };
            let Reverse((position, i)) = *first;
            let running = &mut self.workers[i];
            if let Some(request) = running.worker.next(None) {
                out.push(Request { origin: i as u16, ..request });
                *first = Reverse((position + running.step, i));
                continue;
            }
            PeekMut::pop(first);
            self.retire(i);
            if out.len() > end - most {
                // The batch ends when a clone ends, because the queue depth changes at this point.
                return;
            }
        }
    }

    fn fill_open(&mut self, out: &mut Vec<Request>, max: usize) {
        let end = out.len() + max;
        while out.len() < end {
            let Some(mut first) = self.queue.peek_mut() else { return };
            let Reverse((_, i)) = *first;
            let running = &mut self.workers[i];
            let due = running.clocks.as_ref().map_or(NEVER, |clocks| clocks.due().0);
            let job = &running.worker.job;
            let in_time = due < NEVER
                && job.limits.runtime_ns.is_none_or(|ns| due < ns.saturating_add(job.start_ns));
            let request = if in_time { running.issue() } else { None };
            // The next stage must not begin before the last request of this stage.
            self.now = self.now.max(self.stage_began + due.min(NEVER));
            if let Some(request) = request {
                out.push(Request { at: self.stage_began + due, origin: i as u16, ..request });
                let next = running.clocks.as_ref().map_or(NEVER, |clocks| clocks.due().0);
                *first = Reverse((u128::from(next), i));
            } else {
                PeekMut::pop(first);
                self.retire(i);
            }
        }
    }
}

/// Makes a clone of a job. The clone gets the next random stream of `root`.
fn new_worker(
    job: &Arc<Job>,
    part: &Part,
    root: &mut Random,
    map_bits: &mut u64,
) -> Result<Worker, SourceError> {
    let own = root.clone();
    root.long_jump();
    Worker::new(job, part, own, map_bits)
        .map_err(|what| job.place.complain(format_args!("job {}: {what}", job.label)))
}

impl RequestSource for FioSource {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let before = out.len();
        if let Some(queues) = &mut self.queues {
            queues.fill(&mut self.workers, self.now, out, max);
        } else if self.is_open() {
            self.fill_open(out, max);
        } else {
            self.fill_closed(out, max);
        }
        self.count(&out[before..]);
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        if self.queues.is_some() {
            return Arrival::Reactive;
        }
        if self.is_open() {
            return Arrival::Open;
        }
        Arrival::Closed { depth: self.options.queue_depth.unwrap_or(self.depth) }
    }

    fn tell_time(&mut self, now: Ns) {
        self.now = self.now.max(now);
    }

    fn completed(&mut self, origin: u16) {
        if let Some(queues) = &mut self.queues {
            queues.completed(&self.workers, origin, self.now);
        }
    }

    fn waits_until(&self) -> Option<Ns> {
        self.queues.as_ref().and_then(Queues::waits_until)
    }

    fn next_stage(&mut self) -> bool {
        let more = self.has_next_stage();
        if more {
            self.begin_stage(self.stage + 1);
        }
        more
    }

    fn len_hint(&self) -> Option<u64> {
        let by_time = |r: &Running| {
            let limits = &r.worker.job.limits;
            limits.runtime_ns.is_some() && self.options.has_clock && limits.number_ios.is_none()
        };
        self.workers.iter().try_fold(0u64, |sum, r| {
            if by_time(r) { None } else { sum.checked_add(r.worker.about()?) }
        })
    }
}

impl PassSource for FioSource {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        for running in &mut self.workers {
            running.worker.begin();
            running.clocks =
                RateClocks::new(&running.worker.job).filter(|_| self.options.queue_depth.is_none());
        }
        self.begin_stage(0);
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.workers.iter().map(|running| running.worker.memory()).sum()
    }

    fn has_next_stage(&self) -> bool {
        self.stage + 1 < self.stages
    }

    fn as_fio(&self) -> Option<&FioSource> {
        Some(self)
    }
}
