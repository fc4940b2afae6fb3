//! Untimed gear: requests one after another. Memory for the next requests is prefetched, so that
//! cache misses overlap.

use super::split::Pages;
use super::{Progress, RunError, check_arrivals};
use crate::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use crate::base::units::{Lpn, Ns};
use crate::drive::{Drive, on_read_path};
use crate::flash::count::{PAGES, TRACKED};

/// Number of requests taken from the source at a time.
const CHUNK: usize = 1024;
/// Message for requests without times on a drive that needs times.
const NO_CLOCK: &str = "data ages on this drive (refresh or start.age), but the workload's \
    requests have no arrival times; set workload.rate without workload.queue_depth, or replay a \
    trace with its recorded times";

/// Serves a whole workload.
///
/// # Errors
/// Returns the error of the workload, or an interruption.
pub fn run_untimed(
    drive: &mut Drive,
    source: &mut dyn RequestSource,
    progress: Progress,
) -> Result<u64, RunError> {
    let mut requests = Vec::with_capacity(CHUNK);
    let mut served = 0u64;
    loop {
        requests.clear();
        source.fill(&mut requests, CHUNK).map_err(RunError::Source)?;
        // Without a clock, a flush has no effect that a result shows.
        source.take_flushes();
        if drive.keeps_time() && source.arrival() != Arrival::Open {
            return Err(RunError::Source(SourceError::new(NO_CLOCK)));
        }
        if requests.is_empty() {
            if source.next_stage() {
                continue;
            }
            return Ok(served);
        }
        serve_part(drive, &requests, &mut served, progress)?;
    }
}

/// Serves these requests. `progress` is called for each part of them.
///
/// # Errors
/// Returns an error for a request after the end of time, or an interruption.
pub fn serve_untimed(
    drive: &mut Drive,
    requests: &[Request],
    progress: Progress,
) -> Result<(), RunError> {
    let mut served = 0;
    requests.chunks(CHUNK).try_for_each(|part| serve_part(drive, part, &mut served, progress))
}

fn serve_part(
    drive: &mut Drive,
    part: &[Request],
    served: &mut u64,
    progress: Progress,
) -> Result<(), RunError> {
    check_arrivals(part)?;
    drive.announce(part);
    drive.regroup();
    let mut left = part;
    while !left.is_empty() {
        let mut together = left.len();
        if drive.wants_attention() {
            let number = drive.announced() - left.len() as u64;
            drive.attend(number, left[0].at).map_err(RunError::Stopped)?;
            together = drive.calm(number, left);
        }
        let (now, later) = left.split_at(together);
        drive.writing = drive.announced() - left.len() as u64;
        if drive.keeps_time() {
            on_read_path!(drive.serve_in_time(now));
        } else {
            on_read_path!(drive.serve(now));
        }
        left = later;
    }
    *served += part.len() as u64;
    if progress(*served, drive) { Ok(()) } else { Err(RunError::Interrupted) }
}

/// Serves requests without time before a measured phase, in any gear of the drive. Moves run at
/// once, and no data stays in the buffer.
///
/// # Errors
/// Returns the error of the workload, or an interruption.
pub fn warm_up(
    drive: &mut Drive,
    source: &mut dyn RequestSource,
    progress: Progress,
) -> Result<u64, RunError> {
    drive.out_of_time(|drive| run_untimed(drive, source, progress))
}

/// Ends a warm-up whose requests were served without time: no data stays in the buffer.
pub fn end_warm_up(drive: &mut Drive) {
    drive.out_of_time(|_| ());
}

/// Number of requests for which data is prefetched ahead. A map entry is prefetched twice this
/// number of requests ahead, and the memory that it leads to this number ahead.
const AHEAD: usize = 16;
/// Number of requests that are prefetched at once if a technique has its own counters. There is so
/// much to prefetch that this is faster, because the cache misses overlap.
const GROUP: usize = 16;
/// Number of pages of a long request that are prefetched.
const PAGES_AHEAD: usize = 16;

impl Drive {
    fn serve<const COUNTED: u8, const WATCHED: bool>(&mut self, requests: &[Request]) {
        self.pipeline::<COUNTED, WATCHED, false>(requests);
    }

    /// Serves requests on a drive whose data ages. The clock advances with each request, and due
    /// work comes before it.
    fn serve_in_time<const COUNTED: u8, const WATCHED: bool>(&mut self, requests: &[Request]) {
        self.pipeline::<COUNTED, WATCHED, true>(requests);
    }

