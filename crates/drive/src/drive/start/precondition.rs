//! Content of the start-up state: written sequentially, and then overwritten at random by the
//! configured amount.
//!
//! Small amounts are written. For a large drive, the steady state is computed. It assumes uniform
//! random overwrites and greedy GC. A block has b pages, a share alpha of the pages of closed
//! blocks is valid, and victims have a share v of valid pages. A block that is a fraction u of the
//! way from full to victim holds b v^u valid pages. For large blocks, ln(1/v) = (1 - v) / alpha
//! (Desnoyers, ACM TOS 10(2), 2014).

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::base::geometry::Geometry;
use crate::base::latency::AccessLatency;
use crate::base::steady::{Images, Pages, Steady};
use crate::base::streams::HOST;
use crate::base::units::{BlockId, Lpn, Ppn};
use crate::config::DriveConfig;
use crate::drive::Drive;
use crate::flash::contents::set_bits;
use crate::ftl::buffer::WHOLE;
use crate::watch::observer::Event;

/// Largest number of random overwrites that are actually written.
const WRITE_AT_MOST: u64 = 4 << 20;

/// Random source of a steady state, and the number of blocks of a domain that stay free.
pub(super) struct Random<'a> {
    pub(super) kept_free: u32,
    pub(super) rng: &'a mut Xoshiro256PlusPlus,
}

/// Closed blocks of a steady state, and their numbers of valid pages.
pub(super) type Closed = (Vec<BlockId>, Vec<u32>);

impl Drive {
    /// Brings the drive to the state that `[start]` describes. The same seed gives the same state.
    pub fn precondition(&mut self, seed: u64) {
        self.precondition_from(seed, &Images::new());
    }

    /// Brings the drive to the state of [`Self::precondition`]. If `images` has this start-up
    /// state, the drive shares it.
    pub fn precondition_from(&mut self, seed: u64, images: &Images) {
        let (_, overwrites) = pages_at_start(&self.config, &self.geometry);
        self.prepare(seed, is_computed(&self.config, overwrites), images);
    }

    /// Brings the drive to a computed steady state, however small the drive is. Checkers of the
    /// start-up state of large drives need this.
    pub fn precondition_computed(&mut self, seed: u64) {
        self.prepare(seed, true, &Images::new());
    }

    /// Notes the place of every page at once. A run does this for each page that it touches.
    /// Benchmarks of reads alone need it.
    pub fn settle(&mut self) {
        self.ftl.map.settle_all();
    }

    pub(super) fn prepare(&mut self, seed: u64, computed: bool, images: &Images) {
        let start = self.config.start.clone();
        let (filled, overwrites) = pages_at_start(&self.config, &self.geometry);
        self.wear_before_start(seed);
        if filled == 0 {
            return self.rank_by_wear();
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x9E37_79B9);
        let kept_free = self.kept_free();
        self.facts.is_before_run = true;
        self.out_of_time(|drive| {
            if computed {
                let random = &mut Random { kept_free, rng: &mut rng };
                drive.load_steady_state(filled, random, (seed, images));
            } else {
                drive.load_sequential(filled);
                for _ in 0..overwrites {
                    drive.end_group();
                    drive.write_page(Lpn::new(below(&mut rng, filled)), WHOLE);
                }
            }
            drive.drain_buffer();
            drive.form_waiting();
            if start.reads > 0 {
                drive.serve_before_start(seed);
            }
            if drive.keeps_time() {
                drive.age_before_start(seed);
            }
        });
        self.facts.is_before_run = false;
    }

