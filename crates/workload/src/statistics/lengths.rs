//! Groups requests by the number of pages that they touch.
//!
//! For example, a request of 8 KiB that begins within a page touches three pages of 4 KiB. A
//! request of 8 KiB that begins at a page border touches only two pages. The sizes of all requests
//! and the total of touched pages determine how many requests begin within a page.

use std::collections::BTreeMap;

use super::curve::Step;
use super::statistics_config::SECTOR_BYTES;

/// Group of requests that touch the same number of pages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Length {
    pub(super) pages: u32,
    /// Number of requests of the group. Each of these requests touches `pages` pages.
    pub(super) requests: f64,
    /// Shapes of these requests. A shape is a size and a start position ([`Shape`]), and comes with
    /// the number of requests that have this shape.
    pub(super) shapes: Vec<(Shape, f64)>,
}

/// Size of a request, and its start position within its first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) bytes: u32,
    /// Number of bytes between the start of the first page and the start of the request.
    pub(super) skip: u32,
}

/// Tolerance for the number of touched pages, as a share of this number. The request sizes allow a
/// range of numbers of touched pages. A number that lies outside this range by at most the
/// tolerance is accepted, and the numbers of requests are scaled to remove the difference.
const SLACK: f64 = 0.01;

/// Groups requests of the given sizes by the number of pages that they touch. All requests together
/// touch `accesses` pages. The last group is a single request of the largest size.
///
/// # Errors
/// Returns an error if requests of these sizes cannot touch `accesses` pages. The error contains
/// the smallest and the largest possible number of pages.
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
    // Each shape gets a whole number of requests. The rounding error of a shape is added to the
    // next shape, so that rare sizes are kept.
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
    // The requests may touch a few pages more or fewer than `accesses`. Scaling the numbers of
    // requests removes this difference.
    let touched: f64 = lengths.iter().map(|l| l.requests * f64::from(l.pages)).sum();
    for length in &mut lengths {
        length.requests *= accesses as f64 / touched;
    }
    Ok(lengths)
}

/// Splits off one request of the largest size as a group of its own, so that this size always
/// occurs.
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

/// Returns a start position within a page at which the request touches one page more than at a page
/// border. Returns `None` if the request is too small to do so.
fn skip(bytes: u64, page_bytes: u64) -> Option<u32> {
    // The request begins one sector before the end of a page, as on a disk whose partition starts
    // at sector 63.
    let rest = (bytes - 1) % page_bytes + 1;
    (rest > SECTOR_BYTES).then_some((page_bytes - SECTOR_BYTES) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_requests_begin_within_a_page() {
        // If 100 requests of 8 KiB touch 250 pages, 50 of them touch two pages and 50 touch three.
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
