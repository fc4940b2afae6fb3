//! Request of a user: a drive, a workload and options. No name has been looked up yet, and no file
//! has been read.

use std::num::NonZeroU32;
use std::path::PathBuf;

use vpass_core::base::failure::Failure;
use vpass_core::base::phrase::{Dialect, Neutral};
use vpass_core::base::request::Op;
use vpass_oracle::Level;
use vpass_workload::given::Given;
use vpass_workload::synthetic::Sample;
use vpass_workload::traces::{BlkAction, Fit, TimeUnit};

/// Drive, and options that hold for any workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// Preset, or path of a TOML file.
    pub drive: String,
    /// Gear of the run.
    pub gear: Gear,
    /// Queue depth of a closed loop; if absent, the workload's own clock, depth or rate applies.
    pub queue_depth: Option<u32>,
    /// Overrides of drive or workload keys, each `KEY=VALUE`.
    pub set: Vec<String>,
    /// Random seed.
    pub seed: u64,
    /// Level at which the oracle checks the drive.
    pub oracle: Watch,
    /// Dialect of the caller. Sentences of results name options in it.
    pub dialect: &'static dyn Dialect,
}

impl Base {
    /// Returns this drive in the timed gear, with an oracle.
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
    /// Drive and general options.
    pub base: Base,
    /// Name of the workload.
    pub workload: Named,
    /// Number of passes over the workload.
    pub repeat: NonZeroU32,
    /// Whether to repeat the workload until wear per host page has settled, instead of `repeat`
    /// times.
    pub until_stable: bool,
    /// Number of requests before counting begins.
    pub warm_up: u64,
    /// P/E counts of further drives that are simulated to find the life.
    pub ages: Vec<u32>,
    /// Part of the drive's pages that is simulated.
    pub sample: Sample,
    /// Source of the hints.
    pub hints: HintSource,
    /// Failures to inject, each with its time.
    pub fail: Vec<Failure>,
}

impl Setup {
    /// Returns the setup of one pass of this workload, all of which is counted.
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
    /// Hints of the workload file, if it has any.
    Workload,
    /// Hints of a separate file. A workload file that also has hints is refused.
    File(PathBuf),
    /// No hints, even if the workload file has hints.
    Off,
}

/// Workload, as a user names it.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    /// Trace files, merged by time.
    Trace {
        /// Paths of the files.
        files: Vec<PathBuf>,
        /// Options for reading and replaying.
        replay: Replay,
    },
    /// Generated workload: a preset, or the path of a TOML file.
    Workload(String),
    /// Job file of fio.
    Fio(PathBuf),
    /// Generated workload, as the text of its file.
    Text {
        /// Name in results and errors.
        name: String,
        /// Text of the file.
        text: String,
    },
    /// Workload that the caller made.
    Given(Given),
    /// Workloads side by side, each at its own times and on the whole drive.
    Beside(Vec<Self>),
}

/// Options for reading and replaying a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Devices to use, by number or name; empty for all.
    pub only: Vec<String>,
    /// Whether the files are consecutive parts of one trace.
    pub concat: bool,
    /// Treatment of requests beyond the drive.
    pub fit: Fit,
    /// Name of the format; detected from the content if absent.
    pub format: Option<String>,
    /// Direction of all requests, for a trace without directions.
    pub assume_op: Option<Op>,
    /// Requests per second, for a trace without a clock.
    pub assume_rate: Option<f64>,
    /// Unit of the times, for a format that does not fix the unit.
    pub time_unit: Option<TimeUnit>,
    /// Event of a blktrace text that counts as the request.
    pub blk_action: Option<BlkAction>,
    /// Whether lines that cannot be read are skipped and counted.
    pub skip_bad_lines: bool,
    /// Speed relative to the recording.
    pub speed: f64,
    /// Whether a request earlier than its predecessor is refused.
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
    /// Timed gear: latencies and contention.
    Timed,
    /// Untimed gear: counts and wear only.
    Untimed,
    /// Fluid gear: counts and wear of years. Writes are simulated one by one, and reads in bulk.
    Fluid,
}

impl Gear {
    /// Returns the name of the gear in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Untimed => "untimed",
            Self::Fluid => "fluid",
        }
    }
}

/// Level at which the oracle checks a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// No oracle, which is fastest.
    Off,
    /// Oracle that checks the data of every page read, the rules of flash, and the drive's counts
    /// and map.
    On,
    /// Oracle that also checks the host's requests from end to end: each page is served once, whole
    /// and newest. It checks wear levelling, too.
    Full,
}

impl Watch {
    /// Returns the name of the level in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Full => "full",
        }
    }

    /// Returns the level of the oracle's checks; `None` without an oracle.
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Off => None,
            Self::On => Some(Level::On),
            Self::Full => Some(Level::Full),
        }
    }
}
