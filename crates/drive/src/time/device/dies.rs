//! Dies and channels: their current work, their queues, and their next event.
//!
//! A die senses one page at a time (each plane by itself with `independent_planes`). The page stays
//! in the die's register until its transfer ends. With `cache_read`, a second register lets the die
//! sense the next page. A channel serves pages by the time at which they are ready, then by issue
//! order. It is reserved when a page is ready, and events come in this order, so it is exactly
//! first come, first served. Programs, erases and jobs need the whole die. Reads go first, except
//! under pressure (writes wait) or urgency.

mod reads;
mod work;

use std::collections::VecDeque;

use super::timeline::Timeline;
use super::tree::EventTree;
use super::watch::Interval;
use crate::base::geometry::Geometry;
use crate::base::units::{Cause, DieId, Ns};
use crate::config::DriveConfig;
use crate::ftl::job::JobRef;
use crate::watch::time_event::{OpId, TimeEvent};

use self::reads::ReadOp;
pub(super) use self::work::{WorkKind, WorkOp};

pub(super) const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Sensing,
    /// The page is sensed, but the cache register is still in use.
    Sensed,
    /// The page waits for its channel or is transferred.
    Transferring,
    /// The die's array works on [`Queues::running`].
    Working,
    /// `Queues::running` waits for its channel or uses it.
    WorkTransferring,
}

#[derive(Clone, Copy)]
struct Unit {
    since: Ns,
    /// Read whose page is being sensed or is in the register.
    reading: u32,
    /// Read whose page is in the cache register, with `cache_read`.
    cached: u32,
    head: u32,
    tail: u32,
    die: u16,
    channel: u16,
    phase: Phase,
}

/// Summary of [`Queues`], which takes several cache lines. Each event of a die needs only this
/// summary.
#[derive(Clone, Copy, Default)]
struct DieSummary {
    queued_reads: u32,
    /// Number of reads that go before the next write under pressure.
    credit: u32,
    /// Number of pending or running works of reclaim on this die.
    reclaim_work: u32,
    /// Whether the die has any work except reads.
    has_work: bool,
    /// Flags: [`RUNNING`], [`SUSPENDED`], [`EXCLUSIVE`], [`WRITES`], [`JOBS`], [`URGENT`].
    flags: u8,
}

/// Flag: `Queues::running` is set.
const RUNNING: u8 = 1;
/// Flag: `Queues::suspended` is set.
const SUSPENDED: u8 = 2;
/// Flag: `Queues::exclusive` is not empty.
const EXCLUSIVE: u8 = 4;
/// Flag: `Queues::writes` is not empty.
const WRITES: u8 = 8;
/// Flag: `Queues::jobs` is not empty.
const JOBS: u8 = 16;
/// Flag: a job of this die goes before reads.
const URGENT: u8 = 32;

impl DieSummary {
    #[inline]
    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    fn set(&mut self, flag: u8, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }
}

/// Work of a die, without host reads.
struct Queues {
    running: Option<WorkOp>,
    suspended: Option<WorkOp>,
    exclusive: VecDeque<WorkOp>,
    writes: VecDeque<WorkOp>,
    /// Jobs of the die. They are few, and every event checks them.
    jobs: Vec<(JobRef, Cause)>,
    /// Whether a waiting write goes next, because the last work was exclusive.
    write_turn: bool,
    /// Whether a piece of a foreground job waits for the running work. No read goes before it.
    foreground: bool,
}

/// Next event at the dies.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// End of the sensing of a page.
    Sensed,
    /// End of the transfer of a page to the controller.
    Transferred,
    /// Event of other work of a die.
    Work,
}

