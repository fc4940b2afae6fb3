//! Turns a `[workload]` table into read rates and single writes, for simulation gears that draw
//! reads in bulk. The source serves a whole drive or a sample of its pages.
//!
//! A sample 1/N contains one page in N: the pages whose number has a given residue modulo N. Page p
//! of the drive is page p / N of the sample. The sample gets the reads and writes of its own pages.
//! Each page of a long write arrives as a separate write. Random writes to a sample arrive as a
//! Poisson process, even if the requests of the workload arrive evenly.

use std::fmt;

use vpass_drive::base::phrase::{Opt, set};
use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::RequestSource;
use vpass_drive::base::units::Lpn;
use vpass_drive::config::ConfigError;
use vpass_drive::phrase;

use super::alias::Alias;
use super::arrivals::ArrivalClock;
use super::distribution::Distribution;
use super::drawn_writes::{DrawnWrites, PartSize, Where};
use super::page_weights::PageWeights;
use super::random::Streams;
use super::scatter::Scatter;
use super::synthetic_config::{Arrivals, WorkloadConfig};
use super::synthetic_source::{Area, SyntheticSource};
use crate::steady::{SteadyRates, no_writes};

/// Sample of a drive's pages. A page is in the sample if its number modulo `of` is `residue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Number N. The sample contains one page in N.
    pub of: u32,
    /// Residue of the page numbers modulo N; all pages of the sample have this residue.
    pub residue: u32,
}

impl Sample {
    /// Sample that contains all pages of the drive.
    pub const WHOLE: Self = Self { of: 1, residue: 0 };

    /// Returns whether the sample contains all pages of the drive.
    pub fn is_whole(self) -> bool {
        self.of == 1
    }

    /// Returns the number that a page of the drive has in the sample. Returns `None` for a page
    /// outside the sample.
    pub fn number_of(self, lpn: Lpn) -> Option<Lpn> {
        (lpn.number() % self.of == self.residue).then(|| Lpn::new(lpn.number() / self.of))
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1/{}", self.of)
    }
}

impl SteadyRates {
    /// Makes the rates and writes of a `[workload]` table for a sample of a drive. The drive has
    /// `capacity` bytes and pages of `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error for the first key that is invalid or does not suit the drive. Also returns
    /// an error if the workload has no rate or has sequential reads.
    pub fn of_table(
        config: &WorkloadConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
        sample: Sample,
    ) -> Result<Self, ConfigError> {
        config.check_rates()?;
        let rate = config.rate.unwrap_or_default();
        let whole = Whole::new(config, capacity, page_bytes, seed)?;
        let read_rate = rate * config.read_share;
        let reads = whole.weights(config.distribution, 0);
        let pages = whole.pages(sample);
        let rates = page_rates(&reads, read_rate, pages, sample, config);
        let touched = whole.pages_per_request();
        let rates = ReadRates {
            pages: rates,
            requests_per_page: 1.0 / touched,
            bytes_per_page: whole.mean_bytes() / touched,
        };
        let writes: Box<dyn RequestSource + Send> = if config.read_share >= 1.0 {
            no_writes()
        } else if sample.is_whole() {
            let only = WorkloadConfig {
                read_share: 0.0,
                rate: Some(rate - read_rate),
                requests: u64::MAX,
                ..config.clone()
            };
            Box::new(SyntheticSource::new(&only, capacity, page_bytes, seed)?)
        } else {
            Box::new(whole.drawn_writes(config, rate - read_rate, sample, seed)?)
        };
        Ok(Self { rates, writes })
    }

    /// Returns an upper bound of the memory of the rates of a `[workload]` table for `pages` pages,
    /// in bytes. The bound includes two copies of the read rates, and the tables from which writes
    /// are drawn.
    pub fn memory_of_table(pages: u64) -> u64 {
        const BYTES_PER_PAGE: u64 = 2 * 4 + 2 * 8 + 16;
        pages * BYTES_PER_PAGE
    }
}

