//! Common code of the throughput benches: a cheap workload, drives, and the floor with which read
//! paths are compared.

use std::time::Instant;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vpass_drive::base::mem::{huge_vec, prefetch};
use vpass_drive::base::reciprocal::Reciprocal;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, run_untimed};
use vpass_techniques::{card, resolve, usual};

const STRAW: &str = include_str!("../../../../presets/drives/straw-2t-tlc.toml");

pub(crate) struct Size {
    small: bool,
}

impl Size {
    /// Returns the small size if the command line has `--small`, or if `cargo test` runs the bench.
    pub(crate) fn of_arguments() -> Self {
        Self { small: std::env::args().any(|a| a == "--small" || a == "--test") }
    }

    pub(crate) fn pick<T>(&self, large: T, small: T) -> T {
        if self.small { small } else { large }
    }
}

/// Uniform requests of 4 KiB. They are cheaper than any real workload, so the bench measures the
/// drive.
pub(crate) struct Uniform {
    rng: Xoshiro256PlusPlus,
    all: u64,
    left: u64,
    blocks: u64,
    bytes: u32,
    writes_of_256: u64,
    depth: u32,
}

impl Uniform {
    pub(crate) fn new(
        drive: &Drive,
        requests: u64,
        bytes: u32,
        writes_of_256: u64,
        depth: u32,
    ) -> Self {
        let filled = f64::from(drive.geometry().host_pages) * drive.config().start.fill;
        let blocks = filled as u64 * u64::from(drive.geometry().page_bytes) / u64::from(bytes);
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(3),
            all: requests,
            left: requests,
            blocks,
            bytes,
            writes_of_256,
            depth,
        }
    }

    /// Returns this workload with other addresses.
    pub(crate) fn of_round(self, round: u64) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(1000 + round), ..self }
    }
}

impl RequestSource for Uniform {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let n = self.left.min(max as u64);
        self.left -= n;
        let (blocks, bytes, writes) = (self.blocks, self.bytes, self.writes_of_256);
        let rng = &mut self.rng;
        out.extend((0..n).map(|_| {
            let random = rng.next_u64();
            let offset = (((random >> 32) * blocks) >> 32) * u64::from(bytes);
            let op = if random & 255 < writes { Op::Write } else { Op::Read };
            Request { at: 0, offset, bytes, op, origin: 0, hint: None }
        }));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Closed { depth: self.depth }
    }
}

/// These requests by their own clock, one per microsecond.
pub(crate) struct Opened(pub(crate) Uniform);

impl RequestSource for Opened {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let (first, left) = (out.len(), self.0.left);
        self.0.fill(out, max)?;
        out[first..]
            .iter_mut()
            .zip(0..)
            .for_each(|(request, n)| request.at = 1000 * (self.0.all - left + n));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}

/// Reads of whole pages whose popularity falls as one over their rank. They repeat a table of
/// draws.
pub(crate) struct Skewed {
    pages: std::rc::Rc<Vec<u32>>,
    next: usize,
    left: u64,
    page_bytes: u32,
}

impl Skewed {
    /// Draws ranks from 1 to the number of pages as pages^u, with u uniform between 0 and 1, and
    /// scatters them over the drive.
    pub(crate) fn table(drive: &Drive, draws: usize) -> std::rc::Rc<Vec<u32>> {
        let pages = (f64::from(drive.geometry().host_pages) * drive.config().start.fill).floor();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut unit = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let page =
            |rank: f64| ((rank as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) % pages as u64;
        std::rc::Rc::new((0..draws).map(|_| page(pages.powf(unit())) as u32).collect())
    }

    /// Returns the draws of this round. Each round takes this number of draws.
    pub(crate) fn of_round(
        drive: &Drive,
        pages: &std::rc::Rc<Vec<u32>>,
        requests: u64,
        round: u64,
    ) -> Self {
        let next = (round * requests) as usize % pages.len();
        Self { pages: pages.clone(), next, left: requests, page_bytes: drive.geometry().page_bytes }
    }
}

impl RequestSource for Skewed {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let n = self.left.min(max as u64).min((self.pages.len() - self.next) as u64) as usize;
        let bytes = self.page_bytes;
        let pages = &self.pages[self.next..self.next + n];
        out.extend(pages.iter().map(|p| Request {
            at: 0,
            offset: u64::from(*p) * u64::from(bytes),
            bytes,
            op: Op::Read,
            origin: 0,
            hint: None,
        }));
        self.left -= n as u64;
        self.next = if self.next + n == self.pages.len() { 0 } else { self.next + n };
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Closed { depth: 1 }
    }
}

pub(crate) fn config(text: &str, changes: impl FnOnce(&mut DriveConfig)) -> DriveConfig {
    let mut config: DriveConfig = toml::from_str(text).expect("the preset parses");
    changes(&mut config);
    resolve(config).expect("the preset resolves")
}

pub(crate) fn straw(size: &Size) -> DriveConfig {
    config(STRAW, |c| {
        if size.small {
            c.geometry.blocks_per_plane = None;
            c.drive.capacity = Some(vpass_drive::base::units::Bytes(16 << 30));
            c.drive.spare = Some(0.3);
        }
    })
}

pub(crate) fn prepared(config: DriveConfig, timed: bool) -> Drive {
    prepared_for(config, timed, |_| {})
}

/// Creates a preconditioned drive all of whose pages were used. It may have an observer from its
/// first operation on.
pub(crate) fn prepared_for(
    config: DriveConfig,
    timed: bool,
    watch: impl FnOnce(&mut Drive),
) -> Drive {
    let mut drive = unsettled(config, timed, watch);
    drive.settle();
    drive
}

