//! Makes the requests of one direction. This includes the order, the pages and the arrival times of
//! these requests.

use std::sync::Arc;

use rand_core::SeedableRng;
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::Ns;

use super::deal::Deal;
use super::layout::{Blocks, Layout};
use super::lengths::Shape;
use super::plan::SidePlan;
use super::window_clock::WindowClock;
use crate::synthetic::alias::Alias;
use crate::synthetic::random::{Random, Rng, below};

/// Cell of equal blocks, with the state for making requests to these blocks.
#[derive(Clone, Debug)]
struct Running {
    /// Number of pages of a block.
    pages: u32,
    blocks: u32,
    /// Number of the next block. Each request adds `step` to this number. `step` and the number of
    /// blocks have no common factor, so every block is used once before any block is used again.
    next: u32,
    step: u32,
    place: Blocks,
    /// Size and start position of all requests of the cell. If the requests have several shapes,
    /// `mix` is the index of the [`Mix`] from which the shape of each request is drawn.
    shape: Shape,
    mix: Option<u32>,
}

/// Shapes of requests that touch the same number of pages. Each shape is drawn according to its
/// weight. Multiples of the golden ratio, modulo 1, replace random numbers. These multiples cover
/// the range from 0 to 1 evenly. As a result, each shape has the right share even among few
/// requests.
#[derive(Clone, Debug)]
struct Mix {
    alias: Alias,
    shapes: Vec<Shape>,
    bits: u64,
}

/// Multiplier for evenly spread numbers: 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// State of the requests of one direction.
#[derive(Clone, Debug)]
pub(super) struct Side {
    op: Op,
    page_bytes: u64,
    cells: Vec<Running>,
    mixes: Vec<Mix>,
    layout: Layout,
    deal: Deal,
    shortest: u64,
    longest: u64,
    clock: WindowClock,
    random: Random,
}

/// Settings that reads and writes share.
pub(super) struct Ground {
    pub(super) page_bytes: u64,
    pub(super) extent_pages: u64,
    pub(super) window_ends_ns: Arc<[Ns]>,
}

impl Side {
    /// Returns the number of bytes that the tables occupy in memory.
    pub(super) fn memory(&self) -> u64 {
        size_of_val(self.cells.as_slice()) as u64 + self.layout.memory() + self.deal.memory()
    }

    /// Makes the state for a plan whose pages begin at page `base`. `window_pages` has an entry for
    /// each window. The number of page accesses in a window is proportional to the entry of the
    /// window.
    pub(super) fn new(
        op: Op,
        plan: &SidePlan,
        base: u32,
        window_pages: &[u64],
        ground: &Ground,
        seed: u64,
    ) -> Self {
        let mut random = Random::seed_from_u64(seed);
        let (layout, places) = Layout::new(&plan.cells, base, ground.extent_pages, &mut random);
        let mut mixes = vec![];
        let mix_of_length: Vec<Option<u32>> =
            plan.lengths.iter().map(|l| mix(&l.shapes, &mut mixes, &mut random)).collect();
        let cells = plan.cells.iter().zip(places).map(|(cell, place)| {
            let blocks = cell.blocks as u32;
            let length = cell.length as usize;
            let next = below(&mut random, cell.blocks) as u32;
            let (shape, mix) = (plan.lengths[length].shapes[0].0, mix_of_length[length]);
            Running { pages: cell.pages, blocks, next, step: step(blocks), place, shape, mix }
        });
        let cells: Vec<_> = cells.collect();
        let pages = || plan.cells.iter().map(|c| u64::from(c.pages));
        Self {
            op,
            page_bytes: ground.page_bytes,
            cells,
            mixes,
            layout,
            shortest: pages().min().unwrap_or(1),
            longest: pages().max().unwrap_or(1),
            clock: WindowClock::new(
                Arc::clone(&ground.window_ends_ns),
                window_pages,
                plan.page_accesses(),
            ),
            deal: Deal::new(&plan.cells, &mut random),
            random,
        }
    }