    /// Runs a software pipeline: while a request is served, memory for later requests is
    /// prefetched.
    #[inline(always)]
    // The read path.
    fn pipeline<const COUNTED: u8, const WATCHED: bool, const IN_TIME: bool>(
        &mut self,
        requests: &[Request],
    ) {
        let (shift, first) = (self.geometry.page_shift(), self.writing);
        let has_own = COUNTED == PAGES || COUNTED == TRACKED;
        let at_once = if has_own { GROUP } else { 1 };
        let (mut later, mut soon, mut next) = (requests.iter(), requests.iter(), requests.iter());
        later.by_ref().take(2 * AHEAD).for_each(|request| self.prefetch_map_of(request, shift));
        self.settle_soon(requests.iter().take(AHEAD));
        soon.by_ref()
            .take(AHEAD)
            .for_each(|request| self.prefetch_behind_map::<COUNTED>(request, shift));
        for (n, request) in requests.iter().enumerate() {
            if n.is_multiple_of(GROUP) {
                self.settle_soon(soon.clone().take(GROUP));
            }
            if n.is_multiple_of(at_once) {
                later
                    .by_ref()
                    .take(at_once)
                    .for_each(|request| self.prefetch_map_of(request, shift));
                soon.by_ref()
                    .take(at_once)
                    .for_each(|request| self.prefetch_behind_map::<COUNTED>(request, shift));
                if has_own {
                    next.by_ref()
                        .take(at_once)
                        .for_each(|request| self.prefetch_own_of::<COUNTED>(request, shift));
                }
            }
            if IN_TIME {
                self.pass_time(request.at);
            }
            if is_read_of_a_page(request, shift) {
                self.count_request(Op::Read, request.bytes);
                self.read_one::<COUNTED, WATCHED>(Lpn::holding(request.offset, shift));
            } else {
                self.writing = first + n as u64;
                self.serve_one::<COUNTED, WATCHED>(request);
            }
        }
    }

    /// Advances time to `until`. Time never goes back.
    #[inline]
    fn pass_time(&mut self, until: Ns) {
        if self.next_wake() <= until {
            self.wake_until(until);
        }
        self.flash.now = until.max(self.now());
    }

    #[cold]
    fn wake_until(&mut self, until: Ns) {
        while self.next_wake() <= until {
            self.flash.now = self.next_wake().max(self.now());
            self.wake();
        }
    }

    /// Serves a request of any kind.
    #[inline(never)]
    pub(super) fn serve_one<const COUNTED: u8, const WATCHED: bool>(&mut self, request: &Request) {
        let pages = Pages::of(request, &self.geometry);
        match request.op {
            Op::Read => {
                self.count_request(Op::Read, request.bytes);
                for page in 0..pages.count {
                    self.read_one::<COUNTED, WATCHED>(pages.first + page);
                }
            }
            Op::Write => {
                self.count_request(Op::Write, request.bytes);
                self.write_pages(&pages);
            }
            Op::Trim => {
                self.count_request(Op::Trim, request.bytes);
                self.trim_pages(&pages);
            }
        }
    }

    /// Prefetches the map entry of a request's first page. The entries of its other pages are next
    /// to it.
    #[inline]
    pub(super) fn prefetch_map_of(&self, request: &Request, shift: u32) {
        self.prefetch_map(Lpn::holding(request.offset, shift));
    }

    /// Prefetches the technique's own counter of a request, if it exists.
    #[inline]
    fn prefetch_own_of<const COUNTED: u8>(&mut self, request: &Request, shift: u32) {
        if request.op == Op::Read {
            let entry = self.ftl.map.settle(Lpn::holding(request.offset, shift));
            self.prefetch_own::<COUNTED>(entry);
        }
    }

    /// Prefetches the memory that a read or write uses, once its map entry is available.
    #[inline]
    pub(super) fn prefetch_behind_map<const COUNTED: u8>(&mut self, request: &Request, shift: u32) {
        if is_read_of_a_page(request, shift) {
            let entry = self.ftl.map.settle(Lpn::holding(request.offset, shift));
            self.prefetch_counted::<COUNTED>(entry);
        } else {
            self.prefetch_behind_entries::<COUNTED>(request, shift);
        }
    }

    /// Prefetches the memory that a request of any kind uses, once its map entries are available.
    #[inline(never)]
    fn prefetch_behind_entries<const COUNTED: u8>(&mut self, request: &Request, shift: u32) {
        let first = (request.offset >> shift) as u32;
        let end = ((request.offset + u64::from(request.bytes) - 1) >> shift) as u32 + 1;
        for lpn in Lpn::range(first..end).take(PAGES_AHEAD) {
            let entry = self.ftl.map.settle(lpn);
            match request.op {
                Op::Read => self.prefetch_counted::<COUNTED>(entry),
                // A partly written page is used only when it leaves the buffer.
                _ if request.bytes < self.geometry.page_bytes => (),
                _ => self.prefetch_overwrite(entry),
            }
        }
    }
}

/// Returns whether a request is a read of one page, which has its own fast path. A request of no
/// bytes is not.
#[inline]
fn is_read_of_a_page(request: &Request, shift: u32) -> bool {
    let in_first = (1u64 << shift) - (request.offset & ((1 << shift) - 1));
    request.op == Op::Read && u64::from(request.bytes.wrapping_sub(1)) < in_first
}
