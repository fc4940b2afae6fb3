//! Reads of a block that are not drawn yet: how many are expected, and when the block must be
//! checked for them.

use crate::base::units::Ns;

/// Expected reads of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// Number of reads of the block's valid pages per nanosecond.
    pub(super) rate: f64,
    /// Time up to which `expected` is counted.
    at: Ns,
    /// Number of reads expected since `drawn_at`: the integral of the rate.
    expected: f64,
    /// Value of `expected` at which the last read before the alarm comes: a gamma variate.
    target: f64,
    /// Time up to which all reads are drawn.
    pub(super) drawn_at: Ns,
    /// Number of reads until the alarm, including the read that reaches it.
    pub(super) left: u32,
    /// Time at which the agenda checks the block; [`NEVER`] if it does not.
    pub(super) look: Ns,
}

/// Time of a check that never comes.
pub(super) const NEVER: Ns = Ns::MAX;
/// Time from the alarm below which a block that is being written is checked only at its alarm.
/// Every page brings the alarm nearer, so before that the block is checked half-way to it.
const NEAR: Ns = 1 << 20;

impl Flow {
    /// Block that is not read.
    pub(super) const STILL: Self = Self {
        rate: 0.0,
        at: 0,
        expected: 0.0,
        target: f64::INFINITY,
        drawn_at: 0,
        left: 1,
        look: NEVER,
    };

    /// Advances to `now` at the current rate.
    #[inline]
    pub(super) fn pass(&mut self, now: Ns) {
        self.expected += self.rate * (now - self.at) as f64;
        self.at = now;
    }

    /// Changes the rate from now on. Reads expected before stay.
    #[inline]
    pub(super) fn change(&mut self, now: Ns, by: f64) {
        self.pass(now);
        self.rate = (self.rate + by).max(0.0);
    }

    /// Returns the number of expected reads that are not drawn, at the time of the last
    /// [`Self::pass`].
    #[inline]
    pub(super) fn expected(&self) -> f64 {
        self.expected
    }

    /// Returns the number of expected reads so far, divided by the number up to the alarm. The
    /// result is at least 1 at the alarm.
    #[inline]
    pub(super) fn progress(&self) -> f64 {
        self.expected / self.target
    }

