//! What a run itself took.

use serde::{Deserialize, Serialize};

/// All but the first are null in a folder, where `timing.json` has them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Simulation {
    /// Null where nothing has a clock.
    pub simulated_s: Option<f64>,
    /// Of the measured phase; where drives share requests, of this drive's turns.
    pub wall_s: Option<f64>,
    /// Requests served in a second of that time.
    pub requests_per_s: Option<f64>,
    /// The most memory that the process ever had; null where the system does not tell.
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

/// The most memory this process ever had, where the system tells.
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
