//! How fast is the drive? Each figure is the median of three rounds, read paths as a ratio to the floor: the bare gather of
//! map entry, wordline counters and block record at the same sizes, with prefetch and nothing else.
//! `--small` runs every bench at a size that fits a test.

use std::time::Instant;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vpass_core::config::DriveConfig;
use vpass_core::drive::{Drive, Techniques};
use vpass_core::engine::{TimedEngine, run_untimed};
use vpass_core::mem::{huge_vec, prefetch};
use vpass_core::reciprocal::Reciprocal;
use vpass_core::request::{Arrival, Op, Request, RequestSource, SourceError};

const STRAW: &str = include_str!("../../../presets/drives/straw-2t-tlc.toml");

struct Size {
    small: bool,
}

impl Size {
    fn pick<T>(&self, large: T, small: T) -> T {
        if self.small { small } else { large }
    }
}

/// Uniform 4-KiB requests; cheaper than any real workload, so that the drive is what is measured.
struct Uniform {
    rng: Xoshiro256PlusPlus,
    left: u64,
    blocks: u64,
    bytes: u32,
    writes_of_256: u64,
    depth: u32,
}

impl Uniform {
    fn new(drive: &Drive, requests: u64, bytes: u32, writes_of_256: u64, depth: u32) -> Self {
        let filled = f64::from(drive.geometry().host_pages) * drive.config().start.fill;
        let blocks = filled as u64 * u64::from(drive.geometry().page_bytes) / u64::from(bytes);
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(3), left: requests, blocks, bytes, writes_of_256, depth }
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
            Request { at: 0, offset, bytes, op }
        }));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Closed { depth: self.depth }
    }
}

fn config(text: &str, changes: impl FnOnce(&mut DriveConfig)) -> DriveConfig {
    let mut config: DriveConfig = toml::from_str(text).expect("the preset parses");
    changes(&mut config);
    config.resolve().expect("the preset resolves")
}

fn straw(size: &Size) -> DriveConfig {
    config(STRAW, |c| {
        if size.small {
            c.geometry.blocks_per_plane = None;
            c.drive.capacity = Some(vpass_core::units::Bytes(16 << 30));
            c.drive.spare = Some(0.3);
        }
    })
}

