//! Options for the replay of a trace: its files, devices, addresses and clock.

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
    /// Whether the files are parts of one trace that follow each other. If so, devices with the
    /// same name are one device.
    pub concat: bool,
    /// Method for requests that lie beyond the drive's capacity.
    pub fit: Fit,
    /// Page size of the drive in bytes, for [`Fit::Pack`]; a power of two up to 1 MiB.
    pub page_bytes: u64,
    /// Whether a request that is earlier than the request before is an error. If not, the request
    /// gets the time of the request before.
    pub strict: bool,
    /// Replay speed as a multiple of the recorded speed, above 0.
    pub speed: f64,
    /// Arrival of requests. In an open loop, requests arrive at the times of the trace.
    pub arrival: Arrival,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            only: vec![],
            concat: false,
            fit: Fit::Error,
            page_bytes: 4096,
            strict: false,
            speed: 1.0,
            arrival: Arrival::Open,
        }
    }
}
