//! Dies with their arrays and channels, and the operations that wait for them. No die may be idle
//! while something waits for it. What came first goes first among the reads of an array, the work
//! of a die and its pieces of jobs. Reads go before work. The exceptions are an urgent job, a
//! waiting piece of a job, and writers that wait for a free page in the buffer. The engine decides
//! the rest of the order.

mod stages;
mod turn;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use vpass_drive::base::units::{Cause, Ns, Ppn};
use vpass_drive::watch::time_event::OpId;

use self::turn::Turn;
use super::lengths::{How, Lengths};
use super::work::UnderWay;

/// A page read for the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostRead {
    pub(super) request: u32,
    pub(super) bytes: u32,
    /// Whether reclaim was active on the die when the read arrived.
    pub(super) met_reclaim: bool,
    /// Whether another sensing of the page counts instead, or no request gets the page.
    pub(super) in_vain: bool,
    /// Rebuild that waits for this read.
    pub(super) load_for: Option<u32>,
    /// Whether the page cannot be decoded. The pages for its rebuild are read after it.
    pub(super) to_repair: bool,
    came: Ns,
    unit: u32,
    sense: Ns,
    transfer: Ns,
    /// Start of the sensing.
    since: Option<Ns>,
    /// Time at which the page is in the controller.
    to: Option<Ns>,
}

/// An array with its registers.
#[derive(Clone, Debug, Default)]
struct Unit {
    /// Whether a host read is being sensed or waits for the cache register.
    senses: bool,
    /// Time from which the array may sense again, and time from which its registers are empty.
    free: Ns,
    empty: Ns,
    /// Waiting host reads, in order of arrival.
    waiting: VecDeque<OpId>,
}

#[derive(Clone, Debug, Default)]
struct Die {
    running: Option<OpId>,
    suspended: Option<OpId>,
    /// Work that could start, and pieces of jobs, each in order of arrival.
    waiting: VecDeque<OpId>,
    pieces: VecDeque<OpId>,
    urgent: bool,
    /// Number of deferred jobs. `reclaim` counts the jobs and the other work of reclaim.
    jobs: u32,
    reclaim: u32,
    turn: Turn,
    /// Last time at which work joined an empty queue of the die because a read among the host's
    /// reads had ended.
    joined: Option<Ns>,
    /// Whether something has changed since time last advanced.
    touched: bool,
}

/// All dies.
#[derive(Debug)]
pub(super) struct Dies {
    units: Vec<Unit>,
    all: Vec<Die>,
    channels: Vec<Ns>,
    touched: Vec<u32>,
    reads: Vec<Option<HostRead>>,
    works: BTreeMap<OpId, UnderWay>,
    /// Number of programs of copies that wait or are under way.
    copy_programs: u32,
    /// Whether each piece contains all the rest of its job.
    pieces_are_whole: bool,
    /// Time that host reads have waited for work of reclaim.
    pub(super) stalled: Ns,
    /// Time since which the first write waits to enter the buffer.
    pub(super) pressed: Option<Ns>,
    /// Number of loads under way for each wordline or stripe, and the programs that wait for them.
    wordlines: BTreeMap<u32, (u32, Vec<OpId>)>,
}

/// Operation that has left its die.
pub(super) enum Ended {
    /// Read of the host.
    Read(HostRead),
    /// Other work, finished completely.
    Work(UnderWay),
    /// First half of a copy: its read.
    Half,
}

const WORK: OpId = 1 << 31;

