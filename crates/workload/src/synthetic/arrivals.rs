//! Makes arrival times of requests at a given rate. Arrivals are either evenly spaced or form a
//! Poisson process, which has exponential gaps.

use rand_distr::{Distribution, Exp1};
use vpass_drive::base::request::Request;
use vpass_drive::base::units::Ns;

use super::random::Random;
use super::synthetic_config::Arrivals;

/// Clock that gives each request of an open-loop workload its arrival time.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalClock {
    kind: Arrivals,
    mean_gap_ns: f64,
    /// Next arrival time in whole ns. `rest_ns` keeps the fraction, so that the rate is exact over
    /// a run of any length.
    next_ns: u64,
    rest_ns: f64,
}

impl ArrivalClock {
    pub(crate) fn new(kind: Arrivals, rate: f64) -> Self {
        Self { kind, mean_gap_ns: 1e9 / rate, next_ns: 0, rest_ns: 0.0 }
    }

    /// Sets the arrival time of each request of `batch`. The first request of the workload arrives
    /// at time 0.
    pub(crate) fn stamp(&mut self, random: &mut Random, batch: &mut [Request]) {
        match self.kind {
            Arrivals::Constant => self.stamp_with(batch, || 1.0),
            Arrivals::Poisson => self.stamp_with(batch, || Exp1.sample(random)),
        }
    }

    #[inline]
    fn stamp_with(&mut self, batch: &mut [Request], mut gaps: impl FnMut() -> f64) {
        for request in batch {
            request.at = self.next_ns;
            self.wait(gaps());
        }
    }

    /// Returns the arrival time of the next request.
    pub(crate) fn due(&self) -> Ns {
        self.next_ns
    }

    /// Advances the clock to the next arrival. The gap before the next arrival has a mean of
    /// `share` times the mean gap of the clock.
    pub(crate) fn arrived(&mut self, random: &mut Random, share: f64) {
        self.wait(match self.kind {
            Arrivals::Constant => share,
            Arrivals::Poisson => share * Distribution::<f64>::sample(&Exp1, random),
        });
    }

    #[inline]
    fn wait(&mut self, gaps: f64) {
        let gap = gaps * self.mean_gap_ns + self.rest_ns;
        let whole = gap as u64;
        self.rest_ns = gap - whole as f64;
        self.next_ns = self.next_ns.saturating_add(whole);
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use vpass_drive::base::request::Op;

    use super::*;

    fn arrivals(kind: Arrivals, rate: f64, count: usize) -> Vec<u64> {
        let mut batch = vec![Request::new(0, 0, 512, Op::Read); count];
        ArrivalClock::new(kind, rate).stamp(&mut Random::seed_from_u64(1), &mut batch);
        batch.iter().map(|r| r.at).collect()
    }

    #[test]
    fn constant_arrivals_keep_their_rate() {
        // At 8,192 requests per second, the gap is 122,070.3125 ns. The fractions of 16 gaps add up
        // to 5 ns.
        let at = arrivals(Arrivals::Constant, 8192.0, 8193);
        assert_eq!(at[..5], [0, 122_070, 244_140, 366_210, 488_281]);
        assert_eq!(at[8192], 1_000_000_000);
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_spread() {
        let at = arrivals(Arrivals::Poisson, 10_000.0, 200_001);
        let gaps: Vec<f64> = at.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e5).collect();
        let mean = gaps.iter().sum::<f64>() / 2e5;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / 2e5;
        // The standard errors of the mean and of the variance are 0.0022 and 0.0063.
        assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
