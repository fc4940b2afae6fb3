//! `hot-cold:0.1/0.9`: a tenth of the runs gets nine tenths of the accesses; within each part all runs are alike.
//! Which runs are hot is drawn from the seed, so they lie scattered over the footprint.

use vpass_core::request::Op;

use super::place::{Place, SizeClass};
use super::random::{Random, Rng, below, threshold};
use super::scatter::Scatter;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct HotCold {
    run_bytes: u64,
    /// The rank at which the hot part begins; the cold one follows it, round the end.
    first: u64,
    hot_runs: u64,
    cold_runs: u64,
    /// A random number below it means a hot access.
    hot: u64,
    scatter: Scatter,
}

/// Runs in the hot part, a share `addresses` of all; either part has at least one.
pub(super) fn hot_runs(runs: u64, addresses: f64) -> u64 {
    assert!(runs >= 2);
    ((runs as f64 * addresses).round() as u64).clamp(1, runs - 1)
}

impl HotCold {
    /// `runs` is at least 2; the hot part begins at rank `first`, below it.
    pub(super) fn new(runs: u64, run_bytes: u64, first: u64, (addresses, accesses): (f64, f64), scatter: Scatter) -> Self {
        assert!(first < runs);
        let hot_runs = hot_runs(runs, addresses);
        Self { run_bytes, first, hot_runs, cold_runs: runs - hot_runs, hot: threshold(accesses), scatter }
    }
}

impl Place for HotCold {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "keeps the random state in registers over the loop of `place_all`")]
    fn offset(&mut self, random: &mut Random, class: &SizeClass, _op: Op) -> u64 {
        // Both parts are computed from their bounds rather than branched on: the branch would be mispredicted one time in ten.
        let is_hot = random.next_u64() < self.hot;
        let (first, count) = if is_hot { (self.first, self.hot_runs) } else { (self.first + self.hot_runs, self.cold_runs) };
        let rank = first + below(random, count);
        let runs = self.hot_runs + self.cold_runs;
        let run = self.scatter.image(if rank < runs { rank } else { rank - runs });
        class.within_run(random, run * self.run_bytes)
    }
}
