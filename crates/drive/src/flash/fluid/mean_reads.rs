//! Expected number of pages that the host has read by now, if its reads are not counted one by one.
//! Techniques that compare rates use it as their clock.

use crate::base::units::Ns;

/// Integral of the rate at which the host reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanReads {
    /// Number of pages read per nanosecond, with or without data.
    per_ns: f64,
    /// Time up to which `expected` is counted.
    at: Ns,
    expected: f64,
    /// Number of pages that were read before.
    before: u64,
}

impl MeanReads {
    /// Makes the host read at this rate from `now` on. It has read `before` pages.
    pub(super) fn new(now: Ns, per_ns: f64, before: u64) -> Self {
        Self { per_ns, at: now, expected: 0.0, before }
    }

    /// Adds `by`, which may be negative, to the host's rate from now on.
    pub(super) fn change(&mut self, now: Ns, by: f64) {
        self.expected += self.per_ns * (now - self.at) as f64;
        self.at = now;
        self.per_ns = (self.per_ns + by).max(0.0);
    }

    /// Sets the host's rate from now on.
    pub(super) fn set(&mut self, now: Ns, per_ns: f64) {
        self.change(now, 0.0);
        self.per_ns = per_ns;
    }

    /// Returns the number of pages read by now.
    pub(super) fn by(&self, now: Ns) -> u64 {
        self.before + (self.expected + self.per_ns * (now - self.at) as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::MeanReads;

    #[test]
    fn pages_add_up_over_changes() {
        let mut reads = MeanReads::new(100, 0.5, 7);
        assert_eq!((reads.by(100), reads.by(200)), (7, 57));
        reads.change(200, 0.25);
        reads.set(300, 2.0);
        assert_eq!((reads.by(300), reads.by(310)), (7 + 50 + 75, 7 + 50 + 75 + 20));
        reads.change(310, -3.0);
        assert_eq!(reads.by(1_000_000), 152, "a number of reads is never negative");
    }
}
