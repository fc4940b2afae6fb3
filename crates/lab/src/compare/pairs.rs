//! Difference between two rows in a column. The rows serve the same requests, so vpass compares
//! pairs: the same batch of both runs, or, with three or more seeds, the same seed.
//!
//! The requests are the same in both runs of a pair, and their chance cancels out. For percentiles,
//! the pair's difference is that of the shares of reads that are slower than the percentile of both
//! runs together.
//!
//! ```text
//! p99.9 is 2.51 ms under `a` and 799 us under `b`, and 900 us over the reads of both
//! in batch 1, 0.0018 of the reads of `a` and 0.0004 of the reads of `b` take longer than 900 us
//! the difference of batch 1 is 0.0014
//! ```

use std::collections::BTreeMap;

use vpass_drive::base::units::Ns;

use super::column::{Column, Each, Noise};
use super::row::ComparisonRow;
use crate::batch::of_differences;
use crate::mean_ci95::half99;
use crate::results::{Batch, Summary};

/// Smallest relative difference that counts as a difference. Histograms of latencies are exact to
/// 0.1 %.
const LEAST: f64 = 0.01;

/// Number of seeds from which on only seeds are compared. Unlike batches, seeds also show chance
/// that lasts for a whole run, such as the places of hot pages.
pub const SEEDS: usize = 3;

/// Result of comparing two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// The noise of the difference is not known.
    Unknown,
    /// The difference may be chance, or is below 1 %.
    Close,
    /// The values differ: the 99 % interval of the difference excludes 0.
    Apart,
}

impl Pair {
    /// Compares the values `a` and `b` of two rows in a column.
    pub(super) fn of(rows: [&ComparisonRow; 2], [a, b]: [f64; 2], column: &Column) -> Self {
        if a == b {
            return Self::Close;
        }
        if matches!(column.noise, Noise::None) {
            return Self::Apart;
        }
        let sign = (a - b).signum();
        match difference(rows, column) {
            None => Self::Unknown,
            Some((difference, half)) => {
                let is_large = (a - b).abs() >= LEAST * a.abs().max(b.abs());
                if is_large && sign * difference > half { Self::Apart } else { Self::Close }
            }
        }
    }
}

/// Returns the difference of two rows, and half the width of its 99 % interval. Returns `None` if
/// the noise is not known.
fn difference([a, b]: [&ComparisonRow; 2], column: &Column) -> Option<(f64, f64)> {
    let pairs = || a.runs.iter().zip(&b.runs);
    let values: Option<Vec<f64>> =
        pairs().map(|(a, b)| Some((column.value)(a)? - (column.value)(b)?)).collect();
    let values = values?;
    let differ = values.iter().any(|value| *value != values[0]);
    if values.len() >= SEEDS && differ {
        return Some((values.iter().sum::<f64>() / values.len() as f64, half99(&values)));
    }
    // Seeds that all give the same difference show no chance, so one of them is enough.
    let pairs = pairs().take(if differ { SEEDS } else { 1 });
    let batches: Option<Vec<Vec<f64>>> = pairs.map(|(a, b)| by_batches([a, b], column)).collect();
    let all = batches?.concat();
    Some((all.iter().sum(), of_differences(&all)))
}

/// Returns the differences of two runs, batch by batch.
fn by_batches(runs: [&Summary; 2], column: &Column) -> Option<Vec<f64>> {
    let Noise::Batches(half, each) = &column.noise else { return None };
    let is_known = |run: &Summary| half(run).is_some() && !run.batches.is_empty();
    if !runs.iter().all(|run| is_known(run)) {
        return None;
    }
    let parts = match each {
        Each::Sum(of) => runs.map(|run| run.batches.iter().map(of).collect()),
        Each::Ratio(over, under) => {
            let parts = |run| Some(parts_of_ratio(run, (column.value)(run)?, over, under));
            [parts(runs[0])?, parts(runs[1])?]
        }
        Each::Percentile(q) => {
            let limit = percentile_of_both(runs, *q);
            let slower = |batch: &Batch| batch.slower_than(limit) as f64;
            let reads = |batch: &Batch| batch.reads.values().sum::<u64>() as f64;
            let sum = |run: &Summary, of: &dyn Fn(&Batch) -> f64| run.batches.iter().map(of).sum();
            runs.map(|run| {
                let (over, under): (f64, f64) = (sum(run, &slower), sum(run, &reads));
                parts_of_ratio(run, over / under, slower, reads)
            })
        }
    };
    let [a, b]: [Vec<f64>; 2] = parts;
    Some(a.iter().zip(&b).map(|(a, b)| a - b).collect())
}

/// Splits a ratio into one part for each batch. A batch in which both counts have the same share of
/// their sums has the mean part.
fn parts_of_ratio(
    run: &Summary,
    ratio: f64,
    over: impl Fn(&Batch) -> f64,
    under: impl Fn(&Batch) -> f64,
) -> Vec<f64> {
    let mean = ratio / run.batches.len() as f64;
    let pairs = shares(run, over).into_iter().zip(shares(run, under));
    pairs.map(|(over, under)| mean + ratio * (over - under)).collect()
}

/// Returns the share of each batch in the sum of a count.
fn shares(run: &Summary, of: impl Fn(&Batch) -> f64) -> Vec<f64> {
    let counts: Vec<f64> = run.batches.iter().map(of).collect();
    let sum = counts.iter().sum::<f64>();
    counts.iter().map(|count| if sum > 0.0 { count / sum } else { 0.0 }).collect()
}

/// Returns a percentile of the read latencies of two runs together.
fn percentile_of_both(runs: [&Summary; 2], q: f64) -> Ns {
    let mut all: BTreeMap<Ns, u64> = BTreeMap::new();
    for (ns, reads) in runs.iter().flat_map(|run| &run.batches).flat_map(|batch| &batch.reads) {
        *all.entry(*ns).or_default() += reads;
    }
    let wanted = q * all.values().sum::<u64>() as f64;
    let mut below = 0;
    all.into_iter()
        .find(|(_, reads)| {
            below += reads;
            below as f64 >= wanted
        })
        .map_or(0, |(ns, _)| ns)
}
