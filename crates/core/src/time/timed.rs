//! The timed gear: the same drive, with dies, channels, the host link and the write buffer in time.
//!
//! The drive's state changes when a request is served; the physical work that follows from it is queued at the dies.
//! Deferred jobs take a step whenever the schedule lets them. Nothing is polled: time jumps from event to event.

mod dies;
mod host;
mod jobs;
mod reactive;
mod route;
mod speed;
mod submit;
mod timeline;
mod tree;
mod watch;
mod wordlines;

use std::collections::VecDeque;

use self::dies::{Dies, Ended, NIL, Next, ReadOp, Work, WorkOp};
use self::host::{Host, Page};
pub(crate) use self::speed::Speed;
use self::wordlines::Wordlines;
use super::{Progress, RunError, before_the_end, check_arrivals};
use crate::base::metrics::{Groups, TimedMetrics};
use crate::base::reciprocal::Reciprocal;
use crate::base::request::{Arrival, Request, RequestSource};
use crate::base::units::{Cause, DieId, Lpn, Ns, us};
use crate::bugs::{Bug, planted};
use crate::config::Schedule;
use crate::drive::Drive;
use crate::flash::count::TRACKED;
use crate::flash::ops::NandOp;
use crate::watch::time_event::TimeEvent;

/// Requests taken from the source at a time.
const CHUNK: usize = 1024;
/// Map entries are asked for two groups ahead, counters one: in groups, so that their cache and translation misses overlap.
const GROUP: usize = 16;

/// A request on its way in: its number, and when its latency began.
#[derive(Clone, Copy)]
struct Asked {
    request: Request,
    number: u32,
    start: Ns,
}

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
    /// Writes and trims that wait for room in the buffer.
    stalled: VecDeque<Asked>,
    /// Programs of copied pages under way; idle gaps are not used to pile up more than two a die.
    copy_programs: u32,
    held_back: VecDeque<DieId>,
    /// Wordlines that wait for pages to be read for them.
    wordlines: Wordlines,
    /// Time without a request after which incomplete wordlines are padded, and when requests ended or that was done last.
    pad_after: Option<Ns>,
    quiet_since: Ns,
    ops: Vec<NandOp>,
    /// What was queued at dies besides host reads.
    works: u32,
    touched: Vec<DieId>,
    schedule: Schedule,
    requests: Vec<Request>,
    /// Number of the first of them, modulo 2^32.
    first: u32,
    next: usize,
    exhausted: bool,
    /// Whether requests come by their own clock, and how many may be outstanding.
    open: bool,
    depth: u32,
    /// Whether they follow from completions instead.
    reactive: bool,
    served: u64,
    /// Size and channel time of the last part of a page read.
    last_transfer: (u32, Ns),
}

