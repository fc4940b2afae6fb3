//! Results of a run, as `summary.json` contains them. Every key is always present unless its
//! description says "absent". A key that does not apply to the run is null.

mod about;
mod ageing;
mod batch_means;
mod batches;
mod failures;
pub(crate) mod flash;
mod hints;
pub mod jobs;
mod latency;
mod life;
mod life_unit;
pub mod mapping_unit;
pub mod page_reads;
mod parity;
pub mod quantity;
mod reclaim;
mod refresh;
mod settled;
mod simulation;
pub mod smart;
mod stages;
mod tired;
mod trace;
mod uber;
pub mod warning;
mod warnings;
mod wear;
pub(crate) mod words;

use serde::{Deserialize, Serialize};
use vpass_drive::base::metrics::HostCounts;
use vpass_oracle::OracleReport;

pub use about::About;
pub(crate) use ageing::{Ageing, Before, Terms};
pub use batch_means::BatchMeans;
pub use batches::{Batch, PAIRED};
pub use failures::Failures;
pub use flash::{ByCause, Flash};
pub use hints::{Hints, OfWord};
pub use latency::{Latencies, Quantiles, Throughput};
pub use life::{CONFIDENT_CYCLES, Life as LifeRange};
pub use life_unit::{LifeUnit, drive_writes_a_day};
use mapping_unit::MappingUnit;
use page_reads::PageReads;
pub use parity::{ByWear, Delayed, Life, Parity, PowerLoss, ReadsFirst};
pub use reclaim::{Blame, Reclaim};
pub use refresh::{Merged, Refresh};
pub(crate) use settled::has_settled;
pub use simulation::Simulation;
use smart::Smart;
pub use stages::Stage;
pub use tired::{Losses, Retries};
pub use trace::{Trace, TraceDevice};
pub use uber::{OverSeeds, Uber};
use warning::Warning;
pub use wear::{AgeWear, Confidence, Wear};
use words::Word;

/// Result of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Version of the format of these results: 1. A new key does not change the version.
    pub schema: u32,
    /// Version of vpass.
    #[serde(deserialize_with = "words::one")]
    pub vpass: Word,
    /// Preset or path of the drive.
    pub drive: String,
    /// Preset or path of the workload.
    pub workload: String,
    /// Whether vpass generated the requests. False if the requests were recorded from a host.
    pub workload_generated: bool,
    /// Text that describes the source of the requests.
    pub workload_source: String,
    /// Name of the reclaim technique.
    pub reclaim_technique: String,
    /// Whether the technique is counterfactual. If so, no real drive can reach these results.
    pub counterfactual: bool,
    /// Name of the GC technique.
    pub gc_technique: String,
    /// Name of the refresh technique. Absent if data does not age and the drive has no refresh
    /// settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_technique: Option<String>,
    /// Name of the parity technique; absent without parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity_technique: Option<String>,
    /// Gear: timed, untimed or fluid.
    #[serde(deserialize_with = "words::one")]
    pub gear: Word,
    /// Share of the drive's pages that was simulated, such as "1/16". All counts are for this share
    /// only. Absent if all pages were simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    /// Random seed.
    pub seed: u64,
    /// Number of passes over the workload.
    pub passes: u64,
    /// Whether the wear per host page had settled at the end of a run with `--until stable`. Null
    /// without `--until stable`.
    pub stable: Option<bool>,
    /// Counts of the host's requests.
    pub host: HostCounts,
    /// Latencies of the host's requests.
    pub latency_us: Latencies,
    /// Host requests per second.
    pub throughput: Throughput,
    /// Flash operations by cause.
    pub flash: Flash,
    /// Bytes programmed per byte that the host wrote, as JEDEC defines write amplification. Null
    /// without host writes.
    pub write_amplification: Option<f64>,
    /// Read wear: bytes programmed because of reads, in percent of the bytes that the host read.
    /// Both reclaim and retries cause such programs. Null without host reads.
    pub read_wear: Option<f64>,
    /// Net read wear, in percent of the bytes that the host read. The net read wear is the number
    /// of bytes programmed in this run, minus the number programmed in a twin run. The twin run is
    /// the same, but on flash that reads do not disturb. The net read wear may be negative. Present
    /// only in comparisons with a twin run. Absent without host reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_wear_net: Option<f64>,
    /// Flash pages programmed per host page written. A page that the host wrote in part counts as
    /// one page. Null without host writes.
    pub programs_per_page_write: Option<f64>,
    /// Mapping unit of the drive, and the share of host writes that are smaller than a mapping
    /// unit.
    pub mapping_unit: MappingUnit,
    /// Reclaim jobs and their cost.
    pub reclaim: Reclaim,
    /// Refresh jobs and their cost; absent if data does not age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Refresh>,
    /// Flash operations for parity, and the number of protected stripes. Absent without parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<Parity>,
    /// Effects of injected failures (`--fail`); absent without injected failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
    /// Retries of the host's page reads. Absent if the drive makes no retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<Retries>,
    /// Times that the host's page reads spend in each stage of a read. The reads are grouped by
    /// page kind, and by which pages of the wordline are valid. Absent if the user did not ask for
    /// these times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_reads: Option<PageReads>,
    /// Effects of the host's hints; absent without hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Hints>,
    /// Confidence intervals for the numbers of this run, computed by batch means.
    pub batch_means: BatchMeans,
    /// Batches for comparisons with other runs. A run that is too short has none. `None` in a
    /// summary from a file, because files do not have batches.
    #[serde(skip)]
    pub batches: Option<Vec<Batch>>,
    /// Wear of the drive, and the life projected from it.
    pub wear: Wear,
    /// Counters with the names that `NVMe` SMART and OCP use. Each counter has its identifier.
    pub smart: Smart,
    /// Number of host reads that the drive answered with an error.
    pub uncorrectable_reads: u64,
    /// Number of host data pages that the drive reported as lost.
    pub data_lost_pages: u64,
    /// Number of lost pages by cause; absent if data does not age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<Losses>,
    /// Uncorrectable bit error rate (UBER) of the host's reads. Absent without error rates, or if
    /// the size of a codeword is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uber: Option<Uber>,
    /// Report of the oracle. Null for a run without an oracle.
    pub oracle: Option<OracleReport>,
    /// Largest ratio of a wordline's dose to the wordline's limit, at the beginning of any reclaim
    /// job of the run. Only wordlines with valid or lost pages count. Null without an oracle,
    /// without reclaim jobs, or if reads disturb nothing.
    pub threshold_used: Option<f64>,
    /// Bytes of controller memory that the reclaim technique uses.
    pub controller_ram_bytes: u64,
    /// Facts about the trace. Null if the workload is not a trace.
    pub trace: Option<Trace>,
    /// Results of each job of a fio file. Null if the workload is not a fio file.
    pub jobs: Option<Vec<jobs::JobResult>>,
    /// Time and memory that the simulation needed.
    pub simulation: Simulation,
    /// Warnings about these results. Each warning is one sentence.
    pub warnings: Vec<Warning>,
}
