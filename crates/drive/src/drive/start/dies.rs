//! Start-up state of a drive with parity. Each die holds its own pages, because a page of a stripe
//! belongs to one die.
//!
//! If wear decides which stripes have parity, the drive counts the pages of each stripe in worn
//! blocks. Such a drive is loaded page by page.

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::base::steady::Pages;
use crate::base::stripes::Stripes;
use crate::base::units::{BlockId, DieId, Lpn, PageInBlock};
use crate::drive::Drive;
use crate::drive::start::precondition::{Closed, Random, below, shuffle, valid_by_age};
use crate::ftl::map::Entry;
use crate::watch::observer::NO_LPN;

/// Number of pages that are loaded together. The map entries of one group fit into the first-level
/// cache while those of the next group are being fetched.
const LOAD_GROUP: usize = 64;

impl Drive {
    /// Takes the blocks that the steady state of each die closes. Returns them with their numbers
    /// of valid pages. Parity counts as old as data, although it is rewritten more often.
    pub(super) fn close_by_die(&mut self, pages: &Pages, random: &mut Random) -> Closed {
        let (mut blocks, mut valid) = (vec![], vec![]);
        for die in 0..self.geometry.dies() {
            let of_die = self.valid_of_die(die, pages.of_lane(die), random);
            blocks.extend(of_die.iter().map(|_| self.ftl.take_for_loading_in(die as usize)));
            valid.extend(of_die);
        }
        (blocks, valid)
    }

    /// Returns the number of valid pages of each block that the steady state of a die closes. The
    /// age of a block is independent of its address.
    fn valid_of_die(&self, die: u32, pages: u32, random: &mut Random) -> Vec<u32> {
        let closed = self.ftl.free.count(die as usize) - random.kept_free;
        let mut valid = valid_by_age(pages, closed, self.geometry.pages_per_block);
        shuffle(&mut valid, random.rng);
        valid
    }

    /// Loads each die with its own pages, including parity, page by page. Without a random source,
    /// the pages are in the order of their stripes. With a random source, they are as after random
    /// overwrites.
    pub(super) fn load_dies(
        &mut self,
        stripes: Stripes,
        filled: u32,
        mut random: Option<&mut Random>,
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
                Some(random) => {
                    shuffle(&mut lpns, random.rng);
                    self.valid_of_die(die, count, random)
                }
            };
            let mut next = 0;
            for holds in valid {
                let block = self.ftl.take_for_loading_in(die as usize);
                let pages = match &mut random {
                    None => choose_first(&mut pages, holds),
                    Some(random) => choose(&mut pages, block_pages, holds, random.rng),
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
                self.flash.contents.set_owner(block, ppn, *lpn);
                self.flash.contents.set_valid(block, *page);
            }
        }
        self.close_loaded(block, pages.len() as u32);
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

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;
    use crate::api::parity::{ParityTechnique, STRIPE};
    use crate::testing::{CACHED, STRIPED, with_parity};

    /// Makes a drive of five dies with stripes of three pages.
    fn drive(parity: &'static ParityTechnique) -> Drive {
        let text = r#"
            geometry = { channels = 5, dies_per_channel = 1, planes_per_die = 2, blocks_per_plane = 24, wordlines_per_block = 32, cell = "tlc", page_size = "16KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4 }
            start = { fill = 0.9, overwrite = 2.0 }
        "#;
        let mut config = toml::from_str::<crate::config::DriveConfig>(text).unwrap();
        config.parity.params.set(None, STRIPE.key, STRIPE.number(3.0));
        Drive::new(config.resolve().unwrap(), &with_parity(parity), false).unwrap()
    }

    /// Returns the number of valid pages of each block of each die, in order of size.
    fn valid_by_die(drive: &Drive) -> Vec<Vec<u16>> {
        let mut valid = vec![vec![]; drive.geometry.dies() as usize];
        for (block, row) in drive.geometry.block_ids().zip(drive.block_states()) {
            valid[drive.geometry.domain_of(block)].push(row.valid);
        }
        for of_die in &mut valid {
            of_die.sort_unstable();
        }
        valid
    }

    /// A computed start has the statistics of a start that is loaded page by page, whether parity
    /// is late or not.
    #[test]
    fn a_computed_start_is_like_a_loaded_one() {
        for parity in [&STRIPED, &CACHED] {
            let (mut loaded, mut computed) = (drive(parity), drive(parity));
            let stripes = loaded.geometry.stripes.unwrap();
            let filled = (f64::from(loaded.geometry.host_pages) * 0.9).floor() as u32;
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
            let random = &mut Random { kept_free: loaded.kept_free(), rng: &mut rng };
            loaded.load_dies(stripes, filled, Some(random));
            computed.precondition_computed(3);
            assert_eq!(valid_by_die(&loaded), valid_by_die(&computed));
            assert_eq!(loaded.mapped_pages(), computed.mapped_pages());
            let pages = |drive: &Drive| drive.all_map_rows().map(|row| row.lpn).collect::<Vec<_>>();
            assert_eq!(pages(&loaded), pages(&computed));
        }
    }

    #[test]
    fn pages_of_a_stripe_begin_on_different_dies() {
        let mut drive = drive(&STRIPED);
        drive.precondition_computed(3);
        let (stripes, mut places) = (drive.geometry.stripes.unwrap(), vec![]);
        for stripe in 0..stripes.count() {
            let pages = stripes.data(stripe).chain([stripes.parity(stripe)]);
            let held: Vec<_> = pages.filter_map(|lpn| drive.ftl.place_of(lpn)).collect();
            let mut dies: Vec<DieId> = held
                .iter()
                .map(|ppn| drive.geometry.die_of(drive.geometry.block_of(*ppn)))
                .collect();
            dies.sort_unstable();
            dies.dedup();
            assert_eq!(dies.len(), held.len(), "stripe {stripe}");
            places.extend(held);
        }
        let all = places.len();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() == all && all as u64 == drive.mapped_pages());
    }

    /// Starts two drives with one seed. The second takes the image that the first has drawn.
    #[test]
    fn the_same_seed_gives_the_same_places() {
        let images = crate::base::steady::Images::new();
        let begun = |seed| {
            let mut drive = drive(&STRIPED);
            drive.prepare(seed, true, &images);
            drive.all_map_rows().map(|row| row.ppn).collect::<Vec<_>>()
        };
        let first = begun(3);
        assert_eq!(first, begun(3));
        assert!(begun(4) != first && begun(3) == first);
    }
}
