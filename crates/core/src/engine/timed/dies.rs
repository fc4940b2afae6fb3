//! Dies and channels in time.
//!
//! A die senses one page at a time (a plane each with `independent_planes`). The page stays in the die's register until its
//! transfer ends; with `cache_read` a second register lets the die sense on. A channel serves by ready time, then issue
//! order; it is booked when a page is ready, and events come in that order, so first come is first served, exactly.
//! Programs, erases and jobs need the whole die. Reads go first, except under pressure (writers wait) or urgency.

mod work;

use std::collections::VecDeque;

use super::timeline::{Event, Timeline};
use super::tree::EventTree;
use crate::config::DriveConfig;
use crate::ftl::mover::JobRef;
use crate::geometry::Geometry;
use crate::units::{Cause, DieId, Ns, Ppn};

pub(super) const NIL: u32 = u32::MAX;

/// A page read for the host.
#[derive(Clone, Copy)]
pub(super) struct ReadOp {
    next: u32,
    /// The request, or [`NIL`] where this page is all of it.
    pub(super) request: u32,
    pub(super) bytes: u32,
    sense: u32,
    transfer: u32,
    order: u32,
    /// Reclaim was at work on its die when it came.
    pub(super) during_reclaim: bool,
    /// When its latency began.
    pub(super) start: Ns,
    queued_at: Ns,
}

/// A host read to be queued: its request, the bytes wanted, its times in ns, and when its latency began.
#[derive(Clone, Copy)]
pub(super) struct NewRead {
    pub(super) request: u32,
    pub(super) bytes: u32,
    pub(super) sense: Ns,
    pub(super) transfer: Ns,
    pub(super) start: Ns,
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
    since: Ns,
    /// The read whose page is being sensed or is in the register.
    reading: u32,
    /// With `cache_read`, the read whose page is in the cache register.
    cached: u32,
    head: u32,
    tail: u32,
    die: u16,
    channel: u16,
    phase: Phase,
}

/// What reads have to know of their die.
#[derive(Clone, Copy, Default)]
struct Load {
    queued_reads: u32,
    /// Reads that go before the next write under pressure.
    credit: u32,
    /// Reclaim work on this die, pending or running.
    reclaim_work: u32,
    /// Whether anything but reads is going on.
    has_work: bool,
}

pub(super) struct Die {
    pub(super) running: Option<WorkOp>,
    suspended: Option<WorkOp>,
    pub(super) exclusive: VecDeque<WorkOp>,
    pub(super) writes: VecDeque<WorkOp>,
    pub(super) jobs: VecDeque<(JobRef, Cause)>,
    /// A job of this die goes before reads.
    pub(super) urgent: bool,
    /// The last work was exclusive: a waiting write has its turn.
    write_turn: bool,
    /// A piece of a job in the foreground waits for what runs: no read goes before it.
    foreground: bool,
}

/// What happens next.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// A page is sensed.
    Sensed,
    /// A page is in the controller.
    Transferred,
    /// Something else of a die.
    Work,
}

/// What the event loop is told when an event of a die's work ended something.
pub(super) enum Ended {
    /// Work of a die is done.
    Work { op: WorkOp },
    /// The work goes on.
    Nothing,
}

/// Time intervals of dies and channels, for whoever checks them.
pub(super) type Interval = (u32, Ns, Ns);

pub(super) struct Dies {
    units: Vec<Unit>,
    loads: Vec<Load>,
    all: Vec<Die>,
    /// When each channel has served everything that is ready so far.
    channel_free: Vec<Ns>,
    reads: Vec<ReadOp>,
    unused: Vec<u32>,
    /// Pages being sensed.
    sensing: Timeline,
    /// Pages that wait for their channel or are on it.
    transfers: Timeline,
    /// Events of everything but reads, which may be taken back.
    work: EventTree,
    units_per_die: usize,
    cache_read: bool,
    suspend_limit: u32,
    order: u32,
    /// A seeded bug: transfers overlap.
    pub(super) shares_channels: bool,
    /// Busy times of units and channels (numbered after the units), where they are checked.
    pub(super) intervals: Option<Vec<Interval>>,
}

