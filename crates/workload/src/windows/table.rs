//! Makes the table of windows from a stream of requests. The table has the number of reads of each
//! page in each window, and a list of all writes.

use std::cmp::Reverse;
use std::ops::{AddAssign, Range};

use vpass_drive::base::phrase::Opt;
use vpass_drive::base::request::{Arrival, Op, Request, SourceError};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::phrase;

use crate::pass::PassSource;

/// Table of the windows of a pass, for the whole drive or for a sample of its pages
/// (`windows/strata.rs`).
#[derive(Clone, Debug)]
pub struct Windows {
    pub(super) page_bytes: u32,
    /// Number of logical pages, including pages that are never read.
    pub(super) pages: u32,
    /// Length of a window in ns. The last window of a pass may be shorter. `Ns::MAX` if the whole
    /// pass is one window.
    pub(super) width: Ns,
    /// Mean time from the first request of a pass to the first request of the next pass.
    pub(super) pass: Ns,
    /// For each window, the index in `reads` after the last entry of the window.
    pub(super) ends: Vec<usize>,
    /// Page numbers, each with the number of reads of the page in a window. The entries of a window
    /// follow those of the previous window. Within a window, page numbers ascend.
    pub(super) reads: Vec<(Lpn, u32)>,
    /// Number of counted passes, multiplied by the number of pages that share a count of `reads`.
    pub(super) shares: u32,
    /// Writes and trims, as single requests, in groups. The groups follow each other in time, and
    /// each takes `span`. The table of a whole drive has one group.
    pub(super) writes: Vec<Vec<Request>>,
    /// Duration of the passes whose writes are kept.
    pub(super) span: Ns,
    /// Number of times that a group of writes is repeated before the next group follows.
    pub(super) repeats: u32,
    /// Touched pages, the most written first, then the most read, then by address.
    pub(super) ranked: Vec<Lpn>,
    /// Whether the passes have writes. A table for drawn writes does not keep them.
    pub(super) has_writes: bool,
    pub(super) requests_per_page: f64,
    pub(super) bytes_per_page: f64,
    pub(super) requests: u64,
}

/// Settings that determine how passes of a stream are counted.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    /// Size of a page in bytes.
    pub page_bytes: u32,
    /// Number of pages of the whole drive.
    pub pages: u32,
    /// Passes that are counted.
    pub passes: Counted,
}

/// Passes of a stream that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// One pass, which repeats without end.
    One {
        /// Length of a window in ns.
        width: Ns,
        /// Number of bytes. If a pass writes at most this number, the pass is one window.
        short_bytes: u64,
    },
    /// Many passes, each with requests of its own. The reads have the mean rates of these passes.
    Many {
        /// Whether the table is for samples. Then every other pass only determines the order of
        /// pages. Reads and writes come from the remaining passes, because chance that made a
        /// page's rank high or low must not also determine its rate.
        for_samples: bool,
    },
}

/// Number of passes of a trace in which a page of a sample is written like the same page of the
/// drive. A page of a trace is written at the same times in each pass, so blocks become invalid in
/// the order in which they were filled. When the next page takes its turn, this order is lost once.
const REPEATS: u32 = 32;

/// Number of requests that are taken from the stream at a time.
const CHUNK: usize = 4096;

/// Mean number of times that a touched page is read or written in the counted passes. The rate of
/// such a page then has a standard error of about 18 %.
const TOUCHES: u64 = 30;

/// Number of requests after which no further pass is counted. Counting them takes about a second.
pub const MOST_REQUESTS: u64 = 16_000_000;

fn no_clock() -> SourceError {
    SourceError::new(phrase![
        "requests in closed loop have no times, but the fluid gear needs times: replay a trace \
         without ",
        Opt::QueueDepth,
        "; give fio jobs a rate_iops; or use ",
        Opt::Gear.to("untimed"),
    ])
}

/// Counts of reads in the current window and in all passes.
#[derive(Default)]
struct Sums {
    keeps_writes: bool,
    of_page: Vec<u32>,
    touched: Vec<Lpn>,
    read_requests: u64,
    read_pages: u64,
    read_bytes: u64,
}

