//! Measures the statistics of a stream of requests. The stream is either a trace that generated
//! requests will imitate, or a pass of generated requests that is checked.

use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::Ns;

use super::disk::{DiskStatistics, SideStatistics};
use super::percentiles::usual;
use crate::profile::{PageCounts, Popularity, Sizes};

/// Windows of time in which pages are counted.
#[derive(Debug)]
enum Windows {
    /// Windows with the given ends.
    Given(Vec<Ns>),
    /// Windows that all have the same length. If there are too many windows, this length is
    /// doubled.
    Doubling(Ns),
}

/// Largest number of windows if no windows are given. For a long stream, more than half of this
/// number of windows is used.
const MOST_WINDOWS: usize = 512;
/// Length of each window at the start of the stream, in ns.
const FIRST_WINDOW_NS: Ns = 1_000_000;
/// Length of the shortest window that a `[statistics]` table may have, in ns.
const SHORTEST_NS: Ns = 1000;

/// Counts of the requests of one direction.
#[derive(Debug, Default)]
struct Counts {
    requests: u64,
    bytes: u64,
    window_pages: Vec<u64>,
    /// Percentiles that the result must contain.
    percents: Vec<f64>,
}

/// Meter that counts requests one by one. The memory of the meter grows with the number of touched
/// pages. A page whose neighbours are touched too takes about 6 bytes.
#[derive(Debug)]
pub struct Meter {
    page_bytes: u64,
    pages: PageCounts,
    sizes: Sizes,
    windows: Windows,
    window: usize,
    last: Ns,
    /// Counts of reads and of writes.
    counts: [Counts; 2],
    trims: u64,
}

impl Meter {
    /// Makes a meter for requests that were generated from the statistics `target`. The meter uses
    /// the windows and percentiles of these statistics.
    pub fn of(target: &DiskStatistics) -> Self {
        let percents = |side: &Option<SideStatistics>| {
            side.as_ref().map_or_else(usual, |s| s.accesses.iter().map(|(p, _)| *p).collect())
        };
        let percents = [percents(&target.reads), percents(&target.writes)];
        Self::new(target.page_bytes, Windows::Given(target.window_ends_ns.clone()), percents)
    }

    /// Makes a meter for any requests. All windows have the same length, which is 1 ms times a
    /// power of two. A long stream has 256 to 512 windows.
    pub fn of_anything(page_bytes: u64) -> Self {
        Self::new(page_bytes, Windows::Doubling(FIRST_WINDOW_NS), [usual(), usual()])
    }

    fn new(page_bytes: u64, windows: Windows, percents: [Vec<f64>; 2]) -> Self {
        let counts = percents.map(|percents| Counts { percents, ..Counts::default() });
        Self {
            page_bytes,
            pages: PageCounts::default(),
            sizes: Sizes::default(),
            windows,
            window: 0,
            last: 0,
            counts,
            trims: 0,
        }
    }

    /// Counts a request. A request must not arrive before the request that was counted last. A trim
    /// increases [`Meter::trims`] and nothing else.
    pub fn add(&mut self, request: &Request) {
        let (bytes, first) = (u64::from(request.bytes), request.offset / self.page_bytes);
        let pages = (request.offset + bytes).div_ceil(self.page_bytes) - first;
        let counts = match request.op {
            Op::Read => {
                self.pages.read(first, pages);
                &mut self.counts[0]
            }
            Op::Write => {
                self.pages.write(first, pages);
                &mut self.counts[1]
            }
            Op::Trim => {
                self.trims += 1;
                return;
            }
        };
        self.sizes.add(bytes, request.op);
        counts.requests += 1;
        counts.bytes += bytes;
        self.find_window(request.at);
        let window_pages = &mut self.counts[usize::from(request.op == Op::Write)].window_pages;
        if window_pages.len() <= self.window {
            window_pages.resize(self.window + 1, 0);
        }
        window_pages[self.window] += pages;
    }

    fn find_window(&mut self, at: Ns) {
        self.last = self.last.max(at);
        match &mut self.windows {
            Windows::Given(ends) => {
                while self.window + 1 < ends.len() && at >= ends[self.window] {
                    self.window += 1;
                }
            }
            Windows::Doubling(length) => {
                while at / *length >= MOST_WINDOWS as u64 {
                    *length *= 2;
                    for counts in &mut self.counts {
                        counts.window_pages =
                            counts.window_pages.chunks(2).map(|pair| pair.iter().sum()).collect();
                    }
                }
                self.window = (at / *length) as usize;
            }
        }
    }

