//! Options of a trace's replay: its files, devices, addresses and clock.

use vpass_core::base::request::Arrival;

use crate::traces::replay::capacity_fit::Fit;
use crate::traces::rows::options::ReadOptions;

/// Options of a trace's replay.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// Options for reading each file.
    pub read: ReadOptions,
    /// Numbers or names of the devices to take; all if empty.
    pub only: Vec<String>,
    /// Whether the files are parts of one trace that follow each other. If so, devices of the same
    /// name are one device.
    pub concat: bool,
    /// Placement of requests beyond the drive's capacity.
    pub fit: Fit,
    /// Page size of the drive for [`Fit::Pack`], a power of two up to 1 MiB.
    pub page_bytes: u64,
    /// Whether to refuse a request that is earlier than the request before. Otherwise, such a
    /// request is moved up to the time of the request before.
    pub strict: bool,
    /// Replay speed as a multiple of the recorded speed, above 0.
    pub speed: f64,
    /// Arrival of requests. An open loop uses the trace's own clock.
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
