//! Time and memory that a run needed.

use serde::{Deserialize, Serialize};

/// Time and memory of a run. In a results folder, only `timing.json` contains the measured values.
/// In `summary.json`, these values are null.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Simulation {
    /// Simulated seconds; null without a clock.
    pub simulated_s: Option<f64>,
    /// Wall-clock seconds of the measured phase. If several drives serve the same requests, only
    /// the time of this drive counts.
    pub wall_s: Option<f64>,
    /// Number of requests served per wall-clock second.
    pub requests_per_s: Option<f64>,
    /// Largest amount of memory that the process used, in bytes. Null if the system does not report
    /// memory.
    pub peak_rss_bytes: Option<u64>,
}

impl Simulation {
    pub(crate) fn new(simulated_s: Option<f64>, wall_s: f64, requests: u64) -> Self {
        let requests_per_s = if wall_s > 0.0 { requests as f64 / wall_s } else { 0.0 };
        Self {
            simulated_s,
            wall_s: Some(wall_s),
            requests_per_s: Some(requests_per_s),
            peak_rss_bytes: peak_rss(),
        }
    }
}

/// Returns the largest amount of memory that this process used, in bytes. Returns `None` if the
/// system does not report memory.
fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?;
    Some(kib * 1024)
}
