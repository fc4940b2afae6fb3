//! Calculates how often a request touches a page on average, for each address distribution.

use super::addresses::SizeClass;
use super::distribution::Distribution;
use super::hot_cold::hot_runs;
use super::scatter::{Gather, Scatter};

/// Mean number of times that a request touches a page, for each page of the drive.
pub(super) struct PageWeights {
    law: Law,
    page_bytes: u64,
    /// Sizes of requests, each with the share of the requests that have this size.
    classes: Vec<(SizeClass, f64)>,
    gather: Gather,
}

enum Law {
    Even,
    /// Zipf's law, with the exponent of the law and the popularity of the first rank.
    Zipf {
        theta: f64,
        first: f64,
    },
    /// Hot and cold part. The fields are the first rank of the hot part, the chance of each hot
    /// run, and the chance of each cold run.
    HotCold {
        first: u64,
        runs: u64,
        hot_runs: u64,
        hot: f64,
        cold: f64,
    },
}

/// Number of ranks whose popularities are added up one by one. For all other ranks, an integral
/// gives the sum of the popularities.
const ADDED_UP: u64 = 100_000;

impl PageWeights {
    /// Makes the page weights of a distribution over `runs` runs. The hot part begins at rank
    /// `first`.
    pub(super) fn new(
        distribution: Distribution,
        runs: u64,
        first: u64,
        scatter: Scatter,
        classes: Vec<(SizeClass, f64)>,
        page_bytes: u64,
    ) -> Self {
        let law = match distribution {
            Distribution::Uniform | Distribution::Sequential => Law::Even,
            Distribution::Zipf { theta } => Law::Zipf { theta, first: 1.0 / zeta(runs, theta) },
            Distribution::HotCold { addresses, accesses } => {
                let hot_runs = hot_runs(runs, addresses);
                let (hot, cold) =
                    (accesses / hot_runs as f64, (1.0 - accesses) / (runs - hot_runs) as f64);
                Law::HotCold { first, runs, hot_runs, hot, cold }
            }
        };
        Self { law, page_bytes, classes, gather: Gather::new(scatter) }
    }

    /// Returns the mean number of times that a request touches the page.
    pub(super) fn of(&self, page: u64) -> f64 {
        let (begin, end) = (page * self.page_bytes, (page + 1) * self.page_bytes);
        let of_class = |(class, share): &(SizeClass, f64)| {
            let blocks = begin / class.bytes..end.div_ceil(class.bytes).min(self.blocks(class));
            let chance: f64 = match self.law {
                Law::Even => blocks.end.saturating_sub(blocks.start) as f64 / class.blocks as f64,
                _ => blocks
                    .map(|block| self.of_run(block / class.per_run) / class.per_run as f64)
                    .sum(),
            };
            share * chance
        };
        self.classes.iter().map(of_class).sum()
    }

    /// Returns whether every page contains blocks at the same positions.
    pub(super) fn are_alike(&self) -> bool {
        let fits = |bytes: u64| {
            self.page_bytes.is_multiple_of(bytes) || bytes.is_multiple_of(self.page_bytes)
        };
        self.classes.iter().all(|(class, _)| fits(class.bytes))
    }

    /// Returns the number of blocks of the given size to which requests may go.
    fn blocks(&self, class: &SizeClass) -> u64 {
        match self.law {
            Law::Even => class.blocks,
            Law::Zipf { .. } | Law::HotCold { .. } => class.blocks / class.per_run * class.per_run,
        }
    }

    /// Returns the chance that a request goes to the given run.
    fn of_run(&self, run: u64) -> f64 {
        let rank = || self.gather.preimage(run);
        match self.law {
            Law::Even => unreachable!("a uniform distribution has no runs"),
            Law::Zipf { theta, first } => first * ((rank() + 1) as f64).powf(-theta),
            Law::HotCold { first, runs, hot_runs, hot, cold } => {
                let behind = (rank() + runs - first) % runs;
                if behind < hot_runs { hot } else { cold }
            }
        }
    }
}

/// Returns the sum of k^-theta for k from 1 to `count`. The first terms are added up, and the
/// Euler-Maclaurin formula gives the sum of the other terms.
fn zeta(count: u64, theta: f64) -> f64 {
    let added = count.min(ADDED_UP);
    let head: f64 = (1..=added).rev().map(|k| (k as f64).powf(-theta)).sum();
    if count == added {
        return head;
    }
    let (from, to) = (added as f64, count as f64);
    let integral = if (theta - 1.0).abs() < 1e-12 {
        (to / from).ln()
    } else {
        (to.powf(1.0 - theta) - from.powf(1.0 - theta)) / (1.0 - theta)
    };
    head + integral + (to.powf(-theta) - from.powf(-theta)) / 2.0
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::request::RequestSource;
    use vpass_drive::base::units::Lpn;

    use super::super::fluid_source::Sample;
    use super::super::{SyntheticSource, WorkloadConfig};
    use super::*;
    use crate::steady::SteadyRates;

    #[test]
    fn the_sum_of_popularities() {
        for (count, theta) in
            [(10, 0.99), (ADDED_UP * 3, 1.0), (ADDED_UP * 3, 0.5), (ADDED_UP * 2, 1.2)]
        {
            let exact: f64 = (1..=count).map(|k| (k as f64).powf(-theta)).sum();
            assert!((zeta(count, theta) / exact - 1.0).abs() < 1e-9, "{count} {theta}");
        }
    }

    /// Compares the weight of each page with the number of requests that the generator draws for
    /// the page.
    #[test]
    fn rates_are_those_of_the_generator() {
        let (pages, page) = (240u64, 16_384u64);
        let tables = [
            "distribution = \"uniform\"\nblock_size = \"4KiB\"",
            "distribution = \"zipf:0.9\"\nblock_size = \"16KiB\"\nfootprint = 0.5",
            "distribution = \"zipf:1.1\"\nrun = \"64KiB\"\nblock_sizes = \
             [{ size = \"4KiB\", share = 0.5 }, { size = \"32KiB\", share = 0.5 }]",
            "distribution = \"hot-cold:0.1/0.8\"\nblock_size = \"32KiB\"",
            "distribution = \"uniform\"\nblock_size = \"24KiB\"",
            "distribution = \"hot-cold:0.2/0.7\"\nwrite_distribution = \"hot-cold:0.3/0.9\"\n\
             hot_sets = \"disjoint\"\nblock_size = \"8KiB\"",
        ];
        for table in tables {
            let config: WorkloadConfig =
                toml::from_str(&format!("rate = 1000.0\nrequests = 400000\n{table}")).unwrap();
            let mut source = SyntheticSource::new(&config, pages * page, page as u32, 5).unwrap();
            let mut requests = vec![];
            source.fill(&mut requests, 400_000).unwrap();
            let mut seen = vec![0.0; pages as usize];
            for request in &requests {
                let touched =
                    request.offset / page..=(request.offset + u64::from(request.bytes) - 1) / page;
                touched.for_each(|p| seen[p as usize] += 1.0);
            }
            let fluid = SteadyRates::of_table(&config, pages * page, page as u32, 5, Sample::WHOLE);
            let rates = fluid.unwrap().rates.pages;
            for (p, seen) in seen.iter().enumerate() {
                // Expected number of reads of a page in 400 seconds.
                let expected = rates.per_ns(Lpn::new(p as u32)) * 1e9 * 400.0;
                assert!(
                    (seen - expected).abs() <= 5.0 * expected.sqrt() + 1e-9,
                    "{table}: page {p}: {seen} for {expected}"
                );
            }
        }
    }
}
