//! Makes one stream of requests for a drive from the parts of a workload.

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::config::ConfigError;

use super::parts_config::{PartsConfig, in_part, seed_of};
use super::side_by_side::{Side, SideBySide};
use crate::finite::{Draw, Finite};
use crate::pass::PassSource;
use crate::synthetic::SyntheticSource;

/// Source of the requests of a workload with parts.
pub type PartsSource = Finite<SideBySide<SyntheticSource>>;

impl PartsSource {
    /// Makes the source for a drive that has `capacity` bytes and pages of `page_bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if a key is invalid, or if a part does not fit on the drive.
    pub fn new(
        config: &PartsConfig,
        capacity: u64,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let page = u64::from(page_bytes);
        let side = |(n, part): (usize, &super::PartConfig)| {
            let (first, pages) = in_part(n + 1, part.pages(capacity / page, page, 1))?;
            let source =
                SyntheticSource::new(&part.alone(), pages * page, page_bytes, seed_of(n, seed));
            in_part(n + 1, source).map(|source| Side::new(source, first * page))
        };
        let sides = config.part.iter().enumerate().map(side).collect::<Result<_, _>>()?;
        let merged = SideBySide::new(sides).map_err(ConfigError::new)?;
        Ok(Self::of(merged, config.requests, Arrival::Open))
    }
}

impl Draw for SideBySide<SyntheticSource> {
    fn draw(&mut self, out: &mut Vec<Request>, count: usize) -> Result<(), SourceError> {
        self.fill(out, count)
    }

    fn memory(&self) -> u64 {
        PassSource::memory(self)
    }
}
