//! Options for the replay of a trace: how files are read, which devices are replayed, and how
//! addresses and times are mapped.

use vpass_drive::base::request::Arrival;

use crate::traces::replay::capacity_fit::Fit;
use crate::traces::rows::options::ReadOptions;

/// Options for the replay of a trace.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// Options for reading each file of the trace.
    pub read: ReadOptions,
    /// Numbers or names of the devices to replay; all devices if empty.
    pub only: Vec<String>,
    /// Whether the files follow each other as parts of one trace. In this case, devices with the
    /// same name in several files are one device.
    pub concat: bool,
    /// Whether recordings in a file follow each other if the clock of the file starts again.
    pub join_recordings: bool,
    /// Method for requests that lie beyond the drive's capacity.
    pub fit: Fit,
    /// Page size of the drive in bytes, for [`Fit::Pack`]; a power of two up to 1 MiB.
    pub page_bytes: u64,
    /// Whether a request that is earlier than the previous request causes an error. If this is
    /// false, such a request gets the time of the previous request.
    pub strict: bool,
    /// Replay speed as a multiple of the recorded speed, above 0.
    pub speed: f64,
    /// Rule by which requests arrive. In an open loop, requests arrive at the times in the trace.
    pub arrival: Arrival,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            only: vec![],
            concat: false,
            join_recordings: false,
            fit: Fit::Error,
            page_bytes: 4096,
            strict: false,
            speed: 1.0,
            arrival: Arrival::Open,
        }
    }
}