    /// Does some work before time begins. Moves run at once, no physical work is recorded, and
    /// nothing stays in the write buffer.
    pub(crate) fn out_of_time<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let timed = self.flash.set_timed(false);
        let done = work(self);
        self.drain_buffer();
        self.flash.set_timed(timed);
        done
    }

    /// Loads the state after one sequential write of the first `filled` pages.
    fn load_sequential(&mut self, filled: u32) {
        if let Some(stripes) = self.geometry.stripes {
            return self.load_dies(stripes, filled, None);
        }
        let width = self.ftl.streams.width(HOST) as u32;
        let block_pages = self.geometry.pages_per_block;
        let mut next = 0;
        // Whole rows of blocks are loaded. The remaining pages are written one by one into blocks
        // that stay open.
        while filled - next >= width * block_pages {
            let row: Vec<BlockId> =
                (0..width).map(|_| self.ftl.take_for_loading(&self.geometry)).collect();
            let first_pages: Vec<Ppn> =
                row.iter().map(|block| self.geometry.first_page(*block)).collect();
            self.ftl.map.load_in_turn(Lpn::new(next), &first_pages, block_pages);
            for (lane, block) in Lpn::range(next..next + width).zip(&row) {
                self.flash.contents.fill(*block, lane, width);
            }
            for block in row {
                self.close_loaded(block, block_pages);
            }
            next += width * block_pages;
        }
        self.rank_by_wear();
        for lpn in Lpn::range(next..filled) {
            self.write_page(lpn, WHOLE);
        }
    }

    /// Loads the steady state after uniform random overwrites of the first `filled` pages.
    fn load_steady_state(&mut self, filled: u32, random: &mut Random, of: (u64, &Images)) {
        let (seed, images) = of;
        let by_wear = self.config.parity.by_wear().is_some();
        if let Some(stripes) = self.geometry.stripes.filter(|_| by_wear) {
            return self.load_dies(stripes, filled, Some(random));
        }
        let pages = Pages::new(&self.geometry, filled);
        let (blocks, valid) = match self.geometry.stripes {
            Some(_) => self.close_by_die(&pages, random),
            None => self.close_of_drive(filled, random),
        };
        let of = (&pages, self.geometry.pages_per_block, &blocks[..], &valid[..]);
        let layout = images
            .layout(seed, of, || Steady::draw(&self.geometry, pages, &blocks, &valid, random.rng));
        self.ftl.map.begin(layout.clone());
        self.flash.contents.begin(layout.clone());
        self.flash.tell(Event::BeginsInOrder { orders: layout.orders(), filled });
        for (block, first, order, holds) in layout.blocks() {
            self.close_begun(block, holds);
            self.flash.tell(Event::PreloadedInOrder { block, first, pages: order, holds });
        }
        self.rank_by_wear();
    }

    /// Takes the blocks of a drive without parity that its steady state closes. Returns them with
    /// their numbers of valid pages.
    fn close_of_drive(&mut self, filled: u32, random: &mut Random) -> Closed {
        let kept_free = self.ftl.blocks_free_in_share(&self.flash).unwrap_or(random.kept_free);
        let closed = self.ftl.free.total() - kept_free;
        let valid = valid_by_age(filled, closed, self.geometry.pages_per_block);
        let mut blocks: Vec<BlockId> =
            (0..closed).map(|_| self.ftl.take_for_loading(&self.geometry)).collect();
        // The age of a block is independent of its address.
        shuffle(&mut blocks, random.rng);
        (blocks, valid)
    }

    /// Returns the number of blocks of a domain that the steady state leaves free. With a clock, GC
    /// in idle gaps has kept its share of blocks free. Without a clock, GC runs at the last moment.
    pub(super) fn kept_free(&self) -> u32 {
        if self.flash.timed { self.ftl.background_blocks } else { 0 }
            .max(self.ftl.streams.reserve() + 1)
    }

    /// Returns the strictest hint of the data in a block.
    fn budget_of_content(&self, block: BlockId) -> AccessLatency {
        let Some(hinted) = &self.ftl.hinted else { return AccessLatency::Smallest };
        let (first, contents) = (self.geometry.first_page(block), &self.flash.contents);
        let budgets = set_bits(contents.valid_words(block))
            .map(|page| hinted.of(contents.owner(first + page as u32)));
        budgets.min().unwrap_or(AccessLatency::Idle)
    }

    /// Closes a block whose pages are in the map. `valid` pages are valid. The others are invalid.
    pub(super) fn close_loaded(&mut self, block: BlockId, valid: u32) {
        self.close_begun(block, valid);
        self.flash.tell_preloaded(block);
    }

    /// Closes a block, without telling the observer.
    fn close_begun(&mut self, block: BlockId, valid: u32) {
        let budget = self.budget_of_content(block);
        self.flash.preload(block, HOST, valid, budget);
        let (ftl, mut cx) = self.parts();
        ftl.arm(&mut cx, block);
        ftl.victims.insert(block, ftl.score(cx.flash, block), cx.flash.seq as u32);
    }
}

/// Returns the number of pages that are written once, and the number of overwrites afterwards.
fn pages_at_start(config: &DriveConfig, geometry: &Geometry) -> (u32, u64) {
    let filled = (f64::from(geometry.host_pages) * config.start.fill).floor() as u32;
    (filled, (f64::from(filled) * config.start.overwrite) as u64)
}

