//! Dies, their arrays and channels: each operation on its own for as long as the configuration says, none before what it needs is free, and no
//! die idle while something waits for it. Who came first goes first: among the reads of an array, among the work of a die, among its pieces of
//! jobs. Reads go before work unless a job is urgent, a piece of a job waits, or writers wait for room in the buffer. All else of the order
//! is the engine's affair.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use vpass_core::base::units::{Cause, Ns, Ppn};
use vpass_core::watch::time_event::OpId;

use super::lengths::Lengths;
use super::work::{Stage, UnderWay};

/// A page read for the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostRead {
    pub(super) request: u32,
    pub(super) bytes: u32,
    /// Reclaim was at work on its die when it came.
    pub(super) met_reclaim: bool,
    came: Ns,
    unit: u32,
    sense: Ns,
    transfer: Ns,
    /// Sensed from then on.
    since: Option<Ns>,
    /// In the controller then.
    to: Option<Ns>,
}

/// An array with its registers.
#[derive(Clone, Debug, Default)]
struct Unit {
    /// A host read is being sensed, or waits for the cache register.
    senses: bool,
    /// From when on it may sense again, and from when on its registers are empty.
    free: Ns,
    empty: Ns,
    /// Host reads that wait, the first that came first.
    waiting: VecDeque<OpId>,
}

#[derive(Clone, Debug, Default)]
struct Die {
    running: Option<OpId>,
    suspended: Option<OpId>,
    /// Work that could start, and pieces of jobs, each the first that came first.
    waiting: VecDeque<OpId>,
    pieces: VecDeque<OpId>,
    urgent: bool,
    /// Deferred jobs; and what there is of reclaim, jobs and work.
    jobs: u32,
    reclaim: u32,
    turn: Turn,
    /// Something changed since time last went on.
    touched: bool,
}

/// Reads of the host that may go before a piece of a job that waits: those that waited when the die's last work ended, and none before a
/// piece in the foreground, which begins next.
#[derive(Clone, Debug, Default)]
struct Turn {
    reads: usize,
    /// A piece in the foreground waits.
    foreground: bool,
    /// Planes begin together: the most that might have begun at this time.
    at: Ns,
    most: usize,
}

impl Turn {
    fn grant(&mut self, waiting: usize, at: Ns) {
        self.reads = if self.foreground { 0 } else { waiting };
        self.most = if self.at == at { self.most.max(self.reads) } else { self.reads };
        self.at = at;
    }

    /// A piece waits that is all that is left of its job.
    fn take(&mut self) {
        (self.reads, self.most, self.foreground) = (0, 0, true);
    }

    /// A read begins: whether it may, before a piece that waits.
    fn read(&mut self, at: Ns) -> bool {
        if self.at != at {
            (self.at, self.most) = (at, self.reads);
        }
        self.reads = self.reads.saturating_sub(1);
        self.most > 0
    }
}

/// All of them.
#[derive(Debug)]
pub(super) struct Dies {
    units: Vec<Unit>,
    all: Vec<Die>,
    channels: Vec<Ns>,
    touched: Vec<u32>,
    reads: Vec<Option<HostRead>>,
    works: BTreeMap<OpId, UnderWay>,
    /// Programs of copies that wait or are under way.
    copy_programs: u32,
    /// Every piece is all that is left of its job.
    pieces_are_whole: bool,
    /// Time that host reads have waited for reclaim's work.
    pub(super) stalled: Ns,
    /// Writes wait for room in the buffer.
    pub(super) pressed: bool,
    /// Loads under way for a wordline, and its program, which waits for them.
    wordlines: BTreeMap<u32, (u32, Option<OpId>)>,
}

/// A die's work that has ended.
pub(super) enum Ended {
    /// Of the host's.
    Read(HostRead),
    /// Anything else, all of it.
    Work(UnderWay),
    /// A copy has been read.
    Half,
}

const WORK: OpId = 1 << 31;

impl Dies {
    pub(super) fn new(lengths: &Lengths) -> Self {
        Self {
            units: vec![Unit::default(); (lengths.dies * lengths.units_per_die) as usize],
            all: vec![Die::default(); lengths.dies as usize],
            channels: vec![0; lengths.channels as usize],
            touched: vec![],
            reads: vec![],
            works: BTreeMap::new(),
            copy_programs: 0,
            pieces_are_whole: lengths.batch.is_none(),
            stalled: 0,
            pressed: false,
            wordlines: BTreeMap::new(),
        }
    }