/// Numbers of writes and reads of each page, which determine the order of pages.
struct Touches {
    of_page: Vec<[u32; 2]>,
    touched: Vec<Lpn>,
    all: u64,
}

impl Windows {
    /// Makes the table from a stream of requests.
    ///
    /// # Errors
    /// Returns an error if reading the stream fails, or if the stream has no arrival times.
    pub fn of(source: &mut dyn PassSource, counting: Counting) -> Result<Self, SourceError> {
        let Counting { page_bytes, pages, passes: counted } = counting;
        let mut all = Self {
            page_bytes,
            pages,
            width: if let Counted::One { width, .. } = counted { width.max(1) } else { Ns::MAX },
            pass: 0,
            ends: vec![],
            reads: vec![],
            shares: 0,
            writes: vec![vec![]],
            span: 0,
            repeats: if matches!(counted, Counted::One { .. }) { REPEATS } else { 1 },
            ranked: vec![],
            has_writes: false,
            requests_per_page: 1.0,
            bytes_per_page: f64::from(page_bytes),
            requests: 0,
        };
        let mut sums = Sums {
            keeps_writes: counted != Counted::Many { for_samples: false },
            of_page: vec![0; pages as usize],
            ..Sums::default()
        };
        let mut touches =
            Touches { of_page: vec![[0; 2]; pages as usize], touched: vec![], all: 0 };
        let (mut chunk, mut begins, mut passes, mut requests) = (vec![], 0, 0, 0);
        fill(source, &mut chunk)?;
        loop {
            let (mut last, in_order) = (begins, counted.is_in_order(passes));
            while let Some(request) = chunk.last() {
                last = request.at;
                requests += chunk.len() as u64;
                for request in &chunk {
                    if in_order {
                        touches.add(request, all.pages_of(request));
                    }
                    if counted.is_kept(passes) {
                        all.take(request, request.at - begins, &mut sums);
                    }
                }
                fill(source, &mut chunk)?;
            }
            source.next_pass()?;
            fill(source, &mut chunk)?;
            // If the stream does not give the time of the next pass, the pass begins one mean gap
            // after the last request.
            let gap = (last / requests.saturating_sub(1).max(1)).max(1);
            let next = chunk.first().map(|request| request.at).filter(|at| *at > last);
            let ends = next.unwrap_or(last + gap);
            if counted.is_kept(passes) {
                (all.span, all.shares) = (all.span + (ends - begins), all.shares + 1);
            }
            (begins, passes) = (ends, passes + 1);
            if counted.are_enough(passes, requests, &touches) {
                break;
            }
        }
        all.end_window(&mut sums);
        (all.pass, all.requests) = (all.span / Ns::from(all.shares), requests / passes);
        all.ranked = touches.ranked();
        if sums.read_pages > 0 {
            all.requests_per_page = sums.read_requests as f64 / sums.read_pages as f64;
            all.bytes_per_page = sums.read_bytes as f64 / sums.read_pages as f64;
        }
        if let Counted::One { short_bytes, .. } = counted {
            all.join_if_short(short_bytes);
        }
        Ok(all)
    }

    /// Counts a request `at` ns after the begin of its pass.
    fn take(&mut self, request: &Request, at: Ns, sums: &mut Sums) {
        while at >= self.width.saturating_mul(self.ends.len() as u64 + 1) {
            self.end_window(sums);
        }
        if request.op != Op::Read {
            self.has_writes = true;
            if sums.keeps_writes {
                self.writes[0].push(Request { at: self.span + at, ..*request });
            }
            return;
        }
        sums.read_requests += 1;
        sums.read_bytes += u64::from(request.bytes);
        for lpn in self.pages_of(request).map(Lpn::new) {
            sums.read_pages += 1;
            let count = &mut sums.of_page[lpn.index()];
            if *count == 0 {
                sums.touched.push(lpn);
            }
            *count += 1;
        }
    }

