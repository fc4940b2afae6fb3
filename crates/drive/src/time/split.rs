//! Split of a request into pages and parts of pages.

use crate::base::geometry::Geometry;
use crate::base::request::Request;
use crate::base::units::Lpn;

/// Pages of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    pub(crate) first: Lpn,
    pub(crate) count: u32,
    /// First byte within the first page, and end of the bytes within the last page.
    start: u32,
    end: u32,
    page_bytes: u32,
}

impl Pages {
    /// # Panics
    /// Panics if the request is empty or exceeds the drive. The maker of requests must prevent
    /// this.
    #[inline]
    pub(crate) fn of(request: &Request, geometry: &Geometry) -> Self {
        let shift = geometry.page_shift();
        let last = request.offset + u64::from(request.bytes) - 1;
        let (first, end_page) = (Lpn::holding(request.offset, shift), last >> shift);
        assert!(
            request.bytes > 0 && end_page < u64::from(geometry.host_pages),
            "a request beyond the end of the drive reached the drive: {request:?}"
        );
        let mask = u64::from(geometry.page_bytes) - 1;
        Self {
            first,
            count: end_page as u32 - first.number() + 1,
            start: (request.offset & mask) as u32,
            end: (last & mask) as u32 + 1,
            page_bytes: geometry.page_bytes,
        }
    }

    /// Returns the requested bytes of page `i`: start and end.
    #[inline]
    pub(crate) fn range(&self, i: u32) -> (u32, u32) {
        let from = if i == 0 { self.start } else { 0 };
        let to = if i + 1 == self.count { self.end } else { self.page_bytes };
        (from, to)
    }

    /// Returns the parts of page `i`, one bit per 64th of it, that are completely in the request.
    #[inline]
    pub(crate) fn mask(&self, i: u32) -> u64 {
        let (from, to) = self.range(i);
        if from == 0 && to == self.page_bytes {
            return u64::MAX;
        }
        let part = (self.page_bytes / 64).max(1);
        let (low, high) = (from.div_ceil(part), to / part);
        if high <= low {
            return 0;
        }
        let ones = high - low;
        if ones >= 64 { u64::MAX } else { ((1u64 << ones) - 1) << low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::request::Op;

    fn pages(offset: u64, bytes: u32) -> Pages {
        let geometry = crate::drive::tests::tiny_geometry();
        Pages::of(
            &Request { at: 0, offset, bytes, op: Op::Write, origin: 0, hint: None },
            &geometry,
        )
    }

    #[test]
    fn a_request_across_pages_covers_each_in_part() {
        let p = pages(12 << 10, 24 << 10); // 12 to 36 KiB: a quarter of page 0, all of page 1, a quarter of page 2
        assert_eq!((p.first, p.count), (Lpn::new(0), 3));
        assert_eq!(
            [p.range(0), p.range(1), p.range(2)],
            [(12_288, 16_384), (0, 16_384), (0, 4_096)]
        );
        assert_eq!(p.mask(0), 0xFFFF << 48);
        assert_eq!(p.mask(1), u64::MAX);
        assert_eq!(p.mask(2), 0xFFFF);
    }

    #[test]
    fn parts_that_are_not_wholly_covered_do_not_count() {
        assert_eq!(pages(100, 50).mask(0), 0);
        assert_eq!(pages(100, 1000).mask(0), 0b1110);
    }
}
