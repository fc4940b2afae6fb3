//! Sample of a table of windows. All pages are sorted by their numbers of writes and reads, and the
//! sorted pages are cut into strata of N pages. Each stratum is one page of the sample 1/N.
//!
//! ```text
//! writes and reads of pages 0 to 5    7+1, 0+0, 3+9, 7+0, 0+0, 3+8
//! strata of 2 pages                   {0, 3}, {2, 5}, {1, 4}
//! page 2 of the sample                is read 8.5 times, is written like page 2, then like page 5
//! ```
//!
//! - **Reads:** a page of the sample has the mean read rate of its stratum.
//! - **Writes:** in each round, a page of the sample receives the writes of one page of its
//!   stratum, with their times, offsets and sizes. The next round takes the next page of the
//!   stratum. A round has 32 passes of a trace, so blocks become invalid in the same order as on
//!   the drive. In N rounds, a sample receives each write equally often. At any time, the N samples
//!   together receive each write once.
//!
//! Reads and writes of a sample are therefore exactly 1/N of those of the drive, and the skew of
//! the rates remains. Pages with equal counts are sorted by address, so sequential writes stay
//! sequential.

use vpass_drive::base::request::Request;
use vpass_drive::base::units::Lpn;

use super::table::{Windows, add_up};
use crate::synthetic::Sample;

/// Order in which pages are cut into strata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrataBy {
    /// Most written pages first, then the most read ones. Pages that are never touched come last.
    Counts,
    /// By address, so a range of addresses is a range of pages of the sample.
    Address,
}

/// Stratum of each page.
struct Strata {
    of: u32,
    /// Rank of each page of the drive. Pages of a stratum have consecutive ranks.
    ranks: Vec<u32>,
    /// Page of the sample, for each stratum. Strata are numbered by their lowest address.
    numbers: Vec<u32>,
}

impl Windows {
    /// Returns the table of a sample of the drive. The pages of this table are numbered as in the
    /// sample.
    #[must_use]
    pub fn sampled(&self, sample: Sample, by: StrataBy) -> Self {
        let ranked = if by == StrataBy::Counts { &self.ranked[..] } else { &[] };
        let strata = Strata::of(ranked, self.pages, sample.of);
        let pages = (self.pages - sample.residue).div_ceil(sample.of);
        let (mut ends, mut reads) = (vec![], vec![]);
        for window in 0..self.ends.len() {
            let numbered =
                |(lpn, count): &(Lpn, u32)| (Lpn::new(strata.number(lpn.number())), *count);
            let mut of_window: Vec<_> = self.window(window).iter().map(numbered).collect();
            add_up(&mut of_window);
            reads.append(&mut of_window);
            ends.push(reads.len());
        }
        let mut writes = vec![vec![]; sample.of as usize];
        for write in self.writes.iter().flatten() {
            for lpn in self.pages_of(write) {
                let number = strata.number(lpn);
                if number < pages {
                    let round = (strata.member(lpn) + sample.of - sample.residue) % sample.of;
                    add(&mut writes[round as usize], self.part_of(write, lpn, number));
                }
            }
        }
        let has_writes = writes.iter().any(|round| !round.is_empty());
        Self {
            pages,
            ends,
            reads,
            shares: self.shares * sample.of,
            has_writes,
            writes,
            ranked: vec![],
            ..*self
        }
    }

    /// Returns the part of a request that lies in page `lpn` of the drive, as a request to page
    /// `number` of the sample.
    fn part_of(&self, request: &Request, lpn: u32, number: u32) -> Request {
        let page = u64::from(self.page_bytes);
        let begin = u64::from(lpn) * page;
        let from = request.offset.max(begin) - begin;
        let end = (request.offset + u64::from(request.bytes)).min(begin + page) - begin;
        let offset = u64::from(number) * page + from;
        Request { offset, bytes: (end - from) as u32, ..*request }
    }
}

