//! Settings that a user gives for a run: a drive, a workload and options. At this stage, vpass has
//! not yet looked up names or read files.

use std::num::NonZeroU32;
use std::path::PathBuf;

use vpass_drive::base::failure::Failure;
use vpass_drive::base::phrase::{Dialect, Neutral};
use vpass_drive::base::request::Op;
use vpass_oracle::Level;
use vpass_workload::given::Given;
use vpass_workload::synthetic::{Sample, WorkloadConfig};
use vpass_workload::traces::{BlkAction, Fit, TimeUnit};

/// Length of a run, measured in P/E cycles of the blocks that the workload reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Number of blocks that are needed to hold all pages that the workload reads.
    pub blocks: f64,
    /// Number of cycles in the warm-up. The warm-up also ends after the warm-up requests of
    /// [`RunPlan`](crate::plan::RunPlan). `None` if only the number of requests ends the warm-up.
    pub warm_up: Option<f64>,
    /// Number of cycles in the counted part. `None` if the counted part ends after its last
    /// request.
    pub counted: Option<f64>,
}

/// Drive, and the options that do not depend on the workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// Name of a preset, or path of a TOML file.
    pub drive: String,
    /// Gear of the run.
    pub gear: Gear,
    /// Queue depth of a closed loop. If `None`, the workload determines when requests arrive.
    pub queue_depth: Option<u32>,
    /// Overrides of keys of the drive or the workload, in the form `KEY=VALUE`.
    pub set: Vec<String>,
    /// Random seed.
    pub seed: u64,
    /// Level at which the oracle checks the drive.
    pub oracle: Watch,
    /// Dialect for the names of options in messages. For example, the command line and the Python
    /// module write options differently.
    pub dialect: &'static dyn Dialect,
}

impl Base {
    /// Returns settings for this drive with the timed gear and an oracle.
    pub fn new(drive: impl Into<String>) -> Self {
        Self {
            drive: drive.into(),
            gear: Gear::Timed,
            queue_depth: None,
            set: vec![],
            seed: 1,
            oracle: Watch::On,
            dialect: &Neutral,
        }
    }
}

/// Drive, workload, and length of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Drive, and the options that do not depend on the workload.
    pub base: Base,
    /// Workload that the user named.
    pub workload: Named,
    /// Number of passes over the workload.
    pub repeat: NonZeroU32,
    /// Whether to repeat the workload until the wear per host page has settled. If true, `repeat`
    /// is not used.
    pub until_stable: bool,
    /// Number of requests in the warm-up. Results do not count these requests.
    pub warm_up: u64,
    /// P/E counts of additional drives. These drives are simulated only to project the life.
    pub ages: Vec<u32>,
    /// Simulated pages of the drive.
    pub sample: Sample,
    /// Source of the host's hints.
    pub hints: HintSource,
    /// Failures to inject during the run. Each failure comes with its time.
    pub fail: Vec<Failure>,
    /// Workload that is served completely before `workload`, with a clock of its own.
    pub before: Option<WorkloadConfig>,
    /// Number of block cycles after which the run ends. If `None`, the run ends after the last
    /// request.
    pub cycles: Option<Cycles>,
    /// Whether to split the time of the host's page reads into stages.
    pub stages: bool,
    /// Share of a reclaim cycle. Each block begins with a random number of reads, up to this share
    /// of the reads after which the technique first acts. With 0, `start.reads` of the drive
    /// applies.
    pub out_of_phase: f64,
}

impl Setup {
    /// Returns settings for a run that serves this workload once, without a warm-up.
    pub fn new(base: Base, workload: Named) -> Self {
        Self {
            base,
            workload,
            repeat: NonZeroU32::MIN,
            until_stable: false,
            warm_up: 0,
            ages: vec![],
            sample: Sample::WHOLE,
            hints: HintSource::Workload,
            fail: vec![],
            before: None,
            cycles: None,
            stages: false,
            out_of_phase: 0.0,
        }
    }
}

