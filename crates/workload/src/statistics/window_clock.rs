//! Clock that gives requests their arrival times. The clock also counts how many more pages must be
//! accessed in the current window of time.

use std::sync::Arc;

use vpass_drive::base::units::Ns;

use crate::synthetic::random::scaled;

/// Clock for the requests of one direction.
#[derive(Clone, Debug)]
pub(super) struct WindowClock {
    ends_ns: Arc<[Ns]>,
    /// Number of page accesses from the start of the pass to the end of each window.
    quotas: Vec<u64>,
    window: usize,
    given: u64,
    pass_start: Ns,
    last: Ns,
    now: Window,
}

/// Current window of the clock.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Number of page accesses from the start of the pass to the start of the window. `quota` is
    /// the number of page accesses from the start of the pass to the end of the window.
    before: u64,
    quota: u64,
    start: Ns,
    length: Ns,
    ns_per_page: f64,
}

impl WindowClock {
    /// Makes a clock for windows that end at the times `ends_ns`. All windows together have
    /// `accesses` page accesses, divided among the windows in proportion to `window_pages`.
    pub(super) fn new(ends_ns: Arc<[Ns]>, window_pages: &[u64], accesses: u64) -> Self {
        let all: u64 = window_pages.iter().sum();
        let mut sum = 0;
        let quota = |pages: &u64| {
            sum += pages;
            ((u128::from(sum) * u128::from(accesses) + u128::from(all / 2))
                / u128::from(all.max(1))) as u64
        };
        let quotas: Vec<_> = window_pages.iter().map(quota).collect();
        let now = Window { before: 0, quota: 0, start: 0, length: 0, ns_per_page: 0.0 };
        let mut clock = Self { quotas, ends_ns, window: 0, given: 0, pass_start: 0, last: 0, now };
        clock.begin_pass(0);
        clock
    }

    /// Begins the next pass, whose requests arrive from time `start` on.
    pub(super) fn begin_pass(&mut self, start: Ns) {
        (self.given, self.pass_start) = (0, start);
        self.enter(0);
    }

    /// Returns the number of page accesses that the current window still needs. Returns `None` at
    /// the end of the pass.
    #[inline]
    pub(super) fn pages_left(&mut self) -> Option<u64> {
        while self.given >= self.now.quota {
            if self.window + 1 >= self.quotas.len() {
                return None;
            }
            self.close_window();
        }
        Some(self.now.quota - self.given)
    }

    /// Returns whether the current window is the last window with page accesses.
    #[inline]
    pub(super) fn is_last(&self) -> bool {
        Some(&self.now.quota) == self.quotas.last()
    }

    /// Ends the current window. Page accesses that this window still needs move to the next window
    /// with page accesses.
    #[cold]
    pub(super) fn close_window(&mut self) {
        let next = (self.window + 1..self.quotas.len()).find(|i| self.quotas[*i] > self.now.quota);
        self.enter(next.unwrap_or(self.quotas.len() - 1));
    }

    fn enter(&mut self, window: usize) {
        let (before, start) =
            if window == 0 { (0, 0) } else { (self.quotas[window - 1], self.ends_ns[window - 1]) };
        let (quota, length) = (self.quotas[window], self.ends_ns[window] - start);
        let ns_per_page = length as f64 / quota.saturating_sub(before).max(1) as f64;
        (self.window, self.now) = (window, Window { before, quota, start, length, ns_per_page });
    }

    /// Counts the pages of a request, and returns the arrival time of the request. The window is
    /// divided into equal parts, one for each page access. The request arrives at a random time
    /// within the parts of its page accesses.
    #[inline]
    pub(super) fn pass(&mut self, pages: u64, bits: u64) -> Ns {
        let now = &self.now;
        let chance = scaled(bits, 1 << 32) as f64 / 2f64.powi(32);
        let done = self.given.saturating_sub(now.before) as f64 + chance * pages as f64;
        self.given += pages;
        let at = now.start + ((done * now.ns_per_page) as Ns).min(now.length.saturating_sub(1));
        self.last = self.last.max(self.pass_start + at);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_arrive_within_their_windows() {
        let mut clock = WindowClock::new([1000, 1000, 3000, 4000].into(), &[10, 0, 40, 0], 50);
        let mut seen = [0; 2];
        while clock.pages_left().is_some() {
            let at = clock.pass(5, u64::MAX);
            seen[usize::from(at >= 1000)] += 5;
            assert!(at < 3000);
        }
        assert_eq!(seen, [10, 40]);
    }
}
