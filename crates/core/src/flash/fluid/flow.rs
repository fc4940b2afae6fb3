//! The reads of a block that nobody has drawn yet: how many are expected, and when so many have
//! come that somebody wants to look at it.

use crate::base::units::Ns;

/// Of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// Reads of its valid pages in a nanosecond.
    pub(super) rate: f64,
    /// Up to when `expected` goes.
    at: Ns,
    /// Reads expected since `drawn_at`: the integral of the rate.
    expected: f64,
    /// What `expected` will be when the last of the reads until the alarm comes: a gamma variate.
    target: f64,
    /// All reads before are drawn.
    pub(super) drawn_at: Ns,
    /// Reads until the alarm, the one that rings among them.
    pub(super) left: u32,
    /// When the agenda looks at the block; [`NEVER`] where it does not.
    pub(super) look: Ns,
}

/// The time of a look that will not be.
pub(super) const NEVER: Ns = Ns::MAX;
/// A block that is being written is looked at half-way to its alarm, which every page brings
/// nearer, until that is so near.
const NEAR: Ns = 1 << 20;

impl Flow {
    /// A block that nobody reads.
    pub(super) const STILL: Self = Self {
        rate: 0.0,
        at: 0,
        expected: 0.0,
        target: f64::INFINITY,
        drawn_at: 0,
        left: 1,
        look: NEVER,
    };

    /// Goes on to `now` at the rate so far.
    #[inline]
    pub(super) fn pass(&mut self, now: Ns) {
        self.expected += self.rate * (now - self.at) as f64;
        self.at = now;
    }

    /// The rate changes now. What was expected before stands.
    #[inline]
    pub(super) fn change(&mut self, now: Ns, by: f64) {
        self.pass(now);
        self.rate = (self.rate + by).max(0.0);
    }

    /// Reads expected that are not drawn, as of the last [`Self::pass`].
    #[inline]
    pub(super) fn expected(&self) -> f64 {
        self.expected
    }

    /// The share of the way to the alarm that lies behind; 1 and more at the alarm.
    #[inline]
    pub(super) fn progress(&self) -> f64 {
        self.expected / self.target
    }

    /// Whether the alarm is due. What is left of the way may be less than a nanosecond.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.target - self.expected <= self.rate
    }

    /// All reads up to now are drawn; `left` more ring the alarm, which takes `target` expected
    /// ones.
    pub(super) fn begin(&mut self, now: Ns, left: u32, target: f64) {
        (self.at, self.drawn_at, self.expected) = (now, now, 0.0);
        (self.left, self.target) = (left, target);
    }

    /// Returns whether the time of the alarm is drawn, with at least one read before the last one.
    #[inline]
    pub(super) fn has_alarm(&self) -> bool {
        self.left > 1 && self.target < f64::INFINITY
    }

    /// Counts a read outside of the flow, so that the alarm is one read nearer. Returns false if
    /// all other reads before the alarm have come by the last [`Self::pass`].
    ///
    /// Given the time of the last of `left` reads, the others are spread evenly before it. The
    /// latest of them now reaches the alarm. Its place is the largest of `left - 1` even shares.
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

    /// The alarm is put off by what was expected since the last change, as though none of it had
    /// been read: a bug on purpose.
    pub(super) fn put_off(&mut self, since: f64) {
        self.target += self.expected - since;
    }

    /// Whether the alarm comes before the look that is planned. Asked after a page has made the
    /// rate larger.
    #[inline]
    pub(super) fn is_early(&self) -> bool {
        let until_look = self.look.saturating_sub(self.at) as f64;
        self.expected + self.rate * until_look > self.target
    }

    /// When to look next, as of the last [`Self::pass`]: at the alarm, or before where pages are
    /// still `to_come`.
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
        // Exactly three reads while two are expected, where the fourth is a unit or more away:
        // 2^3 / 3! e^-2 e^-1.
        let expected = 8.0 / 6.0 * (-3.0f64).exp();
        let share = f64::from(all_behind) / f64::from(draws);
        assert!((share - expected).abs() < 0.004, "{share} for {expected}");
    }
}
