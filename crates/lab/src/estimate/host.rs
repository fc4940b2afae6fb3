//! Rates at which the host reads and writes the pages of a drive. The rates are known if a
//! `[workload]` table or a language model generates the requests.

use super::law::Law;
use super::shape::Shape;
use crate::failure::Failure;
use crate::plan::RunPlan;

/// Largest number of pages for which the read rates of all pages are added up. On a larger drive,
/// the rates of at most this many pages are added up, and those of the most popular pages.
const SAMPLED: u64 = 200_000;
/// Number of pages that are added to a sample. These are the most popular pages.
const HOTTEST: u64 = 20_000;

/// Page rates of the host over the whole drive, per second.
pub(super) struct Host {
    /// Number of pages that hold data.
    pub(super) pages: f64,
    /// Number of page reads from flash. Reads that fill the rest of a page before a small write are
    /// included.
    pub(super) reads: f64,
    /// Number of page programs for host writes. Writes that the write buffer absorbs are excluded.
    pub(super) writes: f64,
    /// Number of bytes that the host writes.
    pub(super) write_bytes: f64,
    /// Number of bytes that the host reads.
    pub(super) read_bytes: f64,
    pub(super) order: Order,
}

/// Order in which the host writes pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// The host writes nothing.
    Nothing,
    /// The host writes all pages at the same rate and in random order, and reads all pages at the
    /// same rate.
    Even,
    /// The host writes a window of pages from start to end, again and again. The window has this
    /// many page reads per second, evenly over its pages.
    Sequential { window_reads: f64 },
    /// The host writes in another order, for which no equation is known.
    Other,
}

impl Host {
    /// Computes the rates under the plan's workload. Returns `None` if the workload has no known
    /// page rates.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub(super) fn of(plan: &RunPlan, shape: &Shape) -> Result<Option<Self>, Failure> {
        let Some(law) = Law::of_plan(plan)? else { return Ok(None) };
        let page_bytes = plan.drive.config.geometry.page_size.0 as f64;
        let bytes = (law.write_bytes_per_s, law.read_bytes_per_s);
        let host = Self {
            pages: shape.pages,
            reads: 0.0,
            writes: 0.0,
            write_bytes: bytes.0,
            read_bytes: bytes.1,
            order: Order::Other,
        };
        let has_buffer = plan.drive.config.drive.write_buffer.0 > 0;
        // Random overwrites before the life mix the window with other data, which GC then copies.
        let is_in_order = plan.drive.config.start.overwrite <= 0.0;
        let of_all = || reads_of_data(&law, shape.pages);
        Ok(Some(match &law.sequential {
            _ if bytes.0 <= 0.0 => Self { reads: of_all(), order: Order::Nothing, ..host },
            _ if law.is_even && shape.buffered < law.pages as f64 => {
                let pages = law.pages as f64;
                let (reads, writes) = law.of(law.pages / 2);
                let writes = programs(writes, shape.buffered / pages);
                Self {
                    pages,
                    reads: pages * (reads + writes * law.partial),
                    writes: pages * writes,
                    order: Order::Even,
                    ..host
                }
            }
            // The buffer joins small writes of a page. It must be smaller than the window, so that
            // each page has left the buffer when the host writes the page again.
            Some(window)
                if has_buffer
                    && is_in_order
                    && 2.0 * shape.buffered < (window.end - window.start) as f64 =>
            {
                let (of_page, _) = law.of(u64::midpoint(window.start, window.end));
                Self {
                    pages: shape.pages.max(window.end as f64),
                    reads: of_all(),
                    writes: bytes.0 / page_bytes,
                    order: Order::Sequential {
                        window_reads: of_page * (window.end - window.start) as f64,
                    },
                    ..host
                }
            }
            _ => host,
        }))
    }
}

/// Returns the number of programs of a page per second if the host writes the page `writes` times
/// per second, and all pages alike. The write buffer is first-in-first-out and holds the share
/// `buffered` of all pages.
///
/// A page waits t seconds in the buffer, which absorbs writes to the page in this time. So the page
/// is programmed w' = w / (1 + w t) times per second. On average w' t pages of each page wait, and
/// this is `buffered`. Therefore w' = w (1 - buffered).
fn programs(writes: f64, buffered: f64) -> f64 {
    writes * (1.0 - buffered)
}

/// Returns the number of page reads per second of all pages that hold data. The first `filled`
/// pages of the drive hold data, and the pages that the host writes.
fn reads_of_data(law: &Law, filled: f64) -> f64 {
    let of = |page: u64| {
        let (reads, writes) = law.of(page);
        if writes > 0.0 || (page as f64) < filled { reads } else { 0.0 }
    };
    let step = law.pages.div_ceil(SAMPLED);
    let hottest = if step > 1 { law.hottest(HOTTEST) } else { vec![] };
    let others: Vec<u64> = (0..law.pages)
        .step_by(step as usize)
        .filter(|page| hottest.binary_search(page).is_err())
        .collect();
    let each = (law.pages - hottest.len() as u64) as f64 / others.len() as f64;
    let sum = |pages: &[u64]| pages.iter().map(|page| of(*page)).sum::<f64>();
    sum(&hottest) + each * sum(&others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_absorbs_rewrites_while_a_page_waits() {
        // The host writes each of 1,000 pages once per second, and the buffer holds 100 pages. A
        // page waits t seconds. The equation 1,000 t / (1 + t) = 100 gives t = 1/9 s, so 900 pages
        // per second reach the flash.
        let (pages, t) = (1000.0, 1.0 / 9.0_f64);
        assert!((pages * t / (1.0 + t) - 100.0).abs() < 1e-9);
        assert!((programs(1.0, 100.0 / pages) - 1.0 / (1.0 + t)).abs() < 1e-12);
    }
}