pub(super) struct Dies {
    units: Vec<Unit>,
    summaries: Vec<DieSummary>,
    queues: Vec<Queues>,
    /// Time at which each channel has served all pages that are ready so far.
    channel_free: Vec<Ns>,
    reads: Vec<ReadOp>,
    /// Index for the next read. It is the index of an ended read, or the next new index.
    unused: u32,
    /// Pages that are being sensed.
    sensing: Timeline,
    /// Pages that wait for their channel or use it.
    transfers: Timeline,
    /// Events of all other work, which may be cancelled.
    work: EventTree,
    /// Unit whose event of work has happened but is still in the tree. Usually its next event
    /// replaces it.
    happened: Option<usize>,
    units_per_die: usize,
    cache_read: bool,
    suspend_limit: u32,
    order: u32,
    /// Busy times of units and channels (numbered after the units), if there is an observer of
    /// them.
    pub(super) intervals: Option<Vec<Interval>>,
    /// Events in time, if the observer wants them.
    pub(super) events: Option<Vec<TimeEvent>>,
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
        let idle = || Queues {
            running: None,
            suspended: None,
            exclusive: VecDeque::new(),
            writes: VecDeque::new(),
            jobs: vec![],
            write_turn: false,
            foreground: false,
        };
        Self {
            units: (0..dies * units_per_die).map(unit).collect(),
            summaries: vec![DieSummary::default(); dies as usize],
            queues: (0..dies).map(|_| idle()).collect(),
            channel_free: vec![0; geometry.channels as usize],
            reads: vec![],
            unused: 0,
            sensing: Timeline::new(),
            transfers: Timeline::new(),
            work: EventTree::new((dies * units_per_die) as usize),
            happened: None,
            units_per_die: units_per_die as usize,
            cache_read: timing.cache_read,
            suspend_limit: if timing.suspend { timing.suspend_limit } else { 0 },
            order: 0,
            intervals: None,
            events: None,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.summaries.len()
    }

    /// Returns whether jobs wait at any die.
    pub(super) fn have_jobs(&self) -> bool {
        self.summaries.iter().any(|summary| summary.has(JOBS))
    }

    /// Returns whether jobs wait at a die.
    pub(super) fn has_jobs(&self, die: DieId) -> bool {
        self.summaries[usize::from(die)].has(JOBS)
    }

    /// Returns the first job of a die.
    pub(super) fn first_job(&self, die: DieId) -> Option<(JobRef, Cause)> {
        self.queues[usize::from(die)].jobs.first().copied()
    }

    /// Removes finished jobs of a die from its whole list. Most jobs behind the first one are
    /// finished in the foreground, and under steady pressure they would stay behind the first one
    /// for ever. Moves the first urgent job to the front. Returns whether there is an urgent job,
    /// and whether there was one before.
    pub(super) fn review_jobs(
        &mut self,
        die: DieId,
        is_done: impl Fn(JobRef) -> bool,
        is_urgent: impl Fn(JobRef) -> bool,
        at: Ns,
    ) -> (bool, bool) {
        let (mut next, mut urgent) = (0, None);
        while let Some((job, _)) = self.queues[usize::from(die)].jobs.get(next).copied() {
            if is_done(job) {
                self.drop_job(die, next, at);
                continue;
            }
            if urgent.is_none() && is_urgent(job) {
                urgent = Some(next);
            }
            next += 1;
        }
        if let Some(n) = urgent {
            self.queues[usize::from(die)].jobs.swap(0, n);
        }
        let summary = &mut self.summaries[usize::from(die)];
        let was_urgent = summary.has(URGENT);
        summary.set(URGENT, urgent.is_some());
        (urgent.is_some(), was_urgent)
    }

    /// Removes a job of a die, which is done.
    #[cold]
    pub(super) fn drop_job(&mut self, die: DieId, n: usize, at: Ns) {
        let jobs = &mut self.queues[usize::from(die)].jobs;
        let (JobRef { block, .. }, cause) = jobs.remove(n);
        let summary = &mut self.summaries[usize::from(die)];
        summary.reclaim_work -= u32::from(cause == Cause::Reclaim);
        summary.set(JOBS, !jobs.is_empty());
        self.note(|| TimeEvent::Job { die, block, cause, on: false, at });
    }

    /// Returns whether a job of a die goes before reads.
    pub(super) fn is_urgent(&self, die: DieId) -> bool {
        self.summaries[usize::from(die)].has(URGENT)
    }

    /// Returns whether an uninterruptible piece of a job waits at a die or runs.
    pub(super) fn has_piece(&self, die: DieId) -> bool {
        let d = &self.queues[usize::from(die)];
        !d.exclusive.is_empty()
            || d.running.is_some_and(|op| matches!(op.work, WorkKind::Exclusive))
    }

    /// Returns the next event and its time. At one time, ends of transfers come first and other
    /// work comes last.
    #[inline]
    pub(super) fn next(&self) -> (Ns, Next) {
        let (sensed, transferred, work) =
            (self.sensing.next(), self.transfers.next(), self.work.next());
        let (read, next) = if sensed < transferred {
            (sensed, Next::Sensed)
        } else {
            (transferred, Next::Transferred)
        };
        if work < read { (work, Next::Work) } else { (read, next) }
    }

