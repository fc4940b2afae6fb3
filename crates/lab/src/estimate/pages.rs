//! Rates of host reads and host writes, for classes of pages with similar rates.

use std::collections::BTreeMap;

use super::counted::counted;
use super::law::Law;
use crate::failure::Failure;
use crate::plan::RunPlan;

/// Largest number of pages for which the rates of all pages are computed. For a workload with more
/// pages, the rates are computed for a sample of at most this many pages, and for the most popular
/// pages.
const SAMPLED: u64 = 200_000;
/// Number of pages whose rates are computed in addition to a sample. These are the most popular
/// pages.
const HOTTEST: u64 = 20_000;
/// Largest number of classes of pages.
const MOST_CLASSES: usize = 24;
/// Width, in octaves, of the range of rates that is divided into classes. The range ends at the
/// largest rate. Smaller rates count as the smallest rate of this range.
const OCTAVES: f64 = 16.0;
/// Ratio between two widths of a class, in octaves: the range of read rates divided by the range of
/// write rates.
const COARSER: f64 = 1.5;

/// Pages with similar rates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Class {
    /// Number of pages.
    pub(super) pages: f64,
    /// Number of reads of each page per second.
    pub(super) reads: f64,
    /// Number of writes of each page per second.
    pub(super) writes: f64,
}

/// Host rates of all pages.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    /// Classes that together contain every page. Writes that the write buffer absorbs are not
    /// counted.
    pub(super) classes: Vec<Class>,
    /// Number of bytes that the host writes per second.
    pub(super) write_bytes: f64,
    /// Number of bytes that the host reads per second.
    pub(super) read_bytes: f64,
    /// Whether all pages have the same rates of reads and writes.
    pub(super) is_even: bool,
}

impl Pages {
    /// Computes the rates under the plan's workload. The first `filled` pages of the drive hold
    /// data, and the write buffer can hold `buffered` pages.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub(super) fn of(plan: &RunPlan, filled: f64, buffered: f64) -> Result<Self, Failure> {
        match Law::of_plan(plan)? {
            Some(law) => Ok(Self::of_law(&law, filled, buffered)),
            None => counted(plan, filled, buffered),
        }
    }

    fn of_law(law: &Law, filled: f64, buffered: f64) -> Self {
        let single: Vec<Class> = if law.is_even() {
            let (reads, writes) = law.of(law.pages() / 2);
            vec![Class {
                pages: if writes > 0.0 { law.pages() as f64 } else { filled },
                reads,
                writes,
            }]
        } else {
            let class = |page: u64, pages: f64| {
                let (reads, writes) = law.of(page);
                Class { pages, reads, writes }
            };
            let step = law.pages().div_ceil(SAMPLED);
            let hottest = if step > 1 { law.hottest(HOTTEST) } else { vec![] };
            let others: Vec<u64> = (0..law.pages())
                .step_by(step as usize)
                .filter(|page| hottest.binary_search(page).is_err())
                .collect();
            let each = (law.pages() - hottest.len() as u64) as f64 / others.len() as f64;
            let all = hottest
                .iter()
                .map(|page| (*page, class(*page, 1.0)))
                .chain(others.iter().map(|page| (*page, class(*page, each))));
            // A page that the host never writes holds data only if the start-up fill wrote it.
            all.filter(|(page, class)| class.writes > 0.0 || (*page as f64) < filled)
                .map(|(_, class)| class)
                .collect()
        };
        let mut all = Self {
            classes: buffered_writes(&single, buffered),
            write_bytes: law.write_bytes_per_s(),
            read_bytes: law.read_bytes_per_s(),
            is_even: law.is_even(),
        };
        // A write that covers only a part of a page also causes a read of the page.
        all.classes.iter_mut().for_each(|class| class.reads += class.writes * law.partial());
        all.fit(filled);
        all
    }

    /// Merges single pages into classes. If the classes have fewer than `pages` pages, adds a class
    /// of pages without requests.
    pub(super) fn fit(&mut self, pages: f64) {
        self.classes = gathered(&self.classes);
        let known = self.pages();
        if pages > known + 0.5 {
            self.classes.push(Class { pages: pages - known, ..Class::default() });
        }
    }

    /// Returns the number of pages that hold data.
    pub(super) fn pages(&self) -> f64 {
        self.classes.iter().map(|class| class.pages).sum()
    }

    /// Returns the number of page reads per second, over all pages.
    pub(super) fn reads(&self) -> f64 {
        self.classes.iter().map(|class| class.pages * class.reads).sum()
    }

    /// Returns the number of page writes per second that reach the flash.
    pub(super) fn writes(&self) -> f64 {
        self.classes.iter().map(|class| class.pages * class.writes).sum()
    }
}

