//! Hints for ranges of addresses. If several ranges hold a page, the hint of the range with the
//! highest rank counts. If parts of a page have different hints, the strictest counts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::base::latency::AccessLatency;
use crate::base::units::{Bytes, Lpn};

/// Range of addresses with its hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HintRange {
    /// First byte of the range.
    pub offset: Bytes,
    /// Length of the range.
    pub bytes: Bytes,
    /// Hint of the range; null if the host explicitly gives none.
    pub access_latency: Option<AccessLatency>,
    /// Rank. If ranges overlap, the one with the highest rank counts.
    pub rank: u32,
}

impl HintRange {
    /// Returns the byte behind the range; `None` if there is none.
    pub fn end(&self) -> Option<u64> {
        self.offset.0.checked_add(self.bytes.0)
    }

    /// Returns whether both ranges give a hint for one byte with equal rank.
    pub fn contradicts(&self, other: &Self) -> bool {
        let (end, other_end) = (self.end().unwrap_or(u64::MAX), other.end().unwrap_or(u64::MAX));
        self.rank == other.rank && self.offset.0 < other_end && other.offset.0 < end
    }
}

/// Returns the index of the first range that contradicts an earlier one. The earlier ranges of each
/// rank do not overlap, so only neighbours are compared.
pub fn first_contradiction<'a>(ranges: impl IntoIterator<Item = &'a HintRange>) -> Option<usize> {
    let mut apart: BTreeMap<(u32, u64, u64), &HintRange> = BTreeMap::new();
    for (at, range) in ranges.into_iter().enumerate() {
        let place = (range.rank, range.offset.0, range.end().unwrap_or(u64::MAX));
        let neighbours =
            apart.range(..=place).next_back().into_iter().chain(apart.range(place..).next());
        if neighbours.into_iter().any(|(_, other)| range.contradicts(other)) {
            return Some(at);
        }
        apart.insert(place, range);
    }
    None
}

/// Hint of every host page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hinted {
    /// First pages of stretches with one hint. The first stretch begins at page 0.
    stretches: Vec<(Lpn, AccessLatency)>,
}

impl Hinted {
    /// Creates the hints of a number of pages of this size from ranges.
    pub fn new(ranges: &[HintRange], page_bytes: u64, pages: u32) -> Self {
        let end = u64::from(pages) * page_bytes;
        let clipped = ranges
            .iter()
            .map(|range| (range.offset.0.min(end), range.end().unwrap_or(end).min(end), range));
        let ranges: Vec<_> = clipped.filter(|(from, to, _)| from < to).collect();
        let bounds = Bounds::of(&ranges, end);
        let mut stretches = vec![(Lpn::new(0), AccessLatency::default())];
        // Ranges that hold the current addresses, the highest rank last.
        let mut holding: BTreeSet<(u32, usize)> = BTreeSet::new();
        // Number of pages that have a hint so far.
        let mut covered = 0;
        for bound in bounds.0.windows(2) {
            for at in &bound[0].ends {
                holding.remove(&(ranges[*at].2.rank, *at));
            }
            holding.extend(bound[0].begins.iter().map(|at| (ranges[*at].2.rank, *at)));
            let latency =
                holding.last().and_then(|(_, at)| ranges[*at].2.access_latency).unwrap_or_default();
            let bound = [bound[0].at, bound[1].at];
            let (mut first, behind) =
                ((bound[0] / page_bytes) as u32, bound[1].div_ceil(page_bytes) as u32);
            if first < covered {
                // The bound is within a page.
                let (_, before) = *stretches.last().expect("it has one");
                begin(&mut stretches, Lpn::new(first), before.min(latency));
                first += 1;
            }
            if first < behind {
                begin(&mut stretches, Lpn::new(first), latency);
            }
            covered = behind;
        }
        Self { stretches }
    }

    /// Returns the hint of a page.
    pub fn of(&self, lpn: Lpn) -> AccessLatency {
        let next = self.stretches.partition_point(|(first, _)| *first <= lpn);
        self.stretches[next - 1].1
    }

    /// Returns the stretches of a number of pages: the first page of each, the page behind it, and
    /// its hint.
    pub fn stretches(&self, pages: u32) -> impl Iterator<Item = (Lpn, Lpn, AccessLatency)> {
        let ends = self.stretches.iter().skip(1).map(|(first, _)| *first).chain([Lpn::new(pages)]);
        self.stretches.iter().zip(ends).map(|((first, latency), end)| (*first, end, *latency))
    }

    /// Returns the hints of all pages, the strictest first.
    pub fn in_use(&self) -> Vec<AccessLatency> {
        AccessLatency::ALL
            .into_iter()
            .filter(|latency| self.stretches.iter().any(|(_, of)| of == latency))
            .collect()
    }

    /// Returns the RAM that a controller needs for the hints: an address of four bytes and a byte
    /// for the hint, for each stretch.
    pub fn bytes(&self) -> Bytes {
        Bytes(5 * self.stretches.len() as u64)
    }
}

