//! Work of a die other than host reads: programs, erases, copies and whole pieces of jobs. Some
//! works can be suspended and resumed.

use super::{Dies, EXCLUSIVE, JOBS, NIL, Phase, RUNNING, SUSPENDED, URGENT, WRITES};
use crate::base::units::{Cause, DieId, Ns, Ppn};
use crate::time::device::speed::Speed;
use crate::watch::time_event::{OpId, TimeEvent};

/// Kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::time::device) enum WorkKind {
    /// Transfer of a number of pages over the channel, then one program. It completes `request`,
    /// unless that is [`NIL`]. With `host`, it frees space in the buffer.
    Program { host: bool, request: u32, pages: u32 },
    /// Transfer of a page over the channel, then its program, for the stripe with this serial
    /// number.
    Striped { serial: u32 },
    /// Sensing of a page, its transfer over the channel, and a program of `dst`. If the data was
    /// lost, there is no program.
    Copy { dst: Option<Ppn>, then_host: bool, request: u32 },
    /// Sensing of a page and its transfer over the channel, for the wordline with this serial
    /// number.
    Load { serial: u32 },
    /// Further sensing of a page and its transfer, because the page could not be decoded.
    Retry,
    /// Erase of a block.
    Erase,
    /// Uninterruptible piece of a job.
    Exclusive,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::time::device) struct WorkOp {
    pub(in crate::time::device) id: OpId,
    pub(in crate::time::device) work: WorkKind,
    pub(in crate::time::device) cause: Cause,
    /// Time that the array needs: for the sensing of a read, a program or an erase.
    pub(in crate::time::device) array: Ns,
    /// Time of the read page on its channel.
    transfer: Ns,
    pub(in crate::time::device) suspended: u32,
    /// Remaining array time, once started.
    left: Option<Ns>,
    started: Ns,
}

impl WorkOp {
    /// Creates work that needs the array for this time.
    pub(in crate::time::device) fn new(id: OpId, work: WorkKind, cause: Cause, array: Ns) -> Self {
        Self { id, work, cause, array, transfer: 0, suspended: 0, left: None, started: 0 }
    }

    /// Creates work that begins with the read of a page. The read needs the array and the channel
    /// for these times.
    pub(in crate::time::device) fn reading(
        id: OpId,
        work: WorkKind,
        cause: Cause,
        (array, transfer): (Ns, Ns),
    ) -> Self {
        Self { transfer, ..Self::new(id, work, cause, array) }
    }
}

impl Dies {
    /// Starts the work that a die can start now. Returns whether the die is idle and has waiting
    /// jobs, so that the caller may run a step.
    pub(in crate::time::device) fn dispatch(
        &mut self,
        die: usize,
        now: Ns,
        pressure: bool,
        speed: &Speed,
    ) -> bool {
        if !self.summaries[die].has_work {
            self.start_reads(die, now);
            return false;
        }
        if self.summaries[die].has(RUNNING) {
            self.try_suspend(die, now, pressure, speed);
            if self.summaries[die].has(RUNNING) {
                return false;
            }
        }
        let summary = self.summaries[die];
        if summary.has(SUSPENDED) {
            if summary.queued_reads > 0 {
                self.start_reads(die, now);
            } else if self.is_quiet(die) {
                self.resume(die, now);
            }
            return false;
        }
        let due = summary.has(EXCLUSIVE) || (pressure && summary.has(WRITES));
        if !summary.has(URGENT) && summary.queued_reads > 0 && (summary.credit > 0 || !due) {
            self.start_reads(die, now);
            return false;
        }
        if !self.is_quiet(die) {
            return false;
        }
        if summary.has(EXCLUSIVE | WRITES) {
            self.start_next(die, now, speed);
            return false;
        }
        if summary.has(JOBS) {
            return true;
        }
        self.summaries[die].has_work = false;
        self.start_reads(die, now);
        false
    }

