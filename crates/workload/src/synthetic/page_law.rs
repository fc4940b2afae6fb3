//! Calculates the read and write rates of single pages under a `[workload]` table. Estimates use
//! these rates without making any requests.
//!
//! ```text
//! 1,000 requests/s, 70 % reads, uniform over 10,000 pages: 0.07 reads/s, 0.03 writes/s per page
//! ```

use vpass_drive::config::ConfigError;

use super::distribution::Distribution;
use super::fluid_source::Whole;
use super::page_weights::PageWeights;
use super::synthetic_config::WorkloadConfig;

/// Read and write rates of single pages.
pub struct PageLaw {
    whole: Whole,
    reads: Direction,
    writes: Direction,
    is_even: bool,
    /// Number of pages that the host writes in the order of their addresses, again and again.
    sequential: Option<u64>,
}

/// Requests of one direction: all reads, or all writes.
struct Direction {
    weights: PageWeights,
    /// Number of requests of this direction per second.
    rate: f64,
}

impl PageLaw {
    /// Calculates the rates of a `[workload]` table on a drive of `capacity` bytes. If the table
    /// has no request rate, 1 request per second is assumed.
    ///
    /// # Errors
    /// Returns an error for the first invalid key.
    pub fn new(
        config: &WorkloadConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let whole = Whole::new(config, capacity, page_bytes, seed)?;
        let rate = config.rate.unwrap_or(1.0) * config.hours().share();
        let of_writes = config.write_distribution.unwrap_or(config.distribution);
        let reads_evenly = config.read_share <= 0.0
            || matches!(config.distribution, Distribution::Uniform | Distribution::Sequential);
        let is_sequential = config.read_share < 1.0 && of_writes == Distribution::Sequential;
        let used = (capacity as f64 * config.footprint / f64::from(page_bytes)).ceil() as u64;
        Ok(Self {
            reads: Direction {
                weights: whole.weights(config.distribution, 0),
                rate: rate * config.read_share,
            },
            writes: Direction {
                weights: whole.weights(of_writes, whole.first_of_writes),
                rate: rate * (1.0 - config.read_share),
            },
            is_even: reads_evenly && of_writes == Distribution::Uniform && config.footprint >= 1.0,
            sequential: (reads_evenly && is_sequential).then_some(used),
            whole,
        })
    }

    /// Returns the number of pages of the drive.
    pub fn pages(&self) -> u64 {
        self.whole.host_pages
    }

    /// Returns the mean number of reads of a page per second, and the mean number of writes. The
    /// means include the hours of the day in which the host does not work.
    pub fn of(&self, page: u64) -> (f64, f64) {
        let of = |direction: &Direction| {
            if direction.rate > 0.0 { direction.rate * direction.weights.of(page) } else { 0.0 }
        };
        (of(&self.reads), of(&self.writes))
    }

    /// Returns the numbers of about `most` pages that are the most popular ones. The numbers are in
    /// ascending order, and each number occurs once.
    pub fn hottest(&self, most: u64) -> Vec<u64> {
        let Whole { area, scatter, page_bytes, .. } = &self.whole;
        // All pages of a run have the same popularity rank.
        let run_bytes = area.classes.iter().map(|c| c.bytes * c.per_run).min().unwrap_or(1);
        let of_run = |rank: u64| {
            let from = scatter.image(rank) * run_bytes;
            from / page_bytes..(from + run_bytes).div_ceil(*page_bytes).min(self.pages())
        };
        let mut pages: Vec<u64> =
            (0..most.min(area.runs())).flat_map(of_run).take(most as usize).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Returns the number of bytes that the host writes per second.
    pub fn write_bytes_per_s(&self) -> f64 {
        self.writes.rate * self.whole.mean_bytes()
    }

    /// Returns the number of bytes that the host reads per second.
    pub fn read_bytes_per_s(&self) -> f64 {
        self.reads.rate * self.whole.mean_bytes()
    }

    /// Returns the share of the written pages that a write covers only in part. The drive reads the
    /// rest of such a page first.
    pub fn partial(&self) -> f64 {
        self.whole.partial_share()
    }

    /// Returns whether all pages have the same rates, and the host writes them in random order.
    pub fn is_even(&self) -> bool {
        self.is_even
    }

    /// Returns the number of pages at the start of the drive that the host writes from the first to
    /// the last, again and again. The host reads all of these pages at the same rate. Returns
    /// `None` for writes in another order, and for uneven reads.
    pub fn sequential(&self) -> Option<u64> {
        self.sequential
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(table: &str) -> PageLaw {
        let config: WorkloadConfig = toml::from_str(table).unwrap();
        PageLaw::new(&config, 10_000 * 16_384, 16_384, 3).unwrap()
    }

    #[test]
    fn worked_example() {
        let law =
            law("rate = 1000.0\nread_share = 0.7\nrequests = 1\ndistribution = \"uniform\"\n\
             block_size = \"16KiB\"");
        let (reads, writes) = law.of(77);
        assert!(
            (reads - 0.07).abs() < 1e-9
                && (writes - 0.03).abs() < 1e-9
                && law.is_even()
                && law.partial() == 0.0
        );
        assert!((law.write_bytes_per_s() - 300.0 * 16_384.0).abs() < 1e-6);
    }

    /// Writes from start to end are not even: GC copies no page of theirs.
    #[test]
    fn sequential_writes_have_a_kind_of_their_own() {
        let of = |keys: &str| {
            let law = law(&format!("rate = 1000.0\nread_share = 0.5\nrequests = 1\n{keys}"));
            (law.is_even(), law.sequential())
        };
        assert_eq!(of("distribution = \"sequential\""), (false, Some(10_000)));
        assert_eq!(
            of("write_distribution = \"sequential\"\nfootprint = 0.25"),
            (false, Some(2_500))
        );
        let uneven = "distribution = \"zipf:0.99\"\nwrite_distribution = \"sequential\"";
        assert_eq!(of(uneven), (false, None));
        assert_eq!(of("write_distribution = \"uniform\""), (true, None));
    }

    #[test]
    fn the_hottest_pages_are_those_of_the_first_ranks() {
        let law =
            law("rate = 1000.0\nread_share = 1.0\nrequests = 1\ndistribution = \"zipf:0.99\"\n\
             block_size = \"4KiB\"");
        let hottest = law.hottest(50);
        let least = hottest.iter().map(|page| law.of(*page).0).fold(f64::MAX, f64::min);
        let hotter = (0..law.pages()).filter(|page| law.of(*page).0 > least).count();
        assert!(
            hottest.len() == 50 && hotter < 50,
            "{hotter} pages are hotter than the last of the hottest"
        );
        assert!((law.partial() - 1.0).abs() < 1e-12 && !law.is_even());
        let all: f64 = (0..law.pages()).map(|page| law.of(page).0).sum();
        assert!((all / 1000.0 - 1.0).abs() < 1e-9, "{all}");
    }
}
