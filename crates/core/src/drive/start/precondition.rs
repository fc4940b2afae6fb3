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
use crate::base::steady::{Images, Steady};
use crate::base::streams::HOST;
use crate::base::stripes::Stripes;
use crate::base::units::{BlockId, DieId, Lpn, PageInBlock, Ppn};
use crate::bugs::{Bug, planted};
use crate::config::DriveConfig;
use crate::drive::Drive;
use crate::flash::contents::set_bits;
use crate::ftl::buffer::WHOLE;
use crate::ftl::map::Entry;
use crate::watch::observer::NO_LPN;

/// Largest number of random overwrites that are actually written.
const WRITE_AT_MOST: u64 = 4 << 20;
/// Number of pages that are loaded together. The map entries of one group fit into the first-level
/// cache while those of the next group are being fetched.
const LOAD_GROUP: usize = 64;

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

    fn prepare(&mut self, seed: u64, computed: bool, images: &Images) {
        let start = self.config.start.clone();
        let (filled, overwrites) = pages_at_start(&self.config, &self.geometry);
        self.wear_before_start(seed);
        if filled == 0 {
            return self.rank_by_wear();
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x9E37_79B9);
        let timed = self.flash.is_timed();
        self.facts.is_before_run = true;
        self.out_of_time(|drive| {
            if computed {
                drive.load_steady_state(filled, timed, &mut rng, (seed, images));
            } else {
                drive.load_sequential(filled);
                for _ in 0..overwrites {
                    drive.end_group();
                    let among =
                        if planted(Bug::OverwritesFirstHalf) { filled.div_ceil(2) } else { filled };
                    drive.write_page(Lpn::new(below(&mut rng, among)), WHOLE);
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
        let width = self.ftl.open_blocks(HOST);
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
                self.flash.preload_every(*block, lane, width);
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
    fn load_steady_state(
        &mut self,
        filled: u32,
        timed: bool,
        rng: &mut Xoshiro256PlusPlus,
        (seed, images): (u64, &Images),
    ) {
        if let Some(stripes) = self.geometry.stripes {
            return self.load_dies(stripes, filled, Some((timed, rng)));
        }
        let block_pages = self.geometry.pages_per_block;
        // With a clock, GC in idle gaps has kept its share of blocks free. Without a clock, GC runs
        // at the last moment.
        let kept_free =
            if timed { self.ftl.background_blocks() } else { 0 }.max(self.ftl.reserve() + 1);
        let kept_free = self.ftl.blocks_free_in_share(&self.flash).unwrap_or(kept_free);
        let closed = self.ftl.free_blocks() - kept_free;
        let valid = valid_by_age(filled, closed, block_pages);
        let mut blocks: Vec<BlockId> =
            (0..closed).map(|_| self.ftl.take_for_loading(&self.geometry)).collect();
        // The age of a block is independent of its address.
        for i in (1..blocks.len()).rev() {
            blocks.swap(i, below(rng, i as u32 + 1) as usize);
        }
        let of = (filled, block_pages, &blocks[..], &valid[..]);
        let layout = images
            .layout(seed, of, || Steady::draw(&self.geometry, filled, blocks.clone(), &valid, rng));
        self.ftl.map.begin(layout.clone());
        self.flash.preload_layout(layout.clone());
        self.flash.tell(|o| o.begins_in_order(layout.order()));
        for ((block, first), holds) in layout.blocks().zip(valid) {
            self.close_begun(block, holds);
            self.flash.tell(|o| o.preloaded_in_order(block, first, layout.chosen(block)));
        }
        self.rank_by_wear();
    }

    /// Loads each die with its own pages, including parity. Without a random source, the pages are
    /// in the order of their stripes. With a random source, they are as after random overwrites.
    /// Parity counts as old as data, although it is rewritten more often.
    fn load_dies(
        &mut self,
        stripes: Stripes,
        filled: u32,
        mut random: Option<(bool, &mut Xoshiro256PlusPlus)>,
    ) {
        let block_pages = self.geometry.pages_per_block;
        let mut pages = vec![(PageInBlock::FIRST, NO_LPN); block_pages as usize + 1];
        // If some blocks are worn, stripes with a page in a worn block get their parity next.
        let has_parity = self
            .config
            .parity
            .by_wear()
            .is_none_or(|by_wear| self.config.start.pec > by_wear.above);
        for die in 0..self.geometry.dies() {
            let mut lpns: Vec<Lpn> = stripes
                .on_die(die as DieId, filled)
                .filter(|lpn| has_parity || !stripes.is_parity(*lpn))
                .collect();
            let count = lpns.len() as u32;
            let valid = match &mut random {
                // The last block is not full of valid pages. Its other pages count as invalid.
                None => (0..count.div_ceil(block_pages))
                    .map(|n| block_pages.min(count - n * block_pages))
                    .collect(),
                Some((timed, rng)) => {
                    for i in (1..lpns.len()).rev() {
                        lpns.swap(i, below(rng, i as u32 + 1) as usize);
                    }
                    let kept_free = if *timed { self.ftl.background_blocks() } else { 0 }
                        .max(self.ftl.reserve() + 1);
                    let mut valid = valid_by_age(
                        count,
                        self.ftl.free_blocks_of(die as usize) - kept_free,
                        block_pages,
                    );
                    for i in (1..valid.len()).rev() {
                        valid.swap(i, below(rng, i as u32 + 1) as usize);
                    }
                    valid
                }
            };
            let mut next = 0;
            for holds in valid {
                let block = self.ftl.take_for_loading_in(die as usize);
                let pages = match &mut random {
                    None => choose_first(&mut pages, holds),
                    Some((_, rng)) => choose(&mut pages, block_pages, holds, rng),
                };
                for (_, lpn) in pages.iter_mut() {
                    *lpn = lpns[next];
                    next += 1;
                }
                self.load_block(block, pages);
            }
            assert!(next == lpns.len(), "every page is loaded once");
        }
        self.rank_by_wear();
        self.ftl.count_worn(&self.flash);
    }

    /// Loads a whole block: these pages hold valid data, and the other pages are invalid.
    fn load_block(&mut self, block: BlockId, pages: &[(PageInBlock, Lpn)]) {
        let first = self.geometry.first_page(block);
        let mut ahead = pages.chunks(LOAD_GROUP).skip(1);
        for group in pages.chunks(LOAD_GROUP) {
            for (_, lpn) in ahead.next().unwrap_or_default() {
                self.ftl.map.prefetch(*lpn);
            }
            for (page, lpn) in group {
                let ppn = first + *page;
                debug_assert!(self.ftl.map.get(*lpn) == Entry::UNMAPPED);
                self.ftl.map.set(*lpn, Entry::on_flash(ppn));
                self.flash.preload_page(block, *page, *lpn);
            }
        }
        self.close_loaded(block, pages.len() as u32);
    }

    /// Returns the strictest hint of the data in a block.
    fn budget_of_content(&self, block: BlockId) -> AccessLatency {
        let Some(hinted) = &self.ftl.hinted else { return AccessLatency::Smallest };
        let (first, contents) = (self.geometry.first_page(block), self.flash.contents());
        let budgets = set_bits(contents.valid_words(block))
            .map(|page| hinted.of(contents.owner(first + page as u32)));
        let taken =
            if self.bugs.has(Bug::TighterBudgetIgnored) { budgets.max() } else { budgets.min() };
        taken.unwrap_or(AccessLatency::Idle)
    }

    /// Closes a block whose pages are in the map. `valid` pages are valid. The others are invalid.
    fn close_loaded(&mut self, block: BlockId, valid: u32) {
        self.close_begun(block, valid);
        self.flash.tell_preloaded(block);
    }

    /// Closes a block, without telling the observer.
    fn close_begun(&mut self, block: BlockId, valid: u32) {
        let budget = self.budget_of_content(block);
        self.flash.preload(block, HOST, valid, budget);
        let (flash, ftl, mut slots) = self.parts();
        ftl.arm(flash, &mut slots, block);
        ftl.victims.insert(block, ftl.score(flash, block), flash.seq() as u32);
    }
}

/// Chooses exactly `holds` of the pages at random; all sets are equally likely (selection
/// sampling). Every page is noted, and the next page overwrites it unless it was chosen. A branch
/// would be predicted wrongly too often.
fn choose<'a>(
    pages: &'a mut [(PageInBlock, Lpn)],
    block_pages: u32,
    holds: u32,
    rng: &mut Xoshiro256PlusPlus,
) -> &'a mut [(PageInBlock, Lpn)] {
    let mut chosen = 0;
    for page in PageInBlock::range(0..block_pages) {
        pages[chosen as usize].0 = page;
        chosen += u32::from(below(rng, block_pages - page.number()) < holds - chosen);
    }
    &mut pages[..holds as usize]
}

/// Chooses the first `holds` pages.
fn choose_first(pages: &mut [(PageInBlock, Lpn)], holds: u32) -> &mut [(PageInBlock, Lpn)] {
    for (n, (page, _)) in PageInBlock::range(0..holds).zip(pages.iter_mut()) {
        *page = n;
    }
    &mut pages[..holds as usize]
}

/// Returns the number of pages that are written once, and the number of overwrites afterwards.
fn pages_at_start(config: &DriveConfig, geometry: &Geometry) -> (u32, u64) {
    let filled = (f64::from(geometry.host_pages) * config.start.fill).floor() as u32;
    let filled = filled - u32::from(planted(Bug::FillOneShort) && filled > 1);
    (
        filled,
        (f64::from(filled) * config.start.overwrite) as u64
            / if planted(Bug::OverwritesHalved) { 2 } else { 1 },
    )
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
fn valid_by_age(filled: u32, closed: u32, block_pages: u32) -> Vec<u32> {
    let alpha = f64::from(filled) / (f64::from(closed) * f64::from(block_pages));
    assert!(alpha <= 1.0, "the filled pages fit into the closed blocks");
    let v = victim_share(alpha);
    let b = f64::from(block_pages);
    let mut valid = Vec::with_capacity(closed as usize);
    // Rounding errors are carried forward, so that the sum is exact.
    let (mut exact, mut given) = (0.0, 0u32);
    for k in 0..closed {
        exact += if planted(Bug::SteadyAllFull) {
            b * alpha
        } else {
            b * v.powf((f64::from(k) + 0.5) / f64::from(closed))
        };
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
