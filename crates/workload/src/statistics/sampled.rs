//! What a sample of a disk's pages would show: as many of each thousand pages, with all their
//! requests, at the same times.
//!
//! A page keeps its requests, so the percentiles of popularity stay, except the last: the most
//! popular of a hundredth of the pages is rarely the most popular of all. It is taken to be the
//! page in the middle of the first hundred, of the curve between the last two percentiles.

use vpass_core::config::ConfigError;

use super::curve::{Curve, Head, Known};
use super::disk::SideStatistics;
use super::percentiles::rank;
use super::plan::{contradiction, top_pages};

/// Counts at this scale: rounded so that every sum from the first on is right.
pub(super) fn sampled_counts(counts: &[u64], scale: f64) -> Vec<u64> {
    let (mut sum, mut given) = (0, 0);
    let sample = counts.iter().map(|n| {
        sum += n;
        let now = (sum as f64 * scale).round() as u64;
        now - std::mem::replace(&mut given, now)
    });
    sample.collect()
}

/// How many times the least that is needed is left to the pages that share the head.
const ROOM: f64 = 1.1;

/// The percentiles of popularity at this scale, below 1.
pub(super) fn sampled_accesses(
    name: &str,
    whole: &SideStatistics,
    scale: f64,
    page_bytes: u64,
) -> Result<Vec<(f64, u64)>, ConfigError> {
    let mut points = whole.accesses.clone();
    let [.., (_, low), (_, high)] = points[..] else { return Ok(points) };
    let top = top_pages(name, whole, page_bytes)?;
    let known = Known {
        points: &whole.accesses,
        items: whole.pages,
        total: whole.page_accesses(),
        head: Head::Ranked { top },
        grain: 1,
        unit: 1,
    };
    let curve = Curve::new(&known).map_err(|range| contradiction(name, whole, range))?;
    let value = curve.value_from_top(&known, 0.5 / scale + 0.5);
    // Under the highest page there must be room for what the rest of the head has, and the highest
    // must not have more than all of it.
    let percent = points[points.len() - 2].0;
    let head = whole.pages - rank(percent, whole.pages);
    let sum = curve.top_total(head) as f64;
    let mean = sum / head.max(1) as f64;
    let excess = (sum - (low * head) as f64).max(0.0) * scale / top as f64;
    let last = points.len() - 1;
    points[last].1 =
        (value.max(ROOM * mean).min(low as f64 + excess / ROOM).round() as u64).clamp(low, high);
    Ok(points)
}
