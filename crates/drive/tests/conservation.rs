//! Work conservation on small devices: no die is idle while work waits for it, whatever it serves.

use std::collections::BTreeMap;

use crate::common;

use common::log::run_watched;
use common::{Uniform, dies};
use proptest::prelude::*;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::request::Arrival;
use vpass_drive::base::units::{BlockId, Ns, Ppn};
use vpass_drive::watch::time_event::{OpId, TimeEvent, Work};

/// Work of the dies, followed by its events alone.
struct Dies<'a> {
    geometry: &'a Geometry,
    /// Die of each operation, and the die of the program of a copy.
    of: BTreeMap<OpId, (usize, Option<usize>)>,
    /// Operations that wait for their die, and the number of those that use each die.
    waiting: BTreeMap<OpId, usize>,
    running: Vec<u32>,
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

    /// Follows an event.
    fn take(&mut self, event: &TimeEvent) {
        match *event {
            TimeEvent::Read { op, ppn, .. } | TimeEvent::Retry { op, ppn, .. } => {
                self.wait(op, self.die_of(ppn), None);
            }
            TimeEvent::Work { op, work, .. } => self.queue(op, work),
            TimeEvent::Piece { op, die, .. } => self.wait(op, die.into(), None),
            TimeEvent::Begun { op, .. } | TimeEvent::Transfer { op, .. } => {
                if let Some(die) = self.waiting.remove(&op) {
                    self.running[die] += 1;
                }
            }
            TimeEvent::Suspended { op, .. } => {
                let die = self.of[&op].0;
                self.running[die] -= 1;
                self.waiting.insert(op, die);
            }
            TimeEvent::Ended { op, .. } => {
                let (die, then) = self.of[&op];
                self.running[die] -= 1;
                if let Some(die) = then {
                    self.wait(op, die, None);
                }
            }
            _ => {}
        }
    }

    /// Returns a die that is idle while work waits for it.
    fn idle(&self) -> Option<usize> {
        self.waiting.values().copied().find(|die| self.running[*die] == 0)
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
        | TimeEvent::Ended { at, .. } => Some(at),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_die_is_idle_while_work_waits(
        (count, suspend, cache, planes) in (1..4u32, any::<bool>(), any::<bool>(), 1..3u32),
        schedule in prop::sample::select(vec!["foreground", "batch:3", "deadline"]),
        buffer in prop::sample::select(vec!["0B", "64KiB", "1MiB"]),
        (read_share, depth, gap) in (0.0..1.0f64, 1..40u32, 0.0..200_000.0f64),
        is_open: bool,
    ) {
        let timing = format!(
            "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800, suspend = \
             {suspend}, cache_read = {cache}, independent_planes = {}",
            planes == 2
        );
        let text = dies(count, "tlc", &timing, &format!(
            "drive = {{ spare = 0.4, write_buffer = \"{buffer}\" }}\n\
             reclaim = {{ schedule = \"{schedule}\" }}\n\
             disturb = {{ model = \"count\", table = [{{ pec = 0, limit = [400] }}] }}"
        )).replace("planes_per_die = 1", &format!("planes_per_die = {planes}"));
        let (drive, _, log) = run_watched(&text, |drive| Uniform {
            read_share,
            arrival: if is_open { Arrival::Open } else { Arrival::Closed { depth } },
            mean_gap: if is_open { gap } else { 0.0 },
            ..Uniform::reads(4000, drive.config().drive.capacity.unwrap().0, 16 << 10, depth)
        });
        let mut dies = Dies {
            geometry: drive.geometry(),
            of: BTreeMap::new(),
            waiting: BTreeMap::new(),
            running: vec![0; count as usize],
        };
        let mut now = 0;
        for event in &log.time {
            if let Some(at) = time_of(event).filter(|at| *at != now) {
                prop_assert_eq!(dies.idle(), None, "idle from {} to {} ns", now, at);
                now = at;
            }
            dies.take(event);
        }
    }
}