    fn end_window(&mut self, sums: &mut Sums) {
        sums.touched.sort_unstable();
        for lpn in sums.touched.drain(..) {
            self.reads.push((lpn, std::mem::take(&mut sums.of_page[lpn.index()])));
        }
        self.ends.push(self.reads.len());
    }

    /// Joins all windows to one if the pass writes at most this number of bytes.
    fn join_if_short(&mut self, bytes: u64) {
        let is_write = |request: &&Request| request.op == Op::Write;
        let writes = self.writes[0].iter().filter(is_write);
        if writes.map(|write| u64::from(write.bytes)).sum::<u64>() <= bytes {
            add_up(&mut self.reads);
            (self.width, self.ends) = (Ns::MAX, vec![self.reads.len()]);
        }
    }

    /// Returns the pages of the drive that a request touches.
    pub(super) fn pages_of(&self, request: &Request) -> Range<u32> {
        let page = u64::from(self.page_bytes);
        let end = (request.offset + u64::from(request.bytes)).div_ceil(page);
        (request.offset / page) as u32..end.min(self.pages.into()) as u32
    }

    /// Returns the pages that are read in window `n`, each with the number of reads.
    pub(super) fn window(&self, n: usize) -> &[(Lpn, u32)] {
        &self.reads[n.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[n]]
    }

    /// Returns the number of pages that are read or written in the counted passes.
    pub fn touched(&self) -> u64 {
        self.ranked.len() as u64
    }

    /// Returns the length of a pass in ns.
    pub fn pass(&self) -> Ns {
        self.pass
    }

    /// Returns the number of requests of a pass over the whole drive.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns an upper bound of the memory of a table in bytes. The table keeps `writes` requests
    /// of one page each, and the drive has `pages` pages.
    pub fn memory(writes: u64, pages: u64) -> u64 {
        // The size of the table counts twice, because a second copy exists while the table is made
        // and while a sample is taken. Counts of reads and writes take 12 bytes per page, ranks 4
        // and read rates 8.
        2 * writes * size_of::<Request>() as u64 + pages * 24
    }
}

impl Counted {
    /// Returns whether pass `n` helps to determine the order of pages.
    fn is_in_order(self, n: u64) -> bool {
        self != (Self::Many { for_samples: true }) || n.is_multiple_of(2)
    }

    /// Returns whether the table contains the reads and writes of pass `n`.
    fn is_kept(self, n: u64) -> bool {
        self != (Self::Many { for_samples: true }) || !n.is_multiple_of(2)
    }

    fn are_enough(self, passes: u64, requests: u64, touches: &Touches) -> bool {
        let are_averaged =
            || requests >= MOST_REQUESTS || touches.all >= TOUCHES * touches.touched.len() as u64;
        matches!(self, Self::One { .. }) || self.is_kept(passes - 1) && are_averaged()
    }
}

impl Touches {
    fn add(&mut self, request: &Request, pages: Range<u32>) {
        self.all += pages.len() as u64;
        for lpn in pages.map(Lpn::new) {
            let count = &mut self.of_page[lpn.index()];
            if *count == [0; 2] {
                self.touched.push(lpn);
            }
            count[usize::from(request.op == Op::Read)] += 1;
        }
    }

    fn ranked(mut self) -> Vec<Lpn> {
        self.touched.sort_unstable_by_key(|lpn| (Reverse(self.of_page[lpn.index()]), *lpn));
        self.touched
    }
}

/// Takes the next requests of a pass from the stream.
fn fill(source: &mut dyn PassSource, chunk: &mut Vec<Request>) -> Result<(), SourceError> {
    chunk.clear();
    source.fill(chunk, CHUNK)?;
    // The fluid gear ignores flushes.
    source.take_flushes();
    if source.arrival() != Arrival::Open || source.has_next_stage() {
        return Err(no_clock());
    }
    Ok(())
}

/// Sorts counts by page, and adds up the counts of each page.
pub(crate) fn add_up<T: Copy + AddAssign>(reads: &mut Vec<(Lpn, T)>) {
    reads.sort_unstable_by_key(|(lpn, _)| *lpn);
    reads.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
}