    /// Returns the next request, or `None` at the end of the pass.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Request> {
        let cell = loop {
            let left = self.clock.pages_left()?;
            if left >= 2 * self.longest || self.clock.is_last() {
                break self.deal.hand(&mut self.random).pop()?;
            }
            if let Some(cell) = self.choose(left) {
                break cell;
            }
            self.clock.close_window();
        };
        let cell = &mut self.cells[cell as usize];
        let page = self.layout.page(cell.place, cell.next, cell.pages);
        let next = u64::from(cell.next) + u64::from(cell.step);
        cell.next =
            if next >= u64::from(cell.blocks) { next - u64::from(cell.blocks) } else { next }
                as u32;
        let shape = match cell.mix {
            None => cell.shape,
            Some(mix) => self.mixes[mix as usize].draw(),
        };
        let at = self.clock.pass(u64::from(cell.pages), self.random.next_u64());
        Some(Request {
            at,
            offset: page * self.page_bytes + u64::from(shape.skip),
            bytes: shape.bytes,
            op: self.op,
            origin: 0,
            hint: None,
        })
    }

    /// Chooses a request of the current group for a window that needs `left` more pages. The first
    /// choice is the next request that fills the window or leaves space for another request. The
    /// second choice is the longest request that fits. The last choice is the shortest request, if
    /// it has fewer than 2 x `left` pages.
    #[cold]
    fn choose(&mut self, left: u64) -> Option<u32> {
        let (cells, shortest) = (&self.cells, self.shortest);
        let hand = self.deal.hand(&mut self.random);
        let pages = |cell: u32| u64::from(cells[cell as usize].pages);
        let fits = |n: u64| n == left || n + shortest <= left;
        let found = hand.iter().rposition(|c| fits(pages(*c))).or_else(|| {
            let fitting =
                (0..hand.len()).filter(|i| pages(hand[*i]) <= left).max_by_key(|i| pages(hand[*i]));
            let nearest = (0..hand.len())
                .min_by_key(|i| pages(hand[*i]))
                .filter(|i| pages(hand[*i]) < 2 * left);
            fitting.or(nearest)
        });
        found.map(|i| hand.swap_remove(i))
    }

    /// Begins the next pass, whose requests arrive from time `start` on.
    pub(super) fn begin_pass(&mut self, start: Ns) {
        self.clock.begin_pass(start);
    }
}

impl Mix {
    #[inline]
    fn draw(&mut self) -> Shape {
        self.bits = self.bits.wrapping_add(GOLDEN);
        self.shapes[self.alias.pick(self.bits)]
    }
}

fn mix(shapes: &[(Shape, f64)], mixes: &mut Vec<Mix>, random: &mut Random) -> Option<u32> {
    if shapes.len() == 1 {
        return None;
    }
    let weights: Vec<_> = shapes.iter().map(|(_, n)| *n).collect();
    mixes.push(Mix {
        alias: Alias::new(&weights),
        shapes: shapes.iter().map(|(s, _)| *s).collect(),
        bits: random.next_u64(),
    });
    Some(mixes.len() as u32 - 1)
}

/// Returns a step between blocks for a cell of `count` blocks. The step is near `count` divided by
/// the golden ratio, and has no common factor with `count`.
fn step(count: u32) -> u32 {
    fn gcd(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let first = ((f64::from(count) * 0.618) as u32).max(1);
    (first..=first.saturating_add(count))
        .find(|s| gcd(*s, count) == 1)
        .map_or(1, |s| if count == 1 { 0 } else { s % count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_reach_every_block() {
        for count in (1..200).chain([4096, 65_537, 1_000_000]) {
            let mut seen = vec![false; count as usize];
            let (mut at, step) = (0u64, u64::from(step(count)));
            for _ in 0..count {
                assert!(!std::mem::replace(&mut seen[at as usize], true), "{count}");
                at = (at + step) % u64::from(count);
            }
        }
    }
}
