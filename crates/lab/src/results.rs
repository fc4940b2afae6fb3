//! What a run found, as it stands in `summary.json`. Every key is always there; null where it does
//! not apply.

mod batch_means;
mod failures;
mod flash;
mod hints;
pub mod jobs;
mod latency;
mod life;
mod life_unit;
pub mod mapping_unit;
pub mod page_reads;
mod parity;
mod reclaim;
mod refresh;
mod settled;
mod simulation;
mod stages;
mod tired;
mod trace;
mod uber;
mod warnings;
mod wear;
mod words;

use serde::{Deserialize, Serialize};
use vpass_core::base::metrics::HostCounts;
use vpass_oracle::OracleReport;

pub use batch_means::BatchMeans;
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
pub use stages::Stage;
pub use tired::{Losses, Retries};
pub use trace::{Trace, TraceDevice};
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
