//! How unequally pages are used: counts per page, as percentiles and as the share of the hottest.

use std::collections::BTreeMap;

/// Counts below this are sorted by counting.
const SMALL: u64 = 65_536;

/// Counts per page, of the pages that have any.
#[derive(Clone, Debug)]
pub struct Popularity {
    /// Pages by count.
    pages_with: BTreeMap<u64, u64>,
    pages: u64,
    total: u64,
}

impl Popularity {
    /// From the count of each page; pages with none do not take part.
    pub fn new(counts: impl Iterator<Item = u64>) -> Self {
        let mut small = vec![0u64; SMALL as usize];
        let mut pages_with = BTreeMap::new();
        let (mut pages, mut total) = (0, 0);
        for count in counts.filter(|c| *c > 0) {
            pages += 1;
            total += count;
            match small.get_mut(count as usize) {
                Some(n) => *n += 1,
                None => *pages_with.entry(count).or_default() += 1,
            }
        }
        pages_with.extend((0..).zip(small).filter(|(_, n)| *n > 0));
        Self { pages_with, pages, total }
    }

    /// As many of each page as this: an estimate from one page in so many.
    #[must_use]
    pub(super) fn times(mut self, times: u64) -> Self {
        self.pages_with.values_mut().for_each(|pages| *pages *= times);
        Self { pages: self.pages * times, total: self.total * times, ..self }
    }

    /// Pages with any.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// All counts together.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Pages with exactly this count.
    pub fn pages_with(&self, count: u64) -> u64 {
        self.pages_with.get(&count).copied().unwrap_or(0)
    }

    /// Mean over the pages with any.
    pub fn mean(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.total as f64 / self.pages as f64)
    }

    /// The count that at least this share of the pages does not exceed.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let rank =
            ((self.pages as f64 * percent / 100.0).ceil() as u64).clamp(1, self.pages.max(1));
        let mut seen = 0;
        self.pages_with.iter().find_map(|(count, pages)| {
            seen += pages;
            (seen >= rank).then_some(*count)
        })
    }

    /// The hottest `percent` of the pages, rounded up to whole pages: how many they are, and their
    /// counts together.
    pub fn hottest(&self, percent: f64) -> (u64, u64) {
        let wanted = ((self.pages as f64 * percent / 100.0).ceil() as u64).min(self.pages);
        let (mut left, mut sum) = (wanted, 0);
        for (count, pages) in self.pages_with.iter().rev() {
            let taken = left.min(*pages);
            sum += count * taken;
            left -= taken;
        }
        (wanted, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_pages_by_hand() {
        // 100,000 + 60 + 8 x 5 = 100,100 reads of ten pages; two pages are not read.
        let counts = Popularity::new([5, 0, 100_000, 5, 5, 60, 5, 5, 0, 5, 5, 5].into_iter());
        assert_eq!((counts.pages(), counts.total(), counts.pages_with(5)), (10, 100_100, 8));
        assert_eq!(counts.mean(), Some(10_010.0));
        assert_eq!(
            [50.0, 80.0, 81.0, 90.0, 99.0, 100.0].map(|p| counts.percentile(p).unwrap()),
            [5, 5, 60, 60, 100_000, 100_000]
        );
        assert_eq!(counts.hottest(1.0), (1, 100_000));
        assert_eq!(counts.hottest(20.0), (2, 100_060));
        assert_eq!(counts.hottest(25.0), (3, 100_065));
        assert_eq!(counts.hottest(100.0), (10, 100_100));
    }

    #[test]
    fn nothing_has_no_popularity() {
        let counts = Popularity::new([0, 0].into_iter());
        assert_eq!(
            (counts.mean(), counts.percentile(50.0), counts.hottest(1.0)),
            (None, None, (0, 0))
        );
    }
}
