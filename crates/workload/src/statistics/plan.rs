//! Plan of the requests of one direction. The plan contains the whole distribution of request sizes
//! and the whole distribution of page popularity. The plan divides the pages into blocks, and a
//! request always touches a whole block.

use std::fmt::Write;

use vpass_drive::config::ConfigError;

use super::curve::{Curve, Head, Known, OutOfRange};
use super::disk::SideStatistics;
use super::lengths::{Length, lengths};
use super::percentiles::rank;
use super::statistics_config::SECTOR_BYTES;
use super::tiling::{BlockClass, tile};

/// Plan of the requests of one direction.
#[derive(Clone, Debug)]
pub(super) struct SidePlan {
    /// Groups of requests. The requests of a group touch the same number of pages.
    pub(super) lengths: Vec<Length>,
    /// Blocks of pages, with the most popular blocks first. These blocks together contain all pages
    /// of this direction.
    pub(super) cells: Vec<BlockClass>,
}

impl SidePlan {
    /// Makes the plan of a direction. `name` is "reads" or "writes".
    ///
    /// # Errors
    /// Returns an error if numbers of the statistics contradict each other. The error names these
    /// numbers.
    pub(super) fn new(
        name: &str,
        side: &SideStatistics,
        page_bytes: u64,
    ) -> Result<Self, ConfigError> {
        let mut lengths = planned_lengths(name, side, page_bytes)?;
        let top = top_length(&lengths, side);
        let total = side.page_accesses();
        let known = Known {
            points: &side.accesses,
            items: side.pages,
            total,
            head: Head::Ranked { top },
            grain: 1,
            unit: 1,
        };
        let curve = Curve::new(&known).map_err(|range| contradiction(name, side, range))?;
        let marks: Vec<_> = side
            .accesses
            .iter()
            .map(|(percent, _)| side.pages - rank(*percent, side.pages))
            .collect();
        let first = lengths.iter().position(|l| u64::from(l.pages) == top).unwrap_or(0);
        let cells = tile(&curve.steps, &mut lengths, first, &marks, page_bytes);
        Ok(Self { lengths, cells })
    }

    /// Returns the number of requests of a pass.
    pub(super) fn requests(&self) -> u64 {
        self.cells.iter().map(BlockClass::requests).sum()
    }

    /// Returns the number of page accesses of a pass.
    pub(super) fn page_accesses(&self) -> u64 {
        self.cells.iter().map(|c| c.requests() * u64::from(c.pages)).sum()
    }
}

/// Returns the number of pages in the most popular block. Each request to this block touches all
/// pages of the block. As a result, all these pages are as popular as the most popular page.
pub(super) fn top_pages(
    name: &str,
    side: &SideStatistics,
    page_bytes: u64,
) -> Result<u64, ConfigError> {
    Ok(top_length(&planned_lengths(name, side, page_bytes)?, side))
}

/// Returns the largest number of requests that touch the same number of pages.
pub(super) fn most_of_one_length(
    side: &SideStatistics,
    page_bytes: u64,
) -> Result<f64, ConfigError> {
    Ok(planned_lengths("", side, page_bytes)?.iter().map(|l| l.requests).fold(0.0, f64::max))
}

fn top_length(lengths: &[Length], side: &SideStatistics) -> u64 {
    let most = side.accesses.last().map_or(1, |(_, accesses)| *accesses) as f64;
    let enough = lengths.iter().find(|l| l.requests >= most);
    let length = enough.or_else(|| lengths.iter().max_by(|a, b| a.requests.total_cmp(&b.requests)));
    u64::from(length.map_or(1, |l| l.pages))
}

fn planned_lengths(
    name: &str,
    side: &SideStatistics,
    page_bytes: u64,
) -> Result<Vec<Length>, ConfigError> {
    let unit = if side.sizes.iter().all(|(_, bytes)| bytes.is_multiple_of(SECTOR_BYTES)) {
        SECTOR_BYTES
    } else {
        1
    };
    let known = Known {
        points: &side.sizes,
        items: side.requests,
        total: side.bytes / unit * unit,
        head: Head::Plain,
        grain: page_bytes,
        unit,
    };
    let accesses = side.page_accesses();
    if let Err(OutOfRange { lowest, highest }) = Curve::new(&known) {
        return Err(ConfigError::new(format!(
            "statistics.{name} contradict each other: {} requests with these size percentiles have \
             {lowest} to {highest} bytes in all, but {} bytes are given",
            side.requests, side.bytes
        )));
    }
    // Several distributions of request sizes have the given percentiles. The first distribution
    // whose requests touch the right number of pages is used.
    let mut range = (u64::MAX, 0);
    let fitting = |curve: Curve| {
        lengths(&curve.steps, accesses, page_bytes)
            .map_err(|e| range = (range.0.min(e.0), range.1.max(e.1)))
            .ok()
    };
    let Some(lengths) = Curve::all(&known).find_map(fitting) else {
        return Err(ConfigError::new(format!(
            "statistics.{name} contradict each other: {} requests of these sizes touch {} to {} \
             pages in all, but the windows hold {accesses} pages",
            side.requests, range.0, range.1
        )));
    };
    let largest = lengths.iter().map(|l| l.pages).max().unwrap_or(1);
    if u64::from(largest) > side.pages {
        let mut text = format!(
            "statistics.{name}: the largest request touches {largest} pages, but \
             statistics.{name}.pages is only {}",
            side.pages
        );
        let _ = write!(
            text,
            "; use a larger statistics.scale, or give more {name}.pages or smaller {name}.sizes"
        );
        return Err(ConfigError::new(text));
    }
    Ok(lengths)
}

pub(super) fn contradiction(name: &str, side: &SideStatistics, range: OutOfRange) -> ConfigError {
    ConfigError::new(format!(
        "statistics.{name} contradict each other: {} pages with these popularity percentiles are \
         touched {} to {} times in all, but the windows hold {} pages",
        side.pages,
        range.lowest,
        range.highest,
        side.page_accesses()
    ))
}
