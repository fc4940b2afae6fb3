//! Describes how the accesses are distributed over the pages: percentiles, and the share of the
//! hottest pages.

use std::collections::BTreeMap;

use super::percentile;

/// Limit below which access counts are sorted by a counting sort.
const SMALL: u64 = 65_536;

/// Distribution of the access counts of pages. All counts are above 0.
#[derive(Clone, Debug)]
pub struct Popularity {
    /// Number of pages for each access count.
    pages_with: BTreeMap<u64, u64>,
    pages: u64,
    total: u64,
}

impl Popularity {
    /// Makes the distribution from the access counts of all pages. Pages without accesses are left
    /// out.
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

    /// Multiplies all numbers of pages by `times`. If only one in `times` pages was counted, the
    /// result is an estimate for the whole trace.
    #[must_use]
    pub(super) fn times(mut self, times: u64) -> Self {
        self.pages_with.values_mut().for_each(|pages| *pages *= times);
        Self { pages: self.pages * times, total: self.total * times, ..self }
    }

    /// Returns the number of pages that were accessed.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the sum of the access counts of all pages.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of pages that have exactly the given access count.
    pub fn pages_with(&self, count: u64) -> u64 {
        self.pages_with.get(&count).copied().unwrap_or(0)
    }

    /// Returns the mean access count of the pages that were accessed, or `None` without such pages.
    pub fn mean(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.total as f64 / self.pages as f64)
    }

    /// Returns a percentile of the access counts. At least `percent` % of the pages have this count
    /// or a lower count.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        percentile(self.pages_with.iter().map(|(count, pages)| (*count, *pages)), percent)
    }

    /// Selects the hottest `percent` % of all pages. Returns the number of selected pages, rounded
    /// up, and the sum of the access counts of these pages.
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
        // Ten pages have 100,000 + 60 + 8 x 5 = 100,100 reads. Two pages have no reads.
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
