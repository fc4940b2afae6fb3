//! Row of a trace as the file states it, with the epoch of the times and the errors of an invalid
//! row.

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::Op;

/// Row of a trace as the file states it. The time is counted on the clock of the trace. The row may
/// lie beyond the end of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// Time of the row on the trace's own clock, in ns.
    pub at_ns: u64,
    /// Number of the row's device within one file. [`crate::traces::TraceFile::device_name`]
    /// returns the name of the device.
    pub device: u32,
    /// First byte that the row reads, writes or trims.
    pub offset: u64,
    /// Number of bytes that the row reads, writes or trims.
    pub bytes: u64,
    /// Direction of the row: read, write or trim.
    pub op: Op,
    /// Hint of the request, if the trace has a column of hints and the row contains a hint.
    pub hint: Option<AccessLatency>,
}

/// Error of a line or a record. Column numbers are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traces) enum BadRow {
    /// The content of the column is invalid.
    Column(usize),
    /// The line ends before the column.
    Missing(usize),
    /// The line continues after the last column of the format.
    Extra,
    /// The error concerns the row as a whole and not one column. The text describes the error.
    Sentence(&'static str),
    /// Nothing after the error can be read, so `--skip-bad-lines` does not help.
    Fatal(&'static str),
}

/// Epoch from which the times of a trace are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// The times are dates. All files of a format whose times are dates share a clock.
    Absolute,
    /// The times are counted from the start of the recording.
    Relative,
    /// The times are those of a drive in a recorded run. A replay keeps them.
    Run,
    /// The format has no times.
    None,
}
