//! The timed gear: the same drive, with dies, channels, the host link and the write buffer in time.
//!
//! The drive's state changes when a request is served; the physical work that follows from it is queued at the dies.
//! Deferred jobs take a step whenever the schedule lets them. Nothing is polled: time jumps from event to event.

mod dies;
mod host;
mod route;
mod speed;
mod timeline;
mod tree;

use std::collections::VecDeque;

use self::dies::{Dies, Ended, NIL, NewRead, Next, Work, WorkOp};
use self::host::{Host, Measured, Page};
pub(crate) use self::speed::Speed;
use super::split::Pages;
use super::untimed::trim;
use super::{Progress, RunError};
use crate::bugs::Bug;
use crate::config::Schedule;
use crate::drive::{Drive, NandOp};
use crate::ftl::mover::JobRef;
use crate::metrics::TimedMetrics;
use crate::observer::{FROM_BUFFER, NO_PPN};
use crate::reciprocal::Reciprocal;
use crate::request::{Arrival, Op, Request, RequestSource};
use crate::units::{Cause, DieId, Lpn, Ns};

/// Requests taken from the source at a time.
const CHUNK: usize = 1024;
/// Map entries are asked for two groups ahead, counters one: in groups, so that their cache and translation misses overlap.
const GROUP: usize = 16;
/// Busy intervals handed to an observer at a time.
const INTERVALS: usize = 256;

/// Dies, channels, host link and write buffer in time.
pub struct TimedEngine {
    speed: Speed,
    dies: Dies,
    host: Host,
    metrics: TimedMetrics,
    now: Ns,
    by_unit: Reciprocal,
    /// Pages that the write buffer may hold while they are programmed; 0 acknowledges a write when it is programmed.
    program_slots: u32,
    programming: u32,
    /// Writes and trims that wait for room in the buffer: when their latency began, when their data arrived.
    stalled: VecDeque<(Request, Ns, Ns)>,
    /// Programs of copied pages under way; idle gaps are not used to pile up more than two a die.
    copy_programs: u32,
    held_back: VecDeque<DieId>,
    ops: Vec<NandOp>,
    touched: Vec<DieId>,
    schedule: Schedule,
    requests: Vec<Request>,
    next: usize,
    exhausted: bool,
    /// Whether requests come by their own clock, and how many may be outstanding.
    open: bool,
    depth: u32,
    served: u64,
    /// Size and channel time of the last part of a page read.
    last_transfer: (u32, Ns),
}

impl TimedEngine {
    /// An idle drive at time 0. The drive must have been made for the timed gear.
    pub fn new(drive: &Drive) -> Self {
        assert!(drive.timed, "the drive was made for the untimed gear");
        let g = &drive.geometry;
        let t = &drive.config.timing;
        let planes = if t.independent_planes { g.planes_per_die } else { 1 };
        Self {
            speed: Speed::new(&drive.config, g),
            dies: Dies::new(&drive.config, g),
            host: Host::new(),
            metrics: TimedMetrics::default(),
            now: 0,
            by_unit: Reciprocal::new(g.blocks_per_plane * g.planes_per_die / planes),
            program_slots: drive.buffer_slots(),
            programming: 0,
            stalled: VecDeque::new(),
            copy_programs: 0,
            held_back: VecDeque::new(),
            ops: vec![],
            touched: vec![],
            schedule: drive.config.reclaim.schedule,
            requests: vec![],
            next: 0,
            exhausted: false,
            open: false,
            depth: 1,
            served: 0,
            last_transfer: (0, 0),
        }
    }

    /// Latencies so far.
    pub fn metrics(&self) -> &TimedMetrics {
        &self.metrics
    }

    /// Simulated time at which the last request completed.
    pub fn now(&self) -> Ns {
        self.host.last_end
    }

