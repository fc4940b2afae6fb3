//! What a run found, as it stands in `summary.json`. Every key is always there; null where it does
//! not apply.

mod batch_means;
mod failures;
mod hints;
pub mod jobs;
mod life;
mod life_unit;
pub mod mapping_unit;
pub mod page_reads;
mod parity;
mod settled;
mod stages;
mod tired;
mod uber;
mod warnings;
mod wear;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vpass_core::base::metrics::{HostCounts, Latency};
use vpass_core::base::units::Cause;
use vpass_core::drive::Drive;
use vpass_core::time::Replay;
use vpass_oracle::OracleReport;

pub use batch_means::BatchMeans;
pub use failures::Failures;
pub use hints::{Hints, OfWord};
pub use life::{CONFIDENT_CYCLES, Life as LifeRange};
pub use life_unit::{LifeUnit, drive_writes_a_day};
use mapping_unit::MappingUnit;
use page_reads::PageReads;
pub use parity::{ByWear, Delayed, Life, Parity, PowerLoss, ReadsFirst};
pub(crate) use settled::has_settled;
pub use stages::Stage;
pub use tired::{Losses, Retries};
pub use uber::{OverSeeds, Uber};
pub use wear::{AgeWear, Confidence, Wear};
pub(crate) use wear::{Ageing, Before, Terms};
use words::Word;

/// The result of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Version of vpass.
    #[serde(deserialize_with = "words::one")]
    pub vpass: Word,
    /// Preset or path of the drive.
    pub drive: String,
    /// Preset or path of the workload.
    pub workload: String,
    /// Whether no host ever sent these requests.
    pub workload_generated: bool,
    /// Where they come from, in words.
    pub workload_source: String,
    /// A name of the list.
    pub reclaim_technique: String,
    /// Whether these are the results of no real drive.
    pub counterfactual: bool,
    /// A name of the list.
    pub gc_technique: String,
    /// A name of the list; absent where neither this nor `start.age` lets data age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_technique: Option<String>,
    /// Parity technique; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity_technique: Option<String>,
    /// timed, untimed or fluid.
    #[serde(deserialize_with = "words::one")]
    pub gear: Word,
    /// The share of the drive's pages that was simulated, such as "1/16", of which all counts are;
    /// absent where it was all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    /// Of all chance.
    pub seed: u64,
    /// Passes over the workload.
    pub passes: u64,
    /// Whether `--until stable` ended because programs and erases per host page had settled; null
    /// without it.
    pub stable: Option<bool>,
    /// What the host asked for.
    pub host: HostCounts,
    /// How long its requests took.
    pub latency_us: Latencies,
    /// How many of them were done in a second.
    pub throughput: Throughput,
    /// What the flash did.
    pub flash: Flash,
    /// Bytes programmed per byte that the host wrote, as JEDEC has it; null where it wrote none.
    pub write_amplification: Option<f64>,
    /// Pages programmed per page that the host wrote, in whole or in part; null where it wrote
    /// none.
    pub programs_per_page_write: Option<f64>,
    /// The mapping unit, and how well the host's writes filled it.
    pub mapping_unit: MappingUnit,
    /// What was done because of reads.
    pub reclaim: Reclaim,
    /// What was done because of time; absent where data does not age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Refresh>,
    /// What was done for parity; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<Parity>,
    /// What became of failures that were injected; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
    /// What the host's reads took of tired data; absent where `[ecc]` has no retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<Retries>,
    /// The host's page reads taken apart; absent where the run was not asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_reads: Option<PageReads>,
    /// What the host's hints came to; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Hints>,
    /// How sure the run is of its own numbers.
    pub batch_means: BatchMeans,
    /// How worn the drive is.
    pub wear: Wear,
    /// Host reads that the drive answered with an error.
    pub uncorrectable_reads: u64,
    /// Pages of host data that the drive reported lost.
    pub data_lost_pages: u64,
    /// The same by cause; absent where data does not age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<Losses>,
    /// Data errors by each bit that the host read; absent where data has no error rate, or no
    /// codeword is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uber: Option<Uber>,
    /// What the oracle found; null where it did not watch.
    pub oracle: Option<OracleReport>,
    /// What the reclaim technique keeps in the controller.
    pub controller_ram_bytes: u64,
    /// What was read of a trace; null where the workload is another.
    pub trace: Option<Trace>,
    /// Those of a fio file; null where the workload is another.
    pub jobs: Option<Vec<jobs::JobResult>>,
    /// What the run itself took.
    pub simulation: Simulation,
    /// What to know before these results are believed, in sentences; see `Summary::warn`.
    pub warnings: Vec<String>,
}

