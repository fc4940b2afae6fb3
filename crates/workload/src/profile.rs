//! Profile of a trace: numbers of rows, bytes and pages for each direction and device, request
//! sizes, popularity of pages, busy regions, and load over time.
//!
//! Rows of the trace are added one by one. Memory grows with the number of touched pages:
//! - about 6 bytes for a page whose neighbours are touched too, and about 100 bytes for any other
//!   page (`pages`)
//! - 16 bytes per distinct size that is not a multiple of 512
//! - a few hundred KiB for all other counts
//!
//! If the trace touches more than [`MOST_LINES`] groups of pages, requests are counted page by page
//! only for some of the pages (`followed`). In this case, all numbers of pages are estimates.

mod followed;
mod islands;
mod pages;
mod popularity;
mod sizes;
mod timeline;

use std::collections::BTreeMap;

use vpass_drive::base::request::Op;

use crate::traces::TraceRow;
use followed::Followed;
pub use islands::Island;
pub use pages::PageCounts;
pub use popularity::Popularity;
pub use sizes::Sizes;
pub use timeline::{Step, Timeline};

/// Largest number of groups of 16 pages whose counts are kept. This number is enough for 64 Mi
/// neighbouring pages or 4 Mi scattered pages. The counts occupy at most about 1 GiB of memory.
pub const MOST_LINES: usize = 4 << 20;

/// Counts of reads, writes and trims. The index is `Op as usize`.
pub type ByOp = [u64; 3];

/// Counts of the requests that a trace makes to one device.
#[derive(Debug, Default)]
pub struct Device {
    /// Number of the device ([`TraceRow::device`]).
    pub number: u32,
    /// Number of requests to the device, by direction.
    pub rows: ByOp,
    /// Number of requested bytes, by direction.
    pub bytes: ByOp,
    /// End of the request with the highest address, in bytes.
    pub extent: u64,
    /// Number of reads and writes of each page of the device.
    pub pages: PageCounts,
}

/// Region of a device's addresses, with the number of page reads and the number of page writes in
/// the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Index of the device in [`Profile::devices`].
    pub device: usize,
    /// Number of the region, in the order of addresses. Region 0 begins at address 0.
    pub number: u64,
    /// Number of page reads in the region.
    pub reads: u64,
    /// Number of page writes in the region.
    pub writes: u64,
}

/// Counts that summarise all rows of a trace.
#[derive(Debug)]
pub struct Profile {
    page_shift: u32,
    devices: Vec<Device>,
    /// For each device number, the index of the device in `devices`.
    place: BTreeMap<u32, usize>,
    latest: usize,
    sizes: Sizes,
    timeline: Timeline,
    followed: Followed,
    /// Number of groups of 16 pages whose counts are kept.
    lines: usize,
    /// Largest number of groups of 16 pages whose counts may be kept.
    most_lines: usize,
    /// Number of page accesses in each direction. Accesses to pages without counts of their own are
    /// included.
    accesses: ByOp,
}

impl Profile {
    /// Makes an empty profile for pages of `page_bytes` bytes, which is a power of two.
    pub fn new(page_bytes: u32) -> Self {
        Self::with_limit(page_bytes, MOST_LINES)
    }

    /// Makes an empty profile for pages of `page_bytes` bytes. The profile keeps counts of at most
    /// `most_lines` groups of 16 pages.
    pub fn with_limit(page_bytes: u32, most_lines: usize) -> Self {
        debug_assert!(page_bytes.is_power_of_two(), "page size {page_bytes}");
        let page_shift = page_bytes.trailing_zeros();
        Self {
            followed: Followed::all(page_shift),
            lines: 0,
            most_lines,
            accesses: [0; 3],
            page_shift,
            devices: vec![],
            place: BTreeMap::new(),
            latest: 0,
            sizes: Sizes::default(),
            timeline: Timeline::default(),
        }
    }

    /// Adds a row of the trace to all counts.
    pub fn add(&mut self, row: &TraceRow) {
        let place = self.place_of(row.device);
        let device = &mut self.devices[place];
        let op = row.op as usize;
        device.rows[op] += 1;
        device.bytes[op] += row.bytes;
        device.extent = device.extent.max(row.offset + row.bytes);
        self.sizes.add(row.bytes, row.op);
        let first = row.offset >> self.page_shift;
        let pages = ((row.offset + row.bytes - 1) >> self.page_shift) - first + 1;
        self.accesses[op] += pages;
        let before = device.pages.lines();
        for (first, pages) in self.followed.parts(row.device, first, pages) {
            match row.op {
                Op::Read => device.pages.read(first, pages),
                Op::Write => device.pages.write(first, pages),
                Op::Trim => {}
            }
        }
        self.lines += device.pages.lines() - before;
        if self.lines > self.most_lines {
            self.follow_fewer();
        }
        self.timeline.add(row.at_ns, row.op, pages);
    }

