//! Latencies of requests, and numbers of requests per second.

use serde::{Deserialize, Serialize};
use vpass_drive::base::metrics::Latency;
use vpass_drive::time::Replay;

/// Latencies of host requests. All values are null in the untimed gear.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Latencies {
    /// Latencies of host reads.
    pub read: Quantiles,
    /// Latencies of host writes.
    pub write: Quantiles,
    /// Latencies of host reads that waited for reclaim.
    pub read_during_reclaim: Quantiles,
}

/// Distribution of latencies, in microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Quantiles {
    /// Mean latency.
    pub mean: Option<f64>,
    /// Latency within which half of the requests end.
    pub p50: Option<f64>,
    /// Latency within which 90 % of the requests end.
    pub p90: Option<f64>,
    /// Latency within which 99 % of the requests end.
    pub p99: Option<f64>,
    /// Latency within which 99.9 % of the requests end.
    pub p99_9: Option<f64>,
    /// Latency within which 99.99 % of the requests end.
    pub p99_99: Option<f64>,
    /// Latency of the slowest request.
    pub max: Option<f64>,
}

/// Throughput, as a mean over the simulated time. All values are null in the untimed gear.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Throughput {
    /// Number of host reads per second.
    pub read_iops: Option<f64>,
    /// Number of host writes per second.
    pub write_iops: Option<f64>,
    /// MiB that the host read per second.
    pub read_mib_s: Option<f64>,
    /// MiB that the host wrote per second.
    pub write_mib_s: Option<f64>,
    /// Number of requests that arrived per second. Null in a closed loop, because a request then
    /// arrives only when another request ends.
    pub offered_iops: Option<f64>,
    /// Number of seconds from the arrival of the last request until the drive has served all
    /// requests. Null in a closed loop.
    pub backlog_s: Option<f64>,
}

impl Latencies {
    /// Returns the latencies of the timed gear. All values are null in other gears.
    pub(crate) fn of(engine: Option<&Replay>) -> Self {
        let of = |pick: fn(&Replay) -> &Latency| {
            engine.map_or_else(Quantiles::default, |e| Quantiles::of(pick(e)))
        };
        Self {
            read: of(|e| &e.metrics().read),
            write: of(|e| &e.metrics().write),
            read_during_reclaim: of(|e| &e.metrics().read_during_reclaim),
        }
    }
}

impl Quantiles {
    pub(super) fn of(latency: &Latency) -> Self {
        if latency.count() == 0 {
            return Self::default();
        }
        let at = |q: f64| Some(latency.quantile_ns(q) as f64 / 1e3);
        Self {
            mean: Some(latency.mean_ns() / 1e3),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
            max: Some(latency.max_ns() as f64 / 1e3),
        }
    }
}

impl Throughput {
    /// Computes the mean throughput over `seconds`. In each of the pairs `requests` and `bytes`,
    /// the first number is for host reads, and the second number is for host writes.
    pub(crate) fn of(requests: (u64, u64), bytes: (u64, u64), seconds: Option<f64>) -> Self {
        let Some(s) = seconds.filter(|s| *s > 0.0) else { return Self::default() };
        let mib = |bytes: u64| bytes as f64 / f64::from(1u32 << 20) / s;
        Self {
            read_iops: Some(requests.0 as f64 / s),
            write_iops: Some(requests.1 as f64 / s),
            read_mib_s: Some(mib(bytes.0)),
            write_mib_s: Some(mib(bytes.1)),
            ..Self::default()
        }
    }
}

impl Throughput {
    /// Adds two values to the throughput: the number of requests that arrived per second, and the
    /// backlog at the end. These two values exist only in an open loop.
    pub(crate) fn against(self, requests: u64, last_arrival_s: f64, done_s: f64) -> Self {
        let offered_iops = (last_arrival_s > 0.0).then(|| requests as f64 / last_arrival_s);
        Self { offered_iops, backlog_s: Some((done_s - last_arrival_s).max(0.0)), ..self }
    }
}