    fn touch(&mut self, die: u32) {
        if !std::mem::replace(&mut self.all[die as usize].touched, true) {
            self.touched.push(die);
        }
    }

    /// A host read waits from now on.
    pub(super) fn read(&mut self, op: OpId, request: u32, ppn: Ppn, bytes: u32, came: Ns, lengths: &Lengths) -> Result<(), String> {
        let at = op as usize;
        if op & WORK != 0 || self.reads.get(at).is_some_and(Option::is_some) {
            return Err(format!("a read is named {op} while that name is taken"));
        }
        if at >= self.reads.len() {
            self.reads.resize(at + 1, None);
        }
        let unit = lengths.unit(ppn);
        let transfer = lengths.channel(bytes.into());
        let met_reclaim = self.all[(unit / lengths.units_per_die) as usize].reclaim > 0;
        self.reads[at] =
            Some(HostRead { request, bytes, met_reclaim, came, unit, sense: lengths.sense(ppn), transfer, since: None, to: None });
        self.units[unit as usize].waiting.push_back(op);
        self.touch(unit / lengths.units_per_die);
        Ok(())
    }

    /// Work waits from now on, the program of a wordline for its loads.
    pub(super) fn queue(&mut self, op: OpId, work: UnderWay, program_of: Option<u32>) -> Result<(), String> {
        if work.is_piece && self.pieces_are_whole {
            self.all[work.half.die as usize].turn.take();
        }
        let die = work.half.die;
        if let Some(wordline) = work.load_for {
            self.wordlines.entry(wordline).or_default().0 += 1;
        }
        if op & WORK == 0 || self.works.insert(op, work).is_some() {
            return Err(format!("work is named {op} while that name is taken"));
        }
        if let Some(loads) = program_of.and_then(|wordline| self.wordlines.get_mut(&wordline)) {
            loads.1 = Some(op);
        } else {
            self.wait(op, die);
        }
        Ok(())
    }

    fn wait(&mut self, op: OpId, die: u32) {
        let Some(work) = self.works.get(&op) else { return };
        let d = &mut self.all[die as usize];
        d.reclaim += u32::from(work.cause == Cause::Reclaim);
        self.copy_programs += u32::from(work.is_copy_program());
        if work.is_piece { &mut d.pieces } else { &mut d.waiting }.push_back(op);
        self.touch(die);
    }

    /// A deferred job is there, or there no longer.
    pub(super) fn job(&mut self, die: u32, cause: Cause, on: bool) -> Result<(), String> {
        let d = &mut self.all[die as usize];
        let of_reclaim = u32::from(cause == Cause::Reclaim);
        if on {
            (d.jobs, d.reclaim) = (d.jobs + 1, d.reclaim + of_reclaim);
        } else {
            let jobs = d.jobs.checked_sub(1).ok_or_else(|| format!("die {die} is done with a job that it was not given"))?;
            (d.jobs, d.reclaim) = (jobs, d.reclaim - of_reclaim);
        }
        self.touch(die);
        Ok(())
    }

    pub(super) fn urgent(&mut self, die: u32, on: bool) {
        self.all[die as usize].urgent = on;
        self.touch(die);
    }

    fn work(&mut self, op: OpId) -> Result<&mut UnderWay, String> {
        self.works.get_mut(&op).ok_or_else(|| format!("work {op} goes on, and was never given to a die"))
    }

    fn host_read(&mut self, op: OpId) -> Result<&mut HostRead, String> {
        self.reads.get_mut(op as usize).and_then(Option::as_mut).ok_or_else(|| format!("read {op} goes on, and was never given to a die"))
    }

    fn is_quiet(&self, die: u32, at: Ns, lengths: &Lengths) -> bool {
        let n = lengths.units_per_die;
        self.units[(die * n) as usize..((die + 1) * n) as usize].iter().all(|u| !u.senses && u.free <= at && u.empty <= at)
    }

