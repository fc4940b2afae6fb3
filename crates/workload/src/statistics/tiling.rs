//! Divides the pages that are read, or the pages that are written, into blocks. A block is a run of
//! a few pages, and a request to a block touches every page of the block. A cell is the set of all
//! blocks with the same size and the same number of requests.
//!
//! The statistics give the sizes of requests and the popularity of pages. They do not say whether
//! popular pages get larger requests. Assumption: the size of a request does not depend on the
//! popularity of the pages. For this reason, each request length gets the same share of the popular
//! pages and of the unpopular pages. The most popular pages are distributed first.
//!
//! Pages of different popularity may share a block if this changes no percentile of the popularity.
//! All pages of such a block get the mean popularity of the block.

use super::curve::Step;
use super::lengths::{Length, Shape};

/// Cell: blocks of equal size and equal popularity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockClass {
    /// Number of requests to each block in a pass.
    pub(super) accesses: u64,
    /// Number of pages of a block.
    pub(super) pages: u32,
    /// Index of the length of all requests to these blocks, in the list of request lengths.
    pub(super) length: u32,
    pub(super) blocks: u64,
}

impl BlockClass {
    /// Returns the number of requests to all blocks of the cell in a pass.
    pub(super) fn requests(&self) -> u64 {
        self.accesses * self.blocks
    }
}

/// Divides pages into blocks. Each step of `popularity` is a number of accesses, with the number of
/// pages that have exactly this number. The least popular pages come first.
///
/// The blocks have exactly the given number of pages. The total number of their accesses may differ
/// from the given total by up to half the number of pages in a block. `marks` has the index of the
/// page at each percentile; the most popular page has index 0. `top` is the index of the request
/// length of the first block. The last block may need a new length, which is added to `lengths`.
pub(super) fn tile(
    popularity: &[Step],
    lengths: &mut Vec<Length>,
    top: usize,
    marks: &[u64],
    page_bytes: u64,
) -> Vec<BlockClass> {
    let mut supply = Supply::new(lengths);
    let mut rest = Pages { steps: popularity.to_vec(), at: 0 };
    let mut cells: Vec<BlockClass> = vec![];
    // Number of accesses that rounding has removed so far. A negative number means that rounding
    // has added accesses.
    let mut owed = 0;
    let mut first = Some(top);
    cells.extend(supply.reserve_last(&mut rest));
    while let Some(&Step { value, count }) = rest.steps.last() {
        if first.is_none() {
            let before = cells.len();
            let used = supply.serve(value, count, &mut cells);
            rest.take(used);
            if cells.len() > before {
                continue;
            }
        }
        let length = first
            .take()
            .filter(|i| supply.lots[*i].pages <= rest.count())
            .or_else(|| supply.choose(&rest, marks));
        let length = length.unwrap_or_else(|| {
            lengths.push(last_length(rest.count() as u32, page_bytes));
            supply.lots.push(Lot { pages: rest.count(), left: 0.0, due: 0.0, share: 0.0 });
            lengths.len() - 1
        });
        let pages = supply.lots[length].pages;
        let sum = rest.take(pages).cast_signed() + owed;
        // The number of accesses is the mean over the block's own pages, rounded up or down.
        // Without this limit, a small block could get the rounding errors of a large block.
        let (own, block) = (sum - owed, pages.cast_signed());
        let accesses = (sum + block / 2)
            .div_euclid(block)
            .clamp((own / block).max(1), (own + block - 1) / block);
        owed = sum - accesses * block;
        supply.give(pages);
        cells.push(supply.use_up(length, accesses as u64, 1));
    }
    merged(cells)
}

/// Requests of one length that were not yet assigned to a block.
struct Lot {
    pages: u64,
    left: f64,
    /// Share of the remaining page accesses that belongs to requests of this length.
    share: f64,
    /// Number of pages that requests of this length should still get: their share of all pages
    /// placed so far, minus the number of pages that they have got.
    due: f64,
}