/// Returns the classes after removing the writes that the write buffer absorbs. The buffer is
/// first-in-first-out and holds `buffered` pages.
///
/// A written page stays in the buffer for t seconds, and the buffer absorbs further writes to the
/// page during these t seconds. A page with w writes per second is therefore programmed every
/// 1 / w + t seconds. The time t follows from the size of the buffer: the number of pages that
/// enter the buffer in t seconds is `buffered`.
fn buffered_writes(classes: &[Class], buffered: f64) -> Vec<Class> {
    let after = |t: f64, class: &Class| class.writes / (1.0 + class.writes * t);
    let held = |t: f64| classes.iter().map(|class| class.pages * after(t, class) * t).sum::<f64>();
    let written: f64 =
        classes.iter().filter(|class| class.writes > 0.0).map(|class| class.pages).sum();
    if written <= buffered {
        return classes.to_vec();
    }
    let (mut low, mut high) = (0.0, 1e-6);
    while held(high) < buffered {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if held(middle) < buffered { low = middle } else { high = middle }
    }
    classes.iter().map(|class| Class { writes: after(low, class), ..*class }).collect()
}

/// Merges pages with similar rates into classes. Merging does not change the total numbers of
/// pages, reads and writes. A class spans one octave of write rates. If this gives too many
/// classes, each class spans more octaves.
fn gathered(single: &[Class]) -> Vec<Class> {
    let mut octaves = 1.0;
    loop {
        let classes = gathered_by(single, octaves);
        if classes.len() <= MOST_CLASSES || octaves > OCTAVES {
            return classes;
        }
        octaves *= 1.5;
    }
}

/// Merges pages into classes. Each class spans `octaves` octaves of write rates.
fn gathered_by(single: &[Class], octaves: f64) -> Vec<Class> {
    let most = |of: &dyn Fn(&Class) -> f64| {
        let mut rates: Vec<(f64, f64)> = single
            .iter()
            .map(|class| (of(class), class.pages))
            .filter(|(rate, _)| *rate > 0.0)
            .collect();
        rates.sort_by(|a, b| b.0.total_cmp(&a.0));
        rates.first().map_or(0.0, |(rate, _)| *rate)
    };
    let (most_read, most_written) = (most(&|class| class.reads), most(&|class| class.writes));
    let step = |rate: f64, most: f64, octaves: f64| match rate {
        rate if rate > 0.0 => ((most / rate).log2().min(OCTAVES) / octaves).floor() as i32,
        _ => i32::MAX,
    };
    let key = |class: &Class| {
        (step(class.writes, most_written, octaves), step(class.reads, most_read, octaves * COARSER))
    };
    let mut by_key: BTreeMap<(i32, i32), Class> = BTreeMap::new();
    for class in single {
        let sum = by_key.entry(key(class)).or_default();
        sum.pages += class.pages;
        sum.reads += class.pages * class.reads;
        sum.writes += class.pages * class.writes;
    }
    let mean =
        |sum: Class| Class { reads: sum.reads / sum.pages, writes: sum.writes / sum.pages, ..sum };
    by_key.into_values().filter(|sum| sum.pages > 0.0).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_absorbs_rewrites_while_a_page_waits() {
        // The host writes each of 1,000 pages once per second, and the buffer holds 100 pages. The
        // equation t / (1 + t) = 100 / 1,000 gives t = 1/9 s, so 900 pages per second reach the
        // flash.
        let even = [Class { pages: 1000.0, reads: 0.0, writes: 1.0 }];
        assert!((buffered_writes(&even, 100.0)[0].writes - 0.9).abs() < 1e-6);
        assert_eq!(
            buffered_writes(&even, 1000.0),
            even,
            "a buffer that holds all pages changes nothing"
        );
    }

    #[test]
    fn classes_keep_the_sums() {
        let single: Vec<Class> = (1..500)
            .map(|n| Class {
                pages: 1.0,
                reads: 9.0 / f64::from(n),
                writes: 1.0 / f64::from(n * n),
            })
            .collect();
        let classes = gathered(&single);
        let sum = |all: &[Class], of: &dyn Fn(&Class) -> f64| {
            all.iter().map(|class| class.pages * of(class)).sum::<f64>()
        };
        for of in [&(|_: &Class| 1.0) as &dyn Fn(&Class) -> f64, &|class| class.reads, &|class| {
            class.writes
        }] {
            assert!((sum(&classes, of) / sum(&single, of) - 1.0).abs() < 1e-9);
        }
        assert!(classes.len() <= MOST_CLASSES, "{}", classes.len());
    }

    #[test]
    fn pages_without_requests_are_a_class() {
        let touched = vec![Class { pages: 10.0, reads: 1.0, writes: 0.0 }];
        let mut pages =
            Pages { classes: touched, write_bytes: 0.0, read_bytes: 1.0, is_even: false };
        pages.fit(100.0);
        assert!((pages.pages() - 100.0).abs() < 1e-9);
        assert!((pages.reads() - 10.0).abs() < 1e-12);
    }
}
