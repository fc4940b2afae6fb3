//! Facts about the trace of a run.

use serde::{Deserialize, Serialize};

use super::words::{self, Word};

/// Facts about the trace of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Paths as the user gave them.
    pub files: Vec<String>,
    /// Format of each file.
    #[serde(deserialize_with = "words::several")]
    pub formats: Vec<Word>,
    /// Number of requests in all passes.
    pub rows: u64,
    /// Number of requests whose time was before that of the previous request.
    /// Such a request comes at the time of the previous one.
    pub clamped: u64,
    /// Number of requests whose address was changed to fit the drive.
    pub refitted: u64,
    /// Number of skipped lines and records that could not be read.
    pub bad_lines: u64,
    /// Error of the first skipped line; null if no line was skipped.
    pub first_bad_line: Option<String>,
    /// Whether the trace names more than one device.
    pub several_devices: bool,
    /// Devices of the trace, in the order in which they lie on the drive.
    pub devices: Vec<TraceDevice>,
    /// Seconds from the first request to the last.
    pub span_s: f64,
}

/// Device that a trace names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceDevice {
    /// Number or name of the device in the trace.
    pub name: String,
    /// First file that names the device.
    pub file: String,
    /// First byte of the device on the drive, before addresses are changed to fit the drive.
    pub base_bytes: u64,
    /// End of the device's highest request, in bytes.
    pub extent_bytes: u64,
    /// Number of requests of the device in one pass.
    pub rows: u64,
}