struct Supply {
    lots: Vec<Lot>,
}

impl Supply {
    fn new(lengths: &[Length]) -> Self {
        let lot =
            |l: &Length| Lot { pages: u64::from(l.pages), left: l.requests, due: 0.0, share: 0.0 };
        let mut supply = Self { lots: lengths.iter().map(lot).collect() };
        supply.share();
        supply
    }

    /// Reserves a block of the least popular pages for the largest request. The size of the largest
    /// request is part of the statistics, so this request must occur.
    fn reserve_last(&mut self, rest: &mut Pages) -> Option<BlockClass> {
        let longest = self.lots.len() - 1;
        let pages = self.lots[longest].pages;
        let coldest = rest.steps.first_mut().filter(|step| step.count > pages)?;
        coldest.count -= pages;
        Some(self.use_up(longest, coldest.value, 1))
    }

    fn share(&mut self) {
        let left = |lot: &Lot| lot.left.max(0.0) * lot.pages as f64;
        let all: f64 = self.lots.iter().map(left).sum();
        self.lots
            .iter_mut()
            .for_each(|lot| lot.share = if all > 0.0 { left(lot) / all } else { 0.0 });
    }

    /// Adds blocks for up to `count` pages with `accesses` accesses each. Each request length gets
    /// only whole blocks, and no more pages than it should still get. Returns the number of pages
    /// that were placed in blocks.
    fn serve(&mut self, accesses: u64, count: u64, cells: &mut Vec<BlockClass>) -> u64 {
        self.share();
        let mut used = 0;
        for i in (0..self.lots.len()).rev() {
            let lot = &self.lots[i];
            let affordable = (lot.left / accesses as f64).max(0.0) as u64;
            let due = ((lot.due + lot.share * count as f64) / lot.pages as f64).max(0.0) as u64;
            let blocks = due.min(affordable).min((count - used) / lot.pages);
            if blocks > 0 {
                used += blocks * lot.pages;
                cells.push(self.use_up(i, accesses, blocks));
            }
        }
        self.give(used);
        used
    }

    /// Chooses the length of requests for the next block.
    ///
    /// A request length is a candidate if a block of this length fits and does not change the
    /// popularity of a page in `marks`. Among the candidates with enough remaining requests, the
    /// length that should still get the most pages is chosen. If no candidate has enough requests,
    /// the candidate with the most remaining requests is chosen. If there is no candidate, the
    /// shortest length that fits is chosen. Returns `None` if no length fits.
    fn choose(&mut self, rest: &Pages, marks: &[u64]) -> Option<usize> {
        self.share();
        let count = rest.count();
        let fits: Vec<usize> =
            (0..self.lots.len()).filter(|i| self.lots[*i].pages <= count).collect();
        let keeping: Vec<(usize, f64)> = fits
            .iter()
            .filter_map(|i| {
                let pages = self.lots[*i].pages;
                let (sum, same) = rest.peek(pages);
                let keeps = same || !marks.iter().any(|m| (rest.at..rest.at + pages).contains(m));
                keeps.then_some((*i, sum as f64 / pages as f64))
            })
            .collect();
        let due = |i: usize| self.lots[i].due / self.lots[i].pages as f64 + self.lots[i].share;
        let enough = keeping
            .iter()
            .filter(|(i, accesses)| self.lots[*i].left >= *accesses)
            .max_by(|a, b| due(a.0).total_cmp(&due(b.0)));
        let most =
            || keeping.iter().max_by(|a, b| self.lots[a.0].left.total_cmp(&self.lots[b.0].left));
        enough
            .or_else(most)
            .map(|(i, _)| *i)
            .or_else(|| fits.into_iter().min_by_key(|i| self.lots[*i].pages))
    }

    /// Records that `pages` more pages were placed. Each request length should still get its share
    /// of these pages.
    fn give(&mut self, pages: u64) {
        self.lots.iter_mut().for_each(|lot| lot.due += lot.share * pages as f64);
    }