    /// Serves a workload to its end, every request completed; time goes on from call to call. Gives the requests served.
    ///
    /// # Errors
    /// The workload's, or an interruption.
    pub fn run(&mut self, drive: &mut Drive, source: &mut dyn RequestSource, progress: Progress) -> Result<u64, RunError> {
        self.dies.intervals = drive.is_watched().then(Vec::new);
        self.dies.shares_channels = drive.bugs.has(Bug::ChannelShared);
        self.exhausted = false;
        let before = self.served;
        self.pace(drive, source);
        loop {
            let mut arrival = Ns::MAX;
            if self.host.outstanding < self.depth {
                if self.requests.len() - self.next <= 3 * GROUP && !self.exhausted {
                    self.refill(drive, source)?;
                    if !progress(self.served - before) {
                        return Err(RunError::Interrupted);
                    }
                }
                arrival = self.admit(drive);
                if self.host.outstanding == 0 && self.exhausted && self.next == self.requests.len() {
                    if self.begin_stage(drive, source) {
                        continue;
                    }
                    self.hand_over_intervals(drive, 0);
                    return Ok(self.served - before);
                }
            }
            let ((event, next), completion) = (self.dies.next(), self.host.next_completion());
            let at = event.min(completion).min(arrival);
            assert!(at != Ns::MAX, "requests are outstanding, but nothing is going to happen");
            self.now = at;
            if event == at {
                self.step(drive, next);
            } else if completion == at {
                self.host.take_completion();
            }
        }
    }

    /// Submits what may be submitted now of the requests at hand; gives the time of the next arrival that has still to come.
    #[inline]
    fn admit(&mut self, drive: &mut Drive) -> Ns {
        while self.host.outstanding < self.depth {
            let Some(request) = self.requests.get(self.next).copied() else {
                // More may be had from the source: come back at once.
                return if self.exhausted { Ns::MAX } else { self.now };
            };
            if self.open && request.at > self.now {
                return request.at;
            }
            if self.next.is_multiple_of(GROUP) {
                self.look_ahead(drive);
            }
            self.next += 1;
            self.served += 1;
            let start = if self.open { request.at } else { self.now };
            self.submit(drive, &request, start);
        }
        Ns::MAX
    }

    #[cold]
    fn refill(&mut self, drive: &Drive, source: &mut dyn RequestSource) -> Result<(), RunError> {
        self.requests.drain(..self.next);
        self.next = 0;
        let before = self.requests.len();
        source.tell_time(self.now);
        source.fill(&mut self.requests, CHUNK).map_err(RunError::Source)?;
        self.exhausted = self.requests.len() == before;
        self.pace(drive, source);
        Ok(())
    }

    /// Goes on to the source's next stage, if it has one.
    #[cold]
    fn begin_stage(&mut self, drive: &Drive, source: &mut dyn RequestSource) -> bool {
        source.tell_time(self.now);
        let goes_on = source.next_stage();
        if goes_on {
            self.exhausted = false;
            self.pace(drive, source);
        }
        goes_on
    }

    /// Takes over how requests arrive.
    fn pace(&mut self, drive: &Drive, source: &dyn RequestSource) {
        (self.open, self.depth) = match source.arrival() {
            Arrival::Open => (true, drive.config.drive.max_outstanding),
            Arrival::Closed { depth } => (false, depth.max(1)),
        };
    }

    /// Asks for what the next groups of requests will touch.
    fn look_ahead(&self, drive: &Drive) {
        let shift = drive.geometry.page_shift();
        let group = |groups: usize| {
            let from = (self.next + groups * GROUP).min(self.requests.len());
            self.requests[from..].iter().take(GROUP).map(move |r| (r.offset >> shift) as Lpn)
        };
        group(2).for_each(|lpn| drive.prefetch_map(lpn));
        group(1).for_each(|lpn| drive.prefetch_counters(lpn));
    }

    #[inline]
    fn submit(&mut self, drive: &mut Drive, request: &Request, start: Ns) {
        drive.now = self.now;
        self.host.outstanding += 1;
        match request.op {
            Op::Read => self.submit_read(drive, request, start),
            Op::Write => self.submit_write(drive, request, start),
            Op::Trim => {
                drive.host.trim_requests += 1;
                self.accept_in_order(drive, request, start, self.now);
            }
        }
    }

    #[inline]
    fn submit_read(&mut self, drive: &mut Drive, request: &Request, start: Ns) {
        drive.host.read_requests += 1;
        drive.host.read_bytes += u64::from(request.bytes);
        let page_bytes = u64::from(drive.geometry.page_bytes);
        if (request.offset & (page_bytes - 1)) + u64::from(request.bytes) <= page_bytes {
            self.read_part(drive, NIL, (request.offset >> drive.geometry.page_shift()) as Lpn, request.bytes, start);
            return;
        }
        let pages = Pages::of(request, &drive.geometry, drive.geometry.page_shift());
        let slot = self.host.open(start, pages.count, Measured::Read);
        for page in 0..pages.count {
            let (from, to) = pages.range(page);
            self.read_part(drive, slot, pages.first + page, to - from, start);
        }
    }

