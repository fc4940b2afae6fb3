//! The window without protection: how many stripes have parity on flash that lags behind, and for
//! how long. A loss of power would take what the controller's memory holds of their parity.

use crate::base::units::Ns;
use crate::bugs::{Bug, planted};

/// Stripes and pages of the host in them, summed over the host's writes and over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Stripes now.
    pub stripes: u64,
    /// Pages of the host in them now.
    pub pages: u64,
    /// The most stripes at a time, and the most pages of the host in them.
    pub most_stripes: u64,
    /// Pages of the host in these.
    pub most_pages: u64,
    /// Stripes, summed up over the page writes of the host.
    pub stripe_writes: u64,
    /// Pages in them, summed up likewise.
    pub page_writes: u64,
    /// Stripes by the time for which they lag behind, in ns.
    pub stripe_ns: u128,
    /// Pages in them by that time.
    pub page_ns: u128,
    /// Time for which it was watched.
    pub watched_ns: u128,
    since: Ns,
}

impl Window {
    /// The same, up to this time.
    #[must_use]
    pub(crate) fn at(mut self, now: Ns) -> Self {
        self.advance(now);
        self
    }

    /// Sums begin at nothing; what is open stays open.
    pub(crate) fn restart(&mut self, now: Ns) {
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

    /// The clock shows 0 in the place of this time.
    pub(crate) fn set_back(&mut self, passed: Ns) {
        self.advance(passed);
        self.since = 0;
    }

    /// The host writes a page.
    #[inline]
    pub(crate) fn host_writes(&mut self) {
        self.stripe_writes +=
            self.stripes - u64::from(planted(Bug::WindowUncounted) && self.stripes > 1);
        self.page_writes += self.pages;
    }

    /// A stripe of so many pages lags behind from now on.
    pub(crate) fn opens(&mut self, pages: u64, now: Ns) {
        self.advance(now);
        self.stripes += 1;
        self.pages += pages;
        self.most_stripes = self.most_stripes.max(self.stripes);
        self.most_pages = self.most_pages.max(self.pages);
    }

    /// It does so no more.
    pub(crate) fn closes(&mut self, pages: u64, now: Ns) {
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