    /// Returns whether the alarm is due: less than a nanosecond is left.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.target - self.expected <= self.rate
    }

    /// Begins a new count: all reads up to now are drawn. `left` more reads reach the alarm, at
    /// `target` expected reads.
    pub(super) fn begin(&mut self, now: Ns, left: u32, target: f64) {
        (self.at, self.drawn_at, self.expected) = (now, now, 0.0);
        (self.left, self.target) = (left, target);
    }

    /// Returns whether the time of the alarm is drawn, with at least one read before the last one.
    #[inline]
    pub(super) fn has_alarm(&self) -> bool {
        self.left > 1 && self.target < f64::INFINITY
    }

    /// Counts a read outside of this process, so that the alarm is one read nearer. Returns false
    /// if all other reads before the alarm have come by the last [`Self::pass`].
    ///
    /// Given the time of the last of `left` reads, the others are spread evenly before it. The
    /// latest of them now reaches the alarm. Its place is the largest of `left - 1` random shares.
    /// `share` is above 0 and at most 1; `left` is at least 2.
    pub(super) fn approach(&mut self, share: f64) -> bool {
        let last = self.target * share.powf(f64::from(self.left - 1).recip());
        if last <= self.expected {
            self.target = self.expected;
            return false;
        }
        (self.left, self.target) = (self.left - 1, last);
        true
    }

    /// Returns whether the alarm comes before the planned check. Called after a page has raised the
    /// rate.
    #[inline]
    pub(super) fn is_early(&self) -> bool {
        let until_look = self.look.saturating_sub(self.at) as f64;
        self.expected + self.rate * until_look > self.target
    }

    /// Returns the time of the next check, counted from the last [`Self::pass`]. It is the time of
    /// the alarm, or an earlier time if pages are still `to_come`.
    pub(super) fn next_look(&self, to_come: bool) -> Ns {
        if self.rate <= 0.0 {
            return NEVER;
        }
        let wait = ((self.target - self.expected) / self.rate).ceil().max(0.0);
        if wait >= 9e18 {
            return NEVER;
        }
        let wait = wait as Ns;
        self.at.saturating_add(if to_come && wait > NEAR { wait / 2 } else { wait.max(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_expected_before_a_change_of_the_rate_counts() {
        let mut flow = Flow::STILL;
        flow.begin(0, 10, 8.0);
        flow.change(0, 0.02);
        assert_eq!(flow.next_look(false), 400);
        flow.change(100, 0.04);
        assert!((flow.expected() - 2.0).abs() < 1e-12);
        assert_eq!(flow.next_look(false), 200, "2 of 8 are behind, 6 more at 0.06");
        flow.change(150, -0.06);
        assert_eq!(flow.next_look(false), NEVER);
    }

    #[test]
    fn what_is_drawn_is_expected_no_more() {
        let mut flow = Flow::STILL;
        flow.begin(0, 10, 8.0);
        flow.change(0, 0.02);
        flow.pass(100);
        flow.begin(100, 5, 4.0);
        assert_eq!(
            (flow.expected(), flow.progress(), flow.drawn_at, flow.left),
            (0.0, 0.0, 100, 5)
        );
        assert_eq!(flow.next_look(false), 300);
        flow.pass(200);
        assert!((flow.progress() - 0.5).abs() < 1e-12 && !flow.is_due());
        flow.pass(300);
        assert!(flow.is_due());
        flow.begin(300, 1, f64::INFINITY);
        assert!(flow.next_look(false) == NEVER && !flow.is_due());
    }

    #[test]
    fn a_block_that_grows_is_looked_at_half_way() {
        let mut flow = Flow::STILL;
        flow.begin(0, 10, 8.0);
        flow.change(0, 1e-6);
        flow.look = flow.next_look(true);
        assert_eq!(flow.look, 4_000_000);
        flow.change(0, 1e-6);
        assert!(!flow.is_early(), "at the look, just");
        flow.change(0, 1e-6);
        assert!(flow.is_early());
    }
    #[test]
    fn an_alarm_one_read_nearer_has_the_law_of_one_read_fewer() {
        use rand_core::{Rng, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let mut share = || (((random.next_u64() >> 11) + 1) as f64) * 2f64.powi(-53);
        let (draws, left, behind) = (40_000, 4, 2.0);
        let (mut sum, mut squares, mut all_behind) = (0.0, 0.0, 0);
        for _ in 0..draws {
            // A gamma variate of shape 4 is the sum of four exponential ones.
            let target = (0..left).map(|_| -share().ln()).sum();
            let mut flow = Flow::STILL;
            flow.begin(0, left, target);
            assert!(flow.approach(share()));
            assert_eq!(flow.left, left - 1);
            (sum, squares) = (sum + flow.target, squares + flow.target * flow.target);
            let mut flow = Flow::STILL;
            flow.begin(0, left, target);
            flow.change(0, 1.0);
            flow.pass(behind as Ns);
            if !flow.is_due() && !flow.approach(share()) {
                assert_eq!((flow.left, flow.progress()), (left, 1.0));
                all_behind += 1;
            }
        }
        // A gamma variate of shape 3 has mean 3 and variance 3.
        let mean = sum / f64::from(draws);
        let variance = squares / f64::from(draws) - mean * mean;
        assert!((mean - 3.0).abs() < 0.03 && (variance - 3.0).abs() < 0.1, "{mean} {variance}");
        // Probability of exactly three reads with two expected, if the fourth is at least one
        // expected read away: 2^3 / 3! e^-2 e^-1.
        let expected = 8.0 / 6.0 * (-3.0f64).exp();
        let share = f64::from(all_behind) / f64::from(draws);
        assert!((share - expected).abs() < 0.004, "{share} for {expected}");
    }
}
