//! The stages of reads and work. In a stage, an array begins, is suspended or continues, or a
//! channel transfers, or a die finishes. Each stage takes as long as the configuration says, and
//! begins when all that it needs is free. The read or work that came first goes first.

use vpass_drive::base::units::{Cause, Ns};
use vpass_drive::watch::time_event::OpId;

use super::{Dies, Ended, HostRead, WORK};
use crate::clock::lengths::Lengths;
use crate::clock::work::Stage;

impl Dies {
    /// Checks that an array may begin or continue this operation.
    pub(in crate::clock) fn begun(
        &mut self,
        op: OpId,
        unit: u32,
        at: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        if op & WORK != 0 {
            return self.work_begun(op, unit, at, lengths);
        }
        let read = self.host_read(op)?;
        if read.since.replace(at).is_some() || read.unit != unit {
            return Err(format!(
                "a read of array {} is sensed by array {unit} from {at} ns, or it is sensed twice",
                read.unit
            ));
        }
        let die = unit / lengths.units_per_die;
        let u = &mut self.units[unit as usize];
        if std::mem::replace(&mut u.senses, true)
            || u.free > at
            || self.all[die as usize].running.is_some()
        {
            return Err(format!("array {unit} begins to sense at {at} ns while it is busy"));
        }
        let first = u.waiting.pop_front();
        let d = &mut self.all[die as usize];
        // A write waits only if it arrived before this time, because a free page in the buffer may
        // take it at once. A read that follows a read for a rebuild begins when that read ends. A
        // program that waits then joins the die at the same time, and is not next yet.
        let write_is_next = self.pressed.is_some_and(|since| since < at)
            && !d.waiting.is_empty()
            && d.joined != Some(at);
        let nothing_is_next = d.turn.read(at) || d.pieces.is_empty() && !write_is_next;
        let may_begin = nothing_is_next && !d.urgent || d.suspended.is_some();
        self.touch(die);
        if !may_begin {
            return Err(format!("die {die} begins a read at {at} ns, but other work is next"));
        }
        if first != Some(op) {
            return Err(format!(
                "array {unit} begins to sense at {at} ns for a read, but an earlier read waits"
            ));
        }
        Ok(())
    }

    fn work_begun(&mut self, op: OpId, unit: u32, at: Ns, lengths: &Lengths) -> Result<(), String> {
        let work = self.work(op)?;
        let (die, stage) = (work.half.die, work.stage);
        let right = match stage {
            Stage::Waiting => work.half.out || work.half.bus.is_none(),
            Stage::Bus(to) => !work.half.out && to == at,
            Stage::Suspended => true,
            Stage::Array(_) => false,
        };
        work.stage = Stage::Array(at);
        if !right {
            return Err(format!(
                "die {die} begins to work on {op} at {at} ns, in the wrong stage: {stage:?}"
            ));
        }
        if unit != die * lengths.units_per_die {
            return Err(format!("work of die {die} begins at {at} ns on array {unit}"));
        }
        match stage {
            Stage::Waiting => self.occupy(op, die, at),
            Stage::Suspended
                if self.all[die as usize].suspended.take() != Some(op)
                    || !self.is_quiet(die, at) =>
            {
                Err(format!("die {die} continues suspended work at {at} ns while it is busy"))
            }
            Stage::Suspended => {
                self.all[die as usize].running = Some(op);
                Ok(())
            }
            Stage::Array(_) | Stage::Bus(_) => Ok(()),
        }
    }

