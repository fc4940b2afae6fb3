//! Numbers that are compared within a tolerance: percentiles of latencies, and the interval of
//! counted losses. The drive keeps latencies with three digits.

use serde_json::Value;

use crate::counter::Counted;
use crate::tables::number_at;

/// Keys of the percentiles, with the share of requests that are at most as slow.
const PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999), ("max", 1.0)];

/// Returns the paths of all percentiles, each with its latency in microseconds.
fn percentiles(counted: &Counted) -> Vec<(String, Option<f64>)> {
    let counts = &counted.counts;
    let mut all = vec![];
    for (what, of) in [("read", &counts.read_ns), ("write", &counts.write_ns)] {
        let mut sorted = of.clone();
        sorted.sort_unstable();
        for (key, share) in PERCENTILES {
            let rank = (share * sorted.len() as f64).ceil() as usize;
            let slow = rank.checked_sub(1).map(|at| sorted[at] as f64 / 1e3);
            all.push((format!("latency_us.{what}.{key}"), slow));
        }
    }
    all
}

/// Returns the mean at which a Poisson count is at most `n` with this probability, by bisection.
fn poisson_mean(n: u64, probability: f64) -> f64 {
    let at_most = |mean: f64| {
        let mut log = -mean;
        let mut sum = log.exp();
        for k in 1..=n {
            log += (mean / k as f64).ln();
            sum += log.exp();
        }
        sum
    };
    let (mut low, mut high) = (0.0, 2.0 * n as f64 + 20.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        *(if at_most(middle) > probability { &mut low } else { &mut high }) = middle;
    }
    low
}

/// Returns the ends of the 95 % interval of the counted losses per bit (Garwood, 1936).
fn uber_interval(counted: &Counted) -> [(String, Option<f64>); 2] {
    let (lost, bits) = (counted.counts.lost, counted.host_bits());
    let low = lost.checked_sub(1).map_or(0.0, |fewer| poisson_mean(fewer, 0.975));
    let high = poisson_mean(lost, 0.025);
    [("low", low), ("high", high)]
        .map(|(end, mean)| (format!("uber.counted_{end}"), (bits > 0.0).then(|| mean / bits)))
}

fn all(counted: &Counted, has_uber: bool) -> Vec<(String, Option<f64>)> {
    let interval = uber_interval(counted).into_iter().filter(|_| has_uber);
    percentiles(counted).into_iter().chain(interval).collect()
}

pub(crate) fn paths(counted: &Counted, summary: &Value) -> impl Iterator<Item = String> {
    all(counted, summary["uber"].is_object()).into_iter().map(|(path, _)| path)
}

/// Returns the numbers of a summary that differ by more than one in 1,000.
pub(crate) fn differences(counted: &Counted, summary: &Value) -> Vec<String> {
    let mut wrong = vec![];
    for (path, right) in all(counted, summary["uber"].is_object()) {
        let said = number_at(summary, &path);
        let is_near = match (said, right) {
            (Some(said), Some(right)) => (said - right).abs() <= 1e-3 * right,
            (said, right) => said == right,
        };
        if !is_near {
            wrong.push(format!("{path}: {said:?} is reported, {right:?} is right"));
        }
    }
    wrong
}
