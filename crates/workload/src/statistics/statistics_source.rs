//! Makes a stream of requests for one drive from a `[statistics]` table.

use std::sync::Arc;

use rand_core::SeedableRng;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Bytes, Ns};
use vpass_drive::config::ConfigError;

use super::disk::{DiskStatistics, SideStatistics};
use super::plan::SidePlan;
use super::side::{Ground, Side};
use super::statistics_config::StatisticsConfig;
use crate::pass::PassSource;
use crate::synthetic::random::{Random, Rng};

/// Source of requests that are generated from statistics.
///
/// The pages with the lowest numbers are only read. Pages that are both read and written follow.
/// The pages with the highest numbers are only written.
#[derive(Clone, Debug)]
pub struct StatisticsSource {
    arrival: Arrival,
    requests: u64,
    sides: [Option<Side>; 2],
    /// Next read request and next write request.
    next: [Option<Request>; 2],
    pass_ns: Ns,
    passes: u64,
    target: DiskStatistics,
}

impl StatisticsSource {
    /// Makes the source for a drive of `capacity` bytes.
    ///
    /// # Errors
    /// Returns an error for the first invalid key, or for statistics that contradict each other.
    /// Also returns an error if the footprint is larger than the drive.
    pub fn new(config: &StatisticsConfig, capacity: u64, seed: u64) -> Result<Self, ConfigError> {
        Self::of(config, capacity, seed).map_err(|e| match config.scale {
            // Scaling rounds the statistics. Statistics that agree at full scale may contradict
            // each other after scaling, so the message gives the scale.
            scale if scale < 1.0 && e.to_string().contains("contradict") => {
                ConfigError::new(format!("{e} (at statistics.scale = {scale})"))
            }
            _ => e,
        })
    }

    fn of(config: &StatisticsConfig, capacity: u64, seed: u64) -> Result<Self, ConfigError> {
        let target = DiskStatistics::of(config)?;
        let footprint = target.footprint_pages * target.page_bytes;
        if footprint > capacity {
            let scale = config.scale * capacity as f64 / footprint as f64;
            // The message suggests a scale, rounded down to two digits.
            let digit = 10f64.powf(scale.log10().floor() - 1.0);
            return Err(ConfigError::new(format!(
                "statistics: the footprint of {footprint} bytes ({} pages) does not fit the \
                 drive's {}; use statistics.scale = {} or a larger drive",
                target.footprint_pages,
                Bytes(capacity),
                ((scale / digit).floor() * digit * 1e9).round() / 1e9
            )));
        }
        let ground = Ground {
            page_bytes: target.page_bytes,
            extent_pages: config.extent.0 / target.page_bytes,
            window_ends_ns: Arc::from(target.window_ends_ns.as_slice()),
        };
        let mut root = Random::seed_from_u64(seed);
        let first_written = target.footprint_pages - target.writes.as_ref().map_or(0, |w| w.pages);
        let mut requests = 0;
        let mut side = |op, name, base: u64, wanted: &Option<SideStatistics>| {
            let seed = root.next_u64();
            let Some(wanted) = wanted else { return Ok(None) };
            let plan = SidePlan::new(name, wanted, ground.page_bytes)?;
            requests += plan.requests();
            Ok(Some(Side::new(op, &plan, base as u32, &wanted.window_pages, &ground, seed)))
        };
        let sides = [
            side(Op::Read, "reads", 0, &target.reads)?,
            side(Op::Write, "writes", first_written, &target.writes)?,
        ];
        let mut source = Self {
            arrival: config.queue_depth.map_or(Arrival::Open, |depth| Arrival::Closed { depth }),
            requests,
            sides,
            next: [None, None],
            pass_ns: target.window_ends_ns.last().copied().unwrap_or(0),
            passes: 0,
            target,
        };
        source.begin_pass();
        Ok(source)
    }

    /// Returns the statistics of a pass, which are the same for all passes.
    pub fn statistics(&self) -> &DiskStatistics {
        &self.target
    }

    fn begin_pass(&mut self) {
        for (side, next) in self.sides.iter_mut().zip(&mut self.next) {
            *next = side.as_mut().and_then(|side| {
                side.begin_pass(self.passes * self.pass_ns);
                side.next()
            });
        }
        self.passes += 1;
    }
}

impl RequestSource for StatisticsSource {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let [reads, writes] = &mut self.sides;
        let [next_read, next_write] = &mut self.next;
        for _ in 0..max {
            let read_first = match (&next_read, &next_write) {
                (None, None) => break,
                (Some(read), Some(write)) => read.at <= write.at,
                (read, _) => read.is_some(),
            };
            let (side, next) = if read_first {
                (&mut *reads, &mut *next_read)
            } else {
                (&mut *writes, &mut *next_write)
            };
            out.extend(next.take());
            *next = side.as_mut().and_then(Side::next);
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.requests)
    }
}

impl PassSource for StatisticsSource {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        self.begin_pass();
        Ok(())
    }

    fn memory(&self) -> u64 {
        self.sides.iter().flatten().map(Side::memory).sum()
    }
}
