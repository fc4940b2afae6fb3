//! What was read of a trace.

use serde::{Deserialize, Serialize};

use super::words::{self, Word};

/// What was read of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Paths, as they were given.
    pub files: Vec<String>,
    /// What each was taken for.
    #[serde(deserialize_with = "words::several")]
    pub formats: Vec<Word>,
    /// Requests in all passes.
    pub rows: u64,
    /// Requests earlier than the one before them, moved up to it.
    pub clamped: u64,
    /// Requests whose address was changed to fit the drive.
    pub refitted: u64,
    /// Lines and records that could not be read and were passed over.
    pub bad_lines: u64,
    /// What was wrong with the first; null where all could be read.
    pub first_bad_line: Option<String>,
    /// Whether it names more than one.
    pub several_devices: bool,
    /// Side by side on the drive, in this order.
    pub devices: Vec<TraceDevice>,
    /// From the first request to the last.
    pub span_s: f64,
}

/// A device of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceDevice {
    /// Number or name, as the trace has it.
    pub name: String,
    /// The file that names it first.
    pub file: String,
    /// Where it begins, before any fit.
    pub base_bytes: u64,
    /// The end of its highest request.
    pub extent_bytes: u64,
    /// Its requests in a pass.
    pub rows: u64,
}
