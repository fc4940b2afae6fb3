//! Requests by the number of pages that they touch. A request of 8 KiB that begins within a page
//! touches three pages of 4 KiB, one that begins with a page two: how many begin within follows
//! from the pages and the sizes of all.

use std::collections::BTreeMap;

use super::curve::Step;
use super::statistics_config::SECTOR_BYTES;

/// Requests that touch this many pages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Length {
    pub(super) pages: u32,
    /// How many of them are wanted.
    pub(super) requests: f64,
    /// What they look like, with the number of each.
    pub(super) shapes: Vec<(Shape, f64)>,
}

/// Size and place of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) bytes: u32,
    /// Bytes of its first page before it.
    pub(super) skip: u32,
}

/// Pages more or fewer than the sizes allow that are made up for by the number of requests.
const SLACK: f64 = 0.01;

/// Requests of these sizes that touch so many pages in all, by pages touched, the last a single one
/// of the largest; the fewest and the most that they can touch where that is impossible.
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
    // Whole requests of each, so that a size that is rare is not lost in halves.
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
    // What the slack forgave is taken from the number of requests.
    let touched: f64 = lengths.iter().map(|l| l.requests * f64::from(l.pages)).sum();
    for length in &mut lengths {
        length.requests *= accesses as f64 / touched;
    }
    Ok(lengths)
}

/// One of the largest requests as a length of its own, so that it is not left to chance whether
/// there is one.
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

/// Where in its first page a request begins that touches one page more than it must; none where its
/// size forbids that.
fn skip(bytes: u64, page_bytes: u64) -> Option<u32> {
    // One sector before the end of a page, as on a disk partitioned at sector 63.
    let rest = (bytes - 1) % page_bytes + 1;
    (rest > SECTOR_BYTES).then_some((page_bytes - SECTOR_BYTES) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_requests_begin_within_a_page() {
        // 100 of 8 KiB in 250 pages: 50 touch two, 50 three.
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
