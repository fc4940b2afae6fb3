//! Defines a row of a trace as the file states it, the epoch of its times, and the errors of an
//! invalid row.

use vpass_core::base::latency::AccessLatency;
use vpass_core::base::request::Op;

/// Row of a trace as the file states it. Its time is absolute, and no drive has checked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// Time on the trace's own clock, in ns.
    pub at_ns: u64,
    /// Number of the device within one file; [`crate::traces::TraceFile::device_name`] has the
    /// names.
    pub device: u32,
    /// First byte addressed.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Direction.
    pub op: Op,
    /// Hint of the request, if the trace has a column of hints and the row gives one.
    pub hint: Option<AccessLatency>,
}

/// Error of a line or a record, with column numbers from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traces) enum BadRow {
    /// The column does not hold what it should.
    Column(usize),
    /// The line ends before this column.
    Missing(usize),
    /// The line continues after its last column.
    Extra,
    /// Another error, in words.
    Sentence(&'static str),
    /// An error after which nothing can be read. `--skip-bad-lines` does not help.
    Fatal(&'static str),
}

/// Epoch of the times of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// The times are dates. Files of this format that were recorded at the same time share a clock.
    Absolute,
    /// The times count from the start of the recording.
    Relative,
    /// The format has no times.
    None,
}
