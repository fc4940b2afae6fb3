//! Facts about the trace that a run replays.

use serde::{Deserialize, Serialize};

use super::words::{self, Word};

/// Facts about the trace that a run replays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Paths of the trace files, as the user gave them.
    pub files: Vec<String>,
    /// Format of each trace file.
    #[serde(deserialize_with = "words::several")]
    pub formats: Vec<Word>,
    /// Number of replayed requests, summed over all passes.
    pub rows: u64,
    /// Number of requests whose time is before that of the previous request. The replay gives such
    /// a request the time of the previous request.
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
    /// Address on the drive at which the device begins. The replay may then change addresses to fit
    /// the drive.
    pub base_bytes: u64,
    /// Highest address at which a request to the device ends, in bytes from the start of the
    /// device.
    pub extent_bytes: u64,
    /// Number of requests to the device in one pass.
    pub rows: u64,
}