/// Of host requests; nulls in the untimed gear.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Latencies {
    /// Of reads.
    pub read: Quantiles,
    /// Of writes.
    pub write: Quantiles,
    /// Of reads that waited for reclaim.
    pub read_during_reclaim: Quantiles,
}

/// Microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Quantiles {
    /// Of all.
    pub mean: Option<f64>,
    /// Within which half of the requests end.
    pub p50: Option<f64>,
    /// Within which 90 % end.
    pub p90: Option<f64>,
    /// Within which 99 % end.
    pub p99: Option<f64>,
    /// Within which 99.9 % end.
    pub p99_9: Option<f64>,
    /// Within which 99.99 % end.
    pub p99_99: Option<f64>,
    /// Of the slowest.
    pub max: Option<f64>,
}

/// Over the simulated time; nulls in the untimed gear.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Throughput {
    /// Reads a second.
    pub read_iops: Option<f64>,
    /// Writes a second.
    pub write_iops: Option<f64>,
    /// MiB read in a second.
    pub read_mib_s: Option<f64>,
    /// MiB written in a second.
    pub write_mib_s: Option<f64>,
    /// Requests a second that arrived, by their own clock; null in closed loop.
    pub offered_iops: Option<f64>,
    /// How long after the last arrival the last request was done; null in closed loop.
    pub backlog_s: Option<f64>,
}

/// Operations of the flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flash {
    /// Pages sensed.
    pub reads: ByCause,
    /// Pages programmed.
    pub programs: ByCause,
    /// Those of them that hold nothing, in wordlines that were programmed before they were
    /// complete.
    pub padded_pages: u64,
    /// Blocks erased.
    pub erases: ByCause,
    /// Wordlines programmed over themselves.
    pub reprograms: ByCause,
}

/// A count for each cause. Regrouping by hints is an option, and said only where there was any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByCause(pub(crate) [u64; Cause::COUNT]);

impl ByCause {
    /// Of one cause.
    pub fn of(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }

    /// Of all causes.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl From<[u64; Cause::COUNT]> for ByCause {
    fn from(counts: [u64; Cause::COUNT]) -> Self {
        Self(counts)
    }
}

impl<'de> Deserialize<'de> for ByCause {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let said = BTreeMap::<String, u64>::deserialize(from)?;
        Ok(Self(Cause::ALL.map(|cause| said.get(cause.name()).copied().unwrap_or(0))))
    }
}

impl Serialize for ByCause {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let said = |cause: &&Cause| **cause != Cause::Hint || self.of(Cause::Hint) > 0;
        s.collect_map(Cause::ALL.iter().filter(said).map(|c| (c.name(), self.of(*c))))
    }
}

/// What was done because of reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reclaim {
    /// Times that the technique was asked.
    pub alarms: u64,
    /// Jobs.
    pub invocations: u64,
    /// Pages that they copied.
    pub pages_copied: u64,
    /// Time that host reads waited for reclaim on their die, summed over reads.
    pub stall_us: f64,
    /// Jobs that a block's last allowed read overtook.
    pub deadline_misses: u64,
    /// Blocks that GC erased to make room for reclaim jobs.
    pub gc_erases: u64,
    /// Blocks opened that should lie in the IPR pool.
    pub pool_openings: u64,
    /// Those of them that do not.
    pub pool_misses: u64,
    /// Blocks reprogrammed in place.
    pub reprograms: u64,
    /// Blocks that should have got guard levels but that the drive could not spare their pages.
    pub low_density_refused: u64,
    /// Blocks of low density erased by GC.
    pub low_density_erases_by_gc: u64,
    /// Blocks of low density erased, by the share of their limit that they had used, in twentieths.
    pub low_density_used: [u64; 20],
    /// What the technique counts of its own.
    #[serde(flatten, deserialize_with = "words::counts")]
    pub technique: BTreeMap<Word, u64>,
    /// Whose reads caused the copies: ranges of the host's addresses, those with most copies first.
    pub blame: Vec<Blame>,
}