impl WorkloadConfig {
    /// Checks that the table is valid, and that its reads can be given as rates.
    ///
    /// # Errors
    /// Returns an error for the first key that is invalid or missing.
    pub fn check_rates(&self) -> Result<(), ConfigError> {
        self.check()?;
        require_rate(self.rate)?;
        if self.read_share == 0.0 || self.distribution != Distribution::Sequential {
            return Ok(());
        }
        Err(ConfigError::new(phrase![
            "workload.distribution = \"sequential\": the fluid gear draws reads at random, not in \
             sequence; use ",
            Opt::Gear.to("untimed"),
            ", or another distribution",
        ]))
    }
}

/// Factor that gives each sample or part a seed of its own: 2^64 divided by the golden ratio,
/// rounded to an odd number. Modulo 2^64, multiples of this number are far from each other.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns an error for a closed-loop workload, because a closed loop has no request rate.
pub(crate) fn require_rate(rate: Option<f64>) -> Result<(), ConfigError> {
    if rate.is_some() {
        return Ok(());
    }
    Err(ConfigError::new(phrase![
        "the workload is a closed loop, but the fluid gear needs a rate: set workload.rate and \
         clear workload.queue_depth (",
        set("workload.rate", 1000),
        " ",
        set("workload.queue_depth", ""),
        ")",
    ]))
}

/// Workload over all pages of the drive.
pub(super) struct Whole {
    pub(super) area: Area,
    pub(super) scatter: Scatter,
    shares: Vec<f64>,
    pub(super) first_of_writes: u64,
    pub(super) page_bytes: u64,
    /// Number of logical pages of the drive.
    pub(super) host_pages: u64,
}

impl Whole {
    pub(super) fn new(
        config: &WorkloadConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let area = Area::new(config, capacity, u64::from(page_bytes))?;
        // The generator of single requests uses the same permutation of ranks, so the hot pages are
        // the same in all gears.
        let scatter = Scatter::new(area.runs().max(1), &mut Streams::new(seed).scatter);
        let first_of_writes = area.first_rank_of_writes(config)?;
        let shares = config.sizes().iter().map(|size| size.share).collect();
        Ok(Self {
            area,
            scatter,
            shares,
            first_of_writes,
            page_bytes: page_bytes.into(),
            host_pages: capacity / u64::from(page_bytes),
        })
    }

    pub(super) fn weights(&self, distribution: Distribution, first: u64) -> PageWeights {
        let classes = self.area.classes.iter().copied().zip(self.shares.iter().copied()).collect();
        PageWeights::new(
            distribution,
            self.area.runs(),
            first,
            self.scatter.clone(),
            classes,
            self.page_bytes,
        )
    }

    /// Returns the number of pages of a sample.
    fn pages(&self, sample: Sample) -> u64 {
        (self.host_pages - u64::from(sample.residue)).div_ceil(u64::from(sample.of))
    }

    pub(super) fn mean_bytes(&self) -> f64 {
        self.mean(|bytes| bytes as f64)
    }

    /// Returns the mean of a number over the sizes of requests.
    fn mean(&self, of_size: impl Fn(u64) -> f64) -> f64 {
        let classes = self.area.classes.iter().zip(&self.shares);
        classes.map(|(class, share)| of_size(class.bytes) * share).sum()
    }

    /// Returns the mean of a number over all positions that a block may have within a page. The
    /// function gets the first byte of the block, and the byte after the block.
    fn mean_in_page(&self, of_block: impl Fn(u64, u64) -> u64) -> f64 {
        self.mean(|bytes| {
            // The positions of blocks within pages repeat after `pattern` blocks.
            let pattern = self.page_bytes / gcd(bytes, self.page_bytes);
            let of_block = |block: u64| of_block(block * bytes, (block + 1) * bytes);
            (0..pattern).map(of_block).sum::<u64>() as f64 / pattern as f64
        })
    }