    fn use_up(&mut self, i: usize, accesses: u64, blocks: u64) -> BlockClass {
        let lot = &mut self.lots[i];
        lot.left -= (accesses * blocks) as f64;
        lot.due -= (lot.pages * blocks) as f64;
        BlockClass { accesses, pages: lot.pages as u32, length: i as u32, blocks }
    }
}

fn last_length(pages: u32, page_bytes: u64) -> Length {
    let shape = Shape { bytes: pages * page_bytes as u32, skip: 0 };
    Length { pages, requests: 0.0, shapes: vec![(shape, 1.0)] }
}

fn merged(mut cells: Vec<BlockClass>) -> Vec<BlockClass> {
    cells.sort_by_key(|c| (std::cmp::Reverse(c.accesses), c.length));
    cells.dedup_by(|next, kept| {
        let same = (next.accesses, next.length) == (kept.accesses, kept.length);
        kept.blocks += if same { next.blocks } else { 0 };
        same
    });
    cells
}

/// Pages that are not yet in a block, in rising order of popularity.
struct Pages {
    steps: Vec<Step>,
    /// Number of pages that are already in a block.
    at: u64,
}

impl Pages {
    fn count(&self) -> u64 {
        self.steps.iter().map(|s| s.count).sum()
    }

    /// Returns the sum of the accesses of the `count` most popular pages. Also returns whether all
    /// of these pages have the same number of accesses.
    fn peek(&self, mut count: u64) -> (u64, bool) {
        let mut sum = 0;
        for (i, step) in self.steps.iter().rev().enumerate() {
            sum += step.count.min(count) * step.value;
            if step.count >= count {
                return (sum, i == 0);
            }
            count -= step.count;
        }
        (sum, false)
    }

    /// Removes the `count` most popular pages. Returns the sum of the accesses of these pages.
    fn take(&mut self, mut count: u64) -> u64 {
        let mut sum = 0;
        self.at += count;
        while let Some(step) = self.steps.last_mut().filter(|_| count > 0) {
            let taken = step.count.min(count);
            (step.count, count, sum) =
                (step.count - taken, count - taken, sum + taken * step.value);
            if step.count == 0 {
                self.steps.pop();
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(pages: u32, requests: u64) -> Length {
        Length { requests: requests as f64, ..last_length(pages, 4096) }
    }

    fn tiled(popularity: &[(u64, u64)], lengths: &[(u32, u64)]) -> Vec<(u64, u32, u64)> {
        let steps: Vec<_> =
            popularity.iter().map(|(value, count)| Step { value: *value, count: *count }).collect();
        let mut lengths =
            lengths.iter().map(|(pages, requests)| length(*pages, *requests)).collect();
        tile(&steps, &mut lengths, 0, &[], 4096)
            .iter()
            .map(|c| (c.accesses, c.pages, c.blocks))
            .collect()
    }

    #[test]
    fn every_popularity_has_its_share_of_every_length() {
        // 16 pages have 5 accesses each, and 48 pages have 1 access each, which gives 128 accesses.
        // Requests for one page make 64 of them, and requests for four pages make the other 64.
        assert_eq!(
            tiled(&[(1, 48), (5, 16)], &[(1, 64), (4, 16)]),
            [(5, 1, 8), (5, 4, 2), (1, 1, 24), (1, 4, 6)]
        );
    }

    #[test]
    fn a_block_may_take_pages_of_two_popularities() {
        // All requests touch two pages. The three pages with 5 accesses fill one and a half blocks.
        assert_eq!(tiled(&[(1, 5), (5, 3)], &[(2, 10)]), [(5, 2, 1), (3, 2, 1), (1, 2, 2)]);
    }

    #[test]
    fn the_last_pages_have_a_request_of_their_own() {
        assert_eq!(tiled(&[(2, 7)], &[(3, 5)]), [(2, 3, 2), (2, 1, 1)]);
    }
}