impl Strata {
    /// Cuts `pages` pages into strata of `of` pages each. Pages that are not in `ranked` follow by
    /// address.
    fn of(ranked: &[Lpn], pages: u32, of: u32) -> Self {
        const NONE: u32 = u32::MAX;
        let mut ranks = vec![NONE; pages as usize];
        for (rank, lpn) in (0..).zip(ranked) {
            ranks[lpn.index()] = rank;
        }
        let mut next = ranked.len() as u32;
        let mut numbers = vec![NONE; pages.div_ceil(of) as usize];
        let mut next_number = 0;
        for rank in &mut ranks {
            if *rank == NONE {
                *rank = next;
                next += 1;
            }
            let number = &mut numbers[(*rank / of) as usize];
            if *number == NONE {
                *number = next_number;
                next_number += 1;
            }
        }
        Self { of, ranks, numbers }
    }

    /// Returns the page of the sample that stands for a page of the drive.
    fn number(&self, lpn: u32) -> u32 {
        self.numbers[(self.ranks[lpn as usize] / self.of) as usize]
    }

    /// Returns the position of a page in its stratum, from 0 on.
    fn member(&self, lpn: u32) -> u32 {
        self.ranks[lpn as usize] % self.of
    }
}

/// Appends a request to a list. If the request continues the last request of the list, the last
/// request grows instead.
fn add(list: &mut Vec<Request>, part: Request) {
    if let Some(last) = list.last_mut()
        && part
            == (Request { offset: last.offset + u64::from(last.bytes), bytes: part.bytes, ..*last })
        && let Some(bytes) = last.bytes.checked_add(part.bytes)
    {
        last.bytes = bytes;
    } else {
        list.push(part);
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::request::Op;

    use super::*;

    #[test]
    fn strata_hold_pages_of_similar_rates() {
        // Pages 4, 1 and 6 are touched. The others follow by address: 0, 2, 3, 5.
        let ranked = [4, 1, 6].map(Lpn::new);
        let strata = Strata::of(&ranked, 7, 2);
        // {4, 1} begins at page 1, {6, 0} at 0, {2, 3} at 2 and {5} at 5.
        let of = |lpn| (strata.number(lpn), strata.member(lpn));
        let all: Vec<_> = (0..7).map(of).collect();
        assert_eq!(all, [(0, 1), (1, 1), (2, 0), (2, 1), (1, 0), (3, 0), (0, 0)]);
    }

    #[test]
    fn neighbouring_parts_of_a_request_are_one_request() {
        let part = |at, offset, bytes| Request::new(at, offset, bytes, Op::Trim);
        let mut list = vec![];
        for one in [part(5, 0, 100), part(5, 100, 50), part(5, 200, 9), part(6, 209, 1)] {
            add(&mut list, one);
        }
        assert_eq!(list, [part(5, 0, 150), part(5, 200, 9), part(6, 209, 1)]);
    }

    #[test]
    fn a_sample_gets_exactly_its_pages_of_a_write() {
        // In each round, each byte that a write changes must belong to exactly one sample.
        for (offset, bytes) in [(0, 100), (30, 50), (130, 240), (250, 900), (399, 2), (700, 100)] {
            let write = Request::new(5, offset, bytes, Op::Write);
            let whole = Windows {
                page_bytes: 100,
                pages: 12,
                width: u64::MAX,
                pass: 10,
                ends: vec![0],
                reads: vec![],
                shares: 1,
                writes: vec![vec![write]],
                span: 10,
                repeats: 1,
                ranked: vec![],
                has_writes: true,
                requests_per_page: 1.0,
                bytes_per_page: 100.0,
                requests: 1,
            };
            for round in 0..4 {
                let mut bytes_of = vec![0u32; 1200];
                for residue in 0..4 {
                    let sample = Sample { of: 4, residue };
                    let part = whole.sampled(sample, StrataBy::Address);
                    for write in &part.writes[round] {
                        for byte in write.offset..write.offset + u64::from(write.bytes) {
                            let member = (residue as usize + round) % 4;
                            let (page, within) = (byte as usize / 100 * 4 + member, byte % 100);
                            bytes_of[page * 100 + within as usize] += 1;
                        }
                    }
                }
                let right = |byte| u32::from((offset..offset + u64::from(bytes)).contains(&byte));
                let is_right = (0..).zip(&bytes_of).all(|(byte, count)| *count == right(byte));
                assert!(is_right, "{offset} {bytes} {round}");
            }
        }
    }
}
