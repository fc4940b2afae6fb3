//! How often the host reads and writes its pages: rates by class of pages.

use std::collections::BTreeMap;

use vpass_workload::synthetic::PageLaw;

use super::counted::counted;
use crate::failure::Failure;
use crate::load::{Generated, Loaded};
use crate::plan::{RunPlan, Workload};

/// Pages of a generated workload whose rates are worked out one by one, besides the most popular
/// ones.
const SAMPLED: u64 = 200_000;
/// Most popular pages that are counted singly on drives that have more pages than that.
const HOTTEST: u64 = 20_000;
/// Classes at most, of both directions together.
const MOST_CLASSES: usize = 24;
/// Octaves of rates that are told apart, from the largest down; pages with smaller rates are one
/// class.
const OCTAVES: f64 = 16.0;
/// Octaves of read rates that a class spans, times those of write rates.
const COARSER: f64 = 1.5;

/// Pages with about the same rates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Class {
    /// Number of pages.
    pub(super) pages: f64,
    /// Reads of each page in a second.
    pub(super) reads: f64,
    /// Writes of each page in a second.
    pub(super) writes: f64,
}

/// What the host asks of all pages.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    /// Every page is in one of these. Writes are those that reach the flash.
    pub(super) classes: Vec<Class>,
    /// Bytes that the host writes in a second.
    pub(super) write_bytes: f64,
    /// Bytes that the host reads in a second.
    pub(super) read_bytes: f64,
    /// Whether all pages have the same rates.
    pub(super) is_even: bool,
}

impl Pages {
    /// Rates under the plan's workload, on a drive whose first `filled` pages hold data, and whose
    /// buffer holds so many pages.
    ///
    /// # Errors
    /// The workload's.
    pub(super) fn of(plan: &RunPlan, filled: f64, buffered: f64) -> Result<Self, Failure> {
        match &plan.workload {
            Workload::Generated(Loaded { name, config: Generated::Workload(file), .. })
                if file.workload.stripes.is_none() =>
            {
                let page_bytes = plan.drive.config.geometry.page_size.0 as u32;
                let law =
                    PageLaw::new(&file.workload, plan.whole_capacity().0, page_bytes, plan.seed)
                        .map_err(|e| Failure::usage(format!("workload {name}: {e}")))?;
                Ok(Self::of_law(&law, filled, buffered))
            }
            _ => counted(plan, filled, buffered),
        }
    }

    fn of_law(law: &PageLaw, filled: f64, buffered: f64) -> Self {
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
            // What is never written holds data only where the drive begins with some.
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
        // Pages that a write covers in part are read first.
        all.classes.iter_mut().for_each(|class| class.reads += class.writes * law.partial());
        all.fit(filled);
        all
    }

    /// Makes classes of single pages. Pages that nobody touches make up for those that hold data.
    pub(super) fn fit(&mut self, pages: f64) {
        self.classes = gathered(&self.classes);
        let known = self.pages();
        if pages > known + 0.5 {
            self.classes.push(Class { pages: pages - known, ..Class::default() });
        }
    }

    /// Pages that hold data.
    pub(super) fn pages(&self) -> f64 {
        self.classes.iter().map(|class| class.pages).sum()
    }

    /// Reads of all pages in a second.
    pub(super) fn reads(&self) -> f64 {
        self.classes.iter().map(|class| class.pages * class.reads).sum()
    }

    /// Page writes that reach the flash in a second.
    pub(super) fn writes(&self) -> f64 {
        self.classes.iter().map(|class| class.pages * class.writes).sum()
    }
}

/// Writes that reach the flash, where so many pages wait in a first-in-first-out buffer.
///
/// A page stays t seconds in the buffer, and writes to it meanwhile are absorbed. So it is
/// programmed every 1 / w + t seconds. The buffer holds as many pages as come in t seconds.
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

/// Pages of about the same rates together; sums of pages, reads and writes stay. A class spans an
/// octave of write rates, or more where there would be too many classes.
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

/// Pages by classes that span so many octaves of write rates.
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
    fn the_buffer_absorbs_what_comes_again_while_a_page_waits() {
        // 1,000 pages written once a second each, 100 buffered: t / (1 + t) = 100 / 1,000, so t =
        // 1/9 and 900 pages a second come through.
        let even = [Class { pages: 1000.0, reads: 0.0, writes: 1.0 }];
        assert!((buffered_writes(&even, 100.0)[0].writes - 0.9).abs() < 1e-6);
        assert_eq!(
            buffered_writes(&even, 1000.0),
            even,
            "a buffer that holds all pages is left as it is"
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
    fn pages_that_nobody_touches_are_a_class() {
        let touched = vec![Class { pages: 10.0, reads: 1.0, writes: 0.0 }];
        let mut pages =
            Pages { classes: touched, write_bytes: 0.0, read_bytes: 1.0, is_even: false };
        pages.fit(100.0);
        assert!((pages.pages() - 100.0).abs() < 1e-9);
        assert!((pages.reads() - 10.0).abs() < 1e-12);
    }
}
