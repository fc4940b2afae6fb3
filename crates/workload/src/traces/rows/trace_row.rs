//! One row of a trace as it stands there, what its times count from, and what is wrong with a line
//! that holds none.

use vpass_core::base::latency::AccessLatency;
use vpass_core::base::request::Op;

/// One row of a trace as it stands there: absolute time, nothing checked against a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// The trace's own clock, in ns.
    pub at_ns: u64,
    /// A number that tells the devices of one file apart; [`crate::traces::TraceFile::device_name`]
    /// has their names.
    pub device: u32,
    /// First byte addressed.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Direction.
    pub op: Op,
    /// How slow it may be, where the trace has a column for that and says it.
    pub hint: Option<AccessLatency>,
}

/// What is wrong with a line or a record, by column number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traces) enum BadRow {
    /// The column is there and does not hold what it should.
    Column(usize),
    /// The line ends before this column.
    Missing(usize),
    /// The line goes on after its last column.
    Extra,
    /// Something else, in words.
    Sentence(&'static str),
    /// The same, and what follows cannot be read either: `--skip-bad-lines` does not help.
    Fatal(&'static str),
}

/// What the times of a format count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// A date: files of this format that were recorded at the same time have the same clock.
    Absolute,
    /// The beginning of the recording.
    Relative,
    /// There are no times.
    None,
}
