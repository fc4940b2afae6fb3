//! Small copy of a drive, for short runs. The copy keeps the drive's dies, channels and share of
//! spare, but has less flash.
//!
//! A simulation of a whole 2-TB drive needs a minute until its garbage collection has settled. The
//! rates of a drive depend on three numbers: dies, channels, and share of spare. A small copy that
//! keeps these numbers has the same rates. For random requests, the copy has shorter and fewer
//! blocks. The erase time is reduced by the same factor as the length of a block. For sequential
//! requests, which fill blocks in order, the copy has fewer blocks of full length.
//!
//! ```text
//! example: a drive with 16 dies of 4 planes, and spare 0.1268
//! random:     blocks of 32 wordlines instead of 952, and 170 blocks per plane
//! sequential: blocks of 952 wordlines, and 16 blocks per plane: 63 per die, of which 8 are spare
//! ```

use vpass_drive::api::reclaim::NO_RECLAIM;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::config::DriveConfig;
use vpass_techniques::card;
use vpass_workload::synthetic::WorkloadFile;

use crate::failure::Failure;
use crate::load::{self, Generated, Loaded};
use crate::plan::{RunPlan, Workload};
use crate::progress::Begin;
use crate::results::Summary;
use crate::run;
use crate::setup::{Base, Watch};

/// Number of flash pages on the small copy of a drive. The copy has more pages if its blocks cannot
/// be made small and few enough.
const PAGES: f64 = 2_097_152.0;
/// Smallest and largest number of wordlines per block on the small copy of a drive. Blocks must not
/// be too short, because garbage collection copies less with short blocks.
const WORDLINES: (f64, f64) = (16.0, 32.0);
/// Smallest and largest number of blocks per die on the small copy of a drive. Open blocks and the
/// reserve of GC must be only a small part of these blocks.
const BLOCKS_OF_DIE: (f64, f64) = (200.0, 680.0);
/// Size of a sequential request on most data sheets.
pub(super) const SEQUENTIAL: &str = "128KiB";
/// Size of a random request on most data sheets.
pub(super) const RANDOM: &str = "4KiB";
/// Queue depth of sequential requests on most data sheets.
pub(super) const SEQUENTIAL_DEPTH: u32 = 32;
/// Number of spare blocks per die in a sequential run. With eight spare blocks, the stream of host
/// writes has an open block on each die, as on the whole drive
/// (`vpass_drive::base::streams::width`).
const SPARE_OF_DIE: f64 = 8.0;
/// Number of data bytes on the small copy of a drive when a sequential run starts.
const TOUCHED: f64 = 2_147_483_648.0;
/// Number of requests in a sequential run. All requests together read or write 1 GiB.
const SEQUENTIAL_REQUESTS: u32 = 8192;

/// Requests of a short run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// True for reads, and false for writes.
    pub(super) reads: bool,
    /// True for random requests, and false for sequential requests.
    pub(super) random: bool,
    /// Queue depth of the requests.
    pub(super) depth: u32,
    /// Number of requests of the run.
    pub(super) requests: u32,
}

impl Load {
    /// Returns the load of a run with sequential reads or sequential writes.
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

/// Returns a generated workload. `keys` is the text of the `[workload]` table.
pub(super) fn generated(name: &str, keys: &str) -> Result<Workload, Failure> {
    let text = format!("[workload]\n{keys}\n");
    let file = WorkloadFile::parse(&text)?;
    Ok(Workload::Generated(Loaded { name: name.into(), text, config: Generated::Workload(file) }))
}

/// Returns the overrides that turn a drive into its small copy for a load. The copy is unworn. For
/// random writes, the copy starts in the steady state (`start.overwrite` is 1), in which garbage
/// collection has settled.
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

/// Returns two numbers for the small copy that serves random requests: wordlines per block, and
/// blocks per die.
fn short_blocks(geometry: &Geometry) -> (f64, f64) {
    let (dies, bits) = (f64::from(geometry.dies()), f64::from(geometry.cell.bits()));
    let wordlines = (PAGES / dies / BLOCKS_OF_DIE.1 / bits)
        .floor()
        .clamp(WORDLINES.0, WORDLINES.1)
        .min(f64::from(geometry.wordlines_per_block));
    let blocks = (PAGES / dies / wordlines / bits).clamp(BLOCKS_OF_DIE.0, BLOCKS_OF_DIE.1);
    (wordlines, blocks)
}

/// Runs a load on the small copy of a drive. `more` has additional overrides.
///
/// # Errors
/// Returns an error if the copy cannot be simulated, or if the user interrupts the run.
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
    let plan = RunPlan::once(&base, copy, workload, card(NO_RECLAIM), card("greedy"));
    let progress = begin(plan.requests()?, "requests of a short run");
    Ok(run::execute(&plan, progress.as_ref())?.summary)
}

/// Returns the rate of sequential reads, in 10^6 bytes per second.
///
/// # Errors
/// Returns an error if the short run fails.
pub(super) fn sequential_read(
    drive: &Loaded<DriveConfig>,
    more: &[String],
    begin: Begin,
) -> Result<f64, Failure> {
    let summary = run(drive, Load::sequential(true), more, begin)?;
    Ok(mb_s(summary.throughput.read_mib_s))
}

/// Converts a rate from MiB per second to 10^6 bytes per second.
pub(super) fn mb_s(mib_s: Option<f64>) -> f64 {
    mib_s.unwrap_or(0.0) * f64::from(1 << 20) / 1e6
}