    /// Returns the number of trims so far.
    pub fn trims(&self) -> u64 {
        self.trims
    }

    /// Returns the measured statistics.
    pub fn finish(self) -> DiskStatistics {
        let windows = match &self.windows {
            Windows::Given(ends) => ends.len(),
            Windows::Doubling(_) => {
                self.counts.iter().map(|c| c.window_pages.len()).max().unwrap_or(0).max(1)
            }
        };
        let window_ends_ns = match self.windows {
            Windows::Given(ends) => ends,
            // The last window ends with the last request.
            Windows::Doubling(length) => {
                let end =
                    |i: Ns| (i * length).min(self.last + 1).max((i - 1) * length + SHORTEST_NS);
                (1..=windows as u64).map(end).collect()
            }
        };
        let side = |counts: Counts, op| {
            let popularity = Popularity::new(
                self.pages
                    .iter()
                    .map(|(_, reads, writes)| if op == Op::Read { reads } else { writes }),
            );
            counts.statistics(op, windows, &popularity, &self.sizes)
        };
        let [reads, writes] = self.counts;
        DiskStatistics {
            page_bytes: self.page_bytes,
            footprint_pages: self.pages.iter().count() as u64,
            window_ends_ns,
            reads: side(reads, Op::Read),
            writes: side(writes, Op::Write),
        }
    }
}

impl Counts {
    fn statistics(
        mut self,
        op: Op,
        windows: usize,
        popularity: &Popularity,
        sizes: &Sizes,
    ) -> Option<SideStatistics> {
        self.window_pages.resize(windows, 0);
        let points = |at: &dyn Fn(f64) -> Option<u64>| {
            self.percents.iter().map(|p| at(*p).map(|value| (*p, value))).collect::<Option<_>>()
        };
        Some(SideStatistics {
            requests: self.requests,
            bytes: self.bytes,
            pages: popularity.pages(),
            accesses: points(&|p| popularity.percentile(p))?,
            sizes: points(&|p| sizes.percentile(op, p))?,
            window_pages: self.window_pages,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_by_hand() {
        let mut meter = Meter::of_anything(4096);
        let request =
            |at, offset, bytes, op| Request { at, offset, bytes, op, origin: 0, hint: None };
        // The three requests touch pages 0 and 1, page 0, and pages 1 to 3 (page 1 only in part).
        // The fourth request is a trim.
        meter.add(&request(0, 0, 8192, Op::Read));
        meter.add(&request(1_500_000, 512, 512, Op::Read));
        meter.add(&request(1_500_000, 8191, 8192, Op::Write));
        meter.add(&request(1_500_000, 0, 4096, Op::Trim));
        assert_eq!(meter.trims(), 1);
        let disk = meter.finish();
        assert_eq!((disk.footprint_pages, disk.shared_pages()), (4, 1));
        assert_eq!(disk.window_ends_ns, [1_000_000, 1_500_001]);
        let (reads, writes) = (disk.reads.unwrap(), disk.writes.unwrap());
        assert_eq!(
            (reads.requests, reads.bytes, reads.pages, reads.window_pages),
            (2, 8704, 2, vec![2, 1])
        );
        assert_eq!(
            (writes.requests, writes.bytes, writes.pages, writes.window_pages),
            (1, 8192, 3, vec![0, 3])
        );
        assert_eq!(
            [reads.accesses[0], reads.accesses[11], reads.accesses[20]],
            [(1.0, 1), (55.0, 2), (100.0, 2)]
        );
        assert_eq!([reads.sizes[10], reads.sizes[20]], [(50.0, 512), (100.0, 8192)]);
    }

    #[test]
    fn windows_double_until_they_are_few() {
        let mut meter = Meter::of_anything(4096);
        let request = |i: u64| Request {
            at: i * 1_000_000_000,
            offset: 0,
            bytes: 512,
            op: Op::Read,
            origin: 0,
            hint: None,
        };
        (0..10_000).for_each(|i| meter.add(&request(i)));
        let disk = meter.finish();
        // A span of 10,000 s needs windows of 32.768 s. With half this length, there would be more
        // than 512 windows.
        assert_eq!((disk.window_ends_ns.len(), disk.window_ends_ns[0]), (306, 32_768_000_000));
        assert_eq!(disk.reads.unwrap().window_pages[..3], [33, 33, 33]);
        assert_eq!(disk.window_ends_ns[305], 9_999_000_000_001);
    }
}