    /// Queues work at a die: behind the waiting work or, with `first`, before it.
    pub(super) fn queue_work(&mut self, die: DieId, op: WorkOp, first: bool) {
        let d = &mut self.queues[usize::from(die)];
        let summary = &mut self.summaries[usize::from(die)];
        summary.has_work = true;
        summary.reclaim_work += u32::from(op.cause == Cause::Reclaim);
        match (op.work, first) {
            (WorkKind::Exclusive, _) => {
                // Foreground work starts now: no read that already waits goes first.
                summary.credit = if first { 0 } else { summary.credit };
                d.foreground |= first;
                d.exclusive.push_back(op);
                return summary.set(EXCLUSIVE, true);
            }
            (_, first) if first => d.writes.push_front(op),
            _ => d.writes.push_back(op),
        }
        summary.set(WRITES, true);
    }

    /// Returns the work that is running, suspended or waiting.
    pub(super) fn pending(&self) -> impl Iterator<Item = OpId> {
        let of = |d: &Queues| {
            let begun = d.running.iter().chain(&d.suspended);
            begun.chain(&d.exclusive).chain(&d.writes).map(|op| op.id).collect::<Vec<_>>()
        };
        self.queues.iter().flat_map(of)
    }

    pub(super) fn add_job(&mut self, die: DieId, job: JobRef, cause: Cause, at: Ns) {
        self.note(|| TimeEvent::Job { die, block: job.block, cause, on: true, at });
        let summary = &mut self.summaries[usize::from(die)];
        summary.has_work = true;
        summary.reclaim_work += u32::from(cause == Cause::Reclaim);
        summary.set(JOBS, true);
        self.queues[usize::from(die)].jobs.push((job, cause));
    }

    /// Reserves the channel of a unit whose page is ready now. Returns the end of its transfer.
    #[inline]
    fn book_channel(&mut self, op: OpId, unit: usize, now: Ns, ns: Ns) -> Ns {
        let channel = usize::from(self.units[unit].channel);
        let free = &mut self.channel_free[channel];
        let start = now.max(*free);
        *free = start + ns;
        if let Some(intervals) = &mut self.intervals {
            intervals.push(((self.units.len() + channel) as u32, start, start + ns));
            self.note(|| TimeEvent::Transfer {
                op,
                channel: channel as u32,
                at: now,
                from: start,
                to: start + ns,
            });
        }
        start + ns
    }

    fn note_interval(&mut self, unit: usize, from: Ns, to: Ns, whole_die: bool) {
        let units = if whole_die { self.units_per_die } else { 1 };
        if let Some(intervals) = &mut self.intervals {
            intervals.extend((0..units).map(|i| ((unit + i) as u32, from, to)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::rewrite::Rewrite;
    use crate::base::streams::WEAR;
    use crate::base::units::{BlockId, Reads};
    use crate::drive::Drive;
    use crate::drive::tests::tiny_config;
    use crate::flash::block::BlockState;
    use crate::testing::fakes;

    /// Two jobs wait for a die, and the second is urgent: the die continues with the second.
    #[test]
    fn an_urgent_job_goes_to_the_head_of_its_die() {
        let mut config = tiny_config();
        config.start.fill = 1.0;
        let mut drive = Drive::new(config.resolve().unwrap(), &fakes(), true).unwrap();
        drive.precondition(1);
        let closed = |block: &BlockId| drive.flash.hot(*block).state == BlockState::Closed;
        let blocks: Vec<BlockId> = drive.geometry.block_ids().filter(closed).take(2).collect();
        for block in blocks {
            let (ftl, mut cx) = drive.parts();
            ftl.rewrite(&mut cx, Rewrite::all_to(block, WEAR), Cause::Wear, Reads::NEVER);
        }
        let jobs = drive.ftl.started_jobs.clone();
        let mut dies = Dies::new(&drive.config, &drive.geometry);
        for job in &jobs {
            dies.add_job(0, *job, Cause::Wear, 0);
        }
        assert_eq!(dies.review_jobs(0, |_| false, |job| job == jobs[1], 0), (true, false));
        assert_eq!(dies.first_job(0).map(|(job, _)| job), Some(jobs[1]));
    }
}