impl Dies {
    pub(super) fn new(config: &DriveConfig, geometry: &Geometry) -> Self {
        let timing = &config.timing;
        let units_per_die = if timing.independent_planes { geometry.planes_per_die } else { 1 };
        let dies = geometry.dies();
        let unit = |i: u32| Unit {
            since: 0,
            reading: NIL,
            cached: NIL,
            head: NIL,
            tail: NIL,
            die: (i / units_per_die) as u16,
            channel: (i / (units_per_die * geometry.dies_per_channel)) as u16,
            phase: Phase::Idle,
        };
        let die = || Die {
            running: None,
            suspended: None,
            exclusive: VecDeque::new(),
            writes: VecDeque::new(),
            jobs: VecDeque::new(),
            urgent: false,
            write_turn: false,
            foreground: false,
        };
        Self {
            units: (0..dies * units_per_die).map(unit).collect(),
            loads: vec![Load::default(); dies as usize],
            all: (0..dies).map(|_| die()).collect(),
            channel_free: vec![0; geometry.channels as usize],
            reads: vec![],
            unused: vec![],
            sensing: Timeline::new(),
            transfers: Timeline::new(),
            work: EventTree::new((dies * units_per_die) as usize),
            units_per_die: units_per_die as usize,
            cache_read: timing.cache_read,
            suspend_limit: if timing.suspend { timing.suspend_limit } else { 0 },
            order: 0,
            shares_channels: false,
            intervals: None,
        }
    }

    pub(super) fn die(&mut self, die: DieId) -> &mut Die {
        &mut self.all[usize::from(die)]
    }

    /// What happens next, and when. At the same time transfers end first and other work comes last.
    #[inline]
    pub(super) fn next(&self) -> (Ns, Next) {
        let (sensed, transferred, work) = (self.sensing.next(), self.transfers.next(), self.work.next());
        let (read, next) = if sensed < transferred { (sensed, Next::Sensed) } else { (transferred, Next::Transferred) };
        if work < read { (work, Next::Work) } else { (read, next) }
    }

    /// Queues a host read at a unit (die, or plane of it) and starts it if it can. Gives the die where that has other work too.
    #[inline]
    pub(super) fn queue_read(&mut self, unit: usize, read: NewRead, now: Ns) -> Option<DieId> {
        self.order = self.order.wrapping_add(1);
        let u = &mut self.units[unit];
        let load = &mut self.loads[usize::from(u.die)];
        let NewRead { request, bytes, sense, transfer, start } = read;
        let during_reclaim = load.reclaim_work > 0;
        let (sense, transfer) = (sense as u32, transfer as u32);
        let op = ReadOp { next: NIL, request, bytes, sense, transfer, order: self.order, during_reclaim, start, queued_at: now };
        let i = if let Some(i) = self.unused.pop() {
            self.reads[i as usize] = op;
            i
        } else {
            self.reads.push(op);
            self.reads.len() as u32 - 1
        };
        if u.phase == Phase::Idle && !load.has_work {
            load.credit = load.credit.saturating_sub(1);
            self.begin_read(unit, i, now);
            return None;
        }
        if u.head == NIL {
            u.head = i;
        } else {
            self.reads[u.tail as usize].next = i;
        }
        u.tail = i;
        load.queued_reads += 1;
        load.has_work.then_some(u.die)
    }

    /// Queues work at a die: behind what waits there or, with `first`, before it.
    pub(super) fn queue_work(&mut self, die: DieId, op: WorkOp, first: bool) {
        let d = &mut self.all[usize::from(die)];
        let load = &mut self.loads[usize::from(die)];
        load.has_work = true;
        load.reclaim_work += u32::from(op.cause == Cause::Reclaim);
        match (op.work, first) {
            (Work::Exclusive { .. }, _) => {
                // Foreground means now: no read that waits already goes first.
                load.credit = if first { 0 } else { load.credit };
                d.foreground |= first;
                d.exclusive.push_back(op);
            }
            (_, true) => d.writes.push_front(op),
            (_, false) => d.writes.push_back(op),
        }
    }

    pub(super) fn add_job(&mut self, die: DieId, job: JobRef, cause: Cause) {
        let load = &mut self.loads[usize::from(die)];
        load.has_work = true;
        load.reclaim_work += u32::from(cause == Cause::Reclaim);
        self.all[usize::from(die)].jobs.push_back((job, cause));
    }

    /// The job at the head of a die is done.
    pub(super) fn job_done(&mut self, die: DieId) {
        let (_, cause) = self.all[usize::from(die)].jobs.pop_front().expect("a job was at the head");
        self.loads[usize::from(die)].reclaim_work -= u32::from(cause == Cause::Reclaim);
    }

    /// Starts the reads that wait at idle units of a die.
    pub(super) fn start_reads(&mut self, die: usize, now: Ns) {
        if self.loads[die].queued_reads == 0 {
            return;
        }
        for unit in die * self.units_per_die..(die + 1) * self.units_per_die {
            if self.units[unit].phase == Phase::Idle {
                self.start_queued(unit, now);
            }
        }
    }

