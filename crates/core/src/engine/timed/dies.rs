//! Dies and channels in time.
//!
//! A die senses one page at a time (a plane each with `independent_planes`). The page stays in the die's register until its
//! transfer ends; with `cache_read` a second register lets the die sense on. A channel serves by ready time, then issue
//! order; it is booked when a page is ready, and events come in that order, so first come is first served, exactly.
//! Programs, erases and jobs need the whole die. Reads go first, except under pressure (writers wait) or urgency.

mod work;

use std::collections::VecDeque;

use super::speed::Speed;
use super::tree::EventTree;
use crate::ftl::mover::JobRef;
use crate::reciprocal::Reciprocal;
use crate::units::{Cause, DieId, Ns, Ppn};

pub(super) const NIL: u32 = u32::MAX;

/// A page read for the host.
#[derive(Clone, Copy)]
pub(super) struct ReadOp {
    next: u32,
    pub(super) request: u32,
    pub(super) bytes: u32,
    sense: u32,
    transfer: u32,
    order: u64,
    queued_at: Ns,
}

/// A host read to be queued: its request, the bytes wanted, and its times in ns.
#[derive(Clone, Copy)]
pub(super) struct NewRead {
    pub(super) request: u32,
    pub(super) bytes: u32,
    pub(super) sense: Ns,
    pub(super) transfer: Ns,
}

/// What else a die does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Page in over the channel, then program. `request` is completed by it, or [`NIL`]; `host` frees buffer space.
    Program { host: bool, request: u32 },
    /// Sense and page out over the channel; then, unless lost, a program of `dst`.
    Copy { dst: Option<Ppn>, then_host: bool, request: u32 },
    /// Erase.
    Erase,
    /// So many nanoseconds of a job that nothing interrupts.
    Exclusive { ns: Ns },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct WorkOp {
    pub(super) work: Work,
    pub(super) cause: Cause,
    /// Sensing time of a copy's page.
    pub(super) sense: Ns,
    pub(super) suspended: u32,
    /// Array time left, once started.
    left: Option<Ns>,
    started: Ns,
}

impl Die {
    /// Whether a piece of a job runs that nothing interrupts.
    pub(super) fn runs_exclusive(&self) -> bool {
        self.running.is_some_and(|op| matches!(op.work, Work::Exclusive { .. }))
    }
}