    /// Halves the number of followed pages, again and again, until a quarter of the memory for
    /// counts is free.
    #[cold]
    fn follow_fewer(&mut self) {
        while 4 * self.lines > 3 * self.most_lines && self.followed.one_in() < 1 << 40 {
            self.followed = self.followed.half();
            let followed = self.followed;
            for device in &mut self.devices {
                device.pages.retain(|page| followed.follows(device.number, page));
            }
            self.lines = self.devices.iter().map(|device| device.pages.lines()).sum();
        }
    }

    fn place_of(&mut self, number: u32) -> usize {
        if self.devices.get(self.latest).is_none_or(|latest| latest.number != number) {
            let next = self.devices.len();
            self.latest = *self.place.entry(number).or_insert(next);
            if self.latest == next {
                self.devices.push(Device { number, ..Device::default() });
            }
        }
        self.latest
    }

    /// Returns the devices of the trace, in the order of their first request.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the number of requests of each size.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Returns the times of the requests and the load over time.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Returns N if one page in N was followed (counted page by page). If N is above 1, all numbers
    /// of pages are estimates.
    pub fn one_in(&self) -> u64 {
        self.followed.one_in()
    }

    /// Returns the number of page accesses in a direction. This number is exact even if not all
    /// pages are followed.
    pub fn accesses(&self, op: Op) -> u64 {
        self.accesses[op as usize]
    }

    /// Returns the uncertainty of an estimated number of pages. The uncertainty is half the width
    /// of the 95 % confidence interval, divided by the estimated number. Returns 0 if all pages
    /// were followed.
    pub fn uncertainty(&self) -> f64 {
        let followed = self.followed;
        let mut by_stretch: BTreeMap<(u32, u64), u64> = BTreeMap::new();
        for device in self.devices.iter().filter(|_| followed.one_in() > 1) {
            for (page, ..) in device.pages.iter() {
                *by_stretch.entry((device.number, followed.stretch(page))).or_default() += 1;
            }
        }
        let (sum, squares) = by_stretch
            .values()
            .fold((0.0, 0.0), |(sum, squares), n| (sum + *n as f64, squares + (*n as f64).powi(2)));
        let left_out = 1.0 - 1.0 / followed.one_in() as f64;
        if sum > 0.0 { 1.96 * (left_out * squares).sqrt() / sum } else { 0.0 }
    }

    /// Returns how the reads are distributed over the pages that were read.
    pub fn reads(&self) -> Popularity {
        Popularity::new(self.counts().map(|(reads, _)| reads)).times(self.one_in())
    }

    /// Returns how the writes are distributed over the pages that were written.
    pub fn writes(&self) -> Popularity {
        Popularity::new(self.counts().map(|(_, writes)| writes)).times(self.one_in())
    }

    /// Returns the number of pages that were read or written.
    pub fn pages_touched(&self) -> u64 {
        self.counts().count() as u64 * self.one_in()
    }

    /// Returns the number of pages of a device that were read or written.
    pub fn pages_touched_of(&self, device: &Device) -> u64 {
        device.pages.iter().count() as u64 * self.one_in()
    }

    fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.devices
            .iter()
            .flat_map(|device| device.pages.iter().map(|(_, reads, writes)| (reads, writes)))
    }

    /// Divides the addresses of each device at large untouched gaps. Returns the ranges between
    /// these gaps, in the order of devices and addresses. At most `most` gaps are used. If not all
    /// pages were followed, the list is empty, because pages that are not followed would look like
    /// gaps.
    pub fn islands(&self, most: usize) -> Vec<Island> {
        if self.one_in() > 1 {
            return vec![];
        }
        islands::islands(self.devices.iter().map(|device| &device.pages), self.page_shift, most)
    }

    /// Divides all addresses into regions of `pages` pages. Returns each region in which a touched
    /// page was counted by itself (followed). The region with the most reads comes first. Regions
    /// with equal reads come in the order of their addresses.
    pub fn regions(&self, pages: u64) -> Vec<Region> {
        let mut regions = vec![];
        for (device, counts) in self.devices.iter().enumerate() {
            let mut sums: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
            for (page, reads, writes) in counts.pages.iter() {
                let sum = sums.entry(page / pages).or_default();
                *sum = (sum.0 + reads, sum.1 + writes);
            }
            regions.extend(sums.into_iter().map(|(number, (reads, writes))| Region {
                device,
                number,
                reads,
                writes,
            }));
        }
        regions.sort_by_key(|r| std::cmp::Reverse(r.reads));
        regions
    }
}