    /// Starts the next work of an idle die.
    fn start_next(&mut self, die: usize, now: Ns, speed: &Speed) {
        let (d, summary) = (&mut self.queues[die], &mut self.summaries[die]);
        let write_turn = summary.has(WRITES) && (d.write_turn || !summary.has(EXCLUSIVE));
        let queue = if write_turn { &mut d.writes } else { &mut d.exclusive };
        let op = queue.pop_front().expect("the caller saw one");
        summary.set(if write_turn { WRITES } else { EXCLUSIVE }, !queue.is_empty());
        d.write_turn = matches!(op.work, WorkKind::Exclusive);
        d.foreground &= !matches!(op.work, WorkKind::Exclusive);
        self.start_work(die, op, now, speed);
    }

    /// Executes the next event of a die's work, and returns the work if it ended. The caller starts
    /// the die's next work before [`Self::settle`].
    pub(in crate::time::device) fn step(&mut self) -> (DieId, Option<WorkOp>) {
        let (now, unit) = (self.work.next(), self.work.first());
        let ended = match self.units[unit].phase {
            Phase::Working => self.worked(unit, now),
            Phase::WorkTransferring => self.work_transferred(unit, now),
            Phase::Idle | Phase::Sensing | Phase::Sensed | Phase::Transferring => {
                unreachable!("no work is under way in this phase")
            }
        };
        (self.units[unit].die, ended)
    }

    /// Returns whether a die is idle.
    fn is_quiet(&self, die: usize) -> bool {
        let units = &self.units[die * self.units_per_die..(die + 1) * self.units_per_die];
        units.iter().all(|u| u.phase == Phase::Idle && u.cached == NIL)
    }

    fn start_work(&mut self, die: usize, mut op: WorkOp, now: Ns, speed: &Speed) {
        let unit = die * self.units_per_die;
        op.started = now;
        self.set_running(die, Some(op));
        match op.work {
            WorkKind::Program { pages, .. } => {
                self.start_work_transfer(op.id, unit, now, u64::from(pages) * speed.page_transfer);
            }
            WorkKind::Striped { .. } => {
                self.start_work_transfer(op.id, unit, now, speed.page_transfer);
            }
            WorkKind::Copy { .. }
            | WorkKind::Load { .. }
            | WorkKind::Retry
            | WorkKind::Erase
            | WorkKind::Exclusive => {
                self.start_array(die, op.array, now);
            }
        }
    }

    fn start_array(&mut self, die: usize, ns: Ns, now: Ns) {
        let unit = die * self.units_per_die;
        self.order = self.order.wrapping_add(1);
        self.units[unit].phase = Phase::Working;
        self.units[unit].since = now;
        let op = self.queues[die].running.as_mut().expect("the caller set it");
        op.left = Some(ns);
        let op = op.id;
        self.note(|| TimeEvent::Begun { op, unit: unit as u32, at: now });
        self.set_event(unit, now + ns);
    }

    /// Sets the next event of a unit's work, ordered by issue.
    #[inline]
    fn set_event(&mut self, unit: usize, at: Ns) {
        self.work.set(unit, at, u64::from(self.order));
        self.happened = self.happened.filter(|happened| *happened != unit);
    }

    /// Removes the event that has happened from the tree, unless another event replaced it.
    #[inline]
    pub(in crate::time::device) fn settle(&mut self) {
        if let Some(unit) = self.happened.take() {
            self.work.clear(unit);
        }
    }

    fn set_running(&mut self, die: usize, op: Option<WorkOp>) -> Option<WorkOp> {
        self.summaries[die].set(RUNNING, op.is_some());
        std::mem::replace(&mut self.queues[die].running, op)
    }