impl WorkOp {
    pub(super) fn new(work: Work, cause: Cause, sense: Ns) -> Self {
        Self { work, cause, sense, suspended: 0, left: None, started: 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Sensing,
    /// Sensed; the cache register is still taken.
    Sensed,
    /// The page waits for its channel, then is transferred.
    Transferring,
    /// The die's array works on `Die::running`.
    Working,
    /// `Die::running` waits for its channel, then uses it.
    WorkTransferring,
}

#[derive(Clone, Copy)]
struct Unit {
    phase: Phase,
    reading: u32,
    /// With `cache_read`, the page in the cache register, and whether its transfer has begun.
    cached: u32,
    head: u32,
    tail: u32,
    since: Ns,
}

pub(super) struct Die {
    pub(super) running: Option<WorkOp>,
    suspended: Option<WorkOp>,
    pub(super) exclusive: VecDeque<WorkOp>,
    pub(super) writes: VecDeque<WorkOp>,
    pub(super) jobs: VecDeque<(JobRef, Cause)>,
    queued_reads: u32,
    /// Reads that go before the next write under pressure.
    credit: u32,
    /// Whether anything but reads is going on.
    has_work: bool,
    /// A job of this die goes before reads.
    pub(super) urgent: bool,
    /// The last work was exclusive: a waiting write has its turn.
    write_turn: bool,
    /// Reclaim work on this die, pending or running.
    pub(super) reclaim_work: u32,
}

/// What the event loop is told when an event ended something.
pub(super) enum Ended {
    /// A page for the host is in the controller.
    Read { op: ReadOp },
    /// Work of a die is done.
    Work { op: WorkOp },
    /// A page waits for its channel or begins to use it.
    Nothing,
}

/// Time intervals of dies and channels, for whoever checks them.
pub(super) type Interval = (u32, Ns, Ns);

pub(super) struct Dies {
    units: Vec<Unit>,
    all: Vec<Die>,
    /// When each channel has served everything that is ready so far.
    channel_free: Vec<Ns>,
    reads: Vec<ReadOp>,
    unused: Vec<u32>,
    events: EventTree,
    units_per_die: usize,
    by_die: Reciprocal,
    by_channel: Reciprocal,
    cache_read: bool,
    suspend_limit: u32,
    order: u64,
    /// A seeded bug: transfers overlap.
    pub(super) shares_channels: bool,
    /// Busy times of units and channels (numbered after the units), where they are checked.
    pub(super) intervals: Option<Vec<Interval>>,
}

impl Dies {
    pub(super) fn new(channels: u32, dies_per_channel: u32, units_per_die: u32, cache_read: bool, suspend_limit: u32) -> Self {
        let dies = channels * dies_per_channel;
        let units = (dies * units_per_die) as usize;
        let unit = Unit { phase: Phase::Idle, reading: NIL, cached: NIL, head: NIL, tail: NIL, since: 0 };
        let die = || Die {
            running: None,
            suspended: None,
            exclusive: VecDeque::new(),
            writes: VecDeque::new(),
            jobs: VecDeque::new(),
            queued_reads: 0,
            credit: 0,
            has_work: false,
            urgent: false,
            write_turn: false,
            reclaim_work: 0,
        };
        Self {
            units: vec![unit; units],
            all: (0..dies).map(|_| die()).collect(),
            channel_free: vec![0; channels as usize],
            reads: vec![],
            unused: vec![],
            events: EventTree::new(units * if cache_read { 2 } else { 1 }),
            units_per_die: units_per_die as usize,
            by_die: Reciprocal::new(units_per_die),
            by_channel: Reciprocal::new(units_per_die * dies_per_channel),
            cache_read,
            suspend_limit,
            order: 0,
            shares_channels: false,
            intervals: None,
        }
    }

    #[inline]
    pub(super) fn die_of(&self, unit: usize) -> usize {
        self.by_die.quotient(unit as u32) as usize
    }

    pub(super) fn die(&mut self, die: DieId) -> &mut Die {
        &mut self.all[usize::from(die)]
    }

    /// Time of the next event.
    #[inline]
    pub(super) fn next_event(&self) -> Ns {
        self.events.next()
    }

    /// Queues a host read at a unit (die, or plane of it). Tells whether reclaim is at work on its die.
    #[inline]
    pub(super) fn queue_read(&mut self, unit: usize, read: NewRead, now: Ns) -> bool {
        self.order += 1;
        let NewRead { request, bytes, sense, transfer } = read;
        let op = ReadOp { next: NIL, request, bytes, sense: sense as u32, transfer: transfer as u32, order: self.order, queued_at: now };
        let i = if let Some(i) = self.unused.pop() {
            self.reads[i as usize] = op;
            i
        } else {
            self.reads.push(op);
            self.reads.len() as u32 - 1
        };
        let u = &mut self.units[unit];
        if u.head == NIL {
            u.head = i;
        } else {
            self.reads[u.tail as usize].next = i;
        }
        self.units[unit].tail = i;
        let die = &mut self.all[self.by_die.quotient(unit as u32) as usize];
        die.queued_reads += 1;
        die.reclaim_work > 0
    }

    /// Queues work at a die: behind what waits there or, with `first`, before it.
    pub(super) fn queue_work(&mut self, die: DieId, op: WorkOp, first: bool) {
        let d = &mut self.all[usize::from(die)];
        d.has_work = true;
        d.reclaim_work += u32::from(op.cause == Cause::Reclaim);
        match (op.work, first) {
            (Work::Exclusive { .. }, _) => {
                // Foreground means now: no read that waits already goes first.
                d.credit = if first { 0 } else { d.credit };
                d.exclusive.push_back(op);
            }
            (_, true) => d.writes.push_front(op),
            (_, false) => d.writes.push_back(op),
        }
    }

    pub(super) fn add_job(&mut self, die: DieId, job: JobRef, cause: Cause) {
        let d = &mut self.all[usize::from(die)];
        d.has_work = true;
        d.reclaim_work += u32::from(cause == Cause::Reclaim);
        d.jobs.push_back((job, cause));
    }

    /// The job at the head of a die is done.
    pub(super) fn job_done(&mut self, die: DieId) {
        let d = &mut self.all[usize::from(die)];
        let (_, cause) = d.jobs.pop_front().expect("a job was at the head");
        d.reclaim_work -= u32::from(cause == Cause::Reclaim);
    }

    /// Starts what a die can start now. Tells whether it is idle with jobs waiting, so that the caller may give it a step.
    #[inline]
    pub(super) fn dispatch(&mut self, die: usize, now: Ns, pressure: bool, speed: &Speed) -> bool {
        if self.all[die].has_work {
            return self.dispatch_work(die, now, pressure, speed);
        }
        self.start_reads(die, now);
        false
    }

    pub(super) fn cache_read(&self) -> bool {
        self.cache_read
    }

    /// Whether anything but host reads is going on or waits at a die.
    #[inline]
    pub(super) fn has_work(&self, die: usize) -> bool {
        self.all[die].has_work
    }

    #[inline]
    pub(super) fn start_reads(&mut self, die: usize, now: Ns) {
        if self.all[die].queued_reads == 0 {
            return;
        }
        for unit in die * self.units_per_die..(die + 1) * self.units_per_die {
            let u = self.units[unit];
            if u.phase == Phase::Idle && u.head != NIL {
                self.start_read(unit, now);
                self.all[die].queued_reads -= 1;
                self.all[die].credit = self.all[die].credit.saturating_sub(1);
            }
        }
    }

    #[inline]
    fn start_read(&mut self, unit: usize, now: Ns) {
        let u = &mut self.units[unit];
        let op = self.reads[u.head as usize];
        u.reading = u.head;
        u.head = op.next;
        u.phase = Phase::Sensing;
        u.since = now;
        self.events.set(unit, now + u64::from(op.sense), op.order);
    }

    /// Carries out the next event.
    #[inline]
    pub(super) fn step(&mut self, speed: &Speed) -> (usize, Ended) {
        let (now, leaf) = (self.events.next(), self.events.first());
        if leaf >= self.units.len() {
            let unit = leaf - self.units.len();
            return (self.die_of(unit), self.cache_transferred(unit, now));
        }
        let ended = match self.units[leaf].phase {
            Phase::Sensing => self.sensed(leaf, now),
            Phase::Transferring => self.transferred(leaf, now),
            Phase::Working => self.worked(leaf, now, speed),
            Phase::WorkTransferring => self.work_transferred(leaf, now, speed),
            Phase::Idle | Phase::Sensed => unreachable!("no event is pending in this phase"),
        };
        (self.die_of(leaf), ended)
    }

    #[inline]
    fn sensed(&mut self, unit: usize, now: Ns) -> Ended {
        if self.cache_read {
            self.note_interval(unit, self.units[unit].since, now, false);
            self.events.clear(unit);
            self.move_to_cache(unit, now);
            return Ended::Nothing;
        }
        let op = self.reads[self.units[unit].reading as usize];
        let end = self.book_channel(unit, now, u64::from(op.transfer));
        self.units[unit].phase = Phase::Transferring;
        self.events.set(unit, end, op.order);
        Ended::Nothing
    }

    fn move_to_cache(&mut self, unit: usize, now: Ns) {
        let u = &mut self.units[unit];
        if u.cached != NIL {
            u.phase = Phase::Sensed;
            return;
        }
        u.cached = std::mem::replace(&mut u.reading, NIL);
        u.phase = Phase::Idle;
        let op = self.reads[u.cached as usize];
        let end = self.book_channel(unit, now, u64::from(op.transfer));
        self.events.set(self.units.len() + unit, end, op.order);
    }

    /// Books the channel of a unit whose page is ready now; gives when its transfer ends.
    #[inline]
    fn book_channel(&mut self, unit: usize, now: Ns, ns: Ns) -> Ns {
        let channel = self.by_channel.quotient(unit as u32) as usize;
        let start = if self.shares_channels { now } else { self.channel_free[channel].max(now) };
        self.channel_free[channel] = start + ns;
        if let Some(intervals) = &mut self.intervals {
            intervals.push(((self.units.len() + channel) as u32, start, start + ns));
        }
        start + ns
    }

    #[inline]
    fn transferred(&mut self, unit: usize, now: Ns) -> Ended {
        // The page held the die's register until now.
        self.note_interval(unit, self.units[unit].since, now, false);
        self.events.clear(unit);
        let u = &mut self.units[unit];
        let i = std::mem::replace(&mut u.reading, NIL);
        u.phase = Phase::Idle;
        self.unused.push(i);
        Ended::Read { op: self.reads[i as usize] }
    }

    fn cache_transferred(&mut self, unit: usize, now: Ns) -> Ended {
        self.events.clear(self.units.len() + unit);
        let i = std::mem::replace(&mut self.units[unit].cached, NIL);
        if self.units[unit].phase == Phase::Sensed {
            self.move_to_cache(unit, now);
        }
        self.unused.push(i);
        Ended::Read { op: self.reads[i as usize] }
    }

    fn note_interval(&mut self, unit: usize, from: Ns, to: Ns, whole_die: bool) {
        let units = if whole_die { self.units_per_die } else { 1 };
        if let Some(intervals) = &mut self.intervals {
            intervals.extend((0..units).map(|i| ((unit + i) as u32, from, to)));
        }
    }
}
