//! Dies with their arrays and channels, and the operations that wait for them or use them. In each
//! stage of an operation, an array begins, is suspended or continues, or a channel transfers, or a
//! die finishes. Each stage takes as long as the configuration says. A transfer begins when its
//! data is ready and its channel is free. The engine decides the order. `Busy` checks that no die
//! has two operations at once.

use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::base::units::{Cause, DieId, Ns};
use vpass_drive::watch::time_event::OpId;

use super::lengths::Lengths;
use super::work::{HostRead, Stage, UnderWay};

/// All dies.
#[derive(Debug)]
pub(super) struct Dies {
    units_per_die: u32,
    /// Time from which the registers of each array are empty.
    empty: Vec<Ns>,
    /// Time from which each channel is free.
    channels: Vec<Ns>,
    /// Number of jobs and other work of reclaim on each die.
    reclaim: Vec<u32>,
    works: BTreeMap<OpId, UnderWay>,
    /// Time that host reads have waited for work of reclaim.
    pub(super) stalled: Ns,
    /// Number of loads under way for each wordline, stripe or rebuild, and the programs that wait
    /// for them.
    loads: BTreeMap<u32, (u32, Vec<OpId>)>,
}

/// Operation that has left its die.
#[expect(clippy::large_enum_variant, reason = "it is returned and taken apart at once")]
pub(super) enum Ended {
    /// The operation is finished completely.
    Whole(UnderWay),
    /// First half of a copy: its read.
    Half,
}

impl Dies {
    pub(super) fn new(lengths: &Lengths) -> Self {
        Self {
            units_per_die: lengths.units_per_die,
            empty: vec![0; (lengths.geometry.dies() * lengths.units_per_die) as usize],
            channels: vec![0; lengths.geometry.channels as usize],
            reclaim: vec![0; lengths.geometry.dies() as usize],
            works: BTreeMap::new(),
            stalled: 0,
            loads: BTreeMap::new(),
        }
    }

    fn work(&mut self, op: OpId) -> Result<&mut UnderWay, String> {
        self.works.get_mut(&op).ok_or_else(|| format!("work {op} continues, but no die got it"))
    }

    /// Notes that a page is going to be read for a wordline, a stripe or a rebuild, whose program
    /// must come later.
    pub(super) fn awaits(&mut self, load_for: u32) -> Result<(), String> {
        let (loads, programs) = self.loads.entry(load_for).or_default();
        if !programs.is_empty() {
            return Err(format!("a page is loaded for {load_for}, whose program already waits"));
        }
        *loads += 1;
        Ok(())
    }

    /// Returns whether loads for a wordline, a stripe or a rebuild are under way.
    pub(super) fn is_loading(&self, load_for: u32) -> bool {
        self.loads.contains_key(&load_for)
    }

    /// Queues an operation at its die. A program may first wait for loads with this number.
    pub(super) fn queue(
        &mut self,
        op: OpId,
        mut work: UnderWay,
        program_of: Option<u32>,
    ) -> Result<(), String> {
        if let Some(read) = &mut work.host_read {
            read.met_reclaim = self.reclaim[work.half.die as usize] > 0;
        }
        let loads = program_of.and_then(|of| self.loads.get_mut(&of));
        if let Some((_, programs)) = loads {
            work.stage = Stage::Loading;
            programs.push(op);
        } else {
            self.enter(work.half.die, work.cause);
        }
        match self.works.insert(op, work) {
            None => Ok(()),
            Some(_) => Err(format!("an operation gets the number {op}, which is in use")),
        }
    }

    /// Counts work that waits for its die from now on, if it is work of reclaim.
    fn enter(&mut self, die: u32, cause: Cause) {
        self.reclaim[die as usize] += u32::from(cause == Cause::Reclaim);
    }

    /// Notes that a deferred job has come or ended.
    pub(super) fn job(&mut self, die: u32, cause: Cause, on: bool) -> Result<(), String> {
        let reclaim = &mut self.reclaim[die as usize];
        let of_reclaim = u32::from(cause == Cause::Reclaim);
        let now = if on { Some(*reclaim + of_reclaim) } else { reclaim.checked_sub(of_reclaim) };
        *reclaim = now.ok_or_else(|| format!("die {die} ends a job that it did not get"))?;
        Ok(())
    }

    /// Checks that an array may begin or continue this operation.
    pub(super) fn begun(&mut self, op: OpId, unit: u32, at: Ns) -> Result<(), String> {
        let units_per_die = self.units_per_die;
        let work = self.work(op)?;
        let (die, stage) = (work.half.die, work.stage);
        let own = work.host_read.map_or(die * units_per_die, |read| read.unit);
        let right = match stage {
            Stage::Waiting => work.half.out || work.half.bus.is_none(),
            Stage::Bus(to) => !work.half.out && to == at,
            Stage::Suspended => true,
            Stage::Array(_) | Stage::Loading => false,
        };
        if stage == Stage::Waiting {
            work.begun = at;
        }
        work.stage = Stage::Array(at);
        if !right || unit != own {
            return Err(format!(
                "array {unit} of die {die} begins to work on {op} of array {own} at {at} ns, in \
                 the stage {stage:?}"
            ));
        }
        Ok(())
    }

