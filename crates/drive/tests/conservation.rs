//! Order of work on small devices. No die is idle while work waits for it, whatever it serves. No
//! plane of a die that serves reads is idle while a read waits for it. A device at rest has no job
//! waiting. An array serves its reads in the order of arrival. A piece of a job moves at most
//! `batch:N` pages.

use std::collections::{BTreeMap, VecDeque};

use crate::common;

use common::log::run_watched;
use common::{Uniform, dies};
use proptest::prelude::*;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::request::Arrival;
use vpass_drive::base::units::{BlockId, Cause, Ns, Ppn};
use vpass_drive::drive::Drive;
use vpass_drive::watch::time_event::{OpId, TimeEvent, Work};

/// Largest number of pages of a piece under the schedule `batch:3`.
const BATCH: u32 = 3;

/// Bytes of eight blocks. Reads of so few blocks make jobs of reclaim.
const NARROW: u64 = 8 * 192 * (16 << 10);

/// Work of the dies, followed by its events alone.
struct Dies<'a> {
    geometry: &'a Geometry,
    /// Die of each operation, and the die of the program of a copy.
    of: BTreeMap<OpId, (usize, Option<usize>)>,
    /// Operations that wait for their die, and the number of those that use each die.
    waiting: BTreeMap<OpId, usize>,
    running: Vec<u32>,
    /// Host reads that wait for each array, and the number of arrays of a die.
    reads: Vec<VecDeque<OpId>>,
    arrays: u32,
    /// Read that each array senses. With a cache register, the array is free when it has the page.
    senses: Vec<Option<OpId>>,
    has_cache: bool,
    /// Dies on which an urgent job holds back reads, and the number of jobs of all dies.
    urgent: Vec<bool>,
    jobs: u32,
    /// Whether the schedule is `batch:3`.
    in_batches: bool,
    /// Number of pages that each piece to come moves out of each block that it does not erase.
    moved: BTreeMap<OpId, BTreeMap<BlockId, u32>>,
    /// Number of pieces that moved as many pages as `batch:3` allows.
    full_pieces: u32,
}

