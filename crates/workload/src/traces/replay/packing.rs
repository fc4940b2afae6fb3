//! Implements `--fit pack`. The pages that a trace touches are placed side by side on the drive, in
//! the order of their addresses.
//!
//! Gaps between touched pages take no space. Touched pages that were neighbours stay neighbours, so
//! packing does not change how many pages a read or write touches.
//!
//! A read or a write touches every page of its range. A trim may cover a whole device, so a trim
//! counts as touching only the first page of its range. On the drive, a trim covers this first
//! page, and the pages of its range that other requests touch.
//!
//! ```text
//! device   . . A B . . . . C . . . D E F .
//! drive    A B C D E F          four runs, found by binary search
//! ```

use vpass_drive::base::request::Op;

use crate::profile::PageCounts;
use crate::traces::replay::layout::Device;
use crate::traces::rows::format::TraceRow;

/// Pages of each device that a trace has touched so far.
#[derive(Debug)]
pub(in crate::traces) struct Touched {
    page_shift: u32,
    devices: Vec<PageCounts>,
}

impl Touched {
    /// Makes an empty record for pages of `page_bytes` bytes, which is a power of two.
    pub(in crate::traces) fn new(page_bytes: u64) -> Self {
        Self { page_shift: page_bytes.trailing_zeros(), devices: vec![] }
    }

    /// Records the pages that a row touches. `device` is the index of the row's device.
    pub(in crate::traces) fn add(&mut self, device: usize, row: &TraceRow) {
        if self.devices.len() <= device {
            self.devices.resize_with(device + 1, PageCounts::default);
        }
        let first = row.offset >> self.page_shift;
        let last = if row.op == Op::Trim {
            first
        } else {
            (row.offset + row.bytes - 1) >> self.page_shift
        };
        self.devices[device].read(first, last - first + 1);
    }

    /// Returns the positions of the touched pages on the drive. The pages of a device follow those
    /// of the previous device. The first byte of each device must be a multiple of the page size.
    pub(in crate::traces) fn packed(self, devices: &[Device]) -> Packing {
        let mut packing = Packing { page_shift: self.page_shift, runs: vec![], pages: 0 };
        let mut end = None;
        for (counts, device) in self.devices.iter().zip(devices) {
            let base = device.base >> self.page_shift;
            let mut pages: Vec<u64> = counts.iter().map(|(page, ..)| base + page).collect();
            pages.sort_unstable();
            for page in pages {
                if end != Some(page) {
                    packing.runs.push(Run { first: page, packed: packing.pages });
                }
                packing.pages += 1;
                end = Some(page + 1);
            }
        }
        packing
    }
}

/// Positions on the drive of all pages that a trace touches.
#[derive(Debug)]
pub(in crate::traces) struct Packing {
    page_shift: u32,
    /// Runs of touched pages, in the order of their addresses.
    runs: Vec<Run>,
    pages: u64,
}

/// Run of neighbouring touched pages. The pages directly before and after the run are untouched.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Number of the run's first page before packing.
    first: u64,
    /// Number of the run's first page on the drive.
    packed: u64,
}

impl Packing {
    /// Returns the size of all touched pages in bytes.
    pub(in crate::traces) fn bytes(&self) -> u64 {
        self.pages << self.page_shift
    }

    /// Returns the place of a request on the drive: its first byte and its length. The length does
    /// not include pages that the trace never touches. Returns `None` if the first page of the
    /// request was never touched.
    #[inline]
    pub(in crate::traces) fn place(&self, offset: u64, bytes: u64) -> Option<(u64, u64)> {
        let within = (1u64 << self.page_shift) - 1;
        let last_byte = offset + bytes - 1;
        let (first, last) = (offset >> self.page_shift, last_byte >> self.page_shift);
        let run = self.runs.partition_point(|run| run.first <= first).checked_sub(1)?;
        let on_drive =
            |run: usize, page: u64| self.runs[run].packed + (page - self.runs[run].first);
        let start = on_drive(run, first);
        if start >= self.end(run) {
            return None;
        }
        let start = (start << self.page_shift) + (offset & within);
        if on_drive(run, last) < self.end(run) {
            return Some((start, bytes));
        }
        let last_run = self.runs.partition_point(|run| run.first <= last) - 1;
        let page = on_drive(last_run, last);
        let end = if page < self.end(last_run) {
            (page << self.page_shift) + (last_byte & within) + 1
        } else {
            self.end(last_run) << self.page_shift
        };
        Some((start, end - start))
    }

    /// Returns the number of the drive page that follows a run.
    #[inline]
    fn end(&self, run: usize) -> u64 {
        self.runs.get(run + 1).map_or(self.pages, |next| next.packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 4096;

    fn row(page: u64, pages: u64, op: Op) -> TraceRow {
        TraceRow { at_ns: 0, device: 0, offset: page * PAGE, bytes: pages * PAGE, op, hint: None }
    }

    fn device(base: u64) -> Device {
        Device { name: String::new(), file: 0, base, extent: 0, rows: 0 }
    }

    /// Makes a packing of two devices. Pages 2, 3, 8, 11, 12 and 13 of the first device are
    /// touched, and pages 0 and 100 of the second device. The second device begins at page 256.
    fn packing() -> Packing {
        let mut touched = Touched::new(PAGE);
        for (page, pages) in [(11, 3), (8, 1), (2, 2), (3, 1), (12, 1)] {
            touched.add(0, &row(page, pages, Op::Read));
        }
        touched.add(1, &row(100, 1, Op::Write));
        touched.add(1, &row(0, 1, Op::Read));
        touched.packed(&[device(0), device(1 << 20)])
    }

    #[test]
    fn touched_pages_lie_side_by_side_in_their_order() {
        let packing = packing();
        assert_eq!(packing.bytes(), 8 * PAGE);
        let pages = [2, 3, 8, 11, 12, 13, 256, 356].map(|page| packing.place(page * PAGE, PAGE));
        assert_eq!(pages, [0, 1, 2, 3, 4, 5, 6, 7].map(|page| Some((page * PAGE, PAGE))));
        assert_eq!([0, 4, 9, 14, 257, 400].map(|page| packing.place(page * PAGE, PAGE)), [None; 6]);
    }

    #[test]
    fn a_request_keeps_its_place_in_the_page_and_its_length() {
        let packing = packing();
        // The request covers the range from the middle of page 11 to the first sector of page 13.
        // On the drive, these are pages 3 to 5.
        assert_eq!(
            packing.place(11 * PAGE + 2048, 2048 + PAGE + 512),
            Some((3 * PAGE + 2048, 2048 + PAGE + 512))
        );
    }

    #[test]
    fn a_trim_leaves_out_pages_that_nothing_else_touches() {
        let packing = packing();
        // The request covers the range from page 3 to the middle of page 12. The request touches
        // pages 3, 8 and 11, and half of page 12. On the drive, these are pages 1 to 4.
        assert_eq!(packing.place(3 * PAGE, 9 * PAGE + 2048), Some((PAGE, 3 * PAGE + 2048)));
        // The request covers the range from page 3 to the gap that follows page 13. On the drive,
        // it covers all of pages 1 to 5.
        assert_eq!(packing.place(3 * PAGE, 20 * PAGE + 1), Some((PAGE, 5 * PAGE)));
        let mut touched = Touched::new(PAGE);
        touched.add(0, &row(7, 1 << 18, Op::Trim));
        touched.add(0, &row(9, 1, Op::Read));
        let packing = touched.packed(&[device(0)]);
        assert_eq!(packing.place(7 * PAGE, 4 << 30), Some((0, 2 * PAGE)));
    }
}
