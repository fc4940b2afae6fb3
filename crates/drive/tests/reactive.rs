//! Requests that follow from completions. They are requested when one is complete and at the times
//! that their source names, and are measured by origin.

use crate::common;

use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::time::Replay;

const DRIVE: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 80, wordlines_per_block = 64, cell = "slc", page_size = "4KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.2 }
"#;
/// Time of 50 us of sensing and 4 KiB at 800 MB/s.
const READ_NS: u64 = 55_120;
const PAUSE_NS: u64 = 10_000;

/// Two origins that read the first page repeatedly, each with its own pause between reads.
struct Pausing {
    left: [u64; 2],
    /// Time at which each origin sends its next request; `None` while it waits.
    due: [Option<u64>; 2],
    outstanding: u32,
    now: u64,
    ended: Vec<(u16, u64)>,
}

impl RequestSource for Pausing {
    fn fill(&mut self, out: &mut Vec<Request>, _max: usize) -> Result<(), SourceError> {
        for i in 0..2 {
            if self.left[i] > 0 && self.due[i].is_some_and(|due| due <= self.now) {
                self.left[i] -= 1;
                self.due[i] = None;
                self.outstanding += 1;
                out.push(Request {
                    at: self.now,
                    offset: 0,
                    bytes: 4096,
                    op: Op::Read,
                    origin: i as u16,
                    hint: None,
                });
            }
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Reactive
    }

    fn tell_time(&mut self, now: u64) {
        self.now = now;
    }

    fn completed(&mut self, origin: u16) {
        self.outstanding -= 1;
        self.ended.push((origin, self.now));
        self.due[usize::from(origin)] = Some(self.now + PAUSE_NS * u64::from(origin + 1));
    }

    fn waits_until(&self) -> Option<u64> {
        let due = (0..2).filter(|i| self.left[*i] > 0).filter_map(|i| self.due[i]).min();
        due.or((self.outstanding > 0).then_some(u64::MAX))
    }
}

#[test]
fn each_origin_follows_its_own_completions() {
    let mut drive = common::drive(DRIVE, true);
    let mut engine = Replay::new(&drive);
    engine.count_groups(&[0, 1]);
    // The second origin begins when the first is done.
    let mut source = Pausing {
        left: [3, 2],
        due: [Some(0), Some(1_000_000)],
        outstanding: 0,
        now: 0,
        ended: vec![],
    };
    assert_eq!(engine.run(&mut drive, &mut source, &mut |_, _| true).unwrap(), 5);
    let first = |n: u64| n * READ_NS + (n - 1) * PAUSE_NS;
    let second = |n: u64| 1_000_000 + n * READ_NS + (n - 1) * 2 * PAUSE_NS;
    assert_eq!(
        source.ended,
        [(0, first(1)), (0, first(2)), (0, first(3)), (1, second(1)), (1, second(2))]
    );
    assert_eq!(engine.last_completion(), second(2));
    let groups = engine.metrics().groups.list();
    assert_eq!(
        [groups[0].read.count(), groups[1].read.count(), engine.metrics().read.count()],
        [3, 2, 5]
    );
    assert_eq!(
        [groups[0].span, groups[1].span],
        [Some((0, first(3))), Some((1_000_000, second(2)))]
    );
}
