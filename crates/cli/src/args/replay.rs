//! Command-line options for reading and replaying a trace.

use clap::{Args, ValueEnum};
use vpass_drive::base::request::Op;
use vpass_workload::traces::{BlkAction, Fit, TimeUnit};

use crate::dialect;

/// Options for reading and replaying a trace.
#[derive(Clone, Debug, Args)]
#[group(id = "replay", multiple = true, conflicts_with_all = ["workload", "fio"])]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Replay {
    /// Use only this device of the traces, by its number or name. Repeat the option for more
    /// devices.
    #[arg(long, value_name = "DEV")]
    pub(crate) only: Vec<String>,
    /// Read several trace files as parts of one trace, one after the other.
    #[arg(long)]
    pub(crate) concat: bool,
    /// If the clock of a trace file starts again, play the rest of the file as another recording,
    /// one mean gap after the one before. Default: requests get the latest time before them.
    #[arg(long)]
    pub(crate) join_recordings: bool,
    /// Handling of requests beyond the end of the drive. error: stop. wrap: continue at address 0.
    /// scale: scale all addresses to the drive. pack: keep only the pages that the trace touches,
    /// in address order and without gaps.
    #[arg(
        long,
        default_value_t = Fit::Error,
        value_parser = parse_fit,
        value_name = "error|wrap|scale|pack",
    )]
    pub(crate) fit: Fit,
    /// Trace format (see `vpass list formats`). Default: the format is recognised from the content.
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Columns of a trace in the text of any tool, in the order of a line, such as
    /// time:us,op,offset:bytes,size:sectors (see docs/start/your-own-trace.md).
    #[arg(long, value_name = "LIST", conflicts_with = "format")]
    pub(crate) columns: Option<String>,
    /// Direction of all requests, for a trace without directions.
    #[arg(long, value_enum, value_name = "read|write")]
    pub(crate) assume_op: Option<Direction>,
    /// Requests per second, for a trace without times. With --queue-depth instead, such a trace
    /// needs no rate.
    #[arg(long, conflicts_with = "queue_depth", value_name = "IOPS")]
    pub(crate) assume_rate: Option<f64>,
    /// Unit of the times, for trace formats that do not fix the unit: disksim (default ms), mqsim
    /// (ns) and fio (us).
    #[arg(long, value_name = "s|ms|us|ns", value_parser = parse_time_unit)]
    pub(crate) time_unit: Option<TimeUnit>,
    /// Event that counts as the request in a blktrace text: queued, issued or completed. Default:
    /// queued if the start of the file has such events, else issued, else completed.
    #[arg(long, value_enum, ignore_case = true, value_name = "Q|D|C")]
    pub(crate) blk_action: Option<BlkEvent>,
    /// Skip and count trace lines that cannot be read, instead of stopping at the first such line.
    #[arg(long)]
    pub(crate) skip_bad_lines: bool,
    /// Replay the trace this many times faster than it was recorded.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub(crate) speed: f64,
    /// Reject a trace in which a request is earlier than the request before it. Default: vpass
    /// moves such a request to the time of the request before it, and reports the number of moved
    /// requests.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl From<Direction> for Op {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Read => Self::Read,
            Direction::Write => Self::Write,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "verbatim")]
pub(crate) enum BlkEvent {
    Q,
    D,
    C,
}

impl From<BlkEvent> for BlkAction {
    fn from(event: BlkEvent) -> Self {
        match event {
            BlkEvent::Q => Self::Q,
            BlkEvent::D => Self::D,
            BlkEvent::C => Self::C,
        }
    }
}

pub(crate) fn parse_time_unit(text: &str) -> Result<TimeUnit, String> {
    text.parse()
}

fn parse_fit(text: &str) -> Result<Fit, String> {
    text.parse().map_err(|wrong| dialect::words(&wrong))
}
