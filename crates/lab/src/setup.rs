//! Request of a user: a drive, a workload and options. Names have not been looked up yet, and files
//! have not been read yet.

use std::num::NonZeroU32;
use std::path::PathBuf;

use vpass_drive::base::failure::Failure;
use vpass_drive::base::phrase::{Dialect, Neutral};
use vpass_drive::base::request::Op;
use vpass_oracle::Level;
use vpass_workload::given::Given;
use vpass_workload::synthetic::Sample;
use vpass_workload::traces::{BlkAction, Fit, TimeUnit};

/// Drive, with options that apply to every workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// Name of a preset, or path of a TOML file.
    pub drive: String,
    /// Gear of the run.
    pub gear: Gear,
    /// Queue depth of a closed loop. If absent, the workload's own times, queue depth or rate
    /// apply.
    pub queue_depth: Option<u32>,
    /// Overrides of keys of the drive or the workload, in the form `KEY=VALUE`.
    pub set: Vec<String>,
    /// Random seed.
    pub seed: u64,
    /// Level at which the oracle checks the drive.
    pub oracle: Watch,
    /// Dialect of the caller. Sentences in results name options in this dialect.
    pub dialect: &'static dyn Dialect,
}

impl Base {
    /// Returns the request for this drive in the timed gear with an oracle.
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
    /// Drive, with options that apply to every workload.
    pub base: Base,
    /// Workload that the user named.
    pub workload: Named,
    /// Number of passes over the workload.
    pub repeat: NonZeroU32,
    /// Whether to repeat the workload until the wear per host page has settled, instead of `repeat`
    /// times.
    pub until_stable: bool,
    /// Number of requests before the counted requests.
    pub warm_up: u64,
    /// P/E counts of additional drives, which are simulated to find the life.
    pub ages: Vec<u32>,
    /// Part of the drive's pages that is simulated.
    pub sample: Sample,
    /// Source of the host's hints.
    pub hints: HintSource,
    /// Failures to inject during the run, each with its time.
    pub fail: Vec<Failure>,
}

impl Setup {
    /// Returns the setup for one pass of this workload. All requests of the pass are counted.
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
        }
    }
}

/// Source of the host's hints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintSource {
    /// Use the hints of the workload file, if the file has any.
    Workload,
    /// Use the hints of a separate file. The workload file must not have hints, too.
    File(PathBuf),
    /// Use no hints, even if the workload file has some.
    Off,
}

/// Workload that a user names.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    /// Trace files, whose requests are merged by time.
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
    /// Workload that the caller of the library made.
    Given(Given),
    /// Several workloads side by side. Each workload has its own times and uses the whole drive.
    Beside(Vec<Self>),
}

/// Options for reading and replaying a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Devices of the trace to replay, by number or name. Empty for all devices.
    pub only: Vec<String>,
    /// Whether the files are consecutive parts of one trace. Files that are not parts of one trace
    /// are merged by time.
    pub concat: bool,
    /// Treatment of requests to addresses beyond the drive.
    pub fit: Fit,
    /// Name of the trace format. If absent, vpass detects the format from the content.
    pub format: Option<String>,
    /// Direction, read or write, to assume for all requests of a trace without directions.
    pub assume_op: Option<Op>,
    /// Number of requests per second to assume for a trace without times.
    pub assume_rate: Option<f64>,
    /// Unit of the times, for a format that does not define the unit.
    pub time_unit: Option<TimeUnit>,
    /// Event in a blktrace text that counts as a request.
    pub blk_action: Option<BlkAction>,
    /// Whether to skip and count lines that cannot be read.
    pub skip_bad_lines: bool,
    /// Speed of the replay, as a multiple of the recorded speed.
    pub speed: f64,
    /// Whether to refuse a request with a time before that of the previous request.
    pub strict: bool,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            only: vec![],
            concat: false,
            fit: Fit::Error,
            format: None,
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
    /// No oracle, which is the fastest level.
    Off,
    /// Oracle that checks the data of every page read, the rules of flash, and the counts and the
    /// map of the drive.
    On,
    /// Oracle that also checks wear levelling and each request of the host from end to end. Every
    /// requested page must be served once, as a whole, and in its newest version.
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