    /// Checks that work may take its die.
    fn occupy(&mut self, op: OpId, die: u32, at: Ns) -> Result<(), String> {
        let is_quiet = self.is_quiet(die, at);
        let work = self.work(op)?;
        work.begun = at;
        let is_piece = work.is_piece;
        let reads = self.reads_waiting(die);
        let pressed = self.pressed.is_some();
        let d = &mut self.all[die as usize];
        if !is_quiet || d.suspended.is_some() || d.running.replace(op).is_some() {
            return Err(format!("die {die} begins work at {at} ns while it is busy"));
        }
        if reads > 0 && !(d.urgent || pressed) && d.pieces.is_empty() {
            return Err(format!(
                "die {die} begins work at {at} ns while {reads} reads wait, but no work is urgent"
            ));
        }
        // With batches, a piece in the foreground looks like any other piece.
        if reads > 0 && !d.urgent && self.pieces_are_whole && d.turn.owed() > 0 {
            return Err(format!(
                "die {die} begins work at {at} ns while {reads} reads wait, but a read is next"
            ));
        }
        if !d.waiting.is_empty() && !d.pieces.is_empty() && is_piece == d.turn.others {
            let (this, other) = if is_piece {
                ("a piece of a job", "other work")
            } else {
                ("work", "a piece of a job")
            };
            return Err(format!("die {die} begins {this} at {at} ns, but {other} is next"));
        }
        d.turn.others = is_piece;
        d.turn.foreground &= !is_piece;
        let first = if is_piece { &mut d.pieces } else { &mut d.waiting }.pop_front();
        self.touch(die);
        if first != Some(op) {
            // The program of a wordline waits for its loads in a list of its own.
            let is_early = self.wordlines.values().any(|(_, programs)| programs.contains(&op));
            let what = if is_early {
                "to program a wordline whose pages are still being read"
            } else {
                "to work, but earlier work waits"
            };
            return Err(format!("die {die} begins at {at} ns {what}"));
        }
        Ok(())
    }

    pub(in crate::clock) fn suspended(
        &mut self,
        op: OpId,
        at: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        let work = self.work(op)?;
        let die = work.half.die;
        let Stage::Array(since) = work.stage else {
            return Err(format!("work is suspended at {at} ns, but its array is idle"));
        };
        work.worked += at - since;
        if work.half.suspension.is_none()
            || work.suspended >= lengths.suspensions
            || work.worked > work.array()
        {
            return Err(format!(
                "work of die {die} is suspended at {at} ns more than the allowed {} times",
                lengths.suspensions
            ));
        }
        work.suspended += 1;
        work.stage = Stage::Suspended;
        if self.reads_waiting(die) == 0 {
            return Err(format!("die {die} suspends its work at {at} ns, but no read waits"));
        }
        let d = &mut self.all[die as usize];
        (d.running, d.suspended) = (None, Some(op));
        self.touch(die);
        Ok(())
    }

    /// Checks the transfer of data that is ready for its channel at `at`.
    pub(in crate::clock) fn transfer(
        &mut self,
        op: OpId,
        channel: u32,
        at: Ns,
        span: (Ns, Ns),
        lengths: &Lengths,
    ) -> Result<(), String> {
        let (die, ns) = if op & WORK == 0 {
            self.read_ready(op, at, lengths)?
        } else {
            self.work_ready(op, at)?
        };
        if channel != lengths.channel_of(die) {
            return Err(format!(
                "channel {channel} serves die {die}, which belongs to channel {}",
                lengths.channel_of(die)
            ));
        }
        let from = at.max(self.channels[channel as usize]);
        let to = from + ns;
        if span != (from, to) {
            return Err(format!(
                "channel {channel} is used from {} to {} ns; it must be used from {from} to {to} \
                 ns",
                span.0, span.1
            ));
        }
        self.channels[channel as usize] = to;
        if op & WORK == 0 {
            let read = self.host_read(op)?;
            read.to = Some(to);
            let unit = read.unit as usize;
            let unit = &mut self.units[unit];
            unit.senses = false;
            unit.free = if lengths.cache_read { at } else { to };
            unit.empty = to;
        } else {
            self.work(op)?.stage = Stage::Bus(to);
        }
        Ok(())
    }

    fn read_ready(&mut self, op: OpId, at: Ns, lengths: &Lengths) -> Result<(u32, Ns), String> {
        let HostRead { unit, sense, transfer, since, to, .. } = *self.host_read(op)?;
        let (Some(since), None) = (since, to) else {
            return Err(format!(
                "read {op} is transferred at {at} ns, but it was not sensed or was already \
                 transferred"
            ));
        };
        let empty = if lengths.cache_read { self.units[unit as usize].empty } else { 0 };
        let ready = (since + sense).max(empty);
        self.touch(unit / lengths.units_per_die);
        if at == ready {
            Ok((unit / lengths.units_per_die, transfer))
        } else {
            Err(format!(
                "array {unit} begins to sense at {since} ns and has the page at {at} ns; it must \
                 have the page at {ready} ns"
            ))
        }
    }