/// Returns a percentile of values that come in ascending order with their numbers. At least
/// `percent` % of them have this value or a lower value.
fn percentile(mut values: impl Iterator<Item = (u64, u64)> + Clone, percent: f64) -> Option<u64> {
    let all = values.clone().map(|(_, count)| count).sum::<u64>();
    let rank = ((all as f64 * percent / 100.0).ceil() as u64).clamp(1, all.max(1));
    let mut seen = 0;
    values.find_map(|(value, count)| {
        seen += count;
        (seen >= rank).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at_ns: u64, device: u32, offset: u64, bytes: u64, op: Op) -> TraceRow {
        TraceRow { at_ns, device, offset, bytes, op, hint: None }
    }

    #[test]
    fn beyond_the_limit_numbers_of_pages_are_estimates() {
        // The trace reads 20,000 pages of 16 KiB: two neighbouring pages in each of 10,000
        // stretches of 4 MiB. Every second pair of pages is read twice.
        let rows = (0..10_000u64)
            .map(|n| row(n, (n % 3) as u32, n << 22, 32 << 10, Op::Read))
            .collect::<Vec<_>>();
        let of = |most_lines: usize| {
            let mut profile = Profile::with_limit(16 << 10, most_lines);
            rows.iter().chain(rows.iter().step_by(2)).for_each(|row| profile.add(row));
            profile
        };
        let (all, few) = (of(10_000), of(1000));
        assert_eq!(
            (all.one_in(), all.pages_touched(), all.reads().pages_with(1)),
            (1, 20_000, 10_000)
        );
        assert!(all.uncertainty() == 0.0);
        assert_eq!((few.one_in(), few.accesses(Op::Read), few.islands(9)), (16, 30_000, vec![]));
        assert!(few.lines <= 1000);
        // About 625 pairs of pages are followed, so the uncertainty is 1.96 / sqrt 625, or 8 %.
        assert!((0.06..0.1).contains(&few.uncertainty()), "{}", few.uncertainty());
        let off = |estimate: u64, exact: u64| (estimate as f64 / exact as f64 - 1.0).abs();
        let of_few = few.reads();
        assert!(
            off(few.pages_touched(), 20_000) < 0.15
                && off(of_few.pages_with(1), 10_000) < 0.2
                && off(of_few.total(), 30_000) < 0.2
        );
        assert_eq!((of_few.percentile(100.0), of_few.percentile(10.0)), (Some(2), Some(1)));
        assert_eq!(
            few.devices().iter().map(|device| few.pages_touched_of(device)).sum::<u64>(),
            few.pages_touched()
        );
    }

    #[test]
    fn a_few_rows_by_hand() {
        let mut profile = Profile::new(16 << 10);
        // A request of two bytes that crosses a page border touches two pages.
        profile.add(&row(0, 7, (16 << 10) - 1, 2, Op::Read));
        profile.add(&row(10, 7, 0, 4096, Op::Read));
        profile.add(&row(20, 9, 0, 4096, Op::Write));
        profile.add(&row(30, 7, 1 << 22, 16 << 10, Op::Read));
        profile.add(&row(40, 7, 1 << 30, 4096, Op::Trim));
        let [seven, nine] = profile.devices() else { panic!("two devices") };
        assert_eq!(
            (seven.number, seven.rows, seven.bytes),
            (7, [3, 0, 1], [2 + 4096 + 16384, 0, 4096])
        );
        assert_eq!((nine.number, nine.rows, nine.extent), (9, [0, 1, 0], 4096));
        assert_eq!(seven.extent, (1 << 30) + 4096);
        assert_eq!(profile.pages_touched(), 4);
        let reads = profile.reads();
        assert_eq!((reads.pages(), reads.total(), reads.pages_with(2)), (3, 4, 1));
        assert_eq!(profile.writes().total(), 1);
        let region = |device, number, reads, writes| Region { device, number, reads, writes };
        assert_eq!(
            profile.regions(256),
            [region(0, 0, 3, 0), region(0, 1, 1, 0), region(1, 0, 0, 1)]
        );
        assert_eq!(profile.timeline().span_ns(), 40);
    }
}
