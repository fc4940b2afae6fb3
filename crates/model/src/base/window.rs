//! Vulnerability to a power loss: number of stripes with outdated parity on flash, and time in this
//! state. A power loss would erase the part of their parity that controller memory holds.

use crate::base::units::Ns;

/// Stripes with outdated parity, and host pages in these stripes. Both are summed over the host's
/// writes and over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Number of stripes with outdated parity now.
    pub stripes: u64,
    /// Number of host pages in stripes with outdated parity now.
    pub pages: u64,
    /// Largest number of stripes with outdated parity at one time.
    pub most_stripes: u64,
    /// Largest number of host pages in stripes with outdated parity at one time.
    pub most_pages: u64,
    /// Number of stripes with outdated parity, summed over the page writes of the host.
    pub stripe_writes: u64,
    /// Number of host pages in stripes with outdated parity, summed over the page writes of the
    /// host.
    pub page_writes: u64,
    /// Number of stripes with outdated parity times the time in this state, in ns.
    pub stripe_ns: u128,
    /// Number of host pages in stripes with outdated parity times the time in this state, in ns.
    pub page_ns: u128,
    /// Observed time.
    pub watched_ns: u128,
    since: Ns,
}

impl Window {
    /// Returns the window, advanced to this time.
    #[must_use]
    pub fn at(mut self, now: Ns) -> Self {
        self.advance(now);
        self
    }

    /// Restarts the sums at 0. Stripes that are outdated now stay so.
    pub fn restart(&mut self, now: Ns) {
        let Self { stripes, pages, .. } = *self;
        *self = Self {
            stripes,
            pages,
            most_stripes: stripes,
            most_pages: pages,
            since: now,
            ..Self::default()
        };
    }

    /// Sets the clock back to 0.
    pub fn set_back(&mut self, passed: Ns) {
        self.advance(passed);
        self.since = 0;
    }

    /// Counts a page write of the host.
    #[inline]
    pub fn host_writes(&mut self) {
        self.stripe_writes += self.stripes;
        self.page_writes += self.pages;
    }

    /// Counts a stripe with `pages` host pages whose parity becomes outdated.
    pub fn opens(&mut self, pages: u64, now: Ns) {
        self.advance(now);
        self.stripes += 1;
        self.pages += pages;
        self.most_stripes = self.most_stripes.max(self.stripes);
        self.most_pages = self.most_pages.max(self.pages);
    }

    /// Counts a stripe whose parity is up to date again.
    pub fn closes(&mut self, pages: u64, now: Ns) {
        self.advance(now);
        self.stripes -= 1;
        self.pages -= pages;
    }

    fn advance(&mut self, now: Ns) {
        let passed = u128::from(now.saturating_sub(self.since));
        self.stripe_ns += u128::from(self.stripes) * passed;
        self.page_ns += u128::from(self.pages) * passed;
        self.watched_ns += passed;
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let mut window = Window::default();
        window.opens(8, 0);
        window.restart(10);
        window.host_writes();
        window.opens(5, 20);
        window.host_writes();
        window.closes(8, 50);
        window.set_back(60);
        let end = window.at(40);
        assert_eq!((end.stripes, end.pages, end.most_stripes, end.most_pages), (1, 5, 2, 13));
        assert_eq!((end.stripe_writes, end.page_writes), (1 + 2, 8 + 13));
        assert_eq!(
            (end.stripe_ns, end.page_ns, end.watched_ns),
            (10 + 60 + 50, 80 + 390 + 250, 90)
        );
    }
}