/// What was done because of time. Copies and erases stand in `flash`, under `refresh`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refresh {
    /// Blocks that began to be rewritten because of their age.
    pub invocations: u64,
    /// Those of them that were still open.
    pub open_blocks: u64,
    /// Pages of these that were never programmed.
    pub unused_pages: u64,
    /// Jobs that were not done when the block's period ended.
    pub deadline_misses: u64,
    /// Age of the oldest block that holds pages, at the end.
    pub oldest_s: f64,
    /// What was merged in place, where the technique does that.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Merged>,
}

/// Wordlines that refresh merged in place, for fewer sensings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Merged {
    /// How many were.
    pub merged_wordlines: u64,
    /// Pages of these that this corrupted, and that were written elsewhere.
    pub corrupted_pages: u64,
    /// Blocks that moved whole because their reads had brought them too near to what reclaim
    /// allows.
    pub no_room: u64,
    /// Blocks with merged wordlines, at the end.
    pub merged_blocks: u32,
    /// Of these, how many the same data would do without.
    pub extra_blocks: f64,
}

/// Copies that reads of a range caused; movers' reads count for the range whose data they read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Blame {
    /// Where the range begins.
    pub offset_bytes: u64,
    /// How long it is.
    pub bytes: u64,
    /// A job is shared out, so this is no whole number; to a thousandth.
    pub copies: f64,
}

/// What was read of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Paths, as they were given.
    pub files: Vec<String>,
    /// What each was taken for.
    #[serde(deserialize_with = "words::several")]
    pub formats: Vec<Word>,
    /// Requests in all passes.
    pub rows: u64,
    /// Requests earlier than the one before them, moved up to it.
    pub clamped: u64,
    /// Requests whose address was changed to fit the drive.
    pub refitted: u64,
    /// Lines and records that could not be read and were passed over.
    pub bad_lines: u64,
    /// What was wrong with the first; null where all could be read.
    pub first_bad_line: Option<String>,
    /// Whether it names more than one.
    pub several_devices: bool,
    /// Side by side on the drive, in this order.
    pub devices: Vec<TraceDevice>,
    /// From the first request to the last.
    pub span_s: f64,
}

/// A device of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceDevice {
    /// Number or name, as the trace has it.
    pub name: String,
    /// The file that names it first.
    pub file: String,
    /// Where it begins, before any fit.
    pub base_bytes: u64,
    /// The end of its highest request.
    pub extent_bytes: u64,
    /// Its requests in a pass.
    pub rows: u64,
}

/// All but the first are null in a folder, where `timing.json` has them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Simulation {
    /// Null where nothing has a clock.
    pub simulated_s: Option<f64>,
    /// Of the measured phase; where drives share requests, of this drive's turns.
    pub wall_s: Option<f64>,
    /// Requests served in a second of that time.
    pub requests_per_s: Option<f64>,
    /// The most memory that the process ever had; null where the system does not tell.
    pub peak_rss_bytes: Option<u64>,
}

impl Quantiles {
    fn of(latency: &Latency) -> Self {
        if latency.count() == 0 {
            return Self::default();
        }
        let at = |q: f64| Some(latency.quantile_ns(q) as f64 / 1e3);
        Self {
            mean: Some(latency.mean_ns() / 1e3),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
            max: Some(latency.max_ns() as f64 / 1e3),
        }
    }
}

impl Latencies {
    /// Of the timed gear, or nothing but nulls.
    pub(crate) fn of(engine: Option<&Replay>) -> Self {
        let of = |pick: fn(&Replay) -> &Latency| {
            engine.map_or_else(Quantiles::default, |e| Quantiles::of(pick(e)))
        };
        Self {
            read: of(|e| &e.metrics().read),
            write: of(|e| &e.metrics().write),
            read_during_reclaim: of(|e| &e.metrics().read_during_reclaim),
        }
    }
}

