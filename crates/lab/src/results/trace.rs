//! Facts about the trace of a run.

use serde::{Deserialize, Serialize};

use super::words::{self, Word};

/// Facts about the trace of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Paths of the trace files, as the user gave them.
    pub files: Vec<String>,
    /// Format of each trace file.
    #[serde(deserialize_with = "words::several")]
    pub formats: Vec<Word>,
    /// Number of requests of the trace that were replayed in all passes.
    pub rows: u64,
    /// Number of requests with an earlier time than the request before them. Such a request is
    /// replayed at the time of the request before it.
    pub clamped: u64,
    /// Number of requests whose address was changed to fit the drive.
    pub refitted: u64,
    /// Number of lines and records that could not be read and were skipped.
    pub bad_lines: u64,
    /// Error message about the first skipped line. Null if no line was skipped.
    pub first_bad_line: Option<String>,
    /// Whether the trace names more than one device.
    pub several_devices: bool,
    /// Devices of the trace, in the order of their addresses on the drive.
    pub devices: Vec<TraceDevice>,
    /// Seconds from the first request to the last request.
    pub span_s: f64,
}

/// Device that a trace names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceDevice {
    /// Number or name by which the trace identifies the device.
    pub name: String,
    /// First trace file in which the device occurs.
    pub file: String,
    /// Address on the drive at which the device begins, before addresses are changed to fit the
    /// drive.
    pub base_bytes: u64,
    /// Size of the used part of the device in bytes: the highest address at which a request ends.
    pub extent_bytes: u64,
    /// Number of requests of the device in one pass.
    pub rows: u64,
}
