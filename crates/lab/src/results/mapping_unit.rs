//! Mapping unit of a drive (one flash page), and the cost of host writes that are smaller than the
//! mapping unit.
//!
//! ```text
//! the host makes ten writes of 4 KiB, and a flash page has 16 KiB
//! each write causes one fill read and programs a whole page
//! the drive makes 10 fill reads for 10 writes, and programs 160 KiB for 40 KiB written
//! the cost is 1 fill read per write, and 4 bytes programmed per byte written
//! ```

use serde::{Deserialize, Serialize};
use vpass_drive::base::metrics::HostCounts;

use super::warning::Warning;
use crate::numbers::{bytes, digits};

/// If the share of small writes is above this value, a warning tells the cost of the small writes.
const MANY: f64 = 0.1;

/// Mapping unit of a drive, and the share of host writes that are smaller than the mapping unit.
/// Shares and means are null without host writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MappingUnit {
    /// Size of the mapping unit in bytes. The drive maps whole flash pages, so a smaller write
    /// reads and programs a whole page.
    pub bytes: u64,
    /// Share of the write requests that are smaller than the mapping unit.
    pub small_write_share: Option<f64>,
    /// Share of the page writes in which the host wrote only a part of the page. Both small writes
    /// and the ends of larger writes may cause such page writes.
    pub partial_page_share: Option<f64>,
    /// Mean number of flash reads per write request. These reads complete pages that a request
    /// writes only in part.
    pub fill_reads_per_write: Option<f64>,
}

impl MappingUnit {
    /// Uses the page size and the counts of host requests to compute the results about the mapping
    /// unit.
    pub fn of<'a>(page_bytes: u64, hosts: impl IntoIterator<Item = &'a HostCounts>) -> Self {
        let (mut requests, mut small, mut pages, mut partial, mut fills) = (0, 0, 0, 0, 0);
        for host in hosts {
            requests += host.write_requests;
            small += host.small_writes;
            pages += host.write_pages;
            partial += host.partial_page_writes;
            fills += host.fill_reads;
        }
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        Self {
            bytes: page_bytes,
            small_write_share: share(small, requests),
            partial_page_share: share(partial, pages),
            fill_reads_per_write: share(fills, requests),
        }
    }

    /// Returns whether a warning is needed, because many writes are smaller than the mapping unit.
    pub fn is_badly_filled(&self) -> bool {
        self.is_badly_filled_by_requests()
            || self.partial_page_share.is_some_and(|share| share > MANY)
    }

    fn is_badly_filled_by_requests(&self) -> bool {
        self.small_write_share.is_some_and(|share| share > MANY)
    }

    /// Returns the warning about writes that are smaller than the mapping unit. `programmed` is the
    /// part of the write amplification that the host's data has. Returns `None` if there are only
    /// few such writes.
    pub fn warning(&self, programmed: Option<f64>) -> Option<Warning> {
        let (share, which) = if self.is_badly_filled_by_requests() {
            (self.small_write_share, "writes are smaller than")
        } else {
            (self.partial_page_share, "page writes cover only a part of")
        };
        let share = share.filter(|_| self.is_badly_filled())?;
        let words = format!(
            "{{}} % of the {which} the mapping unit, a flash page of {}: a write took {{}} fill \
             reads, and {{}} bytes of host data were programmed per byte written. Small writes \
             cost less on a drive with a smaller mapping unit (docs/limitations.md).",
            bytes(self.bytes)
        );
        let [fills, programmed] = [self.fill_reads_per_write?, programmed?].map(|n| (n, digits(n)));
        Some(Warning::new(words, [(share, format!("{:.0}", 100.0 * share)), fills, programmed]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the counts of ten writes of 4 KiB on pages of 16 KiB, and of `whole` writes of whole
    /// pages.
    fn host(whole: u64) -> HostCounts {
        HostCounts {
            write_requests: 10 + whole,
            write_pages: 10 + whole,
            small_writes: 10,
            partial_page_writes: 10,
            fill_reads: 9,
            ..HostCounts::default()
        }
    }

    fn of(host: &HostCounts) -> MappingUnit {
        MappingUnit::of(16_384, [host])
    }

    #[test]
    fn the_cost_of_small_writes_is_reported_above_a_tenth_of_the_writes() {
        assert_eq!(
            of(&host(0)).warning(Some(4.0)).unwrap().sentence(),
            "100 % of the writes are smaller than the mapping unit, a flash page of 16.0 KiB: a \
             write took 0.90 fill reads, and 4.00 bytes of host data were programmed per byte \
             written. Small writes cost less on a drive with a smaller mapping unit \
             (docs/limitations.md)."
        );
        assert!(
            of(&host(89))
                .warning(Some(1.0))
                .unwrap()
                .sentence()
                .starts_with("10 % of the writes are smaller")
        );
        assert_eq!(of(&host(90)).warning(Some(1.0)), None, "a tenth is not more than a tenth");
        assert_eq!(of(&HostCounts::default()).warning(None), None, "nothing was written");
    }

    #[test]
    fn ends_of_large_writes_are_reported() {
        // The host makes 100 writes of 20 KiB. Each write covers one whole page and a quarter of
        // the next page.
        let ragged = HostCounts {
            write_requests: 100,
            write_pages: 200,
            partial_page_writes: 100,
            fill_reads: 100,
            ..HostCounts::default()
        };
        let told = of(&ragged).warning(Some(1.6)).unwrap().sentence();
        assert!(
            told.starts_with("50 % of the page writes cover only a part of the mapping unit"),
            "{told}"
        );
        assert!(
            told.contains(
                "a write took 1.00 fill reads, and 1.60 bytes of host data were programmed per \
                 byte written"
            ),
            "{told}"
        );
    }

    #[test]
    fn several_runs_count_as_one() {
        let other = HostCounts { fill_reads: 8, ..host(0) };
        let sum = MappingUnit::of(16_384, [&host(0), &other]);
        assert_eq!((sum.fill_reads_per_write, sum.small_write_share), (Some(0.85), Some(1.0)));
    }
}