    /// An array begins, or goes on.
    pub(super) fn begun(&mut self, op: OpId, unit: u32, at: Ns, lengths: &Lengths) -> Result<(), String> {
        if op & WORK != 0 {
            return self.work_begun(op, unit, at, lengths);
        }
        let read = self.host_read(op)?;
        if read.since.replace(at).is_some() || read.unit != unit {
            return Err(format!("a read that belongs to array {} is sensed by array {unit} from {at} ns, or twice", read.unit));
        }
        let die = unit / lengths.units_per_die;
        let u = &mut self.units[unit as usize];
        if std::mem::replace(&mut u.senses, true) || u.free > at || self.all[die as usize].running.is_some() {
            return Err(format!("array {unit} senses from {at} ns on, and is busy"));
        }
        let first = u.waiting.pop_front();
        let d = &mut self.all[die as usize];
        let no_piece_is_next = d.turn.read(at) || d.pieces.is_empty();
        let may_begin = no_piece_is_next && !d.urgent || d.suspended.is_some();
        self.touch(die);
        if !may_begin {
            return Err(format!("die {die} begins a read at {at} ns before other work, whose turn it is"));
        }
        if first != Some(op) {
            return Err(format!("array {unit} senses from {at} ns on for a read that came after another that waits"));
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
            return Err(format!("die {die} begins at {at} ns to work on {op}, which is {stage:?}"));
        }
        if unit != die * lengths.units_per_die {
            return Err(format!("work of die {die} begins at {at} ns on array {unit}"));
        }
        match stage {
            Stage::Waiting => self.occupy(op, die, at, lengths),
            Stage::Suspended if self.all[die as usize].suspended.take() != Some(op) || !self.is_quiet(die, at, lengths) => {
                Err(format!("die {die} goes on at {at} ns with suspended work while it is busy"))
            }
            Stage::Suspended => {
                self.all[die as usize].running = Some(op);
                Ok(())
            }
            Stage::Array(_) | Stage::Bus(_) => Ok(()),
        }
    }

    /// Work takes its die.
    fn occupy(&mut self, op: OpId, die: u32, at: Ns, lengths: &Lengths) -> Result<(), String> {
        let is_quiet = self.is_quiet(die, at, lengths);
        let work = self.work(op)?;
        work.begun = at;
        let is_piece = work.is_piece;
        let n = lengths.units_per_die;
        let reads: usize = self.units[(die * n) as usize..((die + 1) * n) as usize].iter().map(|u| u.waiting.len()).sum();
        let pressed = self.pressed;
        let d = &mut self.all[die as usize];
        if !is_quiet || d.suspended.is_some() || d.running.replace(op).is_some() {
            return Err(format!("die {die} begins work at {at} ns, and is busy"));
        }
        if reads > 0 && !(d.urgent || pressed) && d.pieces.is_empty() {
            return Err(format!("die {die} begins work at {at} ns before {reads} reads that wait, though nothing is urgent"));
        }
        d.turn.foreground &= !is_piece;
        let first = if is_piece { &mut d.pieces } else { &mut d.waiting }.pop_front();
        self.touch(die);
        if first != Some(op) {
            // The program of a wordline waits for its loads elsewhere.
            let is_early = self.wordlines.values().any(|(_, program)| *program == Some(op));
            let what = if is_early {
                "to program a wordline of which pages are still being read"
            } else {
                "with work that came after other work that waits"
            };
            return Err(format!("die {die} begins at {at} ns {what}"));
        }
        Ok(())
    }

    pub(super) fn suspended(&mut self, op: OpId, at: Ns, lengths: &Lengths) -> Result<(), String> {
        let work = self.work(op)?;
        let die = work.half.die;
        let Stage::Array(since) = work.stage else { return Err(format!("work is suspended at {at} ns while its array does not work")) };
        work.worked += at - since;
        if work.half.suspension.is_none() || work.suspended >= lengths.suspensions || work.worked > work.array() {
            return Err(format!("work of die {die} is suspended at {at} ns, which may be {} times", lengths.suspensions));
        }
        work.suspended += 1;
        work.stage = Stage::Suspended;
        let n = lengths.units_per_die;
        if self.units[(die * n) as usize..((die + 1) * n) as usize].iter().all(|u| u.waiting.is_empty()) {
            return Err(format!("die {die} suspends its work at {at} ns, and no read waits"));
        }
        let d = &mut self.all[die as usize];
        (d.running, d.suspended) = (None, Some(op));
        self.touch(die);
        Ok(())
    }