/// Addresses at which ranges begin or end, in ascending order.
struct Bounds(Vec<Bound>);

/// Address with the ranges that begin and end there.
#[derive(Default)]
struct Bound {
    at: u64,
    begins: Vec<usize>,
    ends: Vec<usize>,
}

impl Bounds {
    /// Creates the bounds of ranges (first byte, the byte behind) between 0 and `end`.
    fn of(ranges: &[(u64, u64, &HintRange)], end: u64) -> Self {
        let mut bounds: BTreeMap<u64, Bound> =
            [0, end].map(|at| (at, Bound { at, ..Bound::default() })).into();
        let new = |at: u64| Bound { at, ..Bound::default() };
        for (place, (from, to, _)) in ranges.iter().enumerate() {
            bounds.entry(*from).or_insert_with(|| new(*from)).begins.push(place);
            bounds.entry(*to).or_insert_with(|| new(*to)).ends.push(place);
        }
        Self(bounds.into_values().collect())
    }
}

/// Begins a stretch with another hint at this page. Earlier stretches stay.
fn begin(stretches: &mut Vec<(Lpn, AccessLatency)>, first: Lpn, latency: AccessLatency) {
    match stretches.last() {
        Some((at, _)) if *at == first => {
            stretches.pop();
            begin(stretches, first, latency);
        }
        Some((_, before)) if *before == latency => {}
        _ => stretches.push((first, latency)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessLatency::{Idle, Smallest, Typical};

    fn range(from: u64, to: u64, access_latency: AccessLatency, rank: u32) -> HintRange {
        HintRange {
            offset: Bytes(from),
            bytes: Bytes(to - from),
            access_latency: Some(access_latency),
            rank,
        }
    }

    fn words(ranges: &[HintRange]) -> Vec<AccessLatency> {
        let hinted = Hinted::new(ranges, 100, 8);
        Lpn::range(0..8).map(|lpn| hinted.of(lpn)).collect()
    }

    #[test]
    fn the_highest_rank_counts_and_data_without_a_word_has_the_smallest() {
        let ranges =
            [range(0, 600, Idle, 0), range(200, 400, Typical, 2), range(300, 500, Smallest, 1)];
        assert_eq!(
            words(&ranges),
            [Idle, Idle, Typical, Typical, Smallest, Idle, Smallest, Smallest]
        );
        let none = HintRange { access_latency: None, ..range(100, 200, Idle, 1) };
        assert_eq!(words(&[range(0, 800, Idle, 0), none])[..3], [Idle, Smallest, Idle]);
        assert_eq!(words(&[]), [Smallest; 8]);
        assert_eq!(Hinted::new(&[range(0, 800, Idle, 0)], 100, 8).in_use(), [Idle]);
    }

    #[test]
    fn a_page_of_several_words_has_the_tightest() {
        assert_eq!(
            words(&[range(50, 350, Idle, 0)]),
            [Smallest, Idle, Idle, Smallest, Smallest, Smallest, Smallest, Smallest]
        );
        let in_one =
            [range(0, 310, Idle, 0), range(310, 320, Typical, 0), range(320, 800, Idle, 0)];
        assert_eq!(words(&in_one), [Idle, Idle, Idle, Typical, Idle, Idle, Idle, Idle]);
        assert_eq!(
            words(&[range(0, 10_000, Typical, 0)]),
            [Typical; 8],
            "beyond the end there are no pages"
        );
    }

    /// Creates random ranges, some of them empty. The address space is so small that many overlap.
    fn drawn(seed: u64, count: u64, ranks: u64) -> Vec<HintRange> {
        let number = |n: u64| crate::base::splitmix::number(seed, n);
        let one = |n: u64| {
            let (from, length) = (number(4 * n) % 700, number(4 * n + 1) % 150);
            range(
                from,
                from + length,
                [Idle, Typical, Smallest][number(4 * n + 2) as usize % 3],
                (number(4 * n + 3) % ranks) as u32,
            )
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_first_contradiction_is_that_which_looking_at_all_pairs_finds() {
        let mut found = [0; 2];
        for seed in 0..2000 {
            let ranges = drawn(seed, 8, 4);
            let by_pairs = (0..ranges.len())
                .find(|at| ranges[..*at].iter().any(|before| ranges[*at].contradicts(before)));
            assert_eq!(first_contradiction(&ranges), by_pairs, "{seed}: {ranges:?}");
            found[usize::from(by_pairs.is_some())] += 1;
        }
        assert!(found.iter().all(|cases| *cases > 100), "{found:?}");
    }

    #[test]
    fn ranges_of_one_rank_contradict_each_other_where_they_overlap() {
        let a = range(0, 100, Idle, 0);
        assert!(
            a.contradicts(&range(99, 200, Idle, 0)) && !a.contradicts(&range(100, 200, Idle, 0))
        );
        assert!(!a.contradicts(&range(50, 200, Idle, 1)));
    }
}
