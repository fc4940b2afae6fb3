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

use super::row::ComparisonRow;
use crate::batch::of_differences;
use crate::mean_ci95::half99;
use crate::results::Summary;
use crate::results::quantity::{Each, Noise, Quantity};

/// Smallest relative difference that counts as a difference. Histograms of latencies are exact to
/// 0.1 %.
const LEAST: f64 = 0.01;

/// With at least this number of seeds, vpass compares seeds and ignores batches. Unlike batches,
/// seeds also show chance that lasts for a whole run, such as the places of hot pages.
pub const SEEDS: usize = 3;

/// Result of comparing two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// The noise of the difference is not known.
    Unknown,
    /// The difference may be chance, or is below 1 %.
    Close,
    /// The values differ: the 99 % interval of the difference excludes 0.
    Apart,
}

impl Pair {
    /// Compares the values `a` and `b` of two rows in a column.
    pub(super) fn of(rows: [&ComparisonRow; 2], [a, b]: [f64; 2], quantity: &Quantity) -> Self {
        if a.to_bits() == b.to_bits() {
            return Self::Close;
        }
        if matches!(quantity.noise, Noise::None) {
            return Self::Apart;
        }
        let sign = (a - b).signum();
        match difference(rows, quantity) {
            None => Self::by_intervals(rows, (a - b).abs(), quantity),
            Some((difference, half)) => {
                let is_large = (a - b).abs() >= LEAST * a.abs().max(b.abs());
                if is_large && sign * difference > half { Self::Apart } else { Self::Close }
            }
        }
    }

    /// Compares rows that come from files by the intervals of their values. Rows of finished runs
    /// without known noise stay unknown.
    fn by_intervals(rows: [&ComparisonRow; 2], difference: f64, quantity: &Quantity) -> Self {
        let halves: Option<Vec<f64>> = rows.iter().map(|row| row.cell(quantity)?.half95).collect();
        match halves.filter(|_| are_from_files(rows)) {
            None => Self::Unknown,
            Some(halves) if difference > halves.iter().sum() => Self::Apart,
            Some(_) => Self::Close,
        }
    }
}

/// Returns whether all runs of these rows come from files, which have no batches.
fn are_from_files(rows: [&ComparisonRow; 2]) -> bool {
    rows.iter().flat_map(|row| &row.runs).all(|run| run.batches.is_none())
}

/// Returns the difference of two rows, and half the width of its 99 % interval. Returns `None` if
/// the noise is not known.
fn difference([a, b]: [&ComparisonRow; 2], quantity: &Quantity) -> Option<(f64, f64)> {
    let pairs = || a.runs.iter().zip(&b.runs);
    let values: Option<Vec<f64>> =
        pairs().map(|(a, b)| Some((quantity.value)(a)? - (quantity.value)(b)?)).collect();
    let values = values?;
    let differ = values.iter().any(|value| value.to_bits() != values[0].to_bits());
    if values.len() >= SEEDS && differ {
        return Some((values.iter().sum::<f64>() / values.len() as f64, half99(&values)));
    }
    // Seeds that all give the same difference show no chance, so one of them is enough.
    let pairs = pairs().take(if differ { SEEDS } else { 1 });
    let batches: Option<Vec<Vec<f64>>> = pairs.map(|(a, b)| by_batches([a, b], quantity)).collect();
    let all = batches?.concat();
    Some((all.iter().sum(), of_differences(&all)))
}

/// Returns the differences of two runs, batch by batch. Returns `None` if the noise of a run is not
/// known, or if the runs served different numbers of bytes, which can happen with `--until stable`.
fn by_batches(runs: [&Summary; 2], quantity: &Quantity) -> Option<Vec<f64>> {
    let Noise::Batches(half, each) = &quantity.noise else { return None };
    let (Some(a), Some(b)) = (&runs[0].batches, &runs[1].batches) else { return None };
    let is_known = |run: &&Summary| half(run).is_some();
    let served = runs.map(|run| (run.host.read_bytes, run.host.write_bytes));
    if !runs.iter().all(is_known) || a.is_empty() || b.is_empty() || served[0] != served[1] {
        return None;
    }
    let pairs = a.iter().zip(b);
    Some(match each {
        Each::Sum(of) => pairs.map(|(a, b)| of(a) - of(b)).collect(),
        Each::Percentile(q) => {
            let limit = percentile_of_both(runs, *q);
            pairs.map(|(a, b)| a.share_slower_than(limit) - b.share_slower_than(limit)).collect()
        }
    })
}

/// Returns a percentile of the read latencies of two runs together.
fn percentile_of_both(runs: [&Summary; 2], q: f64) -> Ns {
    let mut all: BTreeMap<Ns, u64> = BTreeMap::new();
    for (ns, reads) in
        runs.iter().flat_map(|run| run.batches.iter().flatten()).flat_map(|batch| &batch.reads)
    {
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

#[cfg(test)]
mod tests {
    use super::super::verdict::tests::{row, tail};
    use super::*;
    use crate::results::{Batch, PAIRED};

    /// Returns a row with this percentile. In each batch, 1,000 reads take 100 us, `slow` reads
    /// take 900 us, and `slower[n % 2]` reads take 2 ms in batch n.
    fn with_slow_reads(p99_9: f64, slow: u64, slower: [u64; 2]) -> ComparisonRow {
        let batch = |n: usize| Batch {
            reads: [(100_000, 1000), (900_000, slow), (2_000_000, slower[n % 2])].into(),
            ..Batch::default()
        };
        let batches = Some((0..PAIRED).map(batch).collect());
        row("a", vec![Summary { batches, ..tail(p99_9, Some(1.0)) }])
    }

    #[test]
    fn percentiles_are_compared_by_the_shares_of_slower_reads() {
        let column = Quantity::of("read_p99_9_us");
        let pair = |a: &ComparisonRow, b: &ComparisonRow| {
            Pair::of([a, b], [a, b].map(|row| (column.value)(&row.runs[0]).unwrap()), column)
        };
        // The 99.9th percentile of both runs together is 900 us: 1 of 1,000 reads takes longer in
        // the first run, and none in the second run.
        let one = |slower| with_slow_reads(100.0, 0, slower);
        let two = |slower| with_slow_reads(900.0, 3, slower);
        assert_eq!(pair(&two([1, 1]), &one([0, 0])), Pair::Apart);
        // The batches scatter more than they differ.
        assert_eq!(pair(&two([2, 0]), &one([0, 1])), Pair::Close);
        // A difference below 1 % is none, however sure it is.
        let near = ComparisonRow { runs: two([1, 1]).runs, ..one([0, 0]) };
        assert_eq!(Pair::of([&near, &one([0, 0])], [100.5, 100.0], column), Pair::Close);
        // Runs with different requests are no pairs.
        let mut other = two([1, 1]);
        other.runs[0].host.read_bytes += 1;
        assert_eq!(pair(&other, &one([0, 0])), Pair::Unknown);
    }
}
