//! How a trace is replayed: its files, devices and addresses, and the clock that it goes by.

use vpass_core::base::request::Arrival;

use crate::traces::replay::capacity_fit::Fit;
use crate::traces::rows::options::ReadOptions;

/// How a trace is replayed.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// How each file is read.
    pub read: ReadOptions,
    /// Takes only the devices of these numbers or names; all where there are none.
    pub only: Vec<String>,
    /// Takes the files as parts of one trace, one after the other, and devices of the same name in
    /// them as the same.
    pub concat: bool,
    /// What becomes of requests beyond the drive's capacity.
    pub fit: Fit,
    /// The drive's page, by which [`Fit::Pack`] packs: a power of two up to 1 MiB.
    pub page_bytes: u64,
    /// Refuses a request that is earlier than the one before it, instead of moving it up.
    pub strict: bool,
    /// How many times faster than recorded, above 0.
    pub speed: f64,
    /// Open takes the trace's own clock.
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
