//! Turns the parts of a workload into read rates and single writes, for simulation gears that draw
//! reads in bulk. The source serves a whole drive or a sample of its pages.
//!
//! If the sample contains every Nth page of the drive, the address range of each part begins at a
//! multiple of N pages. As a result, the sample also contains every Nth page of each part, counted
//! from the part's first page.

use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::units::Lpn;
use vpass_drive::config::ConfigError;

use super::parts_config::{PartsConfig, in_part, seed_of};
use super::side_by_side::{Side, SideBySide};
use crate::steady::SteadyRates;
use crate::synthetic::Sample;

/// Part of a workload, with the first page that the part has in the sample.
struct Placed {
    source: SteadyRates,
    first_page: u64,
    pages: u64,
}

impl SteadyRates {
    /// Makes the rates and writes of a workload with parts for a sample of a drive. The drive has
    /// `capacity` bytes and pages of `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if a part does not fit on the drive. Also returns
    /// an error if a part reads sequentially.
    pub fn of_parts(
        config: &PartsConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
        sample: Sample,
    ) -> Result<Self, ConfigError> {
        config.check_rates()?;
        let (page, of) = (u64::from(page_bytes), u64::from(sample.of));
        let of_drive = capacity / page;
        let held = |pages: u64| pages.saturating_sub(sample.residue.into()).div_ceil(of);
        let mut parts = vec![];
        for (n, part) in config.part.iter().enumerate() {
            let (first, pages) = in_part(n + 1, part.pages(of_drive, page, of))?;
            let seed = seed_of(n, seed);
            let source = Self::of_table(&part.alone(), pages * page, page_bytes, seed, sample);
            let source = in_part(n + 1, source)?;
            parts.push(Placed { source, first_page: first / of, pages: held(pages) });
        }
        let rates = summed(&parts, held(of_drive));
        let side = |part: Placed| Side::new(part.source.writes, part.first_page * page);
        let writes = SideBySide::new(parts.into_iter().map(side).collect());
        Ok(Self { rates, writes: Box::new(writes.map_err(ConfigError::new)?) })
    }

    /// Returns the largest number of bytes that the rates of `parts` parts occupy in memory. The
    /// parts have `pages` pages in total.
    pub fn memory_of_parts(pages: u64, parts: u64) -> u64 {
        pages * 2 * size_of::<f32>() as u64 + parts * Self::memory_of_table(pages)
    }
}

impl PartsConfig {
    /// Checks that the parts are valid, and that their reads can be given as rates.
    ///
    /// # Errors
    /// Returns an error that names the first invalid key.
    pub fn check_rates(&self) -> Result<(), ConfigError> {
        self.check()?;
        (1..).zip(&self.part).try_for_each(|(n, part)| in_part(n, part.alone().check_rates()))
    }
}

/// Returns the sum of the read rates of all parts.
fn summed(parts: &[Placed], pages: u64) -> ReadRates {
    let mut each = vec![0.0f32; pages as usize];
    let (mut page_reads, mut requests, mut bytes) = (0.0, 0.0, 0.0);
    for part in parts {
        let rates = &part.source.rates;
        let sum = rates.pages.sum(part.pages as u32);
        page_reads += sum;
        requests += sum * rates.requests_per_page;
        bytes += sum * rates.bytes_per_page;
        let own = &mut each[part.first_page as usize..][..part.pages as usize];
        for (n, rate) in (0..).zip(own) {
            *rate += (rates.pages.per_ns(Lpn::new(n)) * 1e9) as f32;
        }
    }
    let mean = |all: f64| if page_reads > 0.0 { all / page_reads } else { 1.0 };
    ReadRates {
        pages: PageRates::Each(each),
        requests_per_page: mean(requests),
        bytes_per_page: mean(bytes),
    }
}
