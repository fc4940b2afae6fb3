//! Makes one stream of requests for a drive from the parts of a workload.

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::config::ConfigError;

use super::parts_config::{PartsConfig, in_part, seed_of};
use super::side_by_side::{Side, SideBySide};
use crate::pass::PassSource;
use crate::synthetic::SyntheticSource;

/// Source of the requests of a workload with parts.
pub struct PartsSource {
    merged: SideBySide<SyntheticSource>,
    requests: u64,
    left: u64,
}

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
        Ok(Self { merged, requests: config.requests, left: config.requests })
    }
}

impl RequestSource for PartsSource {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let count = self.left.min(max as u64);
        self.merged.fill(out, count as usize)?;
        self.left -= count;
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.requests)
    }
}

impl PassSource for PartsSource {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        self.left = self.requests;
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.merged.memory()
    }
}
