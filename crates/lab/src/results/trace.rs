//! Facts about a trace that was read.

use serde::{Deserialize, Serialize};

use super::words::{self, Word};

/// Facts about a trace that was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Paths as the user gave them.
    pub files: Vec<String>,
    /// Format of each file.
    #[serde(deserialize_with = "words::several")]
    pub formats: Vec<Word>,
    /// Requests in all passes.
    pub rows: u64,
    /// Requests with a time before their predecessor's, moved to that time.
    pub clamped: u64,
    /// Requests whose address was changed to fit the drive.
    pub refitted: u64,
    /// Lines and records that could not be read and were skipped.
    pub bad_lines: u64,
    /// Error of the first skipped line; null if all could be read.
    pub first_bad_line: Option<String>,
    /// Whether the trace names more than one device.
    pub several_devices: bool,
    /// Devices side by side on the drive, in this order.
    pub devices: Vec<TraceDevice>,
    /// Seconds from the first request to the last.
    pub span_s: f64,
}

/// Device of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceDevice {
    /// Number or name of the device in the trace.
    pub name: String,
    /// First file that names the device.
    pub file: String,
    /// First byte of the device on the drive, before any fit.
    pub base_bytes: u64,
    /// End of the device's highest request.
    pub extent_bytes: u64,
    /// Requests of the device in one pass.
    pub rows: u64,
}
