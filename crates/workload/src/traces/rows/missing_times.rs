//! Makes times for a trace without times. The times are evenly spaced at the rate that the user
//! gave.

use crate::traces::options::MissingClock;
use crate::traces::rows::format::BadRow;

/// Clock that advances by a constant time for each request.
#[derive(Debug)]
pub(in crate::traces) struct MissingTimes {
    gap_ns: f64,
    /// Time at which the last wait ended, in ns.
    waited_ns: u64,
    /// Number of requests since the end of the last wait.
    requests: u64,
}

impl MissingTimes {
    pub(in crate::traces) fn new(clock: MissingClock) -> Self {
        let gap_ns = match clock {
            MissingClock::Rate(iops) => 1e9 / iops,
            MissingClock::Refuse | MissingClock::Ignore => 0.0,
        };
        Self { gap_ns, waited_ns: 0, requests: 0 }
    }

    /// Returns the time of the next request in ns, counted from the first request.
    #[inline]
    pub(in crate::traces) fn next(&mut self) -> u64 {
        // The time is calculated as a multiple of the gap. A sum of gaps would add up rounding
        // errors.
        let at = self.now();
        self.requests += 1;
        at
    }

    /// Delays the next request until at least `ns` after the end of the previous wait.
    pub(in crate::traces) fn wait(&mut self, ns: u64) -> Result<(), BadRow> {
        let end = self
            .waited_ns
            .checked_add(ns)
            .ok_or(BadRow::Sentence("the waits add up to more than 2^64 ns"))?;
        self.waited_ns = end.max(self.now());
        self.requests = 0;
        Ok(())
    }

    #[inline]
    fn now(&self) -> u64 {
        self.waited_ns.saturating_add((self.requests as f64 * self.gap_ns) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_evenly() {
        let mut times = MissingTimes::new(MissingClock::Rate(3000.0));
        assert_eq!([(); 4].map(|()| times.next()), [0, 333_333, 666_666, 1_000_000]);
        let mut times = MissingTimes::new(MissingClock::Ignore);
        assert_eq!([(); 3].map(|()| times.next()), [0; 3]);
    }

    #[test]
    fn a_wait_counts_from_the_wait_before() {
        let mut times = MissingTimes::new(MissingClock::Rate(1e6));
        times.next();
        times.wait(10_000).unwrap();
        assert_eq!([(); 2].map(|()| times.next()), [10_000, 11_000]);
        // The next request is due 2 us after the end of the last wait, so a wait of 1 us has no
        // effect.
        times.wait(1000).unwrap();
        assert_eq!(times.next(), 12_000);
        assert!(times.wait(u64::MAX).is_err());
    }
}
