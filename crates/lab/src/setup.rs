//! What a user asks for: a drive, a workload, and how to run them; names not yet looked up and
//! nothing read.

use std::num::NonZeroU32;
use std::path::PathBuf;

use vpass_core::base::failure::Failure;
use vpass_core::base::request::Op;
use vpass_oracle::Level;
use vpass_workload::synthetic::Sample;
use vpass_workload::traces::{BlkAction, Fit, TimeUnit};

/// A drive, and how to run it under any workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// Preset, or path of a TOML file.
    pub drive: String,
    /// What is simulated.
    pub gear: Gear,
    /// Requests outstanding in a closed loop; none follows the workload's own clock, depth or rate.
    pub queue_depth: Option<u32>,
    /// Other values for keys of the drive or the workload, `KEY=VALUE` each.
    pub set: Vec<String>,
    /// Of all chance.
    pub seed: u64,
    /// Who watches the drive.
    pub oracle: Watch,
}

impl Base {
    /// This drive in the timed gear, watched.
    pub fn new(drive: impl Into<String>) -> Self {
        Self {
            drive: drive.into(),
            gear: Gear::Timed,
            queue_depth: None,
            set: vec![],
            seed: 1,
            oracle: Watch::On,
        }
    }
}

/// A drive, a workload, and how long to run them.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The drive.
    pub base: Base,
    /// The workload.
    pub workload: Named,
    /// Passes over the workload.
    pub repeat: NonZeroU32,
    /// Whether to repeat until wear per host page has settled instead.
    pub until_stable: bool,
    /// Requests that are served before anything is counted.
    pub warm_up: u64,
    /// P/E cycles of further drives that are run for the life's sake.
    pub ages: Vec<u32>,
    /// Which of the drive's pages to simulate.
    pub sample: Sample,
    /// Where it stands how slow reads of the host's data may be.
    pub hints: HintSource,
    /// What fails, and when.
    pub fail: Vec<Failure>,
}

impl Setup {
    /// A pass of this workload, all of it counted.
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

/// Where it stands what the host says of how slow reads of its data may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintSource {
    /// In the workload's file, if it says anything.
    Workload,
    /// In a file of its own; a workload's file that says something, too, is refused.
    File(PathBuf),
    /// Nowhere, whatever the workload's file says.
    Off,
}

/// A workload, by name.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    /// Trace files, merged by time.
    Trace {
        /// Where they are.
        files: Vec<PathBuf>,
        /// How they are read and replayed.
        replay: Replay,
    },
    /// A generated workload: a preset, or the path of a TOML file.
    Workload(String),
    /// A job file of fio.
    Fio(PathBuf),
}

/// How a trace is read and replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Devices to take, by number or name; all where there are none.
    pub only: Vec<String>,
    /// Whether the files are parts of one trace, one after the other.
    pub concat: bool,
    /// What becomes of requests beyond the drive.
    pub fit: Fit,
    /// The format's name; recognised from the content where absent.
    pub format: Option<String>,
    /// Direction of all requests, for a trace that keeps none.
    pub assume_op: Option<Op>,
    /// Requests a second, for a trace that keeps no clock.
    pub assume_rate: Option<f64>,
    /// Unit of the times, for a format that leaves it open.
    pub time_unit: Option<TimeUnit>,
    /// Event of a blktrace text that counts as the request.
    pub blk_action: Option<BlkAction>,
    /// Whether lines that cannot be read are passed over and counted.
    pub skip_bad_lines: bool,
    /// How many times faster than recorded.
    pub speed: f64,
    /// Whether requests earlier than the one before are refused.
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

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gear {
    /// Latencies and contention.
    Timed,
    /// Counts and wear only.
    Untimed,
    /// Counts and wear of years: writes one by one, reads in bulk.
    Fluid,
}

impl Gear {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Untimed => "untimed",
            Self::Fluid => "fluid",
        }
    }
}

/// How closely the oracle watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Nobody watches: fastest.
    Off,
    /// The data of every page read, the rules of flash, the drive's counts and map.
    On,
    /// Also the host's requests from end to end: each page served once, whole and newest; and
    /// whether wear is levelled.
    Full,
}

impl Watch {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Full => "full",
        }
    }

    /// How much the oracle checks, where it watches.
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Off => None,
            Self::On => Some(Level::On),
            Self::Full => Some(Level::Full),
        }
    }
}