/// Request and bytes of a read that serves no request.
const NO_OWNER: (u32, u32) = (u32::MAX, 0);

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
            pressed: None,
            wordlines: BTreeMap::new(),
        }
    }

    fn touch(&mut self, die: u32) {
        if !std::mem::replace(&mut self.all[die as usize].touched, true) {
            self.touched.push(die);
        }
    }

    /// Queues a host read of this page.
    pub(super) fn read(
        &mut self,
        op: OpId,
        part: (u32, u32),
        (ppn, how): (Ppn, How),
        came: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        let (sense, transfer) = lengths.begin(ppn, lengths.channel(part.1.into()), how);
        self.queue_read(op, part, ppn, (sense, transfer, false), came, lengths)
    }

    /// Queues, among the host's reads, a page read for a rebuild.
    pub(super) fn load(
        &mut self,
        op: OpId,
        stripe: u32,
        read: (Ppn, How),
        came: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        self.loads(stripe, op)?;
        self.load_awaited(op, stripe, read, came, lengths)
    }

    /// Queues a page read for a rebuild that already waits for this read.
    pub(super) fn load_awaited(
        &mut self,
        op: OpId,
        stripe: u32,
        (ppn, how): (Ppn, How),
        came: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        let (sense, transfer) = lengths.begin(ppn, lengths.pages(1), how);
        self.queue_read(op, NO_OWNER, ppn, (sense, transfer, true), came, lengths)?;
        self.host_read(op)?.load_for = Some(stripe);
        Ok(())
    }

    /// Queues a host read that is going to fail, with the rebuild that then waits for it.
    pub(super) fn read_to_repair(
        &mut self,
        op: OpId,
        part: (u32, u32),
        stripe: u32,
        read: (Ppn, How),
        came: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        self.read(op, part, read, came, lengths)?;
        let own = self.host_read(op)?;
        (own.load_for, own.to_repair, own.in_vain) = (Some(stripe), true, true);
        Ok(())
    }

    /// Notes that a rebuild is going to wait for one more read.
    pub(super) fn awaits(&mut self, stripe: u32) {
        self.wordlines.entry(stripe).or_default().0 += 1;
    }

    /// Queues a retry of a page read for a rebuild.
    pub(super) fn retry_load(
        &mut self,
        op: OpId,
        (ppn, coding): (Ppn, u8),
        attempt: u8,
        came: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        let transfer = lengths.retry_transfer(lengths.pages(1), attempt);
        self.queue_read(
            op,
            NO_OWNER,
            ppn,
            (lengths.retry(ppn, coding, attempt), transfer, true),
            came,
            lengths,
        )
    }

    /// Queues a retry of a host read.
    pub(super) fn retry(
        &mut self,
        op: OpId,
        part: (u32, u32),
        (ppn, coding): (Ppn, u8),
        attempt: u8,
        came: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        let transfer = lengths.retry_transfer(lengths.channel(part.1.into()), attempt);
        self.queue_read(
            op,
            part,
            ppn,
            (lengths.retry(ppn, coding, attempt), transfer, true),
            came,
            lengths,
        )
    }

    fn queue_read(
        &mut self,
        op: OpId,
        (request, bytes): (u32, u32),
        ppn: Ppn,
        (sense, transfer, in_vain): (Ns, Ns, bool),
        came: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        let at = op as usize;
        if op & WORK != 0 || self.reads.get(at).is_some_and(Option::is_some) {
            return Err(format!("a read gets the number {op}, which is in use"));
        }
        if at >= self.reads.len() {
            self.reads.resize(at + 1, None);
        }
        let unit = lengths.unit(ppn);
        let met_reclaim = self.all[(unit / lengths.units_per_die) as usize].reclaim > 0;
        let (load_for, since, to) = (None, None, None);
        let to_repair = false;
        self.reads[at] = Some(HostRead {
            request,
            bytes,
            met_reclaim,
            in_vain,
            load_for,
            to_repair,
            came,
            unit,
            sense,
            transfer,
            since,
            to,
        });
        self.units[unit as usize].waiting.push_back(op);
        self.touch(unit / lengths.units_per_die);
        Ok(())
    }

    /// Queues work at its die. The program of a wordline waits for its loads first.
    pub(super) fn queue(
        &mut self,
        op: OpId,
        work: UnderWay,
        program_of: Option<u32>,
    ) -> Result<(), String> {
        if work.is_piece && self.pieces_are_whole {
            self.all[work.half.die as usize].turn.take();
        }
        let die = work.half.die;
        if let Some(wordline) = work.load_for {
            self.loads(wordline, op)?;
        }
        if op & WORK == 0 || self.works.insert(op, work).is_some() {
            return Err(format!("work gets the number {op}, which is in use"));
        }
        if let Some(loads) = program_of.and_then(|wordline| self.wordlines.get_mut(&wordline)) {
            loads.1.push(op);
        } else {
            self.wait(op, die);
        }
        Ok(())
    }

    /// Notes that a page is going to be read for a wordline or a stripe.
    fn loads(&mut self, wordline: u32, op: OpId) -> Result<(), String> {
        let loads = self.wordlines.entry(wordline).or_default();
        if !loads.1.is_empty() {
            return Err(format!(
                "work {op} loads for wordline {wordline}, whose program already waits"
            ));
        }
        loads.0 += 1;
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

    /// Notes that a deferred job has come or ended.
    pub(super) fn job(&mut self, die: u32, cause: Cause, on: bool) -> Result<(), String> {
        let d = &mut self.all[die as usize];
        let of_reclaim = u32::from(cause == Cause::Reclaim);
        if on {
            (d.jobs, d.reclaim) = (d.jobs + 1, d.reclaim + of_reclaim);
        } else {
            let jobs = d
                .jobs
                .checked_sub(1)
                .ok_or_else(|| format!("die {die} ends a job that it did not get"))?;
            (d.jobs, d.reclaim) = (jobs, d.reclaim - of_reclaim);
        }
        self.touch(die);
        Ok(())
    }

    pub(super) fn urgent(&mut self, die: u32, on: bool) {
        self.all[die as usize].urgent = on;
        self.touch(die);
    }

    /// Returns whether the operation is a read on a die with deferred jobs and no suspended work.
    pub(super) fn lets_reads_pass(&self, op: OpId, die: u32) -> bool {
        let d = &self.all[die as usize];
        op & WORK == 0 && d.jobs > 0 && d.suspended.is_none()
    }

    fn work(&mut self, op: OpId) -> Result<&mut UnderWay, String> {
        self.works.get_mut(&op).ok_or_else(|| format!("work {op} continues, but no die got it"))
    }

    fn host_read(&mut self, op: OpId) -> Result<&mut HostRead, String> {
        self.reads
            .get_mut(op as usize)
            .and_then(Option::as_mut)
            .ok_or_else(|| format!("read {op} continues, but no die got it"))
    }

    fn is_quiet(&self, die: u32, at: Ns) -> bool {
        self.units_of(die).iter().all(|u| !u.senses && u.free <= at && u.empty <= at)
    }

    /// Returns the arrays of a die.
    fn units_of(&self, die: u32) -> &[Unit] {
        let n = self.units.len() / self.all.len();
        &self.units[die as usize * n..][..n]
    }

    /// Returns the number of host reads that wait for an array of a die.
    fn reads_waiting(&self, die: u32) -> usize {
        self.units_of(die).iter().map(|unit| unit.waiting.len()).sum()
    }

    /// Checks, before time advances, that no die is idle while something waits for it.
    pub(super) fn check_still(&mut self, now: Ns) -> Result<(), String> {
        while let Some(die) = self.touched.pop() {
            self.all[die as usize].touched = false;
            let d = &self.all[die as usize];
            if d.running.is_some() {
                continue;
            }
            let reads = self.reads_waiting(die);
            let works = d.waiting.len() + d.pieces.len();
            let something = reads > 0 || works > 0 || d.suspended.is_some();
            if something && self.is_quiet(die, now) {
                let left = u32::from(d.suspended.is_some());
                return Err(format!(
                    "die {die} is idle at {now} ns, but {reads} reads, {works} other operations \
                     and {left} suspended operations wait"
                ));
            }
            if d.jobs > 0 && self.copy_programs == 0 && !something && self.is_quiet(die, now) {
                return Err(format!("die {die} is idle at {now} ns, but a job waits for a step"));
            }
            if d.suspended.is_none() && (works > 0 || d.urgent) {
                // Work takes the whole die, so no plane begins anew.
                continue;
            }
            let idle = |unit: &Unit| !unit.waiting.is_empty() && !unit.senses && unit.free <= now;
            if let Some(at) = self.units_of(die).iter().position(idle) {
                let reads = self.units_of(die)[at].waiting.len();
                return Err(format!(
                    "array {at} of die {die} is idle at {now} ns, but {reads} reads wait for it"
                ));
            }
        }
        Ok(())
    }

    /// Returns whether loads for a wordline or a stripe are under way.
    pub(super) fn is_loading(&self, wordline: u32) -> bool {
        self.wordlines.contains_key(&wordline)
    }

    /// Checks that the unfinished work is exactly the work that the engine names.
    pub(super) fn check_end(&self, pending: &[OpId]) -> Result<(), String> {
        let named: BTreeSet<OpId> = pending.iter().copied().collect();
        if let Some((op, work)) = self.works.iter().find(|(op, _)| !named.contains(op)) {
            return Err(format!("work {op} is not done at the end, and does not wait: {work:?}"));
        }
        if let Some(op) = named.iter().find(|op| !self.works.contains_key(op)) {
            return Err(format!("work {op} waits at the end, but it is done or no die got it"));
        }
        if named.len() < pending.len() {
            return Err("the same work waits twice at the end".into());
        }
        self.reads
            .iter()
            .flatten()
            .next()
            .map_or(Ok(()), |read| Err(format!("a read is not done at the end: {read:?}")))
    }
}