impl Dies<'_> {
    fn die(&self, block: BlockId) -> usize {
        usize::from(self.geometry.die_of(block))
    }

    fn die_of(&self, ppn: Ppn) -> usize {
        self.die(self.geometry.block_of(ppn))
    }

    fn wait(&mut self, op: OpId, die: usize, then: Option<usize>) {
        self.of.insert(op, (die, then));
        self.waiting.insert(op, die);
    }

    fn queue(&mut self, op: OpId, work: Work) {
        match work {
            Work::Copy { src, dst, .. } => {
                self.wait(op, self.die_of(src), dst.map(|dst| self.die_of(dst)));
            }
            Work::Load { src, .. } | Work::Retry { src, .. } => {
                self.wait(op, self.die_of(src), None);
            }
            Work::Program { dst, .. } | Work::Striped { dst, .. } => {
                self.wait(op, self.die_of(dst), None);
            }
            Work::Merge { block, .. } | Work::Erase { block, .. } | Work::Probe { block, .. } => {
                self.wait(op, self.die(block), None);
            }
        }
    }

    /// Returns the array that senses a page.
    fn array_of(&self, ppn: Ppn) -> usize {
        let block = self.geometry.block_of(ppn);
        let plane = if self.arrays > 1 { self.geometry.plane_of(block) } else { 0 };
        self.die(block) * self.arrays as usize + plane as usize
    }

    /// Notes a part of a piece to come.
    fn part(&mut self, op: OpId, work: Work) {
        let moved = self.moved.entry(op).or_default();
        match work {
            Work::Copy { src, dst: Some(_), cause: Cause::Reclaim } => {
                *moved.entry(self.geometry.block_of(src)).or_default() += 1;
            }
            Work::Erase { block, .. } => {
                moved.remove(&block);
            }
            _ => {}
        }
    }

    fn begin(&mut self, op: OpId) {
        if let Some(die) = self.waiting.remove(&op) {
            self.running[die] += 1;
        }
    }

    /// Follows an event. Returns an error if another read must come first, or if a piece is too
    /// large.
    fn take(&mut self, event: &TimeEvent) -> Result<(), String> {
        match *event {
            TimeEvent::Read { op, ppn, .. } | TimeEvent::Retry { op, ppn, .. } => {
                self.wait(op, self.die_of(ppn), None);
                let array = self.array_of(ppn);
                self.reads[array].push_back(op);
            }
            TimeEvent::Work { op, work, .. } => self.queue(op, work),
            TimeEvent::Part { op, work } => self.part(op, work),
            TimeEvent::Piece { op, die, .. } => {
                self.wait(op, die.into(), None);
                let moved = self.moved.remove(&op).unwrap_or_default();
                self.full_pieces += u32::from(moved.values().any(|pages| *pages == BATCH));
                let too_many = moved.iter().find(|(_, pages)| **pages > BATCH);
                if let Some((block, pages)) = too_many.filter(|_| self.in_batches) {
                    return Err(format!("a piece moves {pages} pages of block {block}"));
                }
            }
            TimeEvent::Begun { op, unit, .. } => {
                self.begin(op);
                let reads = &mut self.reads[unit as usize];
                if reads.contains(&op) {
                    self.senses[unit as usize] = Some(op);
                    if reads.pop_front() != Some(op) {
                        return Err(format!(
                            "array {unit} serves read {op} before an earlier read"
                        ));
                    }
                }
            }
            TimeEvent::Transfer { op, .. } => {
                self.begin(op);
                if self.has_cache {
                    self.end_sensing(op);
                }
            }
            TimeEvent::Job { on, .. } => {
                self.jobs = if on { self.jobs + 1 } else { self.jobs - 1 };
            }
            TimeEvent::Urgent { die, on, .. } => self.urgent[usize::from(die)] = on,
            TimeEvent::Suspended { op, .. } => {
                let die = self.of[&op].0;
                self.running[die] -= 1;
                self.waiting.insert(op, die);
            }
            TimeEvent::Ended { op, .. } => {
                let (die, then) = self.of[&op];
                self.running[die] -= 1;
                self.end_sensing(op);
                if let Some(die) = then {
                    self.wait(op, die, None);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end_sensing(&mut self, op: OpId) {
        self.senses.iter_mut().filter(|read| **read == Some(op)).for_each(|read| *read = None);
    }

    /// Returns a die that is idle while work waits for it.
    fn idle(&self) -> Option<usize> {
        self.waiting.values().copied().find(|die| self.running[*die] == 0)
    }

    /// Returns an array that is idle while a read waits for it, on a die that only serves reads.
    fn idle_array(&self) -> Option<usize> {
        let is_idle = |array: &usize| self.senses[*array].is_none();
        let serves_reads = |array: &usize| {
            let die = *array / self.arrays as usize;
            let arrays = die * self.arrays as usize..(die + 1) * self.arrays as usize;
            let reads: usize = self.reads[arrays.clone()].iter().map(VecDeque::len).sum();
            let sensed = self.senses[arrays].iter().flatten().count();
            let waiting = self.waiting.values().filter(|of| **of == die).count();
            !self.urgent[die] && waiting == reads && self.running[die] as usize == sensed
        };
        (0..self.reads.len())
            .filter(|array| !self.reads[*array].is_empty())
            .find(|array| is_idle(array) && serves_reads(array))
    }

    /// Returns whether jobs wait although no die works.
    fn forgets_jobs(&self) -> bool {
        self.jobs > 0 && self.running.iter().all(|running| *running == 0)
    }
}

/// Returns the time of an event.
fn time_of(event: &TimeEvent) -> Option<Ns> {
    match *event {
        TimeEvent::Submitted { at, .. }
        | TimeEvent::Accepted { at, .. }
        | TimeEvent::Read { at, .. }
        | TimeEvent::Retry { at, .. }
        | TimeEvent::Work { at, .. }
        | TimeEvent::Piece { at, .. }
        | TimeEvent::Begun { at, .. }
        | TimeEvent::Suspended { at, .. }
        | TimeEvent::Transfer { at, .. }
        | TimeEvent::Job { at, .. }
        | TimeEvent::Urgent { at, .. }
        | TimeEvent::Ended { at, .. } => Some(at),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn dies_serve_what_waits_in_its_order(
        (count, suspend, cache, planes) in (1..4u32, any::<bool>(), any::<bool>(), 1..3u32),
        schedule in prop::sample::select(vec!["foreground", "batch:3", "deadline"]),
        buffer in prop::sample::select(vec!["0B", "64KiB", "1MiB"]),
        (read_share, depth, gap) in (0.0..1.0f64, 1..40u32, 0.0..200_000.0f64),
        (is_open, is_narrow) in any::<(bool, bool)>(),
    ) {
        let timing = format!(
            "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800, suspend = \
             {suspend}, cache_read = {cache}, independent_planes = {}",
            planes == 2
        );
        let text = dies(count, "tlc", &timing, &format!(
            "drive = {{ spare = 0.4, write_buffer = \"{buffer}\" }}\n\
             reclaim = {{ schedule = \"{schedule}\" }}\n\
             disturb = {{ model = \"count\", table = [{{ pec = 0, limit = [320] }}] }}"
        )).replace("planes_per_die = 1", &format!("planes_per_die = {planes}"));
        let reach = |drive: &Drive| {
            if is_narrow { NARROW } else { drive.config().drive.capacity.unwrap().0 }
        };
        let (drive, _, log) = run_watched(&text, |drive| Uniform {
            read_share,
            arrival: if is_open { Arrival::Open } else { Arrival::Closed { depth } },
            mean_gap: if is_open { gap } else { 0.0 },
            ..Uniform::reads(4000, reach(drive), 16 << 10, depth)
        });
        let mut dies = Dies {
            geometry: drive.geometry(),
            of: BTreeMap::new(),
            waiting: BTreeMap::new(),
            running: vec![0; count as usize],
            reads: vec![VecDeque::new(); (count * planes) as usize],
            arrays: planes,
            senses: vec![None; (count * planes) as usize],
            has_cache: cache,
            urgent: vec![false; count as usize],
            jobs: 0,
            in_batches: schedule == "batch:3",
            moved: BTreeMap::new(),
            full_pieces: 0,
        };
        let mut now = 0;
        for event in &log.time {
            if let Some(at) = time_of(event).filter(|at| *at != now) {
                prop_assert_eq!(dies.idle(), None, "idle from {} to {} ns", now, at);
                prop_assert_eq!(dies.idle_array(), None, "idle array from {} to {} ns", now, at);
                prop_assert!(!dies.forgets_jobs(), "jobs wait from {} to {} ns", now, at);
                now = at;
            }
            let checked = dies.take(event);
            prop_assert_eq!(checked, Ok(()));
        }
        // Only pieces that are full tell whether larger ones may follow.
        prop_assert!(
            !dies.in_batches || !is_narrow || read_share < 0.8 || dies.full_pieces > 0
        );
    }
}