    fn try_suspend(&mut self, die: usize, now: Ns, pressure: bool, speed: &Speed) {
        if self.summaries[die].queued_reads == 0 || pressure || self.suspend_limit == 0 {
            return;
        }
        let unit = die * self.units_per_die;
        let d = &mut self.queues[die];
        let Some(op) = d.running.as_mut() else { return };
        let cost = match op.work {
            WorkKind::Program { .. } | WorkKind::Striped { .. } => speed.suspend_program,
            WorkKind::Erase => speed.suspend_erase,
            WorkKind::Copy { .. }
            | WorkKind::Load { .. }
            | WorkKind::Retry
            | WorkKind::Exclusive => return,
        };
        let Some(left) = op.left else { return };
        if op.suspended >= self.suspend_limit || self.units[unit].phase != Phase::Working {
            return;
        }
        let done = now - self.units[unit].since;
        op.suspended += 1;
        op.left = Some(left - done.min(left) + cost);
        let op = op.id;
        d.suspended = d.running.take();
        self.summaries[die].set(RUNNING, false);
        self.summaries[die].set(SUSPENDED, true);
        self.note_interval(unit, self.units[unit].since, now, true);
        self.note(|| TimeEvent::Suspended { op, at: now });
        self.units[unit].phase = Phase::Idle;
        self.work.clear(unit);
    }

    fn resume(&mut self, die: usize, now: Ns) {
        let op = self.queues[die].suspended.take().expect("the caller saw one");
        let left = op.left.expect("only work that has begun is suspended");
        self.summaries[die].set(SUSPENDED, false);
        self.set_running(die, Some(op));
        self.start_array(die, left, now);
    }

    fn start_work_transfer(&mut self, op: OpId, unit: usize, now: Ns, ns: Ns) {
        let end = self.book_channel(op, unit, now, ns);
        self.units[unit].phase = Phase::WorkTransferring;
        self.order = self.order.wrapping_add(1);
        self.set_event(unit, end);
    }

    pub(super) fn worked(&mut self, unit: usize, now: Ns) -> Option<WorkOp> {
        self.note_interval(unit, self.units[unit].since, now, true);
        let op = self.queues[usize::from(self.units[unit].die)].running.expect("work is running");
        if matches!(op.work, WorkKind::Copy { .. } | WorkKind::Load { .. } | WorkKind::Retry) {
            self.start_work_transfer(op.id, unit, now, op.transfer);
            return None;
        }
        Some(self.end_work(unit, now))
    }

    pub(super) fn work_transferred(&mut self, unit: usize, now: Ns) -> Option<WorkOp> {
        let die = usize::from(self.units[unit].die);
        let op = self.queues[die].running.expect("work is running");
        if let WorkKind::Program { .. } | WorkKind::Striped { .. } = op.work {
            self.start_array(die, op.array, now);
            return None;
        }
        Some(self.end_work(unit, now))
    }

    fn end_work(&mut self, unit: usize, now: Ns) -> WorkOp {
        let die = usize::from(self.units[unit].die);
        self.units[unit].phase = Phase::Idle;
        self.happened = Some(unit);
        let op = self.set_running(die, None).expect("work is running");
        self.summaries[die].reclaim_work -= u32::from(op.cause == Cause::Reclaim);
        // Waiting reads go before the next exclusive piece or, under pressure, before the next
        // write.
        self.summaries[die].credit =
            if self.queues[die].foreground { 0 } else { self.summaries[die].queued_reads };
        self.note(|| TimeEvent::Ended { op: op.id, at: now });
        op
    }

    /// Returns the time that the currently waiting host reads of a die have waited for this work.
    pub(in crate::time::device) fn waited_for(&self, die: usize, op: &WorkOp, now: Ns) -> Ns {
        let mut waited = 0;
        for unit in die * self.units_per_die..(die + 1) * self.units_per_die {
            let mut i = self.units[unit].head;
            while i != NIL {
                let read = &self.reads[i as usize];
                i = read.next;
                if !read.part.is_delivered() {
                    continue;
                }
                let from = read.queued_at.max(op.started);
                waited += now - from.min(now);
            }
        }
        waited
    }
}
