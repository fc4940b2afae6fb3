//! Statistics of a sample of a disk's pages. The sample contains some of the pages, and all
//! requests to these pages at their original times.
//!
//! Each page of the sample keeps its number of requests. For this reason, all percentiles of
//! popularity except the last stay the same. The most popular page of the disk is rarely in the
//! sample. For example, at scale 0.01, the most popular page of the sample stands for the 100 most
//! popular pages of the disk. This page gets the popularity of the page in the middle of the 100
//! pages. This popularity lies on the curve between the last two percentiles.

use vpass_drive::config::ConfigError;

use super::curve::{Curve, Head, Known};
use super::disk::SideStatistics;
use super::percentiles::rank;
use super::plan::{contradiction, top_pages};

/// Multiplies counts by a scale and rounds the results. For every n, the sum of the first n results
/// is correct, up to rounding.
pub(super) fn sampled_counts(counts: &[u64], scale: f64) -> Vec<u64> {
    let (mut sum, mut given) = (0, 0);
    let sample = counts.iter().map(|n| {
        sum += n;
        let now = (sum as f64 * scale).round() as u64;
        now - std::mem::replace(&mut given, now)
    });
    sample.collect()
}

/// Safety factor that keeps the value of the last percentile away from the lowest and the highest
/// possible value.
const MARGIN: f64 = 1.1;

/// Returns the percentiles of popularity of a sample, whose scale is below 1.
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
    // The page at the last percentile must be at least as popular as the average page of the head.
    // All pages at the last percentile together must not have more accesses than the whole head.
    let percent = points[points.len() - 2].0;
    let head = whole.pages - rank(percent, whole.pages);
    let sum = curve.top_total(head) as f64;
    let mean = sum / head.max(1) as f64;
    let excess = (sum - (low * head) as f64).max(0.0) * scale / top as f64;
    let last = points.len() - 1;
    points[last].1 = (value.max(MARGIN * mean).min(low as f64 + excess / MARGIN).round() as u64)
        .clamp(low, high);
    Ok(points)
}