impl Throughput {
    /// Requests and bytes, each of reads and writes, over a time.
    pub(crate) fn of(requests: (u64, u64), bytes: (u64, u64), seconds: Option<f64>) -> Self {
        let Some(s) = seconds.filter(|s| *s > 0.0) else { return Self::default() };
        let mib = |bytes: u64| bytes as f64 / f64::from(1u32 << 20) / s;
        Self {
            read_iops: Some(requests.0 as f64 / s),
            write_iops: Some(requests.1 as f64 / s),
            read_mib_s: Some(mib(bytes.0)),
            write_mib_s: Some(mib(bytes.1)),
            ..Self::default()
        }
    }
}

impl Throughput {
    /// With the clock that so many requests came by, the last at this second; the drive was done at
    /// another.
    pub(crate) fn against(self, requests: u64, last_arrival_s: f64, done_s: f64) -> Self {
        let offered_iops = (last_arrival_s > 0.0).then(|| requests as f64 / last_arrival_s);
        Self { offered_iops, backlog_s: Some((done_s - last_arrival_s).max(0.0)), ..self }
    }
}

impl Flash {
    pub(crate) fn of(drive: &Drive) -> Self {
        let f = drive.flash_counts();
        Self {
            reads: ByCause(f.reads),
            programs: ByCause(f.programs),
            padded_pages: f.padded_pages,
            erases: ByCause(f.erases),
            reprograms: ByCause(f.reprograms),
        }
    }
}

impl Reclaim {
    pub(crate) fn of(drive: &Drive) -> Self {
        let r = drive.reclaim_counts();
        Self {
            alarms: r.alarms,
            invocations: r.invocations,
            pages_copied: r.pages_copied,
            stall_us: r.stall_ns as f64 / 1e3,
            deadline_misses: r.deadline_misses,
            gc_erases: r.gc_erases,
            pool_openings: r.pool_openings,
            pool_misses: r.pool_misses,
            reprograms: r.reprograms,
            low_density_refused: r.low_density_refused,
            low_density_erases_by_gc: r.low_density_erases_by_gc,
            low_density_used: r.low_density_used.0,
            technique: drive.technique_counts().into_iter().collect(),
            blame: Blame::of(drive),
        }
    }
}

impl Refresh {
    /// None where data does not age.
    pub(crate) fn of(drive: &Drive) -> Option<Self> {
        let r = drive.refresh_counts();
        drive.keeps_time().then(|| Self {
            invocations: r.invocations,
            open_blocks: r.open_blocks,
            unused_pages: r.unused_pages,
            deadline_misses: r.deadline_misses,
            oldest_s: drive.oldest_age() as f64 / 1e9,
            merged: Merged::of(drive),
        })
    }
}

impl Merged {
    fn of(drive: &Drive) -> Option<Self> {
        let (r, (merged_blocks, extra_blocks)) = (drive.refresh_counts(), drive.adjusted_blocks());
        drive.adjusts().then(|| Self {
            merged_wordlines: r.merged_wordlines,
            corrupted_pages: r.corrupted_pages,
            no_room: r.no_room,
            merged_blocks,
            extra_blocks: (extra_blocks * 1e3).round() / 1e3,
        })
    }
}

impl Blame {
    fn of(drive: &Drive) -> Vec<Self> {
        let page = drive.geometry().page_bytes;
        let ranges = drive.blamed_ranges().map(|r| Self {
            offset_bytes: r.first.offset(page),
            bytes: u64::from(r.pages) * u64::from(page),
            copies: (r.copies * 1e3).round() / 1e3,
        });
        let mut ranges: Vec<Self> = ranges.collect();
        ranges.sort_by(|a, b| b.copies.total_cmp(&a.copies));
        ranges
    }
}

impl Simulation {
    pub(crate) fn new(simulated_s: Option<f64>, wall_s: f64, requests: u64) -> Self {
        let requests_per_s = if wall_s > 0.0 { requests as f64 / wall_s } else { 0.0 };
        Self {
            simulated_s,
            wall_s: Some(wall_s),
            requests_per_s: Some(requests_per_s),
            peak_rss_bytes: peak_rss(),
        }
    }
}

/// The most memory this process ever had, where the system tells.
fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?;
    Some(kib * 1024)
}
