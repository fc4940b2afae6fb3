//! Workload in stages: the second begins when the first is done, with its own depth, and knows the
//! time.

use crate::common;

use common::run_timed;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::time::run_untimed;

const DRIVE: &str = r#"
    geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 80, wordlines_per_block = 64, cell = "slc", page_size = "4KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.2 }
"#;
/// Time of 50 us of sensing and 4 KiB at 800 MB/s.
const READ_NS: u64 = 55_120;

/// Source of reads of the first page: a number of reads at each depth.
struct Stages {
    /// Later stages, the next one last.
    later: Vec<(u32, u64)>,
    now: (u32, u64),
    told: u64,
    begun_at: Vec<u64>,
}

impl RequestSource for Stages {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let n = self.now.1.min(max as u64);
        self.now.1 -= n;
        out.extend((0..n).map(|_| Request {
            at: 0,
            offset: 0,
            bytes: 4096,
            op: Op::Read,
            origin: 0,
            hint: None,
        }));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Closed { depth: self.now.0 }
    }

    fn tell_time(&mut self, now: u64) {
        self.told = now;
    }

    fn next_stage(&mut self) -> bool {
        self.begun_at.push(self.told);
        self.later.pop().map(|next| self.now = next).is_some()
    }
}

fn stages() -> Stages {
    Stages { later: vec![(1, 10), (4, 2000)], now: (1, 100), told: 0, begun_at: vec![] }
}

#[test]
fn stages_follow_each_other_at_their_own_depths() {
    let mut source = stages();
    let (drive, engine) = run_timed(DRIVE, &mut source);
    assert_eq!(source.begun_at, [100 * READ_NS, 2100 * READ_NS, 2110 * READ_NS]);
    assert_eq!(
        (drive.host_counts().read_requests, engine.last_completion()),
        (2110, 2110 * READ_NS)
    );
    // The die serves one read after another: with four outstanding, a read waits for four.
    let longest = engine.metrics().read.max_ns();
    assert!((4 * READ_NS..4 * READ_NS + 1000).contains(&longest), "{longest}");
}

#[test]
fn the_untimed_gear_serves_every_stage() {
    let mut drive = common::drive(DRIVE, false);
    assert_eq!(run_untimed(&mut drive, &mut stages(), &mut |_, _| true).unwrap(), 2110);
    assert_eq!(drive.host_counts().read_requests, 2110);
}
