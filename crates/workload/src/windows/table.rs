//! Makes the table of windows from a stream of requests. The table has the number of reads of each
//! page in each window, and a list of all writes.

use vpass_drive::base::phrase::Opt;
use vpass_drive::base::request::{Arrival, Op, Request, SourceError};
use vpass_drive::base::units::{Lpn, Ns};
use vpass_drive::phrase;

use crate::pass::PassSource;
use crate::synthetic::Sample;

/// Table of the windows of one pass, for the whole drive or for a sample of its pages.
#[derive(Clone, Debug)]
pub struct Windows {
    pub(super) page_bytes: u32,
    /// Number of logical pages, including pages that are never read.
    pub(super) pages: u32,
    /// Length of a window in ns. The last window of a pass may be shorter.
    pub(super) width: Ns,
    /// Time from the first request of a pass to the first request of the next pass.
    pub(super) pass: Ns,
    /// For each window, the index in `reads` after the last entry of the window.
    pub(super) ends: Vec<usize>,
    /// Page numbers, each with the number of reads of the page in a window. The entries of a window
    /// follow those of the previous window. Within a window, page numbers ascend.
    pub(super) reads: Vec<(Lpn, u32)>,
    /// Writes and trims of the pass, as single requests.
    pub(super) writes: Vec<Request>,
    pub(super) requests_per_page: f64,
    pub(super) bytes_per_page: f64,
    requests: u64,
}

/// Number of requests that are taken from the stream at a time.
const CHUNK: usize = 4096;

fn no_clock() -> SourceError {
    SourceError::new(phrase![
        "requests in closed loop have no times, but the fluid gear needs times: replay a trace \
         without ",
        Opt::QueueDepth,
        "; give fio jobs a rate_iops; give statistics no queue_depth; or use ",
        Opt::Gear.to("untimed"),
    ])
}

/// Counts of reads in the current window and in the pass.
struct Sums {
    of_page: Vec<u32>,
    touched: Vec<Lpn>,
    read_requests: u64,
    read_pages: u64,
    read_bytes: u64,
}

impl Windows {
    /// Makes the table from one pass of a stream, for a drive of `pages` pages.
    ///
    /// # Errors
    /// Returns an error if reading the stream fails, or if the stream has no arrival times.
    pub fn of(
        source: &mut dyn PassSource,
        page_bytes: u32,
        pages: u32,
        width: Ns,
    ) -> Result<Self, SourceError> {
        let (requests_per_page, bytes_per_page, requests) = (1.0, f64::from(page_bytes), 0);
        let (ends, reads, writes) = (vec![], vec![], vec![]);
        let mut all = Self {
            page_bytes,
            pages,
            width: width.max(1),
            pass: 0,
            ends,
            reads,
            writes,
            requests_per_page,
            bytes_per_page,
            requests,
        };
        let mut sums = Sums {
            of_page: vec![0; pages as usize],
            touched: vec![],
            read_requests: 0,
            read_pages: 0,
            read_bytes: 0,
        };
        let (mut chunk, mut last) = (vec![], 0);
        loop {
            chunk.clear();
            source.fill(&mut chunk, CHUNK)?;
            if source.arrival() != Arrival::Open || source.has_next_stage() {
                return Err(no_clock());
            }
            let Some(request) = chunk.last() else { break };
            last = request.at;
            all.requests += chunk.len() as u64;
            for request in &chunk {
                all.take(request, &mut sums);
            }
        }
        all.end_window(&mut sums);
        all.pass = next_begins(source, last, all.requests)?;
        if sums.read_pages > 0 {
            all.requests_per_page = sums.read_requests as f64 / sums.read_pages as f64;
            all.bytes_per_page = sums.read_bytes as f64 / sums.read_pages as f64;
        }
        Ok(all)
    }

