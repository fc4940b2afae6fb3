//! Finds the separate parts ("islands") of a device's addresses. Two islands are separated by a
//! large gap of untouched addresses. A gap is large if it has at least a certain number of bytes
//! and at least a certain share of the used address range. A trace with evenly scattered addresses
//! is one island. A disk with partitions has several islands.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::PageCounts;

/// Length of the smallest gap between islands, in bytes. The smallest structures of a file system
/// are shorter than this length, and so are most gaps between two files.
const LEAST_GAP_BYTES: u64 = 16 << 20;
/// Ratio of the used address range to the smallest gap between islands. The used address range
/// reaches from the first to the last touched page.
const LEAST_GAP_SHARE: u64 = 256;
/// Length of the stretches into which pages are grouped, in bytes. Every gap between islands is
/// much longer.
const STRETCH_BYTES: u64 = 1 << 20;

/// Island: a range of pages that contains no large gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Island {
    /// Index of the device in [`super::Profile::devices`].
    pub device: usize,
    /// First touched page of the island.
    pub first: u64,
    /// Last touched page of the island.
    pub last: u64,
    /// Number of touched pages in the island.
    pub touched: u64,
    /// Number of page reads in the island.
    pub reads: u64,
    /// Number of page writes in the island.
    pub writes: u64,
}

/// Returns the islands in the order of devices and addresses. If there are more than `most` gaps,
/// only the `most` largest gaps separate islands. Among gaps of equal size, earlier gaps are
/// preferred.
pub(super) fn islands<'a>(
    devices: impl Iterator<Item = &'a PageCounts>,
    page_shift: u32,
    most: usize,
) -> Vec<Island> {
    let stretches: Vec<_> =
        devices.enumerate().map(|(device, pages)| stretches(device, pages, page_shift)).collect();
    let mut gaps = vec![];
    for (device, stretches) in stretches.iter().enumerate() {
        let (Some(lowest), Some(highest)) = (stretches.first(), stretches.last()) else { continue };
        let least =
            (LEAST_GAP_BYTES >> page_shift).max((highest.last - lowest.first) / LEAST_GAP_SHARE);
        for (i, pair) in stretches.windows(2).enumerate() {
            let gap = pair[1].first - pair[0].last - 1;
            if gap >= least {
                gaps.push((Reverse(gap), device, i));
            }
        }
    }
    gaps.sort_unstable();
    gaps.truncate(most);
    let mut islands: Vec<Island> = vec![];
    for (device, stretches) in stretches.into_iter().enumerate() {
        for (i, stretch) in stretches.into_iter().enumerate() {
            let begins =
                i == 0 || gaps.iter().any(|(_, of, before)| (*of, *before) == (device, i - 1));
            match islands.last_mut().filter(|_| !begins) {
                Some(island) => island.join(&stretch),
                None => islands.push(stretch),
            }
        }
    }
    islands
}

/// Groups the touched pages of a device into stretches of equal length.
fn stretches(device: usize, pages: &PageCounts, page_shift: u32) -> Vec<Island> {
    let mut stretches: BTreeMap<u64, Island> = BTreeMap::new();
    for (page, reads, writes) in pages.iter() {
        let alone = Island { device, first: page, last: page, touched: 1, reads, writes };
        stretches
            .entry((page << page_shift) / STRETCH_BYTES)
            .and_modify(|stretch| stretch.join(&alone))
            .or_insert(alone);
    }
    stretches.into_values().collect()
}

impl Island {
    fn join(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.touched += other.touched;
        self.reads += other.reads;
        self.writes += other.writes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the islands of the given pages. A page has 1 MiB.
    fn of(pages: &[u64], most: usize) -> Vec<(u64, u64, u64)> {
        let mut counts = PageCounts::default();
        for page in pages {
            counts.read(*page, 1);
        }
        islands([&counts].into_iter(), 20, most)
            .iter()
            .map(|i| (i.first, i.last, i.touched))
            .collect()
    }

    #[test]
    fn parts_are_cut_at_gaps_of_16_mib() {
        // Between pages 5 and 21, 15 pages are missing, which is less than a gap. Between pages 21
        // and 38, 16 pages are missing.
        assert_eq!(of(&[21, 5, 38], 9), [(5, 21, 2), (38, 38, 1)]);
        assert_eq!(of(&[], 9), []);
    }

    #[test]
    fn of_many_gaps_the_largest_are_used() {
        let pages = [0, 100, 300, 400, 700];
        assert_eq!(of(&pages, 9).len(), 5);
        assert_eq!(of(&pages, 2), [(0, 100, 2), (300, 400, 2), (700, 700, 1)]);
        assert_eq!(
            of(&pages, 3),
            [(0, 0, 1), (100, 100, 1), (300, 400, 2), (700, 700, 1)],
            "of equal gaps, the first is used"
        );
    }

    #[test]
    fn scattered_pages_are_one_island() {
        // Each gap has 32 MiB, which is 1/320 of the used addresses and too small. A gap of 64 MiB
        // is 1/160 of them.
        let mut pages: Vec<u64> = (0..320).map(|i| i * 33).collect();
        assert_eq!(of(&pages, 9).len(), 1);
        pages.push(319 * 33 + 65);
        assert_eq!(of(&pages, 9).len(), 2);
    }

    #[test]
    fn devices_are_apart() {
        let mut counts = [PageCounts::default(), PageCounts::default(), PageCounts::default()];
        counts[0].read(7, 1);
        counts[2].write(7, 2);
        let found = islands(counts.iter(), 20, 0);
        let part = |device, last, reads, writes| Island {
            device,
            first: 7,
            last,
            touched: last - 6,
            reads,
            writes,
        };
        assert_eq!(found, [part(0, 7, 1, 0), part(2, 8, 0, 2)]);
    }
}
