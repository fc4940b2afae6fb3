//! Turns the parts of a workload into read rates and single writes, for simulation gears that draw
//! reads in bulk. The source serves a whole drive or a sample of its pages.
//!
//! If the sample contains every Nth page of the drive, the address range of each part begins at a
//! multiple of N pages. As a result, the sample also contains every Nth page of each part, counted
//! from the part's first page.

use vpass_drive::base::rates::{PageRates, ReadRates};
use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::config::ConfigError;
use vpass_drive::time::FluidSource;

use super::parts_config::{PartsConfig, in_part, seed_of};
use super::side_by_side::{Side, SideBySide};
use crate::synthetic::{FluidSynthetic, Sample};

/// Source of the read rates and writes of a workload with parts.
pub struct FluidParts {
    rates: ReadRates,
    writes: SideBySide<Writes>,
}

/// Part of a workload, with the first page that the part has in the sample.
struct Placed {
    source: FluidSynthetic,
    first_page: u64,
    pages: u64,
}

impl FluidParts {
    /// Makes the source for a sample of a drive. The drive has `capacity` bytes and pages of
    /// `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if a part does not fit on the drive. Also returns
    /// an error if a part reads sequentially.
    pub fn new(
        config: &PartsConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
        sample: Sample,
    ) -> Result<Self, ConfigError> {
        Self::check(config)?;
        let (page, of) = (u64::from(page_bytes), u64::from(sample.of));
        let of_drive = capacity / page;
        let held = |pages: u64| pages.saturating_sub(sample.residue.into()).div_ceil(of);
        let mut parts = vec![];
        for (n, part) in config.part.iter().enumerate() {
            let (first, pages) = in_part(n + 1, part.pages(of_drive, page, of))?;
            let seed = seed_of(n, seed);
            let source = FluidSynthetic::new(&part.alone(), pages * page, page_bytes, seed, sample);
            let source = in_part(n + 1, source)?;
            parts.push(Placed { source, first_page: first / of, pages: held(pages) });
        }
        let rates = summed(&mut parts, held(of_drive));
        let side = |part: Placed| Side::new(Writes(part.source), part.first_page * page);
        let writes = SideBySide::new(parts.into_iter().map(side).collect());
        Ok(Self { rates, writes: writes.map_err(ConfigError::new)? })
    }

    /// Checks that the parts of a workload are valid and have rates.
    ///
    /// # Errors
    /// Returns an error that names the first invalid key.
    pub fn check(config: &PartsConfig) -> Result<(), ConfigError> {
        config.check()?;
        (1..)
            .zip(&config.part)
            .try_for_each(|(n, part)| in_part(n, FluidSynthetic::check(&part.alone())))
    }

    /// Returns the largest number of bytes that the source occupies in memory for `parts` parts,
    /// which have `pages` pages in total.
    pub fn memory(pages: u64, parts: u64) -> u64 {
        pages * 2 * size_of::<f32>() as u64 + parts * FluidSynthetic::memory(pages)
    }
}

/// Returns the sum of the read rates of all parts.
fn summed(parts: &mut [Placed], pages: u64) -> ReadRates {
    let mut each = vec![0.0f32; pages as usize];
    let (mut page_reads, mut requests, mut bytes) = (0.0, 0.0, 0.0);
    for part in parts {
        let (rates, _) = part.source.rates(0);
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

impl FluidSource for FluidParts {
    fn rates(&mut self, _from: Ns) -> (ReadRates, Ns) {
        (self.rates.clone(), Ns::MAX)
    }

    fn writes(&mut self) -> &mut dyn RequestSource {
        &mut self.writes
    }
}

/// Source of the writes of one part.
struct Writes(FluidSynthetic);

impl RequestSource for Writes {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        self.0.writes().fill(out, max)
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}
