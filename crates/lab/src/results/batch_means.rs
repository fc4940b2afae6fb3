//! Confidence intervals for the numbers of a single run, computed by batch means
//! ([`crate::batch`]). Each value is half the width of a 95 % interval.

use serde::{Deserialize, Serialize};
use vpass_drive::base::metrics::{Latency, TimedMetrics};
use vpass_drive::base::units::Cause;
use vpass_drive::time::Replay;

use crate::batch::{BATCHES, ends, of_percentile, of_ratio, of_sum, reads_needed};
use crate::series::{Part, Series};

/// Half width of the 95 % confidence interval for each number of a run. A half width has the same
/// unit as the number. For some numbers, the half width is given as a share of the number. Null if
/// the run is too short.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BatchMeans {
    /// Number of batches of the run.
    pub batches: usize,
    /// Half width of the confidence interval for the number of observed block cycles.
    pub cycles_observed: Option<f64>,
    /// Half width of the confidence interval for the number of pages rewritten because of reads.
    pub reclaim_write_pages: Option<f64>,
    /// Half width of the confidence interval for the number of blocks erased because of reads.
    pub reclaim_erases: Option<f64>,
    /// Half width of the confidence interval for the number of pages rewritten because of age.
    pub refresh_write_pages: Option<f64>,
    /// Half width of the confidence interval for the number of blocks erased by garbage collection.
    pub gc_erases: Option<f64>,
    /// Half width of the confidence interval for the write amplification, as a share of the write
    /// amplification.
    pub write_amplification_share: Option<f64>,
    /// Half width of the confidence interval for the mean latency of host reads.
    pub read_mean_us: Option<f64>,
    /// Half width of the confidence interval for the median latency of host reads.
    pub read_p50_us: Option<f64>,
    /// Half width of the confidence interval for the 99th percentile of the host's read latency.
    pub read_p99_us: Option<f64>,
    /// Half width of the confidence interval for the 99.9th percentile of the host's read latency.
    pub read_p99_9_us: Option<f64>,
    /// Half width of the confidence interval for the mean time that a host page read waits for
    /// reclaim.
    pub reclaim_wait_us: Option<f64>,
    /// Half width of the confidence interval for the mean number of retries per host page read.
    pub retries_mean: Option<f64>,
    /// Half width of the confidence interval for the expected UBER, as a share of the expected
    /// UBER.
    pub uber_share: Option<f64>,
}

impl BatchMeans {
    /// Computes the intervals of a run. `series` has the counts at many moments during the run.
    pub(crate) fn of(series: &Series, engine: Option<&Replay>, pages_per_block: f64) -> Self {
        let counts = series
            .batches::<BATCHES>()
            .map_or_else(Self::default, |batches| Self::of_counts(&batches, pages_per_block));
        let latencies = engine.and_then(|engine| latencies_of::<BATCHES>(engine.metrics()));
        let Some(latencies) = latencies else { return Self { batches: BATCHES, ..counts } };
        let whole = &engine.expect("it has latencies").metrics().read;
        let percentile = |q: f64| {
            let at = |latency: &Latency| latency.quantile_ns(q) as f64 / 1e3;
            // A batch ends at a sampling point. Some batches are therefore slightly shorter than
            // others.
            let needed = reads_needed(q);
            let enough = whole.count() >= BATCHES as u64 * needed
                && latencies.iter().all(|batch| batch.count() >= needed / 2);
            enough.then(|| of_percentile(at(whole), &latencies.iter().map(at).collect::<Vec<_>>()))
        };
        let sums: Vec<f64> = latencies.iter().map(|batch| batch.total_ns() as f64 / 1e3).collect();
        let reads: Vec<f64> = latencies.iter().map(|batch| batch.count() as f64).collect();
        Self {
            batches: BATCHES,
            read_mean_us: of_ratio(&sums, &reads),
            read_p50_us: percentile(0.5),
            read_p99_us: percentile(0.99),
            read_p99_9_us: percentile(0.999),
            ..counts
        }
    }

    fn of_counts(batches: &[Part], pages_per_block: f64) -> Self {
        let each = |of: &dyn Fn(&Part) -> f64| batches.iter().map(of).collect::<Vec<f64>>();
        let (programs, erases) =
            (each(&|batch| batch.programs.iter().sum()), each(&|batch| batch.erases.iter().sum()));
        let share = |over: &[f64], under: &[f64]| {
            let ratio = over.iter().sum::<f64>() / under.iter().sum::<f64>();
            of_ratio(over, under).filter(|_| ratio > 0.0).map(|half| half / ratio)
        };
        let blocks: Vec<f64> = programs.iter().map(|pages| pages / pages_per_block).collect();
        let cycles =
            if erases.iter().sum::<f64>() > blocks.iter().sum() { &erases } else { &blocks };
        let read_pages = each(&|batch| batch.read_pages);
        Self {
            cycles_observed: Some(of_sum(cycles)),
            reclaim_write_pages: Some(of_sum(&each(&|batch| {
                batch.programs[Cause::Reclaim as usize]
            }))),
            reclaim_erases: Some(of_sum(&each(&|batch| batch.erases[Cause::Reclaim as usize]))),
            refresh_write_pages: Some(of_sum(&each(&|batch| {
                batch.programs[Cause::Refresh as usize]
            }))),
            gc_erases: Some(of_sum(&each(&|batch| batch.erases[Cause::Gc as usize]))),
            write_amplification_share: share(&programs, &each(&|batch| batch.write_pages)),
            reclaim_wait_us: of_ratio(&each(&|batch| batch.reclaim_wait_us), &read_pages),
            retries_mean: of_ratio(&each(&Part::retries), &read_pages),
            uber_share: share(&each(&|batch| batch.lost_codewords), &read_pages),
            ..Self::default()
        }
    }
}

/// Returns the latencies of each batch. Returns `None` if there are too few sampling points.
pub(super) fn latencies_of<const N: usize>(metrics: &TimedMetrics) -> Option<Vec<Latency>> {
    // A batch contains the reads that end during the batch. Some of these reads may have been
    // submitted during the previous batch. The last batch ends with the run.
    let marks = metrics.course.as_ref()?.marks();
    let at: Vec<u64> = marks.iter().map(|(requests, _)| *requests).collect();
    let ends = ends::<N>(&at)?;
    let nothing = Latency::default();
    let cumulative: Vec<&Latency> = [&nothing]
        .into_iter()
        .chain(ends[..N - 1].iter().map(|end| &marks[*end].1))
        .chain([&metrics.read])
        .collect();
    Some(cumulative.windows(2).map(|pair| pair[1].since(pair[0])).collect())
}