    /// Something is ready for its channel at `at`.
    pub(super) fn transfer(&mut self, op: OpId, channel: u32, at: Ns, span: (Ns, Ns), lengths: &Lengths) -> Result<(), String> {
        let (die, ns) = if op & WORK == 0 { self.read_ready(op, at, lengths)? } else { self.work_ready(op, at, lengths)? };
        if channel != lengths.channel_of(die) {
            return Err(format!("channel {channel} serves die {die}, which is on channel {}", lengths.channel_of(die)));
        }
        let from = at.max(self.channels[channel as usize]);
        let to = from + ns;
        if span != (from, to) {
            return Err(format!("channel {channel} is used from {} to {} ns; it must from {from} to {to} ns", span.0, span.1));
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
            return Err(format!("read {op} is transferred at {at} ns without being sensed, or twice"));
        };
        let empty = if lengths.cache_read { self.units[unit as usize].empty } else { 0 };
        let ready = (since + sense).max(empty);
        self.touch(unit / lengths.units_per_die);
        if at == ready {
            Ok((unit / lengths.units_per_die, transfer))
        } else {
            Err(format!("array {unit} begins to sense at {since} ns and has the page at {at} ns; it must at {ready} ns"))
        }
    }

    fn work_ready(&mut self, op: OpId, at: Ns, lengths: &Lengths) -> Result<(u32, Ns), String> {
        let work = self.work(op)?;
        let (die, stage) = (work.half.die, work.stage);
        let ns = work.half.bus.ok_or_else(|| format!("work of die {die} that needs no channel has it at {at} ns"))?;
        match stage {
            Stage::Array(since) if work.half.out => {
                let ready = since + work.half.array;
                if ready != at {
                    return Err(format!("die {die} begins to sense at {since} ns and has the page at {at} ns; it must at {ready} ns"));
                }
            }
            Stage::Waiting if !work.half.out => self.occupy(op, die, at, lengths)?,
            _ => return Err(format!("work of die {die} has its channel at {at} ns, and is {stage:?}")),
        }
        Ok((die, ns))
    }

    /// It has left its die.
    pub(super) fn ended(&mut self, op: OpId, at: Ns, lengths: &Lengths) -> Result<Ended, String> {
        if op & WORK != 0 {
            return self.work_ended(op, at);
        }
        let read = *self.host_read(op)?;
        if read.to != Some(at) {
            return Err(format!("a read ends at {at} ns; its transfer ends at {:?} ns", read.to));
        }
        self.reads[op as usize] = None;
        self.touch(read.unit / lengths.units_per_die);
        Ok(Ended::Read(read))
    }

