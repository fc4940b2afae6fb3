//! What is in a trace: rows, bytes and pages by direction and device, sizes, popularity of pages,
//! busy regions, load over time.
//!
//! Rows go in one by one. Memory grows with what was touched, not with the rows: about 6 bytes a
//! page where neighbours are touched too, at worst 90 (`pages`); 16 bytes a distinct size that is
//! no multiple of 512; a few hundred KiB besides. Beyond [`MOST_LINES`] only a share of the pages
//! is followed, and numbers of pages are estimates from it (`followed`).

mod followed;
mod islands;
mod pages;
mod popularity;
mod sizes;
mod timeline;

use std::collections::BTreeMap;

use vpass_core::base::request::Op;

use crate::traces::TraceRow;
use followed::Followed;
pub use islands::Island;
pub use pages::PageCounts;
pub use popularity::Popularity;
pub use sizes::Sizes;
pub use timeline::{Step, Timeline};

/// Groups of 16 pages that are held at most: 64 Mi pages side by side, 4 Mi scattered ones, about 1
/// GiB at the worst.
pub const MOST_LINES: usize = 4 << 20;

/// A count for reads, writes and trims, by `Op as usize`.
pub type ByOp = [u64; 3];

/// What one device of a trace was asked for.
#[derive(Debug, Default)]
pub struct Device {
    /// [`TraceRow::device`].
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
    followed: Followed,
    /// Groups of 16 pages that are held, and how many may be.
    lines: usize,
    most_lines: usize,
    /// Pages asked for, those that are not followed as well.
    accesses: ByOp,
}

impl Profile {
    /// For pages of this size, a power of two.
    pub fn new(page_bytes: u32) -> Self {
        Self::with_limit(page_bytes, MOST_LINES)
    }

    /// A profile that holds at most so many groups of 16 pages.
    pub fn with_limit(page_bytes: u32, most_lines: usize) -> Self {
        debug_assert!(page_bytes.is_power_of_two(), "drives have no other pages");
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

    /// Forgets half of the stretches until a quarter of the room is free.
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

    /// One page in this many was followed; all numbers of pages are estimates unless it is 1.
    pub fn one_in(&self) -> u64 {
        self.followed.one_in()
    }

    /// Pages asked for in this direction, exactly.
    pub fn accesses(&self, op: Op) -> u64 {
        self.accesses[op as usize]
    }

    /// Half the width of the 95 % interval of an estimated number of pages, as a share of it; 0
    /// where all pages were followed.
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

    /// How often pages that were read at all were read.
    pub fn reads(&self) -> Popularity {
        Popularity::new(self.counts().map(|(reads, _)| reads)).times(self.one_in())
    }

    /// How often pages that were written at all were written.
    pub fn writes(&self) -> Popularity {
        Popularity::new(self.counts().map(|(_, writes)| writes)).times(self.one_in())
    }

    /// Pages read or written.
    pub fn pages_touched(&self) -> u64 {
        self.counts().count() as u64 * self.one_in()
    }

    /// Pages of a device that were read or written.
    pub fn pages_touched_of(&self, device: &Device) -> u64 {
        device.pages.iter().count() as u64 * self.one_in()
    }

    fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.devices
            .iter()
            .flat_map(|device| device.pages.iter().map(|(_, reads, writes)| (reads, writes)))
    }

    /// Parts of the addresses with large untouched gaps between them, by device and address: at
    /// most `most` more than there are devices. None where not all pages were followed, which makes
    /// gaps.
    pub fn islands(&self, most: usize) -> Vec<Island> {
        if self.one_in() > 1 {
            return vec![];
        }
        islands::islands(self.devices.iter().map(|device| &device.pages), self.page_shift, most)
    }

    /// Every region of so many pages that was followed, and was read or written: the one with the
    /// most page reads first, of equals the first.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at_ns: u64, device: u32, offset: u64, bytes: u64, op: Op) -> TraceRow {
        TraceRow { at_ns, device, offset, bytes, op, hint: None }
    }

    #[test]
    fn beyond_the_limit_numbers_of_pages_are_estimates() {
        // 20,000 pages of 16 KiB of which two neighbours are in each of 10,000 stretches of 4 MiB;
        // every second pair is read twice.
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
        // About 625 pairs are followed: 1.96 / sqrt 625 of them is 8 %.
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
        // Two bytes on either side of a border are two pages.
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