    fn work_ready(&mut self, op: OpId, at: Ns) -> Result<(u32, Ns), String> {
        let work = self.work(op)?;
        let (die, stage) = (work.half.die, work.stage);
        let ns = work.half.bus.ok_or_else(|| {
            format!("work of die {die} uses the channel at {at} ns, but it needs no channel")
        })?;
        match stage {
            Stage::Array(since) if work.half.out => {
                let ready = since + work.half.array;
                if ready != at {
                    return Err(format!(
                        "die {die} begins to sense at {since} ns and has the page at {at} ns; it \
                         must have the page at {ready} ns"
                    ));
                }
            }
            Stage::Waiting if !work.half.out => self.occupy(op, die, at)?,
            _ => {
                return Err(format!(
                    "work of die {die} gets its channel at {at} ns in the wrong stage: {stage:?}"
                ));
            }
        }
        Ok((die, ns))
    }

    /// Checks that an operation has left its die.
    pub(in crate::clock) fn ended(
        &mut self,
        op: OpId,
        at: Ns,
        lengths: &Lengths,
    ) -> Result<Ended, String> {
        if op & WORK != 0 {
            return self.work_ended(op, at);
        }
        let read = *self.host_read(op)?;
        if read.to != Some(at) {
            return Err(format!("a read ends at {at} ns; its transfer ends at {:?} ns", read.to));
        }
        self.reads[op as usize] = None;
        self.touch(read.unit / lengths.units_per_die);
        if let Some(stripe) = read.load_for {
            self.loaded(stripe, Some(at))?;
        }
        Ok(Ended::Read(read))
    }

    fn work_ended(&mut self, op: OpId, at: Ns) -> Result<Ended, String> {
        let work = self.work(op)?;
        let die = work.half.die;
        match work.stage {
            Stage::Bus(to) if work.half.out && to == at => {}
            Stage::Array(since) if !work.half.out && work.worked + (at - since) == work.array() => {
            }
            Stage::Array(since) if !work.half.out => {
                let (took, must) = (work.worked + (at - since), work.array());
                return Err(format!(
                    "die {die} worked {took} ns on an operation by {at} ns; with its {} \
                     suspensions, it must take {must} ns",
                    work.suspended
                ));
            }
            stage => {
                return Err(format!(
                    "work of die {die} ends at {at} ns in the wrong stage: {stage:?}"
                ));
            }
        }
        let waiting = self.reads_waiting(die);
        self.all[die as usize].running = None;
        self.all[die as usize].turn.grant(waiting, at);
        self.touch(die);
        self.leave(op, die, at)?;
        let work = self.work(op)?;
        if let Some(then) = work.then.take() {
            (work.half, work.stage) = (then, Stage::Waiting);
            self.wait(op, then.die);
            return Ok(Ended::Half);
        }
        let work = self.works.remove(&op).expect("just seen");
        if let Some(wordline) = work.load_for {
            self.loaded(wordline, None)?;
        }
        Ok(Ended::Work(work))
    }

    /// Notes that work leaves its die. If it was work of reclaim, adds the time that reads have
    /// waited for it.
    fn leave(&mut self, op: OpId, die: u32, at: Ns) -> Result<(), String> {
        let work = self.work(op)?;
        let (cause, begun, is_copy_program) = (work.cause, work.begun, work.is_copy_program());
        if is_copy_program {
            self.copy_programs -= 1;
            if self.copy_programs == 0 {
                // Jobs that were kept from adding more copies may continue.
                for die in 0..self.all.len() as u32 {
                    if self.all[die as usize].jobs > 0 {
                        self.touch(die);
                    }
                }
            }
        }
        if cause == Cause::Reclaim {
            self.all[die as usize].reclaim -= 1;
            let waiting = self.units_of(die).iter().flat_map(|unit| &unit.waiting);
            let came = waiting
                .filter_map(|read| self.reads[*read as usize])
                .filter(|read| !read.in_vain)
                .map(|read| read.came);
            self.stalled += came.map(|came| at - came.max(begun)).sum::<Ns>();
        }
        Ok(())
    }

    /// Notes that a page was read for a wordline or a stripe. `among_reads` is the time of a read
    /// among the host's reads.
    fn loaded(&mut self, wordline: u32, among_reads: Option<Ns>) -> Result<(), String> {
        let loads = self.wordlines.get_mut(&wordline).ok_or("a load ends, but it never began")?;
        loads.0 -= 1;
        if loads.0 == 0
            && let Some((_, programs)) = self.wordlines.remove(&wordline)
        {
            for program in programs {
                let die = self.work(program)?.half.die;
                if self.all[die as usize].waiting.is_empty() {
                    self.all[die as usize].joined = among_reads;
                }
                self.wait(program, die);
            }
        }
        Ok(())
    }
}
