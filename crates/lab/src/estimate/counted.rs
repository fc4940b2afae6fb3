//! Read rate and write rate of each page, computed from one pass over a stream of requests.

use std::collections::{HashMap, HashSet, VecDeque};

use vpass_drive::base::request::{Op, RequestSource};

use super::pages::{Class, Pages};
use crate::failure::Failure;
use crate::plan::RunPlan;

/// Largest number of requests that are counted.
const MOST: u64 = 5_000_000;
/// Number of requests that are read from the stream at a time.
const CHUNK: usize = 4096;

/// Number of reads and writes of each page in one pass.
#[derive(Default)]
struct Counts {
    /// Number of flash reads and programs of each page, by page number.
    of_page: HashMap<u64, (u32, u32)>,
    /// Pages in the write buffer. The oldest page is first.
    order: VecDeque<u64>,
    waiting: HashSet<u64>,
    write_bytes: u64,
    read_bytes: u64,
}

impl Counts {
    /// Counts a write of a page. `whole` says whether the write covers the whole page. The write
    /// buffer absorbs the write if an earlier write of this page still waits in the buffer.
    fn write(&mut self, page: u64, whole: bool, buffered: usize) {
        if !self.waiting.insert(page) {
            return;
        }
        self.order.push_back(page);
        let of_page = self.of_page.entry(page).or_default();
        of_page.1 += 1;
        of_page.0 += u32::from(!whole);
        if self.order.len() > buffered
            && let Some(oldest) = self.order.pop_front()
        {
            self.waiting.remove(&oldest);
        }
    }

    /// Counts a read of a page. A page that waits in the write buffer is read from the buffer, so
    /// this read is not counted.
    fn read(&mut self, page: u64) {
        if !self.waiting.contains(&page) {
            self.of_page.entry(page).or_default().0 += 1;
        }
    }
}

/// Counts the reads and writes in one pass over the plan's requests, and computes rates from the
/// counts.
///
/// # Errors
/// Returns an error if the stream of requests fails.
pub(super) fn counted(plan: &RunPlan, filled: f64, buffered: f64) -> Result<Pages, Failure> {
    let page_bytes = plan.drive.config.geometry.page_size.0;
    let mut source = plan.source()?;
    let (mut counts, mut chunk, mut requests, mut last) = (Counts::default(), vec![], 0, 0);
    while requests < MOST {
        chunk.clear();
        source.fill(&mut chunk, CHUNK)?;
        let Some(request) = chunk.last() else { break };
        last = request.at;
        requests += chunk.len() as u64;
        for request in &chunk {
            let end = request.offset + u64::from(request.bytes);
            let touched = request.offset / page_bytes..end.div_ceil(page_bytes);
            match request.op {
                Op::Read => {
                    counts.read_bytes += u64::from(request.bytes);
                    touched.for_each(|page| counts.read(page));
                }
                Op::Write => {
                    counts.write_bytes += u64::from(request.bytes);
                    let is_whole = |page: u64| {
                        request.offset <= page * page_bytes && (page + 1) * page_bytes <= end
                    };
                    touched.for_each(|page| counts.write(page, is_whole(page), buffered as usize));
                }
                Op::Trim => {}
            }
        }
    }
    // The pause between two passes over the requests is the mean time between two requests.
    let seconds = last as f64 / 1e9 * requests as f64 / requests.saturating_sub(1).max(1) as f64;
    if seconds <= 0.0 {
        return Err(Failure::usage("the workload's requests have no times"));
    }
    let rate = |n: u32| f64::from(n) / seconds;
    // A page that the host never writes holds data only if the start-up fill wrote it.
    let has_data = |(page, (_, writes)): &(u64, (u32, u32))| *writes > 0 || (*page as f64) < filled;
    let mut single: Vec<(u32, u32)> =
        counts.of_page.into_iter().filter(has_data).map(|(_, counts)| counts).collect();
    // Rates are sorted, so that the order of the pages does not affect the sums.
    single.sort_unstable();
    let classes = single
        .into_iter()
        .map(|(reads, writes)| Class { pages: 1.0, reads: rate(reads), writes: rate(writes) })
        .collect();
    let bytes = |n: u64| n as f64 / seconds;
    let mut all = Pages {
        classes,
        write_bytes: bytes(counts.write_bytes),
        read_bytes: bytes(counts.read_bytes),
        is_even: false,
    };
    all.fit(filled);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_wait_absorb_writes_and_serve_reads() {
        let mut counts = Counts::default();
        // The buffer holds two pages and absorbs the second of two successive writes to page 7.
        // After writes to pages 8 and 9, the buffer no longer holds page 7, and does not absorb the
        // next write to page 7.
        for page in [7, 7, 8, 9, 7] {
            counts.write(page, true, 2);
        }
        counts.read(7);
        counts.read(8);
        counts.write(5, false, 2);
        assert_eq!(
            (counts.of_page[&7], counts.of_page[&8], counts.of_page[&5]),
            ((0, 2), (1, 1), (1, 1))
        );
    }
}