    fn take(&mut self, request: &Request, sums: &mut Sums) {
        while request.at >= self.width * (self.ends.len() as u64 + 1) {
            self.end_window(sums);
        }
        if request.op != Op::Read {
            self.writes.push(*request);
            return;
        }
        sums.read_requests += 1;
        sums.read_bytes += u64::from(request.bytes);
        let page = u64::from(self.page_bytes);
        let (first, end) =
            (request.offset / page, (request.offset + u64::from(request.bytes)).div_ceil(page));
        for lpn in (first..end.min(self.pages.into())).map(|lpn| Lpn::new(lpn as u32)) {
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

    /// Returns a table with only the pages of a sample. The pages of this table are numbered as in
    /// the sample.
    #[must_use]
    pub fn sampled(&self, sample: Sample) -> Self {
        let (mut ends, mut reads) = (vec![], vec![]);
        for window in 0..self.ends.len() {
            reads.extend(
                self.window(window)
                    .iter()
                    .filter_map(|(lpn, count)| Some((sample.number_of(*lpn)?, *count))),
            );
            ends.push(reads.len());
        }
        let writes = self
            .writes
            .iter()
            .filter_map(|write| part_of(write, u64::from(self.page_bytes), sample))
            .collect();
        Self {
            pages: (self.pages - sample.residue).div_ceil(sample.of),
            ends,
            reads,
            writes,
            ..*self
        }
    }

    /// Returns the pages that are read in window `n`, each with the number of reads.
    pub(super) fn window(&self, n: usize) -> &[(Lpn, u32)] {
        &self.reads[n.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[n]]
    }

    /// Returns the number of pages that are read or written in a pass.
    pub fn touched(&self) -> u64 {
        let mut seen = vec![false; self.pages as usize];
        self.reads.iter().for_each(|(lpn, _)| seen[lpn.index()] = true);
        let page = u64::from(self.page_bytes);
        for write in &self.writes {
            let end = (write.offset + u64::from(write.bytes)).div_ceil(page).min(self.pages.into());
            (write.offset / page..end).for_each(|lpn| seen[lpn as usize] = true);
        }
        seen.into_iter().map(u64::from).sum()
    }

    /// Returns the length of a pass in ns.
    pub fn pass(&self) -> Ns {
        self.pass
    }

    /// Returns the number of requests of a pass over the whole drive.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns an upper bound of the memory of a table in bytes. The table is made from a stream of
    /// `requests` requests of one page each, and the drive has `pages` pages.
    pub fn memory(requests: u64, pages: u64) -> u64 {
        // The size of the table counts twice, because a second copy exists while the table is made
        // and while a sample is taken. Read counts and read rates take 12 bytes per page.
        2 * requests * size_of::<Request>() as u64 + pages * 12
    }
}

/// Returns the time at which the next pass starts. If the stream does not give this time, the pass
/// starts one mean gap after the last request.
fn next_begins(source: &mut dyn PassSource, last: Ns, requests: u64) -> Result<Ns, SourceError> {
    let mut first = vec![];
    source.next_pass()?;
    source.fill(&mut first, 1)?;
    let distance = (last / requests.saturating_sub(1).max(1)).max(1);
    Ok(first.first().map(|request| request.at).filter(|at| *at > last).unwrap_or(last + distance))
}

/// Returns the part of a request that lies in the pages of a sample. Returns `None` if the request
/// touches no page of the sample.
fn part_of(request: &Request, page: u64, sample: Sample) -> Option<Request> {
    let (of, residue) = (u64::from(sample.of), u64::from(sample.residue));
    let end = request.offset + u64::from(request.bytes);
    let (first, behind) = (request.offset / page, end.div_ceil(page));
    // Number of pages in the sample that lie before page `lpn` of the whole drive.
    let before = |lpn: u64| lpn.saturating_sub(residue).div_ceil(of);
    let (from, to) = (before(first), before(behind));
    if from >= to {
        return None;
    }
    let begins_within = from * of + residue == first;
    let ends_within = (to - 1) * of + residue == behind - 1;
    let offset = from * page + if begins_within { request.offset % page } else { 0 };
    let end = to * page - if ends_within { behind * page - end } else { 0 };
    Some(Request { offset, bytes: (end - offset) as u32, ..*request })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(offset: u64, bytes: u32) -> Request {
        Request { at: 5, offset, bytes, op: Op::Write, origin: 0, hint: None }
    }

    #[test]
    fn a_sample_gets_exactly_its_pages_of_a_write() {
        // Each byte that a write changes must belong to exactly one sample.
        for (offset, bytes) in [(0, 100), (30, 50), (130, 240), (250, 900), (399, 2), (700, 100)] {
            let mut bytes_of = vec![0u32; 1200];
            for residue in 0..4 {
                let Some(part) = part_of(&write(offset, bytes), 100, Sample { of: 4, residue })
                else {
                    continue;
                };
                for byte in part.offset..part.offset + u64::from(part.bytes) {
                    let (page, within) = (byte / 100 * 4 + u64::from(residue), byte % 100);
                    bytes_of[(page * 100 + within) as usize] += 1;
                }
            }
            let right = |byte: u64| u32::from((offset..offset + u64::from(bytes)).contains(&byte));
            assert!(
                (0..1200).all(|byte| bytes_of[byte as usize] == right(byte)),
                "{offset} {bytes}"
            );
        }
    }
}
