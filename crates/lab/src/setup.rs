//! Request of a user: a drive, a workload and options, before names are looked up or files are
//! read.

use std::num::NonZeroU32;
use std::path::PathBuf;

use vpass_core::base::failure::Failure;
use vpass_core::base::request::Op;
use vpass_oracle::Level;
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
    /// Watch over the drive.
    pub oracle: Watch,
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
    /// Passes over the workload.
    pub repeat: NonZeroU32,
    /// Whether to repeat until wear per host page has settled instead.
    pub until_stable: bool,
    /// Requests before counting begins.
    pub warm_up: u64,
    /// P/E cycles of further drives that are simulated for the life.
    pub ages: Vec<u32>,
    /// Simulated pages of the drive.
    pub sample: Sample,
    /// Source of the hints.
    pub hints: HintSource,
    /// Failures with their times.
    pub fail: Vec<Failure>,
}

impl Setup {
    /// Returns one pass of this workload, completely counted.
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
    /// Workload file, if it has hints.
    Workload,
    /// Separate file; a workload file with hints is refused then.
    File(PathBuf),
    /// No hints, even if the workload file has some.
    Off,
}

/// Workload by name.
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
    /// Unit of the times, for a format that leaves it open.
    pub time_unit: Option<TimeUnit>,
    /// Event of a blktrace text that counts as the request.
    pub blk_action: Option<BlkAction>,
    /// Whether lines that cannot be read are skipped and counted.
    pub skip_bad_lines: bool,
    /// Speed relative to the recording.
    pub speed: f64,
    /// Whether requests earlier than their predecessor are refused.
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
    /// Latencies and contention.
    Timed,
    /// Counts and wear only.
    Untimed,
    /// Counts and wear of years: writes one by one, reads in bulk.
    Fluid,
}

impl Gear {
    /// Returns the name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Untimed => "untimed",
            Self::Fluid => "fluid",
        }
    }
}

/// Level of watching by the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// No oracle: fastest.
    Off,
    /// Data of every page read, the rules of flash, the drive's counts and map.
    On,
    /// Also the host's requests from end to end: each page is served once, whole and newest. Wear
    /// levelling is checked, too.
    Full,
}

impl Watch {
    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Full => "full",
        }
    }

    /// Returns the level of the oracle's checks, if it watches.
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Off => None,
            Self::On => Some(Level::On),
            Self::Full => Some(Level::Full),
        }
    }
}
