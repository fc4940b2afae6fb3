//! Draws addresses for `hot-cold:0.1/0.9`: a tenth of the runs gets nine tenths of the accesses.
//!
//! All runs of the hot part are equally popular, and so are all runs of the cold part. The seed
//! decides which runs are hot. Hot runs are scattered over the footprint.

use vpass_drive::base::request::Op;

use super::addresses::{Addresses, SizeClass};
use super::random::{Random, Rng, below, threshold};
use super::scatter::Scatter;

/// Largest number of hot runs whose positions are kept in a table. A table of this size fits into a
/// second-level cache.
const MOST_KEPT: u64 = 1 << 16;

/// Generator of hot and cold addresses.
#[derive(Clone, Debug)]
pub(super) struct HotCold {
    run_bytes: u64,
    /// First popularity rank of the hot part. The ranks of the cold part follow the ranks of the
    /// hot part. After the last rank, ranks continue at 0.
    first: u64,
    hot_runs: u64,
    cold_runs: u64,
    /// Threshold for a random number. A number below this threshold sends the access to the hot
    /// part.
    hot: u64,
    scatter: Scatter,
    /// Positions of the hot runs, in the order of their ranks. If there are more than [`MOST_KEPT`]
    /// hot runs, the table is empty.
    hot_places: Vec<u32>,
}

/// Returns the number of hot runs. The share of hot runs among all runs is `addresses`. Both the
/// hot and the cold part have at least one run.
pub(super) fn hot_runs(runs: u64, addresses: f64) -> u64 {
    assert!(runs >= 2);
    ((runs as f64 * addresses).round() as u64).clamp(1, runs - 1)
}

impl HotCold {
    /// Makes the generator of hot and cold addresses. There are at least 2 runs. The hot part
    /// begins at rank `first`, which must be below `runs`.
    pub(super) fn new(
        runs: u64,
        run_bytes: u64,
        first: u64,
        (addresses, accesses): (f64, f64),
        scatter: Scatter,
    ) -> Self {
        assert!(first < runs);
        let hot_runs = hot_runs(runs, addresses);
        let kept = if hot_runs <= MOST_KEPT && u32::try_from(runs).is_ok() { hot_runs } else { 0 };
        let mut parts = Self {
            run_bytes,
            first,
            hot_runs,
            cold_runs: runs - hot_runs,
            hot: threshold(accesses),
            scatter,
            hot_places: vec![],
        };
        parts.hot_places = (first..first + kept).map(|rank| parts.place(rank) as u32).collect();
        parts
    }

    /// Returns the run that has the given rank.
    #[inline]
    fn place(&self, rank: u64) -> u64 {
        let runs = self.hot_runs + self.cold_runs;
        self.scatter.image(if rank < runs { rank } else { rank - runs })
    }
}

impl Addresses for HotCold {
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "keeps the random state in registers over the loop of `fill`"
    )]
    fn offset(&mut self, random: &mut Random, class: &SizeClass, _op: Op) -> u64 {
        let is_hot = random.next_u64() < self.hot;
        let run = match (is_hot, self.hot_places.as_slice()) {
            (true, []) => self.place(self.first + below(random, self.hot_runs)),
            (true, places) => u64::from(places[below(random, places.len() as u64) as usize]),
            (false, _) => self.place(self.first + self.hot_runs + below(random, self.cold_runs)),
        };
        class.within_run(random, run * self.run_bytes)
    }

    fn memory(&self) -> u64 {
        size_of_val(self.hot_places.as_slice()) as u64
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    /// Checks that addresses are equal with and without a table of the hot runs. There are 1,000
    /// runs of one block. The hot tenth begins at rank 950 and continues at rank 0.
    #[test]
    fn a_table_of_the_hot_places_changes_no_address() {
        let scatter = Scatter::new(1000, &mut Random::seed_from_u64(1));
        let class = SizeClass { bytes: 4096, blocks: 1000, per_run: 1 };
        let mut kept = HotCold::new(1000, 4096, 950, (0.1, 0.9), scatter);
        assert_eq!(kept.hot_places.len(), 100);
        let mut walked = HotCold { hot_places: vec![], ..kept.clone() };
        let (mut one, mut other) = (Random::seed_from_u64(2), Random::seed_from_u64(2));
        let mut offsets = || {
            (kept.offset(&mut one, &class, Op::Read), walked.offset(&mut other, &class, Op::Read))
        };
        assert!((0..10_000).map(|_| offsets()).all(|(a, b)| a == b));
    }
}