/// Source of the host's hints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintSource {
    /// Use the hints of the workload file, if the file has any.
    Workload,
    /// Use the hints of a separate file. In this case, the workload file must not have hints.
    File(PathBuf),
    /// Use no hints, even if the workload file has some.
    Off,
}

/// Workload that a user names.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    /// Trace files.
    Trace {
        /// Paths of the trace files.
        files: Vec<PathBuf>,
        /// Options for reading and replaying the trace.
        replay: Replay,
    },
    /// Generated workload, as the name of a preset or the path of a TOML file.
    Workload(String),
    /// Path of a fio job file.
    Fio(PathBuf),
    /// Generated workload, given as the text of a file.
    Text {
        /// Name of the workload in results and error messages.
        name: String,
        /// Text in the format of a workload file.
        text: String,
    },
    /// Workload that was created by a program that uses vpass as a library.
    Given(Given),
    /// Several workloads that run at the same time. Each workload has its own request times and
    /// uses the whole drive.
    Beside(Vec<Self>),
}

/// Options for reading and replaying a trace.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Replay {
    /// Devices whose requests are replayed, each given by number or name. Empty for all devices of
    /// the trace.
    pub only: Vec<String>,
    /// Whether the files are consecutive parts of one trace. If false, the requests of all files
    /// are merged by time.
    pub concat: bool,
    /// Whether the recordings in a file follow each other. If false, requests after a restart of
    /// the file's clock get the latest time before them.
    pub join_recordings: bool,
    /// Treatment of requests to addresses beyond the end of the drive.
    pub fit: Fit,
    /// Name of the trace format. If absent, vpass detects the format from the content.
    pub format: Option<String>,
    /// Columns of a trace in the text of any tool, such as `time:us,op,offset:bytes,size:sectors`.
    pub columns: Option<String>,
    /// Direction, read or write, to assume for all requests of a trace without directions.
    pub assume_op: Option<Op>,
    /// Number of requests per second to assume for a trace without times.
    pub assume_rate: Option<f64>,
    /// Unit of the times in the trace, if the trace format does not define the unit.
    pub time_unit: Option<TimeUnit>,
    /// Kind of blktrace event (queued, issued or completed) that vpass counts as a request.
    pub blk_action: Option<BlkAction>,
    /// Whether to skip lines that cannot be read. Skipped lines are counted.
    pub skip_bad_lines: bool,
    /// Speed of the replay, as a multiple of the recorded speed.
    pub speed: f64,
    /// Whether to refuse a trace in which some request is earlier than the previous request.
    pub strict: bool,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            only: vec![],
            concat: false,
            join_recordings: false,
            fit: Fit::Error,
            format: None,
            columns: None,
            assume_op: None,
            assume_rate: None,
            time_unit: None,
            blk_action: None,
            skip_bad_lines: false,
            speed: 1.0,
            strict: false,
        }
    }
}

/// Gear of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gear {
    /// Timed gear, which simulates latencies and contention.
    Timed,
    /// Untimed gear, which simulates only counts and wear.
    Untimed,
    /// Fluid gear, which simulates counts and wear over years. Writes are simulated one by one, and
    /// reads in bulk.
    Fluid,
}

impl Gear {
    /// Returns the name of the gear, as results show it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Untimed => "untimed",
            Self::Fluid => "fluid",
        }
    }
}

/// Level of the checks that the oracle makes on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// No oracle. The simulation is then fastest.
    Off,
    /// Normal oracle. It checks the data that each page read returns, the rules of flash, the
    /// counts of the drive, and the map of the drive.
    On,
    /// Strictest oracle. It makes the checks of the normal oracle, and also checks wear levelling
    /// and each host request. Every requested page must be served exactly once, as a whole, and in
    /// its newest version.
    Full,
}

impl Watch {
    /// Returns the name of the level, as results show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Full => "full",
        }
    }

    /// Returns the level of the oracle's checks. Returns `None` if there is no oracle.
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Off => None,
            Self::On => Some(Level::On),
            Self::Full => Some(Level::Full),
        }
    }
}
