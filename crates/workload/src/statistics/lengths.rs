//! Sorts requests by the number of pages that they touch.
//!
//! A request of 8 KiB that begins within a page touches three pages of 4 KiB. A request that begins
//! at a page border touches two pages. The number of requests that begin within a page follows from
//! the total of touched pages and the sizes of all requests.

use std::collections::BTreeMap;

use super::curve::Step;
use super::statistics_config::SECTOR_BYTES;

/// Requests that touch the same number of pages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Length {
    pub(super) pages: u32,
    /// Number of requests that touch `pages` pages.
    pub(super) requests: f64,
    /// Each size and start position ([`Shape`]) of these requests, with the number of requests that
    /// have it.
    pub(super) shapes: Vec<(Shape, f64)>,
}

/// Size of a request, and its position within its first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) bytes: u32,
    /// Bytes from the start of the first page to the start of the request.
    pub(super) skip: u32,
}

/// Tolerated difference between the number of touched pages and the range that the sizes allow, as
/// a share of the touched pages. The numbers of requests are scaled by this difference.
const SLACK: f64 = 0.01;

/// Sorts requests of these sizes by the number of pages that they touch. Together they touch
/// `accesses` pages. The last entry is a single request of the largest size.
///
/// # Errors
/// Returns the smallest and the largest number of pages that the sizes can touch, if `accesses` is
/// not between them.
pub(super) fn lengths(
    sizes: &[Step],
    accesses: u64,
    page_bytes: u64,
) -> Result<Vec<Length>, (u64, u64)> {
    let fewest: u64 = sizes.iter().map(|s| s.count * s.value.div_ceil(page_bytes)).sum();
    let straddling: u64 =
        sizes.iter().filter(|s| skip(s.value, page_bytes).is_some()).map(|s| s.count).sum();
    let extra = accesses as f64 - fewest as f64;
    let slack = SLACK * accesses as f64 + 1.0;
    if extra < -slack || extra > straddling as f64 + slack {
        return Err((fewest, fewest + straddling));
    }
    let share = if straddling == 0 { 0.0 } else { (extra / straddling as f64).clamp(0.0, 1.0) };
    let mut all: BTreeMap<u64, Vec<(Shape, f64)>> = BTreeMap::new();
    // Each shape gets whole requests, so that a rare size is not lost by rounding.
    let mut owed = 0.0;
    for Step { value, count } in sizes.iter().copied() {
        let (pages, bytes) = (value.div_ceil(page_bytes), value as u32);
        let mut aligned = count;
        if let Some(skip) = skip(value, page_bytes) {
            let exact = share * count as f64 + owed;
            let within = (exact.round().max(0.0) as u64).min(count);
            owed = exact - within as f64;
            aligned -= within;
            if within > 0 {
                all.entry(pages + 1).or_default().push((Shape { bytes, skip }, within as f64));
            }
        }
        if aligned > 0 {
            all.entry(pages).or_default().push((Shape { bytes, skip: 0 }, aligned as f64));
        }
    }
    let of = |(pages, shapes): (u64, Vec<(Shape, f64)>)| Length {
        pages: pages as u32,
        requests: shapes.iter().map(|(_, n)| n).sum(),
        shapes,
    };
    let mut lengths: Vec<_> = all.into_iter().map(of).collect();
    let largest = split_largest(&mut lengths);
    lengths.extend(largest);
    // The pages of all sizes together may differ from `accesses` within a tolerance. Then the
    // numbers of requests are scaled.
    let touched: f64 = lengths.iter().map(|l| l.requests * f64::from(l.pages)).sum();
    for length in &mut lengths {
        length.requests *= accesses as f64 / touched;
    }
    Ok(lengths)
}

/// Splits off one request of the largest size as a length of its own, so that this size occurs.
fn split_largest(lengths: &mut Vec<Length>) -> Option<Length> {
    let bytes = |l: &Length| l.shapes.iter().map(|(shape, _)| shape.bytes).max();
    let place = (0..lengths.len()).max_by_key(|i| bytes(&lengths[*i]))?;
    let length = &mut lengths[place];
    let largest = length.shapes.iter_mut().max_by_key(|(shape, _)| shape.bytes)?;
    let one = Length { pages: length.pages, requests: 1.0, shapes: vec![(largest.0, 1.0)] };
    largest.1 -= 1.0;
    length.requests -= 1.0;
    length.shapes.retain(|(_, requests)| *requests > 0.0);
    if length.shapes.is_empty() {
        lengths.remove(place);
    }
    Some(one)
}

/// Returns a start position within a page at which a request touches one more page than necessary.
/// Returns `None` if the request is too small to touch another page.
fn skip(bytes: u64, page_bytes: u64) -> Option<u32> {
    // The request begins one sector before the end of a page, as on a disk partitioned at sector
    // 63.
    let rest = (bytes - 1) % page_bytes + 1;
    (rest > SECTOR_BYTES).then_some((page_bytes - SECTOR_BYTES) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_requests_begin_within_a_page() {
        // 100 requests of 8 KiB touch 250 pages: 50 touch two pages, 50 three.
        let lengths = lengths(&[Step { value: 8192, count: 100 }], 250, 4096).unwrap();
        let shape = |skip| Shape { bytes: 8192, skip };
        let expected = [
            Length { pages: 2, requests: 50.0, shapes: vec![(shape(0), 50.0)] },
            Length { pages: 3, requests: 49.0, shapes: vec![(shape(3584), 49.0)] },
            Length { pages: 3, requests: 1.0, shapes: vec![(shape(3584), 1.0)] },
        ];
        assert_eq!(lengths, expected);
    }

    #[test]
    fn sectors_never_straddle() {
        let sizes = [Step { value: 512, count: 10 }, Step { value: 4608, count: 10 }];
        assert_eq!(
            lengths(&sizes, 30, 4096)
                .unwrap()
                .iter()
                .map(|l| (l.pages, l.requests))
                .collect::<Vec<_>>(),
            [(1, 10.0), (2, 9.0), (2, 1.0)]
        );
        assert_eq!(lengths(&sizes, 40, 4096), Err((30, 30)));
        assert_eq!(lengths(&sizes, 20, 4096), Err((30, 30)));
    }
}