    /// Reads so many bytes of a page for a request, [`NIL`] where they are all of it.
    #[inline]
    fn read_part(&mut self, drive: &mut Drive, request: u32, lpn: Lpn, bytes: u32, start: Ns) {
        let ppn = drive.read_page(lpn);
        if !drive.ops.is_empty() || !drive.started_jobs.is_empty() {
            // A job in the foreground is queued before the read that triggered it.
            self.route(drive, NIL);
        }
        if ppn == NO_PPN || ppn == FROM_BUFFER {
            let page = Page { request, at: self.now, bytes, start, during_reclaim: false };
            self.host.deliver(page, self.now, &self.speed, &mut self.metrics);
            return;
        }
        let sense = self.speed.sense[drive.geometry.kind_of(ppn) as usize & 3];
        let unit = self.by_unit.quotient(drive.geometry.block_of(ppn)) as usize;
        let read = NewRead { request, bytes, sense, transfer: self.transfer(bytes), start };
        if let Some(busy) = self.dies.queue_read(unit, read, self.now) {
            self.pump(drive, busy);
        }
    }

    /// Transfer time on a channel; a workload has few sizes, often one.
    #[inline]
    fn transfer(&mut self, bytes: u32) -> Ns {
        if bytes != self.last_transfer.0 {
            self.last_transfer = (bytes, self.speed.channel(bytes));
        }
        self.last_transfer.1
    }

    fn submit_write(&mut self, drive: &mut Drive, request: &Request, start: Ns) {
        drive.host.write_requests += 1;
        drive.host.write_bytes += u64::from(request.bytes);
        let arrived = self.host.receive(self.now, request.bytes, &self.speed);
        if self.program_slots == 0 {
            self.write_through(drive, request, start, arrived);
            return;
        }
        self.accept_in_order(drive, request, start, arrived);
    }

    /// Takes in a write or trim now, or behind the writes that wait for room in the buffer.
    fn accept_in_order(&mut self, drive: &mut Drive, request: &Request, start: Ns, arrived: Ns) {
        if self.stalled.is_empty() && self.has_room() {
            self.accept(drive, request, start, arrived);
        } else {
            self.stalled.push_back((*request, start, arrived));
        }
    }

    fn has_room(&self) -> bool {
        self.program_slots == 0 || self.programming < self.program_slots
    }

    /// Takes a write into the buffer, or trims, and acknowledges it.
    fn accept(&mut self, drive: &mut Drive, request: &Request, start: Ns, arrived: Ns) {
        drive.now = self.now;
        let pages = Pages::of(request, &drive.geometry, drive.geometry.page_shift());
        let measured = if request.op == Op::Trim {
            trim(drive, &pages);
            Measured::Not
        } else {
            for page in 0..pages.count {
                drive.write_page(pages.first + page, pages.mask(page));
            }
            Measured::Write
        };
        self.host.complete(start, arrived.max(self.now), measured, self.now, &mut self.metrics);
        self.route(drive, NIL);
    }

    /// Without a write buffer a write is acknowledged when its last page is programmed.
    fn write_through(&mut self, drive: &mut Drive, request: &Request, start: Ns, arrived: Ns) {
        let pages = Pages::of(request, &drive.geometry, drive.geometry.page_shift());
        let slot = self.host.open(start, pages.count, Measured::Write);
        for page in 0..pages.count {
            drive.write_page(pages.first + page, pages.mask(page));
            if self.route(drive, slot) == 0 {
                self.host.finish_part(slot, arrived.max(self.now), self.now, &mut self.metrics);
            }
        }
    }

    /// Carries out the next event of a die or channel.
    #[inline]
    fn step(&mut self, drive: &mut Drive, next: Next) {
        let busy = match next {
            Next::Sensed => {
                if let Some(die) = self.dies.sensed() {
                    self.pump(drive, die);
                }
                return;
            }
            Next::Transferred => {
                let (read, busy) = self.dies.transferred();
                let at = self.now + self.speed.ecc;
                let page = Page { request: read.request, at, bytes: read.bytes, start: read.start, during_reclaim: read.during_reclaim };
                self.host.deliver(page, self.now, &self.speed, &mut self.metrics);
                busy
            }
            Next::Work => self.step_work(drive),
        };
        if let Some(die) = busy {
            self.pump(drive, die);
        }
        self.hand_over_intervals(drive, INTERVALS);
    }

    #[cold]
    fn step_work(&mut self, drive: &mut Drive) -> Option<DieId> {
        let (die, ended) = self.dies.step(&self.speed);
        let Ended::Work { op } = ended else { return None };
        self.work_ended(drive, usize::from(die), &op);
        Some(die)
    }

