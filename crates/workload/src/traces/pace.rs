//! The times of a trace that keeps none: evenly, at the rate that the user named.

use super::options::MissingClock;

/// A clock that ticks once a request.
#[derive(Debug)]
pub(super) struct Pace {
    gap_ns: f64,
    requests: u64,
}

impl Pace {
    pub(super) fn new(clock: MissingClock) -> Self {
        let gap_ns = match clock {
            MissingClock::Rate(iops) => 1e9 / iops,
            MissingClock::Refuse | MissingClock::Ignore => 0.0,
        };
        Self { gap_ns, requests: 0 }
    }

    /// When the next request comes, in ns from the first.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        // Multiplied and not added up, so that no error does either.
        let at = self.requests as f64 * self.gap_ns;
        self.requests += 1;
        at as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_evenly() {
        let mut pace = Pace::new(MissingClock::Rate(3000.0));
        assert_eq!([(); 4].map(|()| pace.next()), [0, 333_333, 666_666, 1_000_000]);
        let mut pace = Pace::new(MissingClock::Ignore);
        assert_eq!([(); 3].map(|()| pace.next()), [0; 3]);
    }
}
