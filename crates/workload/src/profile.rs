//! What is in a trace: rows, bytes and pages by direction and device, sizes, popularity of pages, busy regions, load over time.
//!
//! Rows go in one by one. Memory grows with what was touched, not with the rows: about 6 bytes a page where neighbours are
//! touched too, at worst 90 (`pages`); 16 bytes a distinct size that is no multiple of 512; a few hundred KiB besides.

mod islands;
mod pages;
mod popularity;
mod sizes;
mod timeline;

use std::collections::BTreeMap;

use vpass_core::base::request::Op;

use crate::traces::TraceRow;
pub use islands::Island;
pub use pages::PageCounts;
pub use popularity::Popularity;
pub use sizes::Sizes;
pub use timeline::{Step, Timeline};

/// A count for reads, writes and trims, by `Op as usize`.
pub type ByOp = [u64; 3];

/// What one device of a trace was asked for.
#[derive(Debug, Default)]
pub struct Device {
    /// [`Row::device`].
    pub number: u32,
    /// Requests.
    pub rows: ByOp,
    /// Bytes asked for.
    pub bytes: ByOp,
    /// End of the highest request, in bytes.
    pub extent: u64,
    /// How often each page was read and written.
    pub pages: PageCounts,
}

/// A part of a device's addresses and what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The device, as its place in [`Profile::devices`].
    pub device: usize,
    /// Its number among the regions of the device, from address 0.
    pub number: u64,
    /// Page reads.
    pub reads: u64,
    /// Page writes.
    pub writes: u64,
}

/// The rows of a trace, counted.
#[derive(Debug)]
pub struct Profile {
    page_shift: u32,
    devices: Vec<Device>,
    /// Place in `devices` by number.
    place: BTreeMap<u32, usize>,
    latest: usize,
    sizes: Sizes,
    timeline: Timeline,
}

impl Profile {
    /// For pages of this size, a power of two.
    pub fn new(page_bytes: u32) -> Self {
        debug_assert!(page_bytes.is_power_of_two(), "drives have no other pages");
        Self {
            page_shift: page_bytes.trailing_zeros(),
            devices: vec![],
            place: BTreeMap::new(),
            latest: 0,
            sizes: Sizes::default(),
            timeline: Timeline::default(),
        }
    }

    /// Counts a row.
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
        match row.op {
            Op::Read => device.pages.read(first, pages),
            Op::Write => device.pages.write(first, pages),
            Op::Trim => {}
        }
        self.timeline.add(row.at_ns, row.op, pages);
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

    /// The devices, in the order in which they appear.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Sizes of the requests.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// When the requests came.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// How often pages that were read at all were read.
    pub fn reads(&self) -> Popularity {
        Popularity::new(self.counts().map(|(reads, _)| reads))
    }

    /// How often pages that were written at all were written.
    pub fn writes(&self) -> Popularity {
        Popularity::new(self.counts().map(|(_, writes)| writes))
    }

    /// Pages read or written.
    pub fn pages_touched(&self) -> u64 {
        self.counts().count() as u64
    }

    fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.devices.iter().flat_map(|device| device.pages.iter().map(|(_, reads, writes)| (reads, writes)))
    }

    /// Parts of the addresses with large untouched gaps between them, by device and address: at most `most` more than there are devices.
    pub fn islands(&self, most: usize) -> Vec<Island> {
        islands::islands(self.devices.iter().map(|device| &device.pages), self.page_shift, most)
    }

    /// Every region of so many pages that was read or written: the one with the most page reads first, of equals the first.
    pub fn regions(&self, pages: u64) -> Vec<Region> {
        let mut regions = vec![];
        for (device, counts) in self.devices.iter().enumerate() {
            let mut sums: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
            for (page, reads, writes) in counts.pages.iter() {
                let sum = sums.entry(page / pages).or_default();
                *sum = (sum.0 + reads, sum.1 + writes);
            }
            regions.extend(sums.into_iter().map(|(number, (reads, writes))| Region { device, number, reads, writes }));
        }
        regions.sort_by_key(|r| std::cmp::Reverse(r.reads));
        regions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at_ns: u64, device: u32, offset: u64, bytes: u64, op: Op) -> TraceRow {
        TraceRow { at_ns, device, offset, bytes, op, hint: None }
    }

    #[test]
    fn a_few_rows_by_hand() {
        let mut profile = Profile::new(16 << 10);
        // Two bytes on either side of a border are two pages.
        profile.add(&row(0, 7, (16 << 10) - 1, 2, Op::Read));
        profile.add(&row(10, 7, 0, 4096, Op::Read));
        profile.add(&row(20, 9, 0, 4096, Op::Write));
        profile.add(&row(30, 7, 1 << 22, 16 << 10, Op::Read));
        profile.add(&row(40, 7, 1 << 30, 4096, Op::Trim));
        let [seven, nine] = profile.devices() else { panic!("two devices") };
        assert_eq!((seven.number, seven.rows, seven.bytes), (7, [3, 0, 1], [2 + 4096 + 16384, 0, 4096]));
        assert_eq!((nine.number, nine.rows, nine.extent), (9, [0, 1, 0], 4096));
        assert_eq!(seven.extent, (1 << 30) + 4096);
        assert_eq!(profile.pages_touched(), 4);
        let reads = profile.reads();
        assert_eq!((reads.pages(), reads.total(), reads.pages_with(2)), (3, 4, 1));
        assert_eq!(profile.writes().total(), 1);
        let region = |device, number, reads, writes| Region { device, number, reads, writes };
        assert_eq!(profile.regions(256), [region(0, 0, 3, 0), region(0, 1, 1, 0), region(1, 0, 0, 1)]);
        assert_eq!(profile.timeline().span_ns(), 40);
    }
}
