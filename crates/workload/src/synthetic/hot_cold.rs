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
    hot_runs: u64,
    cold_runs: u64,
    /// A random number below it means a hot access.
    hot: u64,
    scatter: Scatter,
}

impl HotCold {
    /// `runs` is at least 2; both parts get at least one.
    pub(super) fn new(runs: u64, run_bytes: u64, addresses: f64, accesses: f64, scatter: Scatter) -> Self {
        assert!(runs >= 2);
        let hot_runs = ((runs as f64 * addresses).round() as u64).clamp(1, runs - 1);
        Self { run_bytes, hot_runs, cold_runs: runs - hot_runs, hot: threshold(accesses), scatter }
    }
}

impl Place for HotCold {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "keeps the random state in registers over the loop of `place_all`")]
    fn offset(&mut self, random: &mut Random, class: &SizeClass, _op: Op) -> u64 {
        // Both parts are computed from their bounds rather than branched on: the branch would be mispredicted one time in ten.
        let is_hot = random.next_u64() < self.hot;
        let (first, count) = if is_hot { (0, self.hot_runs) } else { (self.hot_runs, self.cold_runs) };
        let run = self.scatter.image(first + below(random, count));
        class.within_run(random, run * self.run_bytes)
    }
}
