//! Common code of the integration tests: a drive from a few lines of TOML, and simple request
//! sources.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod log;
pub(crate) mod striped;
pub(crate) mod told;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_drive::time::Replay;
use vpass_techniques::{resolve, usual};

pub(crate) fn config(text: &str) -> DriveConfig {
    resolve(toml::from_str(text).unwrap()).unwrap()
}

pub(crate) fn drive(text: &str, timed: bool) -> Drive {
    let mut drive = Drive::new(config(text), &usual(), timed).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Uniform random requests of one size.
pub(crate) struct Uniform {
    pub(crate) rng: Xoshiro256PlusPlus,
    pub(crate) left: u64,
    pub(crate) blocks: u64,
    pub(crate) bytes: u32,
    pub(crate) read_share: f64,
    pub(crate) arrival: Arrival,
    /// Mean gap between arrivals in ns, exponentially distributed; open loop only.
    pub(crate) mean_gap: f64,
    pub(crate) clock: f64,
}

impl Uniform {
    pub(crate) fn reads(requests: u64, capacity: u64, bytes: u32, depth: u32) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(11),
            left: requests,
            blocks: capacity / u64::from(bytes),
            bytes,
            read_share: 1.0,
            arrival: Arrival::Closed { depth },
            mean_gap: 0.0,
            clock: 0.0,
        }
    }

    fn unit(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl RequestSource for Uniform {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let n = self.left.min(max as u64);
        self.left -= n;
        for _ in 0..n {
            let block = ((u128::from(self.rng.next_u64()) * u128::from(self.blocks)) >> 64) as u64;
            let op = if self.read_share >= 1.0 || self.unit() < self.read_share {
                Op::Read
            } else {
                Op::Write
            };
            if self.mean_gap > 0.0 {
                self.clock -= (1.0 - self.unit()).ln() * self.mean_gap;
            }
            out.push(Request {
                at: self.clock as u64,
                offset: block * u64::from(self.bytes),
                bytes: self.bytes,
                op,
                origin: 0,
                hint: None,
            });
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.arrival
    }
}

/// Runs a workload in the timed gear on a new drive of this description.
pub(crate) fn run_timed(text: &str, source: &mut dyn RequestSource) -> (Drive, Replay) {
    let mut drive = drive(text, true);
    let mut engine = Replay::new(&drive);
    engine.run(&mut drive, source, &mut |_, _| true).unwrap();
    (drive, engine)
}

/// Requests that repeat the given offsets, in a closed loop.
pub(crate) struct Cycle {
    pub(crate) offsets: Vec<u64>,
    pub(crate) bytes: u32,
    pub(crate) left: u64,
    pub(crate) at: usize,
    pub(crate) depth: u32,
}

impl RequestSource for Cycle {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let n = self.left.min(max as u64);
        self.left -= n;
        for _ in 0..n {
            out.push(Request {
                at: 0,
                offset: self.offsets[self.at],
                bytes: self.bytes,
                op: Op::Read,
                origin: 0,
                hint: None,
            });
            self.at = (self.at + 1) % self.offsets.len();
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Closed { depth: self.depth }
    }
}

/// Requests with given times.
pub(crate) struct Script(pub(crate) Vec<Request>);

impl RequestSource for Script {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        out.extend(self.0.drain(..max.min(self.0.len())));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

/// Number of bytes of the pages of [`dies`] and of [`request`].
pub(crate) const PAGE: u64 = 16_384;

/// Returns a request for a number of pages, at a time in ns.
pub(crate) fn request(op: Op, at: Ns, page: u64, pages: u64) -> Request {
    Request { at, offset: page * PAGE, bytes: (pages * PAGE) as u32, op, origin: 0, hint: None }
}

/// Returns a drive of dies with these timing keys and further tables. Each die has its own channel
/// and a plane of 80 blocks of 64 wordlines.
pub(crate) fn dies(dies: u32, cell: &str, timing: &str, tables: &str) -> String {
    format!(
        r#"
        geometry = {{ channels = {dies}, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 80, wordlines_per_block = 64, cell = "{cell}", page_size = "16KiB" }}
        timing = {{ {timing} }}
        {tables}
        "#
    )
}