    /// Starts the first read that waits at an idle unit, if one does.
    #[inline]
    fn start_queued(&mut self, unit: usize, now: Ns) {
        let u = &mut self.units[unit];
        let i = u.head;
        if i != NIL {
            u.head = self.reads[i as usize].next;
            let load = &mut self.loads[usize::from(u.die)];
            load.queued_reads -= 1;
            load.credit = load.credit.saturating_sub(1);
            self.begin_read(unit, i, now);
        }
    }

    #[inline]
    fn begin_read(&mut self, unit: usize, i: u32, now: Ns) {
        let ReadOp { sense, order, .. } = self.reads[i as usize];
        let u = &mut self.units[unit];
        u.reading = i;
        u.phase = Phase::Sensing;
        u.since = now;
        self.sensing.push(Event { at: now + u64::from(sense), order, unit: unit as u32 });
    }

    /// A page is sensed. Gives its die where that has other work to look after.
    #[inline]
    pub(super) fn sensed(&mut self) -> Option<DieId> {
        let Event { at: now, unit, .. } = self.sensing.pop();
        if self.cache_read {
            return self.sensed_to_cache(unit as usize, now);
        }
        self.units[unit as usize].phase = Phase::Transferring;
        self.begin_transfer(unit as usize, self.units[unit as usize].reading, now);
        None
    }

    #[cold]
    fn sensed_to_cache(&mut self, unit: usize, now: Ns) -> Option<DieId> {
        self.note_interval(unit, self.units[unit].since, now, false);
        self.move_to_cache(unit, now);
        self.go_on(unit, now)
    }

    fn move_to_cache(&mut self, unit: usize, now: Ns) {
        let u = &mut self.units[unit];
        if u.cached != NIL {
            u.phase = Phase::Sensed;
            return;
        }
        u.cached = std::mem::replace(&mut u.reading, NIL);
        u.phase = Phase::Idle;
        self.begin_transfer(unit, self.units[unit].cached, now);
    }

    /// The page of a read waits for its channel from now on.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a page read")]
    fn begin_transfer(&mut self, unit: usize, i: u32, now: Ns) {
        let ReadOp { transfer, order, .. } = self.reads[i as usize];
        let at = self.book_channel(unit, now, u64::from(transfer));
        self.transfers.push(Event { at, order, unit: unit as u32 });
    }

    /// Books the channel of a unit whose page is ready now; gives when its transfer ends.
    #[inline]
    fn book_channel(&mut self, unit: usize, now: Ns, ns: Ns) -> Ns {
        let channel = usize::from(self.units[unit].channel);
        let free = &mut self.channel_free[channel];
        let start = if self.shares_channels { now } else { now.max(*free) };
        *free = start + ns;
        if let Some(intervals) = &mut self.intervals {
            intervals.push(((self.units.len() + channel) as u32, start, start + ns));
        }
        start + ns
    }

    /// A page is in the controller. Gives its read, and its die where that has other work to look after.
    #[inline]
    pub(super) fn transferred(&mut self) -> (ReadOp, Option<DieId>) {
        let Event { at: now, unit, .. } = self.transfers.pop();
        let unit = unit as usize;
        let i = if self.cache_read {
            self.cache_transferred(unit, now)
        } else {
            // The page held the die's register until now.
            self.note_interval(unit, self.units[unit].since, now, false);
            let u = &mut self.units[unit];
            u.phase = Phase::Idle;
            std::mem::replace(&mut u.reading, NIL)
        };
        self.unused.push(i);
        let op = self.reads[i as usize];
        (op, self.go_on(unit, now))
    }

    #[cold]
    fn cache_transferred(&mut self, unit: usize, now: Ns) -> u32 {
        let i = std::mem::replace(&mut self.units[unit].cached, NIL);
        if self.units[unit].phase == Phase::Sensed {
            self.move_to_cache(unit, now);
        }
        i
    }

    /// Something ended at a unit: its next read starts, or whoever knows about the die's other work decides.
    #[inline]
    fn go_on(&mut self, unit: usize, now: Ns) -> Option<DieId> {
        let u = &self.units[unit];
        if self.loads[usize::from(u.die)].has_work {
            return Some(u.die);
        }
        if u.phase == Phase::Idle {
            self.start_queued(unit, now);
        }
        None
    }

    fn note_interval(&mut self, unit: usize, from: Ns, to: Ns, whole_die: bool) {
        let units = if whole_die { self.units_per_die } else { 1 };
        if let Some(intervals) = &mut self.intervals {
            intervals.extend((0..units).map(|i| ((unit + i) as u32, from, to)));
        }
    }
}
