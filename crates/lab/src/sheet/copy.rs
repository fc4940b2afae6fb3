//! A small copy of a drive, for short runs: the same dies, channels and spare, and less flash.
//!
//! A whole drive of 2 TB needs a minute until its garbage collection is in its steady state. The
//! rates of a drive follow from its dies, its channels and its share of spare. Random requests run
//! on a copy with shorter and fewer blocks, whose erase takes a shorter time by the same factor.
//! Sequential requests follow the order of blocks, so their copy has fewer blocks of full length.
//!
//! ```text
//! 16 dies of 4 planes, spare 0.1268
//! random:     blocks of 32 wordlines instead of 952, 170 of them in a plane
//! sequential: blocks of 952 wordlines, 16 of them in a plane: 63 of a die, of which 8 are spare
//! ```

use vpass_core::base::geometry::Geometry;
use vpass_core::config::DriveConfig;
use vpass_core::slots::gc::GC;
use vpass_core::slots::reclaim::RECLAIM;
use vpass_workload::synthetic::WorkloadFile;

use crate::failure::Failure;
use crate::load::{self, Generated, Loaded};
use crate::plan::{RunPlan, Workload};
use crate::progress::Begin;
use crate::results::Summary;
use crate::run;
use crate::setup::{Base, Watch};

/// Pages of flash of a copy; the fewest and smallest blocks may need more.
const PAGES: f64 = 2_097_152.0;
/// Fewest and most wordlines of a block. Garbage collection copies less with shorter blocks.
const WORDLINES: (f64, f64) = (16.0, 32.0);
/// Fewest and most blocks of a die. Its open blocks and the reserve of GC are few among them.
const BLOCKS_OF_DIE: (f64, f64) = (200.0, 680.0);
/// Bytes of a sequential request, as on most data sheets.
pub(super) const SEQUENTIAL: &str = "128KiB";
/// Bytes of a random request, as on most data sheets.
pub(super) const RANDOM: &str = "4KiB";
/// Queue depth of sequential requests, as on most data sheets.
pub(super) const SEQUENTIAL_DEPTH: u32 = 32;
/// Spare blocks of a die in a sequential run: the host's stream then has an open block on each die,
/// as on the whole drive (`vpass_core::base::streams::width`).
const SPARE_OF_DIE: f64 = 8.0;
/// Bytes of a drive that a sequential run may touch.
const TOUCHED: f64 = 2_147_483_648.0;
/// Requests of a sequential run: 1 GiB.
const SEQUENTIAL_REQUESTS: u32 = 8192;

/// Requests of a short run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Whether the host reads; it writes otherwise.
    pub(super) reads: bool,
    /// Whether the requests are random.
    pub(super) random: bool,
    /// Queue depth.
    pub(super) depth: u32,
    /// Number of requests.
    pub(super) requests: u32,
}

impl Load {
    /// Returns sequential reads or writes.
    pub(super) fn sequential(reads: bool) -> Self {
        Self { reads, random: false, depth: SEQUENTIAL_DEPTH, requests: SEQUENTIAL_REQUESTS }
    }

    fn text(self) -> String {
        let (size, order) =
            if self.random { (RANDOM, "uniform") } else { (SEQUENTIAL, "sequential") };
        format!(
            "requests = {}\nread_share = {}\nblock_size = \"{size}\"\nqueue_depth = \
             {}\ndistribution = \"{order}\"",
            self.requests,
            u8::from(self.reads),
            self.depth
        )
    }
}

/// Returns a generated workload with these keys.
pub(super) fn generated(name: &str, keys: &str) -> Result<Workload, Failure> {
    let text = format!("[workload]\n{keys}\n");
    let file = WorkloadFile::parse(&text)?;
    Ok(Workload::Generated(Loaded { name: name.into(), text, config: Generated::Workload(file) }))
}

/// Returns the settings that make the copy of a new drive for a load. Random writes need one on
/// which garbage collection has settled.
fn settings(config: &DriveConfig, load: Load) -> Vec<String> {
    let clear = ["pec", "pec_spread", "worn_share", "worn_pec", "reads", "age"];
    let mut sets: Vec<String> = clear.iter().map(|key| format!("start.{key}=")).collect();
    sets.push(format!("start.overwrite={}", u8::from(load.random && !load.reads)));
    let geometry = Geometry::new(config);
    let (raw, own) = (f64::from(geometry.raw_pages()), f64::from(geometry.wordlines_per_block));
    if raw <= PAGES {
        sets.push("start.fill=1".into());
        return sets;
    }
    let spare = 1.0 - f64::from(geometry.host_pages) / raw;
    let (wordlines, of_die) =
        if load.random { short_blocks(&geometry) } else { (own, SPARE_OF_DIE / spare.max(1e-3)) };
    let blocks = (of_die / f64::from(geometry.planes_per_die))
        .ceil()
        .min(f64::from(geometry.blocks_per_plane));
    let bytes = raw / own * wordlines * blocks / f64::from(geometry.blocks_per_plane)
        * f64::from(geometry.page_bytes);
    let fill = if load.random { 1.0 } else { (TOUCHED / bytes).min(1.0) };
    sets.extend([
        format!("geometry.wordlines_per_block={wordlines}"),
        format!("geometry.blocks_per_plane={blocks}"),
        "drive.capacity=".into(),
        format!("drive.spare={spare}"),
        format!("timing.erase_us={}", config.timing.erase_us * wordlines / own),
        format!("start.fill={fill}"),
    ]);
    sets
}

/// Returns the wordlines of a block and the blocks of a die for random requests.
fn short_blocks(geometry: &Geometry) -> (f64, f64) {
    let (dies, bits) = (f64::from(geometry.dies()), f64::from(geometry.cell.bits()));
    let wordlines = (PAGES / dies / BLOCKS_OF_DIE.1 / bits)
        .floor()
        .clamp(WORDLINES.0, WORDLINES.1)
        .min(f64::from(geometry.wordlines_per_block));
    let blocks = (PAGES / dies / wordlines / bits).clamp(BLOCKS_OF_DIE.0, BLOCKS_OF_DIE.1);
    (wordlines, blocks)
}

/// Runs a load on the copy of a drive, with further settings.
///
/// # Errors
/// Reports a drive too small for a copy, or an interruption.
pub(super) fn run(
    drive: &Loaded<DriveConfig>,
    load: Load,
    more: &[String],
    begin: Begin,
) -> Result<Summary, Failure> {
    let sets = [&settings(&drive.config, load), more].concat();
    let copy = load::drive_of(&drive.name, drive.text.clone(), &load::overrides(&sets)?)?;
    let workload = generated("data sheet", &load.text())?;
    let base = Base { oracle: Watch::Off, ..Base::new(drive.name.clone()) };
    let plan = RunPlan::once(&base, copy, workload, &RECLAIM[0], &GC[0]);
    let progress = begin(plan.requests()?, "requests of a short run");
    Ok(run::execute(&plan, progress.as_ref())?.summary)
}

/// Returns the rate of sequential reads, in 10^6 bytes per second.
///
/// # Errors
/// As [`run`].
pub(super) fn sequential_read(
    drive: &Loaded<DriveConfig>,
    more: &[String],
    begin: Begin,
) -> Result<f64, Failure> {
    let summary = run(drive, Load::sequential(true), more, begin)?;
    Ok(mb_s(summary.throughput.read_mib_s))
}

/// Returns a rate in 10^6 bytes per second.
pub(super) fn mb_s(mib_s: Option<f64>) -> f64 {
    mib_s.unwrap_or(0.0) * f64::from(1 << 20) / 1e6
}