impl TimedEngine {
    /// An idle drive at time 0. The drive must have been made for the timed gear.
    pub fn new(drive: &Drive) -> Self {
        assert!(drive.is_timed(), "the drive was made for the untimed gear");
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
            wordlines: Wordlines::default(),
            pad_after: (drive.flash.by_wordline() && t.pad_after_us > 0.0).then(|| us(t.pad_after_us)),
            quiet_since: 0,
            ops: vec![],
            works: 0,
            touched: vec![],
            schedule: drive.config.reclaim.schedule,
            requests: vec![],
            first: 0,
            next: 0,
            exhausted: false,
            open: false,
            depth: 1,
            reactive: false,
            served: 0,
            last_transfer: (0, 0),
        }
    }

    /// Latencies so far.
    pub fn metrics(&self) -> &TimedMetrics {
        &self.metrics
    }

    /// From now on latencies are counted for groups of origins too: `group_of` gives the group of each origin.
    pub fn count_groups(&mut self, group_of: &[u16]) {
        self.metrics.groups = Groups::new(group_of);
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
        self.begin_watch(drive);
        (self.dies.bugs, self.host.bugs) = (drive.bugs, drive.bugs);
        let before = self.served;
        loop {
            self.exhausted = false;
            self.pace(drive, source);
            if self.reactive {
                self.react(drive, source, progress, before)?;
            } else {
                self.stream(drive, source, progress, before)?;
            }
            if !self.begin_stage(source) {
                self.end_watch(drive);
                return Ok(self.served - before);
            }
        }
    }

    /// Serves a stage whose requests come by their own clock or by the number outstanding; at the end all are complete.
    fn stream(&mut self, drive: &mut Drive, source: &mut dyn RequestSource, progress: Progress, before: u64) -> Result<(), RunError> {
        loop {
            let mut arrival = Ns::MAX;
            let mut is_idle = false;
            if self.host.outstanding < self.depth {
                if self.requests.len() - self.next <= 3 * GROUP && !self.exhausted {
                    self.refill(drive, source)?;
                    if !progress(self.served - before, drive) {
                        return Err(RunError::Interrupted);
                    }
                }
                arrival = self.admit(drive);
                is_idle = self.host.outstanding == 0;
                if is_idle && self.exhausted && self.next == self.requests.len() {
                    return Ok(());
                }
            }
            let ((event, next), completion) = (self.dies.next(), self.host.next_event());
            let at = event.min(completion).min(arrival);
            if is_idle && self.pads_before(drive, at) {
                continue;
            }
            assert!(at != Ns::MAX, "requests are outstanding, but nothing is going to happen");
            self.now = at;
            if event == at {
                self.step(drive, next);
            } else if completion == at
                && let Some(asked) = self.host.take_event()
            {
                self.take_in(drive, &asked);
            }
        }
    }

    /// Pads what has waited for its wordline through a pause that ends before this; the drive may have work to do sooner then.
    #[cold]
    fn pads_before(&mut self, drive: &mut Drive, at: Ns) -> bool {
        let Some(pad_after) = self.pad_after.filter(|_| !drive.ftl.gathers.is_empty()) else { return false };
        let due = (self.quiet_since.max(self.host.last_end) + pad_after * if planted(Bug::PadsLate) { 2 } else { 1 }).max(self.now);
        if due >= at {
            return false;
        }
        (self.now, self.quiet_since, drive.now) = (due, due, due);
        drive.pad_streams();
        self.route(drive, NIL);
        true
    }

    /// Submits what may be submitted now of the requests at hand; gives the time of the next arrival that has still to come.
    #[inline]
    fn admit(&mut self, drive: &mut Drive) -> Ns {
        let held_back = u32::from(drive.bugs.has(Bug::RequestHeldBack) && self.depth > 1);
        while self.host.outstanding + held_back < self.depth + u32::from(planted(Bug::RequestTooMany)) {
            let Some(&request) = self.requests.get(self.next) else {
                // More may be had from the source: come back at once.
                return if self.exhausted { Ns::MAX } else { self.now };
            };
            if self.open && request.at > self.now {
                return request.at;
            }
            if self.next.is_multiple_of(GROUP) {
                self.look_ahead(drive);
            }
            let number = self.first.wrapping_add(self.next as u32);
            self.next += 1;
            self.served += 1;
            let start = if self.open && !planted(Bug::WaitOmitted) { request.at } else { self.now };
            self.submit(drive, &Asked { request, number, start });
        }
        Ns::MAX
    }

    #[cold]
    fn refill(&mut self, drive: &mut Drive, source: &mut dyn RequestSource) -> Result<(), RunError> {
        // Who watches hears of no request before all that happened earlier.
        self.hand_over_all(drive);
        self.requests.drain(..self.next);
        self.next = 0;
        let before = self.requests.len();
        source.tell_time(self.now);
        source.fill(&mut self.requests, CHUNK).map_err(RunError::Source)?;
        check_arrivals(&self.requests)?;
        before_the_end("the drive is still at work", self.now)?;
        drive.announce(&self.requests[before..]);
        self.first = (drive.announced() - self.requests.len() as u64) as u32;
        self.exhausted = self.requests.len() == before;
        self.pace(drive, source);
        Ok(())
    }

    /// Goes on to the source's next stage, if it has one.
    #[cold]
    fn begin_stage(&mut self, source: &mut dyn RequestSource) -> bool {
        source.tell_time(self.now);
        source.next_stage()
    }

    /// Takes over how requests arrive.
    fn pace(&mut self, drive: &Drive, source: &dyn RequestSource) {
        (self.open, self.depth, self.reactive) = match source.arrival() {
            Arrival::Open => (true, drive.config.drive.max_outstanding, false),
            Arrival::Closed { depth } => (false, depth.max(1), false),
            Arrival::Reactive => (true, u32::MAX, true),
        };
        let (open, depth, at) = (self.open, self.depth, self.now);
        self.dies.note(|| TimeEvent::Paced { open, depth, at });
    }

    /// Asks for what the next groups of requests will touch.
    #[inline(never)]
    fn look_ahead(&self, drive: &Drive) {
        let shift = drive.geometry.page_shift();
        let group = |groups: usize| {
            let from = (self.next + groups * GROUP).min(self.requests.len());
            let group = &self.requests[from..];
            &group[..group.len().min(GROUP)]
        };
        for later in group(2) {
            drive.prefetch_map((later.offset >> shift) as Lpn);
        }
        for soon in group(1) {
            drive.prefetch_counters(drive.ftl.map.to_physical[(soon.offset >> shift) as usize]);
        }
        if drive.flash.counted() == TRACKED {
            for next in group(0) {
                drive.prefetch_own::<TRACKED>(drive.ftl.map.to_physical[(next.offset >> shift) as usize]);
            }
        }
    }

    /// Carries out the next event of a die or channel.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "twice a page read")]
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
                let at = self.now
                    + if drive.bugs.has(Bug::EccForgotten) || planted(Bug::PartsUndecoded) && read.bytes < drive.geometry.page_bytes {
                        0
                    } else {
                        self.speed.ecc
                    };
                let ReadOp { request, number, bytes, start, during_reclaim, .. } = read;
                let page = Page { request, number, at, bytes, start, during_reclaim };
                self.host.deliver(page, self.now, &self.speed, &mut self.metrics);
                busy
            }
            Next::Work => self.step_work(drive),
        };
        if let Some(die) = busy.filter(|_| !(drive.bugs.has(Bug::DieIdles) && self.now.is_multiple_of(7))) {
            self.pump(drive, die);
        }
        self.dies.settle();
        self.hand_over(drive);
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
            drive.ftl.reclaim.stall_ns += self.dies.waited_for(die, op, self.now);
        }
        match op.work {
            Work::Program { host: false, .. } => {
                self.copy_programs -= 1;
                if let Some(waiting) = self.held_back.pop_front() {
                    self.pump(drive, waiting);
                }
            }
            Work::Program { host: true, request, pages } => {
                if request != NIL {
                    self.host.finish_part(request, self.now, self.now, &mut self.metrics);
                }
                self.programming -= pages;
                self.unstall(drive);
            }
            Work::Copy { dst: Some(_), then_host: false, .. } if drive.bugs.has(Bug::CopiesUnprogrammed) => {}
            Work::Copy { dst: Some(dst), then_host, request } => {
                let target =
                    if planted(Bug::ProgramOnSourceDie) { die as DieId } else { drive.geometry.die_of(drive.geometry.block_of(dst)) };
                self.copy_programs += u32::from(!then_host);
                let program = WorkOp::new(op.id, Work::Program { host: then_host, request, pages: 1 }, op.cause, 0);
                self.dies.queue_work(target, program, false);
                self.pump(drive, target);
            }
            Work::Load { serial } => {
                if let Some((target, program)) = self.wordlines.loaded(serial) {
                    self.copy_programs += u32::from(program.cause != Cause::Host);
                    self.dies.queue_work(target, program, false);
                    self.pump(drive, target);
                }
            }
            Work::Copy { dst: None, .. } | Work::Erase | Work::Exclusive { .. } => {}
        }
    }
}
