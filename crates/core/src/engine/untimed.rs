//! The untimed gear: requests one after another, reads in batches of 32 so that their cache misses overlap.

use super::split::Pages;
use super::{Progress, RunError};
use crate::drive::{BATCH, Drive};
use crate::request::{Op, Request, RequestSource};
use crate::units::{Lpn, Ppn};

/// Requests taken from the source at a time.
const CHUNK: usize = 1024;

/// Serves a whole workload.
///
/// # Errors
/// The workload's, or an interruption.
pub fn run_untimed(drive: &mut Drive, source: &mut dyn RequestSource, progress: Progress) -> Result<u64, RunError> {
    let mut requests = Vec::with_capacity(CHUNK);
    let mut reads = ReadQueue { lpns: [0; BATCH], len: 0, out: [0; BATCH] };
    let mut served = 0u64;
    loop {
        requests.clear();
        source.fill(&mut requests, CHUNK).map_err(RunError::Source)?;
        if requests.is_empty() {
            reads.flush(drive);
            if source.next_stage() {
                continue;
            }
            return Ok(served);
        }
        serve(drive, &requests, &mut reads);
        served += requests.len() as u64;
        if !progress(served, drive) {
            return Err(RunError::Interrupted);
        }
    }
}

/// Serves requests in no time, whatever the drive's gear, before a measured phase: moves run at once, and nothing stays in the buffer.
///
/// # Errors
/// The workload's, or an interruption.
pub fn warm_up(drive: &mut Drive, source: &mut dyn RequestSource, progress: Progress) -> Result<u64, RunError> {
    drive.out_of_time(|drive| run_untimed(drive, source, progress))
}

/// Requests looked at ahead together, so that their cache misses overlap.
const GROUP: usize = 16;

struct ReadQueue {
    lpns: [Lpn; BATCH],
    len: usize,
    out: [Ppn; BATCH],
}

impl ReadQueue {
    #[inline]
    fn push(&mut self, drive: &mut Drive, lpn: Lpn) {
        self.lpns[self.len] = lpn;
        self.len += 1;
        if self.len == BATCH {
            self.flush(drive);
        }
    }

    #[inline]
    fn flush(&mut self, drive: &mut Drive) {
        if self.len > 0 {
            drive.read_batch(&self.lpns[..self.len], &mut self.out);
            self.len = 0;
        }
    }
}

fn serve(drive: &mut Drive, requests: &[Request], reads: &mut ReadQueue) {
    let shift = drive.geometry.page_shift();
    for (i, request) in requests.iter().enumerate() {
        if i.is_multiple_of(GROUP) {
            look_ahead(drive, requests, i, shift);
        }
        let pages = Pages::of(request, &drive.geometry, shift);
        match request.op {
            Op::Read => {
                drive.host.read_requests += 1;
                drive.host.read_bytes += u64::from(request.bytes);
                for page in 0..pages.count {
                    reads.push(drive, pages.first + page);
                }
            }
            Op::Write => {
                reads.flush(drive);
                drive.host.write_requests += 1;
                drive.host.write_bytes += u64::from(request.bytes);
                for page in 0..pages.count {
                    drive.write_page(pages.first + page, pages.mask(page));
                }
            }
            Op::Trim => {
                reads.flush(drive);
                drive.host.trim_requests += 1;
                trim(drive, &pages);
            }
        }
    }
}

/// Writes are not batched: what the next groups of them will touch is asked for ahead of time, map entries first.
fn look_ahead(drive: &Drive, requests: &[Request], from: usize, shift: u32) {
    let group = |groups: usize| {
        let from = (from + groups * GROUP).min(requests.len());
        requests[from..].iter().take(GROUP).filter(|r| r.op != Op::Read).map(move |r| (r.offset >> shift) as Lpn)
    };
    group(2).for_each(|lpn| drive.prefetch_map(lpn));
    group(1).for_each(|lpn| drive.prefetch_overwrite(lpn));
}

/// Trims the pages that the request covers wholly; a part of a page stays, as drives do.
pub(crate) fn trim(drive: &mut Drive, pages: &Pages) {
    for page in (0..pages.count).filter(|p| pages.mask(*p) == u64::MAX) {
        drive.host.trim_pages += 1;
        drive.trim_page(pages.first + page);
    }
}