    /// Checks that work may be suspended.
    pub(super) fn suspended(&mut self, op: OpId, at: Ns, lengths: &Lengths) -> Result<(), String> {
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
        Ok(())
    }

    /// Checks the transfer of data that is ready for its channel at `at`.
    pub(super) fn transfer(
        &mut self,
        op: OpId,
        channel: u32,
        at: Ns,
        span: (Ns, Ns),
        lengths: &Lengths,
    ) -> Result<(), String> {
        let work = self.work(op)?;
        let (half, stage, host_read) = (work.half, work.stage, work.host_read);
        let die = half.die;
        match stage {
            Stage::Array(since) if half.out => {
                let cached = host_read.filter(|_| lengths.cache_read);
                let empty = cached.map_or(0, |read| self.empty[read.unit as usize]);
                let ready = (since + half.array).max(empty);
                if ready != at {
                    return Err(format!(
                        "die {die} begins to sense at {since} ns and has the page at {at} ns; it \
                         must have the page at {ready} ns"
                    ));
                }
            }
            Stage::Waiting if !half.out => work.begun = at,
            _ => {
                return Err(format!(
                    "{op} of die {die} gets its channel at {at} ns in the wrong stage: {stage:?}"
                ));
            }
        }
        let of_die = lengths.geometry.channel_of(die as DieId);
        let from = at.max(self.channels[of_die as usize]);
        let to = half.bus.map(|ns| from + ns);
        if channel != of_die || Some(span.1) != to || span.0 != from {
            return Err(format!(
                "channel {channel} is used for die {die} from {} to {} ns; it must be channel \
                 {of_die}, used from {from} to {to:?} ns",
                span.0, span.1
            ));
        }
        self.channels[of_die as usize] = span.1;
        self.work(op)?.stage = Stage::Bus(span.1);
        if let Some(HostRead { unit, .. }) = host_read {
            self.empty[unit as usize] = span.1;
        }
        Ok(())
    }

    /// Checks that an operation has left its die.
    pub(super) fn ended(&mut self, op: OpId, at: Ns) -> Result<Ended, String> {
        let work = self.work(op)?;
        let die = work.half.die;
        match work.stage {
            Stage::Bus(to) if work.half.out && to == at => {}
            Stage::Array(since) if !work.half.out => {
                let (took, must) = (work.worked + (at - since), work.array());
                if took != must {
                    return Err(format!(
                        "die {die} worked {took} ns on an operation by {at} ns; with its {} \
                         suspensions, it must take {must} ns",
                        work.suspended
                    ));
                }
            }
            stage => {
                return Err(format!("{op} of die {die} ends at {at} ns in the stage {stage:?}"));
            }
        }
        if work.host_read.is_none() {
            self.leave(op, at)?;
        }
        let work = self.work(op)?;
        if let Some(then) = work.then.take() {
            (work.half, work.stage) = (then, Stage::Waiting);
            let cause = work.cause;
            self.enter(then.die, cause);
            return Ok(Ended::Half);
        }
        let work = self.works.remove(&op).expect("just seen");
        if let Some(load_for) = work.load_for {
            self.loaded(load_for)?;
        }
        Ok(Ended::Whole(work))
    }

    /// Notes that work leaves its die. If it was work of reclaim, adds the time that reads have
    /// waited for it.
    fn leave(&mut self, op: OpId, at: Ns) -> Result<(), String> {
        let work = self.work(op)?;
        let (die, cause, begun) = (work.half.die, work.cause, work.begun);
        if cause == Cause::Reclaim {
            self.reclaim[die as usize] -= 1;
            let waits = |work: &&UnderWay| work.half.die == die && work.stage == Stage::Waiting;
            let reads = self.works.values().filter(waits).filter_map(|work| work.host_read);
            let came = reads.filter(|read| read.part.is_some()).map(|read| read.came);
            self.stalled += came.map(|came| at - came.max(begun)).sum::<Ns>();
        }
        Ok(())
    }

    /// Notes that a page was read for a wordline, a stripe or a rebuild.
    fn loaded(&mut self, load_for: u32) -> Result<(), String> {
        let loads = self.loads.get_mut(&load_for).ok_or("a load ends, but it never began")?;
        loads.0 -= 1;
        if loads.0 == 0
            && let Some((_, programs)) = self.loads.remove(&load_for)
        {
            for program in programs {
                let work = self.work(program)?;
                work.stage = Stage::Waiting;
                let (die, cause) = (work.half.die, work.cause);
                self.enter(die, cause);
            }
        }
        Ok(())
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
        Ok(())
    }
}