fn prepared(config: DriveConfig, timed: bool) -> Drive {
    let mut drive = Drive::new(config, &Techniques::default(), timed).expect("the techniques exist");
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

fn median(mut of: impl FnMut() -> f64) -> f64 {
    let mut rounds = [of(), of(), of()];
    rounds.sort_by(f64::total_cmp);
    rounds[1]
}

/// Reads per second of nothing but the memory traffic that a read cannot do without.
fn floor(config: &DriveConfig, reads: u64) -> f64 {
    let geometry = vpass_core::geometry::Geometry::new(config);
    let filled = (f64::from(geometry.host_pages) * config.start.fill) as u32;
    let raw = u64::from(geometry.raw_pages());
    let mut map = huge_vec(geometry.host_pages as usize, 0u32);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for entry in &mut map {
        *entry = (((rng.next_u64() >> 32) * raw) >> 32) as u32;
    }
    let mut wordlines = huge_vec(geometry.wordlines() as usize, [0u32; 2]);
    let mut blocks = huge_vec(geometry.blocks as usize, [0u32; 4]);
    let (by_bits, by_block) = (Reciprocal::new(geometry.cell.bits()), Reciprocal::new(geometry.pages_per_block));
    median(|| {
        let start = Instant::now();
        let mut ppns = [0u32; 32];
        for _ in 0..reads / 32 {
            for p in &mut ppns {
                *p = (((rng.next_u64() >> 32) * u64::from(filled)) >> 32) as u32;
                prefetch(&map, *p as usize);
            }
            for p in &mut ppns {
                *p = map[*p as usize];
                prefetch(&wordlines, by_bits.quotient(*p) as usize);
                prefetch(&blocks, by_block.quotient(*p) as usize);
            }
            for p in &ppns {
                wordlines[by_bits.quotient(*p) as usize][0] += 4;
                blocks[by_block.quotient(*p) as usize][0] += 4;
            }
        }
        std::hint::black_box(&blocks);
        reads as f64 / start.elapsed().as_secs_f64()
    })
}

fn untimed(drive: &mut Drive, requests: u64, bytes: u32, writes_of_256: u64) -> f64 {
    median(|| {
        let mut source = Uniform::new(drive, requests, bytes, writes_of_256, 1);
        let start = Instant::now();
        run_untimed(drive, &mut source, &mut |_| true).expect("the source does not fail");
        requests as f64 / start.elapsed().as_secs_f64()
    })
}

fn timed(drive: &mut Drive, requests: u64, bytes: u32, writes_of_256: u64, depth: u32) -> f64 {
    let mut engine = TimedEngine::new(drive);
    median(|| {
        let mut source = Uniform::new(drive, requests, bytes, writes_of_256, depth);
        let start = Instant::now();
        engine.run(drive, &mut source, &mut |_| true).expect("the source does not fail");
        requests as f64 / start.elapsed().as_secs_f64()
    })
}

/// Without a word on the lint: a bench prints.
fn say(line: &str) {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{line}").expect("standard output takes a line");
}

fn reads_at_2_tib(size: &Size) {
    let reads = size.pick(100_000_000, 200_000);
    let config = straw(size);
    let floor = floor(&config, reads);
    say(&format!("floor, 2 TiB                        {:>7.1} M reads/s   1.00", floor / 1e6));
    let started = Instant::now();
    let mut drive = prepared(config.clone(), false);
    let seconds = started.elapsed().as_secs_f64();
    let figure = untimed(&mut drive, reads, 16_384, 0);
    say(&format!(
        "untimed reads, wordline counters    {:>7.1} M reads/s   {:.2} of the floor (goal 0.6, aim 0.9)",
        figure / 1e6,
        figure / floor
    ));
    drop(drive);
    let mut drive = prepared(config, true);
    let figure = timed(&mut drive, size.pick(20_000_000, 100_000), 4096, 0, 64);
    say(&format!(
        "timed reads, queue depth 64         {:>7.1} M reads/s   {:.2} of the floor (goal 0.2, aim 0.3)",
        figure / 1e6,
        figure / floor
    ));
    say(&format!("preconditioning 2 TiB               {seconds:>7.1} s           (goal 6)"));
}

const SMALL_DRIVE: &str = r#"
    geometry = { channels = 8, dies_per_channel = 4, planes_per_die = 2, wordlines_per_block = 64, cell = "tlc", page_size = "16KiB" }
    timing = { sense_us = 50, program_us = 200, erase_us = 3000, channel_mb_s = 1200, suspend = true }
    drive = { capacity = "64GiB", spare = 0.2 }
    start = { fill = 1.0, overwrite = 1.0 }
    disturb = { model = "wordline", table = [{ pec = 0, limit = [500000], alpha = [9.0] }] }
"#;

fn writes_and_32_gib(size: &Size) {
    let capacity = vpass_core::units::Bytes(size.pick(64 << 30, 2 << 30));
    let mut drive = prepared(config(SMALL_DRIVE, |c| c.drive.capacity = Some(capacity)), false);
    let figure = untimed(&mut drive, size.pick(20_000_000, 100_000), 16_384, 256);
    say(&format!("random writes with GC, 64 GiB       {:>7.0} ns a page      (goal at most 250)", 1e9 / figure));
    let capacity = vpass_core::units::Bytes(size.pick(32 << 30, 2 << 30));
    let smaller = config(SMALL_DRIVE, |c| c.drive.capacity = Some(capacity));
    let mut drive = prepared(smaller.clone(), true);
    let figure = timed(&mut drive, size.pick(10_000_000, 100_000), 4096, 0, 16);
    say(&format!("timed reads, queue depth 16, 32 GiB {:>7.1} M requests/s (goal 8)", figure / 1e6));
    let mut drive = prepared(smaller, true);
    let figure = timed(&mut drive, size.pick(3_000_000, 30_000), 4096, 77, 16);
    say(&format!("timed 70:30 with GC, 32 GiB         {:>7.2} M requests/s (goal 1.5)", figure / 1e6));
}

fn main() {
    let size = Size { small: std::env::args().any(|a| a == "--small" || a == "--test") };
    reads_at_2_tib(&size);
    writes_and_32_gib(&size);
}