/// Returns whether the steady state is computed instead of written. A sample starts like its whole
/// drive.
fn is_computed(config: &DriveConfig, overwrites: u64) -> bool {
    let of = config.part_of.as_ref().map_or(1, |part| u64::from(part.of));
    config.start.overwrite >= 1.0 && overwrites * of > WRITE_AT_MOST
}

/// Returns the number of random overwrites that are actually written before the run, and wear the
/// drive.
pub fn written_at_start(config: &DriveConfig) -> u64 {
    let (_, overwrites) = pages_at_start(config, &Geometry::new(config));
    if is_computed(config, overwrites) { 0 } else { overwrites }
}

/// Returns the largest number of P/E cycles that a block gets before the run, if greedy's closed
/// form and wear levelling hold.
pub(crate) fn erases_at_most(config: &DriveConfig, geometry: &Geometry) -> u32 {
    let (filled, overwrites) = pages_at_start(config, geometry);
    if overwrites == 0 || is_computed(config, overwrites) {
        return 0;
    }
    let raw = f64::from(geometry.raw_pages());
    let copies_per_write = (1.0 / (1.0 - victim_share(f64::from(filled) / raw))).min(100.0);
    // The result is twice the mean, because small drives have few blocks to level.
    (2.0 * overwrites as f64 * copies_per_write / raw).ceil() as u32 + 2
}

/// Returns the number of valid pages of each closed block, from a full block to the next victim.
/// The sum is `filled`.
pub(super) fn valid_by_age(filled: u32, closed: u32, block_pages: u32) -> Vec<u32> {
    let alpha = f64::from(filled) / (f64::from(closed) * f64::from(block_pages));
    assert!(alpha <= 1.0, "the filled pages fit into the closed blocks");
    let v = victim_share(alpha);
    let b = f64::from(block_pages);
    let mut valid = Vec::with_capacity(closed as usize);
    // Rounding errors are carried forward, so that the sum is exact.
    let (mut exact, mut given) = (0.0, 0u32);
    for k in 0..closed {
        exact += b * v.powf((f64::from(k) + 0.5) / f64::from(closed));
        let pages = ((exact - f64::from(given)).round() as u32).min(block_pages);
        valid.push(pages);
        given += pages;
    }
    // Blocks in the middle of their life take the pages that the approximation leaves over or
    // lacks.
    let mut k = 0;
    while given != filled {
        let pages = &mut valid[(k % closed) as usize];
        if given < filled && *pages < block_pages {
            *pages += 1;
            given += 1;
        } else if given > filled && *pages > 0 {
            *pages -= 1;
            given -= 1;
        }
        k += 1;
    }
    valid
}

/// Returns the share v of valid pages in greedy's victims: the solution below 1 of ln(1/v) = (1 -
/// v) / alpha.
fn victim_share(alpha: f64) -> f64 {
    if alpha >= 1.0 {
        return 1.0;
    }
    let mut v = 0.0;
    for _ in 0..10_000 {
        let next = (-(1.0 - v) / alpha).exp();
        if (next - v).abs() < 1e-12 {
            break;
        }
        v = next;
    }
    v
}

/// Puts items into a random order.
pub(super) fn shuffle<T>(items: &mut [T], rng: &mut Xoshiro256PlusPlus) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(rng, i as u32 + 1) as usize);
    }
}

/// Returns a number below `n`. All numbers are equally likely to within 2^-32.
pub(crate) fn below(rng: &mut Xoshiro256PlusPlus, n: u32) -> u32 {
    (((rng.next_u64() >> 32) * u64::from(n)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_victim_share_solves_its_equation() {
        for alpha in [0.5, 0.8, 0.9, 0.965] {
            let v = victim_share(alpha);
            assert!(
                v < 0.99 && ((1.0 / v).ln() - (1.0 - v) / alpha).abs() < 1e-6,
                "alpha {alpha}, v {v}"
            );
        }
    }

    #[test]
    fn valid_pages_add_up() {
        for (filled, closed, pages) in [(8_000, 100, 96), (95_000, 1000, 100), (700, 10, 192)] {
            let v = valid_by_age(filled, closed, pages);
            assert_eq!(v.iter().sum::<u32>(), filled);
            assert!(v.iter().all(|p| *p <= pages));
        }
    }
}