    /// Returns the share of the touched pages that requests cover only in part.
    pub(super) fn partial_share(&self) -> f64 {
        let page = self.page_bytes;
        let whole = |begin: u64, end: u64| (end / page).saturating_sub(begin.div_ceil(page));
        1.0 - self.mean_in_page(whole) / self.pages_per_request()
    }

    /// Returns the mean number of pages that a request touches.
    fn pages_per_request(&self) -> f64 {
        let page = self.page_bytes;
        self.mean_in_page(|begin, end| (end - 1) / page - begin / page + 1)
    }

    /// Makes the writes to the pages of a sample. `rate` is the number of write requests per second
    /// to the whole drive.
    fn drawn_writes(
        &self,
        config: &WorkloadConfig,
        rate: f64,
        sample: Sample,
        seed: u64,
    ) -> Result<DrawnWrites, ConfigError> {
        let distribution = config.write_distribution.unwrap_or(config.distribution);
        let weights = self.weights(distribution, self.first_of_writes);
        let pages = self.pages(sample);
        let of_page =
            |n: u64| rate * weights.of(n * u64::from(sample.of) + u64::from(sample.residue));
        let each: Vec<f64> = (0..pages).map(of_page).collect();
        let mut sum: f64 = each.iter().sum();
        if sum <= 0.0 {
            return Err(ConfigError::new(phrase![
                Opt::Sample.to(sample),
                ": the workload does not write to any page of the sample",
            ]));
        }
        let used = each.iter().take_while(|rate| **rate > 0.0).count() as u64;
        let (mut sizes, mut shares): (Vec<PartSize>, Vec<f64>) = (vec![], vec![]);
        for (class, share) in self.area.classes.iter().zip(&self.shares) {
            let in_page = (self.page_bytes / class.bytes).max(1);
            sizes.push(PartSize { bytes: class.bytes.min(self.page_bytes) as u32, in_page });
            shares.push(share * (class.bytes as f64 / self.page_bytes as f64).max(1.0));
        }
        let place = match distribution {
            Distribution::Sequential => {
                // Each sequential write covers a whole page here, so several small writes become
                // one write.
                sum *= (self.mean_bytes() / self.page_bytes as f64).min(1.0);
                sizes = vec![PartSize { bytes: self.page_bytes as u32, in_page: 1 }];
                Where::RoundRobin { next: 0, pages: used }
            }
            Distribution::Uniform => Where::Even(used),
            Distribution::Zipf { .. } | Distribution::HotCold { .. } => {
                Where::Weighted(Alias::new(&each))
            }
        };
        // Each sample of a drive gets random numbers of its own.
        let streams =
            Streams::new(seed.wrapping_add(u64::from(sample.residue + 1).wrapping_mul(GOLDEN)));
        Ok(DrawnWrites {
            place,
            size: Alias::new(if sizes.len() == shares.len() { &shares } else { &[1.0] }),
            sizes,
            page_bytes: self.page_bytes as u32,
            clock: ArrivalClock::new(
                if distribution == Distribution::Sequential {
                    Arrivals::Constant
                } else {
                    Arrivals::Poisson
                },
                sum,
            ),
            address: streams.address,
            parts: streams.size,
            arrival: streams.arrival,
        })
    }
}

/// Returns the read rates of the pages of a sample.
fn page_rates(
    weights: &PageWeights,
    rate: f64,
    pages: u64,
    sample: Sample,
    config: &WorkloadConfig,
) -> PageRates {
    let of_page = |n: u64| rate * weights.of(n * u64::from(sample.of) + u64::from(sample.residue));
    let first = of_page(0);
    if config.distribution == Distribution::Uniform
        && config.footprint >= 1.0
        && weights.are_alike()
        && of_page(pages - 1) >= first
    {
        return PageRates::Same(first);
    }
    PageRates::Each((0..pages).map(|n| of_page(n) as f32).collect())
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