    fn work_ended(&mut self, op: OpId, at: Ns) -> Result<Ended, String> {
        let work = self.work(op)?;
        let die = work.half.die;
        match work.stage {
            Stage::Bus(to) if work.half.out && to == at => {}
            Stage::Array(since) if !work.half.out && work.worked + (at - since) == work.array() => {}
            Stage::Array(since) if !work.half.out => {
                let (took, must) = (work.worked + (at - since), work.array());
                return Err(format!(
                    "die {die} has worked for {took} ns at {at} ns on what takes {must} ns, {} suspensions included",
                    work.suspended
                ));
            }
            stage => return Err(format!("work of die {die} ends at {at} ns, and is {stage:?}")),
        }
        let n = (self.units.len() / self.all.len()) as u32;
        let waiting = (die * n..(die + 1) * n).map(|unit| self.units[unit as usize].waiting.len()).sum();
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
            self.loaded(wordline)?;
        }
        Ok(Ended::Work(work))
    }

    /// Work leaves its die: for what was reclaim's, the reads that wait have waited.
    fn leave(&mut self, op: OpId, die: u32, at: Ns) -> Result<(), String> {
        let work = self.work(op)?;
        let (cause, begun, is_copy_program) = (work.cause, work.begun, work.is_copy_program());
        if is_copy_program {
            self.copy_programs -= 1;
            if self.copy_programs == 0 {
                // Those that were kept from piling up more may go on.
                for die in 0..self.all.len() as u32 {
                    if self.all[die as usize].jobs > 0 {
                        self.touch(die);
                    }
                }
            }
        }
        if cause == Cause::Reclaim {
            self.all[die as usize].reclaim -= 1;
            let n = self.units.len() / self.all.len();
            let waiting = self.units[die as usize * n..][..n].iter().flat_map(|unit| &unit.waiting);
            let came = waiting.filter_map(|read| self.reads[*read as usize]).map(|read| read.came);
            self.stalled += came.map(|came| at - came.max(begun)).sum::<Ns>();
        }
        Ok(())
    }

    fn loaded(&mut self, wordline: u32) -> Result<(), String> {
        let loads = self.wordlines.get_mut(&wordline).ok_or("a load ends that was never begun")?;
        loads.0 -= 1;
        if loads.0 == 0
            && let Some((_, Some(program))) = self.wordlines.remove(&wordline)
        {
            let die = self.work(program)?.half.die;
            self.wait(program, die);
        }
        Ok(())
    }

    /// Time goes on from here: no die is idle while something waits for it.
    pub(super) fn check_still(&mut self, now: Ns, lengths: &Lengths) -> Result<(), String> {
        while let Some(die) = self.touched.pop() {
            self.all[die as usize].touched = false;
            let d = &self.all[die as usize];
            if d.running.is_some() {
                continue;
            }
            let n = lengths.units_per_die;
            let units = die * n..(die + 1) * n;
            let reads: usize = units.clone().map(|unit| self.units[unit as usize].waiting.len()).sum();
            let works = d.waiting.len() + d.pieces.len();
            let something = reads > 0 || works > 0 || d.suspended.is_some();
            if something && self.is_quiet(die, now, lengths) {
                let left = u32::from(d.suspended.is_some());
                return Err(format!("die {die} idles at {now} ns; {reads} reads, {works} works and {left} suspended ones wait"));
            }
            if d.jobs > 0 && self.copy_programs == 0 && !something && self.is_quiet(die, now, lengths) {
                return Err(format!("die {die} idles at {now} ns, and a job waits for a step"));
            }
            if d.suspended.is_none() && (works > 0 || d.urgent) {
                // The whole die is wanted; no plane begins anew.
                continue;
            }
            let idle = |unit: &u32| {
                let u = &self.units[*unit as usize];
                !u.waiting.is_empty() && !u.senses && u.free <= now
            };
            if let Some(unit) = units.clone().find(idle) {
                return Err(format!("array {unit} idles at {now} ns; {} reads wait for it", self.units[unit as usize].waiting.len()));
            }
        }
        Ok(())
    }

    /// What the engine says is still to be done is all that is.
    pub(super) fn check_end(&self, pending: &[OpId]) -> Result<(), String> {
        let named: BTreeSet<OpId> = pending.iter().copied().collect();
        if let Some((op, work)) = self.works.iter().find(|(op, _)| !named.contains(op)) {
            return Err(format!("work {op} is not done at the end and does not wait: {work:?}"));
        }
        if let Some(op) = named.iter().find(|op| !self.works.contains_key(op)) {
            return Err(format!("work {op} waits at the end, and is done or was never given to a die"));
        }
        if named.len() < pending.len() {
            return Err("a work waits twice at the end".into());
        }
        self.reads.iter().flatten().next().map_or(Ok(()), |read| Err(format!("a read is not done at the end: {read:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;

    #[test]
    fn before_a_piece_go_the_reads_that_waited_and_before_one_in_the_foreground_none() {
        let mut turn = Turn::default();
        assert!(!turn.read(5), "none waited");
        turn.grant(2, 10);
        assert!(turn.read(10) && turn.read(20) && !turn.read(30));
        turn.grant(1, 40);
        assert!(turn.read(50) && turn.read(50) && !turn.read(60), "two planes begin together");
        turn.grant(3, 70);
        turn.take();
        assert!(!turn.read(70));
        turn.grant(3, 80);
        assert!(!turn.read(80), "it waits still");
        turn.foreground = false;
        turn.grant(3, 90);
        assert!(turn.read(100));
    }
}