/// Creates a preconditioned drive in the state in which a run begins.
pub(crate) fn unsettled(config: DriveConfig, timed: bool, watch: impl FnOnce(&mut Drive)) -> Drive {
    let mut drive = Drive::new(config, &usual(), timed).expect("the techniques exist");
    watch(&mut drive);
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Creates a preconditioned drive under a reclaim technique, for the untimed gear.
pub(crate) fn prepared_under(config: DriveConfig, reclaim: &str) -> Drive {
    let techniques = Techniques { reclaim: card(reclaim), ..usual() };
    prepare(Drive::new(config, &techniques, false).expect("the techniques exist"))
}

fn prepare(mut drive: Drive) -> Drive {
    drive.precondition(1);
    // Reads are measured after every page was used once.
    drive.settle();
    drive.begin_measurement();
    drive
}

pub(crate) fn median(mut of: impl FnMut() -> f64) -> f64 {
    let mut rounds = [of(), of(), of()];
    rounds.sort_by(f64::total_cmp);
    rounds[1]
}

/// Numbers of reads ahead at which the floor prefetches the map entry of a page. Its counters are
/// prefetched half as far ahead.
const FLOOR_AHEAD: [usize; 5] = [16, 32, 64, 128, 256];

/// Returns the reads per second of only the memory accesses that a read needs, and the best
/// prefetch distance.
///
/// It is a pipeline with one read at a time. Every round prefetches the map entry of a later read
/// and the counters of a nearer read, and counts the current one. It contains none of the drive's
/// code.
pub(crate) fn floor(config: &DriveConfig, reads: u64) -> (f64, usize) {
    let geometry = vpass_drive::base::geometry::Geometry::new(config);
    let filled = (f64::from(geometry.host_pages) * config.start.fill) as u32;
    let raw = u64::from(geometry.raw_pages());
    let mut map = huge_vec(geometry.host_pages as usize, 0u32);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for entry in &mut map {
        *entry = (((rng.next_u64() >> 32) * raw) >> 32) as u32;
    }
    let mut wordlines = huge_vec(geometry.wordlines() as usize, [0u32; 2]);
    let mut blocks = huge_vec(geometry.blocks as usize, [0u32; 4]);
    let (by_bits, by_block) =
        (Reciprocal::new(geometry.cell.bits()), Reciprocal::new(geometry.pages_per_block));
    let mut at_distance = |ahead: usize| {
        let start = Instant::now();
        let mut pages = [0u32; FLOOR_AHEAD[FLOOR_AHEAD.len() - 1]];
        for n in 0..reads as usize + ahead {
            // This is the place of the current read. The read `ahead` later takes over this place.
            let place = n & (ahead - 1);
            let ppn = pages[place];
            let page = (((rng.next_u64() >> 32) * u64::from(filled)) >> 32) as u32;
            prefetch(&map, page as usize);
            pages[place] = page;
            let closer = &mut pages[(n + ahead / 2) & (ahead - 1)];
            if n >= ahead / 2 {
                *closer = map[*closer as usize];
                prefetch(&wordlines, by_bits.quotient(*closer) as usize);
                prefetch(&blocks, by_block.quotient(*closer) as usize);
            }
            if n >= ahead {
                wordlines[by_bits.quotient(ppn) as usize][0] += 4;
                blocks[by_block.quotient(ppn) as usize][0] += 4;
            }
        }
        std::hint::black_box(&blocks);
        reads as f64 / start.elapsed().as_secs_f64()
    };
    let of_distances = FLOOR_AHEAD.map(|ahead| (median(|| at_distance(ahead)), ahead));
    of_distances.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are distances")
}

/// Returns the requests served per second: the median of three rounds.
pub(crate) fn untimed(drive: &mut Drive, requests: u64, bytes: u32, writes_of_256: u64) -> f64 {
    median(|| {
        let source = Uniform::new(drive, requests, bytes, writes_of_256, 1);
        requests as f64 / untimed_s(drive, source)
    })
}

/// Returns the requests per second in the timed gear with this number outstanding: the median of
/// three rounds.
pub(crate) fn timed(
    drive: &mut Drive,
    requests: u64,
    bytes: u32,
    writes_of_256: u64,
    depth: u32,
) -> f64 {
    let mut engine = Replay::new(drive);
    median(|| {
        let source = Uniform::new(drive, requests, bytes, writes_of_256, depth);
        requests as f64 / replayed_s(&mut engine, drive, source)
    })
}

/// Returns the seconds that serving a source takes in the timed gear.
pub(crate) fn timed_s(drive: &mut Drive, source: impl RequestSource) -> f64 {
    replayed_s(&mut Replay::new(drive), drive, source)
}

fn replayed_s(engine: &mut Replay, drive: &mut Drive, mut source: impl RequestSource) -> f64 {
    let start = Instant::now();
    engine.run(drive, &mut source, &mut |_, _| true).expect("the source does not fail");
    start.elapsed().as_secs_f64()
}

/// Returns the seconds that serving a source takes.
pub(crate) fn untimed_s(drive: &mut Drive, mut source: impl RequestSource) -> f64 {
    let start = Instant::now();
    run_untimed(drive, &mut source, &mut |_, _| true).expect("the source does not fail");
    start.elapsed().as_secs_f64()
}

/// Prints a line. A bench prints, so the lint does not apply.
pub(crate) fn say(line: &str) {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{line}").expect("standard output takes a line");
}
