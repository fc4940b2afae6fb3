//! Host read of a page on its die: it waits, is sensed, waits for the channel, and is transferred.

use super::{Dies, NIL, Phase};
use crate::base::units::{DieId, Ns};
use crate::time::device::host::ReadPart;
use crate::time::device::timeline::Event;
use crate::watch::time_event::{OpId, TimeEvent};

/// Running host read of a page or of a part of one.
#[derive(Clone, Copy)]
pub(in crate::time::device) struct ReadOp {
    pub(in crate::time::device) part: ReadPart,
    /// Next read in the queue, or the next unused one.
    pub(super) next: u32,
    sense: u32,
    transfer: u32,
    order: u32,
    pub(super) queued_at: Ns,
}

impl Dies {
    /// Queues a host read at a unit (die, or plane of it) with these times for sensing and
    /// transfer, and starts it if possible. Returns the die if it also has other work.
    #[inline(always)]
    // Once a page read; what is queued would go through memory.
    pub(in crate::time::device) fn queue_read(
        &mut self,
        unit: usize,
        mut part: ReadPart,
        (sense, transfer): (Ns, Ns),
        now: Ns,
    ) -> Option<DieId> {
        self.order = self.order.wrapping_add(1);
        let u = &mut self.units[unit];
        let summary = &mut self.summaries[usize::from(u.die)];
        part.met_reclaim = summary.reclaim_work > 0;
        let op = ReadOp {
            part,
            next: NIL,
            sense: sense as u32,
            transfer: transfer as u32,
            order: self.order,
            queued_at: now,
        };
        let i = self.unused;
        if let Some(unused) = self.reads.get_mut(i as usize) {
            self.unused = unused.next;
            *unused = op;
        } else {
            // There were never as many reads at one time before.
            self.reads.push(op);
            self.unused = self.reads.len() as u32;
        }
        if u.phase == Phase::Idle && !summary.has_work {
            summary.credit = summary.credit.saturating_sub(1);
            self.begin_read(unit, i, now);
            return None;
        }
        if u.head == NIL {
            u.head = i;
        } else {
            self.reads[u.tail as usize].next = i;
        }
        u.tail = i;
        summary.queued_reads += 1;
        summary.has_work.then_some(u.die)
    }

    /// Returns the number of the next host read.
    pub(in crate::time::device) fn next_read(&self) -> OpId {
        self.unused
    }

    /// Starts the reads that wait at idle units of a die.
    pub(super) fn start_reads(&mut self, die: usize, now: Ns) {
        if self.summaries[die].queued_reads == 0 {
            return;
        }
        for unit in die * self.units_per_die..(die + 1) * self.units_per_die {
            if self.units[unit].phase == Phase::Idle {
                self.start_queued(unit, now);
            }
        }
    }

    /// Starts the first read that waits at an idle unit, if there is one.
    #[inline(always)]
    // Once a page read.
    fn start_queued(&mut self, unit: usize, now: Ns) {
        let u = &mut self.units[unit];
        let i = u.head;
        if i != NIL {
            u.head = self.reads[i as usize].next;
            let summary = &mut self.summaries[usize::from(u.die)];
            summary.queued_reads -= 1;
            summary.credit = summary.credit.saturating_sub(1);
            self.begin_read(unit, i, now);
        }
    }

    #[inline(always)]
    // Once a page read, from two places.
    fn begin_read(&mut self, unit: usize, i: u32, now: Ns) {
        let ReadOp { sense, order, .. } = self.reads[i as usize];
        let u = &mut self.units[unit];
        u.reading = i;
        u.phase = Phase::Sensing;
        u.since = now;
        self.sensing.push(Event { at: now + u64::from(sense), order, unit: unit as u32 });
        self.note(|| TimeEvent::Begun { op: i, unit: unit as u32, at: now });
    }

    /// Handles the end of the sensing of a page. Returns its die if the die has other work.
    #[inline(always)]
    // Once a page read.
    pub(in crate::time::device) fn sensed(&mut self) -> Option<DieId> {
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

    /// Begins the wait of a read's page for its channel.
    #[inline(always)]
    // Once a page read.
    fn begin_transfer(&mut self, unit: usize, i: u32, now: Ns) {
        let ReadOp { transfer, order, .. } = self.reads[i as usize];
        let at = self.book_channel(i, unit, now, u64::from(transfer));
        self.transfers.push(Event { at, order, unit: unit as u32 });
    }

    /// Handles the arrival of a page in the controller. Returns the read, and its die if the die
    /// has other work.
    #[inline(always)]
    // Once a page read; what it gives would go through memory.
    pub(in crate::time::device) fn transferred(&mut self) -> (ReadPart, Option<DieId>) {
        let Event { at: now, unit, .. } = self.transfers.pop();
        let unit = unit as usize;
        let i = if self.cache_read {
            self.cache_transferred(unit, now)
        } else {
            // The page was in the die's register until now.
            self.note_interval(unit, self.units[unit].since, now, false);
            let u = &mut self.units[unit];
            u.phase = Phase::Idle;
            std::mem::replace(&mut u.reading, NIL)
        };
        self.note(|| TimeEvent::Ended { op: i, at: now });
        let part = self.reads[i as usize].part;
        self.reads[i as usize].next = std::mem::replace(&mut self.unused, i);
        (part, self.go_on(unit, now))
    }

    #[cold]
    fn cache_transferred(&mut self, unit: usize, now: Ns) -> u32 {
        let i = std::mem::replace(&mut self.units[unit].cached, NIL);
        if self.units[unit].phase == Phase::Sensed {
            self.move_to_cache(unit, now);
        }
        i
    }

    /// Starts the next read of a unit after an end of work. Returns the die if it has other work,
    /// so that the caller decides.
    #[inline(always)]
    // Once a page read.
    pub(super) fn go_on(&mut self, unit: usize, now: Ns) -> Option<DieId> {
        let u = &self.units[unit];
        if self.summaries[usize::from(u.die)].has_work {
            return Some(u.die);
        }
        if u.phase == Phase::Idle {
            self.start_queued(unit, now);
        }
        None
    }
}