    fn work_ended(&mut self, drive: &mut Drive, die: usize, op: &WorkOp) {
        if op.cause == Cause::Reclaim {
            drive.reclaim.stall_ns += self.dies.waited_for(die, op, self.now);
        }
        match op.work {
            Work::Program { host: false, .. } => {
                self.copy_programs -= 1;
                if let Some(waiting) = self.held_back.pop_front() {
                    self.pump(drive, waiting);
                }
            }
            Work::Program { host: true, request } => {
                if request != NIL {
                    self.host.finish_part(request, self.now, self.now, &mut self.metrics);
                }
                self.programming -= 1;
                self.unstall(drive);
            }
            Work::Copy { dst: Some(dst), then_host, request } => {
                let target = drive.geometry.die_of(drive.geometry.block_of(dst));
                self.copy_programs += u32::from(!then_host);
                let program = WorkOp::new(Work::Program { host: then_host, request }, op.cause, 0);
                self.dies.queue_work(target, program, false);
                self.pump(drive, target);
            }
            Work::Copy { dst: None, .. } | Work::Erase | Work::Exclusive { .. } => {}
        }
    }

    /// Takes in writes that waited for room in the buffer.
    fn unstall(&mut self, drive: &mut Drive) {
        while self.has_room() {
            let Some((request, start, arrived)) = self.stalled.pop_front() else { return };
            self.accept(drive, &request, start, arrived);
        }
    }

    /// Starts what a die can start, and gives its job a step where the schedule lets it.
    fn pump(&mut self, drive: &mut Drive, die: DieId) {
        let pressure = !self.stalled.is_empty();
        let die_index = usize::from(die);
        if !self.dies.die(die).jobs.is_empty() {
            self.before_dispatch(drive, die);
        }
        while self.dies.dispatch(die_index, self.now, pressure, &self.speed) {
            if !self.step_job(drive, die) {
                return;
            }
            self.before_dispatch(drive, die);
        }
    }

    /// Drops finished jobs, notes urgency, and queues the next batch of a job under `batch:N`.
    fn before_dispatch(&mut self, drive: &mut Drive, die: DieId) {
        drive.now = self.now;
        while let Some((job, _)) = self.dies.die(die).jobs.front().copied() {
            if drive.job(job).is_some() {
                break;
            }
            self.dies.job_done(die);
        }
        let urgent = self.dies.die(die).jobs.iter().position(|(j, _)| drive.job(*j).is_some_and(|j| drive.is_urgent(j)));
        if let Some(i) = urgent {
            self.dies.die(die).jobs.swap(0, i);
        }
        self.dies.die(die).urgent = urgent.is_some();
        let Schedule::Batch(copies) = self.schedule else { return };
        let d = self.dies.die(die);
        let Some((job, cause)) = d.jobs.front().copied() else { return };
        let has_piece = !d.exclusive.is_empty() || d.runs_exclusive();
        if !has_piece && cause == Cause::Reclaim {
            self.queue_batch(drive, die, job, copies);
        }
    }

    /// Copies the next pages of a job in one uninterrupted piece.
    fn queue_batch(&mut self, drive: &mut Drive, die: DieId, job: JobRef, copies: u32) {
        drive.now = self.now;
        drive.record(NandOp::JobBegin { die, cause: Cause::Reclaim });
        for _ in 0..copies {
            if !drive.step_job(job) {
                break;
            }
        }
        drive.record(NandOp::JobEnd);
        self.route_batch(drive);
    }

    /// Moves one page of the job at the head of an idle die. False where the die has to wait.
    fn step_job(&mut self, drive: &mut Drive, die: DieId) -> bool {
        let urgent = self.dies.die(die).urgent;
        if !urgent && self.copy_programs >= 2 * drive.geometry.dies() {
            self.held_back.push_back(die);
            return false;
        }
        let Some((job, _)) = self.dies.die(die).jobs.front().copied() else { return false };
        drive.now = self.now;
        if !drive.step_job(job) {
            self.dies.job_done(die);
        }
        self.queue_ops(drive, NIL);
        self.pump_touched(drive, Some(die));
        true
    }

    /// Tells whoever watches which dies and channels were busy when.
    #[inline]
    fn hand_over_intervals(&mut self, drive: &mut Drive, at_least: usize) {
        if let Some(intervals) = &mut self.dies.intervals
            && intervals.len() > at_least
        {
            drive.tell(|o| o.occupied(intervals));
            intervals.clear();
        }
    }
}
