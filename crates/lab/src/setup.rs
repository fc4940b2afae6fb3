//! Settings that a user gives for a run: a drive, a workload and options. At this stage, vpass has
//! not yet looked up names or read files.

use std::num::NonZeroU32;
use std::path::PathBuf;

#[cfg(feature = "clap")]
use clap::builder::{PossibleValuesParser, TypedValueParser};
use vpass_drive::base::failure::Failure;
#[cfg(feature = "clap")]
use vpass_drive::base::phrase::Phrase;
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
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(
    feature = "clap",
    group(id = "replay", multiple = true, conflicts_with_all = ["workload", "fio"])
)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Replay {
    /// Use only this device of the traces, by its number or name. Repeat the option for more
    /// devices.
    #[cfg_attr(feature = "clap", arg(long, value_name = "DEV"))]
    pub only: Vec<String>,
    /// Read several trace files as parts of one trace, one after the other.
    #[cfg_attr(feature = "clap", arg(long))]
    pub concat: bool,
    /// If the clock of a trace file starts again, play the rest of the file as another recording,
    /// one mean gap after the one before. Default: requests get the latest time before them.
    #[cfg_attr(feature = "clap", arg(long))]
    pub join_recordings: bool,
    /// Handling of requests beyond the end of the drive. error: stop. wrap: continue at address 0.
    /// scale: scale all addresses to the drive. pack: keep only the pages that the trace touches,
    /// in address order and without gaps.
    #[cfg_attr(
        feature = "clap",
        arg(long, default_value_t = Fit::Error, value_parser = parse_fit),
        arg(value_name = "error|wrap|scale|pack")
    )]
    pub fit: Fit,
    /// Trace format (see `vpass list formats`). Default: the format is recognised from the content.
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub format: Option<String>,
    /// Columns of a trace in the text of any tool, in the order of a line, such as
    /// time:us,op,offset:bytes,size:sectors (see docs/start/your-own-trace.md).
    #[cfg_attr(feature = "clap", arg(long, value_name = "LIST", conflicts_with = "format"))]
    pub columns: Option<String>,
    /// Direction of all requests, for a trace without directions.
    #[cfg_attr(feature = "clap", arg(long, value_parser = operations(), value_name = "read|write"))]
    pub assume_op: Option<Op>,
    /// Requests per second, for a trace without times. With --queue-depth instead, such a trace
    /// needs no rate.
    #[cfg_attr(feature = "clap", arg(long, conflicts_with = "queue_depth", value_name = "IOPS"))]
    pub assume_rate: Option<f64>,
    /// Unit of the times, for trace formats that do not fix the unit: disksim (default ms), mqsim
    /// (ns) and fio (us).
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "s|ms|us|ns", value_parser = str::parse::<TimeUnit>)
    )]
    pub time_unit: Option<TimeUnit>,
    /// Event that counts as the request in a blktrace text: queued, issued or completed. Default:
    /// queued if the start of the file has such events, else issued, else completed.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_parser = events(), ignore_case = true, value_name = "Q|D|C")
    )]
    pub blk_action: Option<BlkAction>,
    /// Skip and count trace lines that cannot be read, instead of stopping at the first such line.
    #[cfg_attr(feature = "clap", arg(long))]
    pub skip_bad_lines: bool,
    /// Replay the trace this many times faster than it was recorded.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = 1.0, value_name = "FACTOR"))]
    pub speed: f64,
    /// Reject a trace in which a request is earlier than the request before it. Default: vpass
    /// moves such a request to the time of the request before it, and reports the number of moved
    /// requests.
    #[cfg_attr(feature = "clap", arg(long))]
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
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
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
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
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

/// Returns the parser of the words for a direction.
#[cfg(feature = "clap")]
pub fn operations() -> impl TypedValueParser<Value = Op> {
    let parser = PossibleValuesParser::new(["read", "write"]);
    parser.map(|word| if word == "read" { Op::Read } else { Op::Write })
}

/// Returns the parser of the letters for blktrace events.
#[cfg(feature = "clap")]
pub fn events() -> impl TypedValueParser<Value = BlkAction> {
    let is_of = |of: &BlkAction, word: &str| of.letter().eq_ignore_ascii_case(word);
    let letter = move |word: String| BlkAction::ALL.into_iter().find(|of| is_of(of, &word));
    let letters = BlkAction::ALL.map(BlkAction::letter);
    PossibleValuesParser::new(letters).map(move |word| letter(word).expect("a letter of the list"))
}

#[cfg(feature = "clap")]
fn parse_fit(text: &str) -> Result<Fit, String> {
    text.parse().map_err(|wrong: Phrase| wrong.to_string())
}
