//! Layout of a computed steady start. It gives the flash page of each host page, and the host page
//! of each flash page, without a table of pages.
//!
//! The host's pages have a random order, which is computed place by place ([`Order`]). With parity,
//! the pages of each die have one (`Lanes`). The blocks of the layout take the pages in this
//! order. Each block has a random order of its flash pages. The block holds its host pages in the
//! first pages of that order.
//!
//! ```text
//! host page --place_of--> its place in the order --> the block of that place and the rank in it
//!           --at_place--> the flash page of that rank
//! flash page --place_of--> its rank in its block --at_place--> the host page
//! ```

mod lanes;
mod order;

use std::sync::{Arc, Mutex, PoisonError};

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) use self::lanes::Lanes;
pub use self::lanes::Pages;
pub use self::order::Order;
use crate::base::geometry::Geometry;
use crate::base::splitmix;
use crate::base::units::{BlockId, Lpn, PageInBlock, Ppn};

/// Number that stands for a block outside the layout.
const NOWHERE: u32 = u32::MAX;
/// Section of a lane's order that one block holds. It ends where the next section begins.
#[derive(Clone, Copy, Debug)]
struct Section {
    /// First place of the section.
    first: u32,
    block: BlockId,
}

/// Layout. It has an order of the pages for each lane. Each block holds one section of that order.
#[derive(Debug)]
pub struct Steady {
    lanes: Lanes,
    pages_per_block: u32,
    blocks_per_lane: u32,
    /// Sections in the order of places. The last entry is the end: its `first` is the number of
    /// pages.
    sections: Vec<Section>,
    /// Index in `sections` of each block, or [`NOWHERE`].
    turn: Vec<u32>,
    /// Seed of the keys of each block's order. A table of keys would push the other tables out of
    /// the processor's cache.
    seed: u64,
    /// Index in `sections` of the section that has every `2^step_bits`th place. A step has at most
    /// as many places as a section on average.
    at_step: Vec<u32>,
    step_bits: u32,
}

/// Layout that was drawn last. Drives that start alike share it, such as the rows or the ages of a
/// comparison.
#[derive(Debug, Default)]
pub struct Images(Mutex<Option<(u64, Arc<Steady>)>>);

impl Images {
    /// Begins without a layout.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the layout for this seed, these blocks and their numbers of pages. If the last
    /// layout has the same inputs, it is used again. If not, a new layout is drawn.
    pub fn layout(
        &self,
        seed: u64,
        of: (&Pages, u32, &[BlockId], &[u32]),
        draw: impl FnOnce() -> Steady,
    ) -> Arc<Steady> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((same, layout)) if *same == seed && layout.is_of(of) => layout.clone(),
            _ => last.insert((seed, Arc::new(draw()))).1.clone(),
        }
    }
}

impl Steady {
    /// Returns whether this layout has these inputs: pages, pages per block, blocks, and number of
    /// pages that each block holds.
    fn is_of(
        &self,
        (pages, pages_per_block, blocks, holds): (&Pages, u32, &[BlockId], &[u32]),
    ) -> bool {
        let held = self.sections.windows(2).map(|two| (two[0].block, two[1].first - two[0].first));
        &self.lanes.pages == pages
            && self.pages_per_block == pages_per_block
            && held.eq(blocks.iter().copied().zip(holds.iter().copied()))
    }

    /// Draws a random layout. The blocks of each lane take its pages in turn. `holds` has the
    /// number of pages of each block. The blocks of a lane are in a row, in the order of lanes.
    pub fn draw(
        geometry: &Geometry,
        pages: Pages,
        blocks: &[BlockId],
        holds: &[u32],
        rng: &mut Xoshiro256PlusPlus,
    ) -> Self {
        let (lanes, blocks_per_lane) = (Lanes::draw(pages, rng), geometry.blocks_per_domain());
        let mut turn = vec![NOWHERE; geometry.blocks as usize];
        let (mut sections, mut next) = (Vec::with_capacity(blocks.len() + 1), 0u32);
        for ((n, block), holds) in (0..).zip(blocks).zip(holds) {
            assert!(*holds <= geometry.pages_per_block, "a block holds no more than its pages");
            turn[block.index()] = n;
            let places = lanes.places((block.number() / blocks_per_lane) as usize);
            assert!(places.start <= next, "the blocks of a lane hold every page of it");
            sections.push(Section { first: next, block: *block });
            next += *holds;
            assert!(next <= places.end, "the blocks of a lane hold every page of it once");
        }
        assert!(next == lanes.count(), "the steady state holds every page once");
        sections.push(Section { first: next, block: BlockId::new(NOWHERE) });
        let step_bits = (next / blocks.len().max(1) as u32).max(1).ilog2();
        let at_step = steps(&sections, step_bits);
        Self {
            lanes,
            pages_per_block: geometry.pages_per_block,
            blocks_per_lane,
            sections,
            turn,
            seed: rng.next_u64(),
            at_step,
            step_bits,
        }
    }

    /// Returns the largest number of bytes of a layout. Less than two steps begin in each section.
    pub fn bytes(blocks: u32) -> u64 {
        (size_of::<Section>() + 3 * size_of::<u32>()) as u64 * u64::from(blocks)
    }

    /// Returns the pages of the layout.
    pub fn pages(&self) -> &Pages {
        &self.lanes.pages
    }

    /// Returns the order of each lane.
    pub fn orders(&self) -> &[Order] {
        &self.lanes.orders
    }

    /// Returns the blocks of the layout in the order in which they take pages. Each has its first
    /// place in the order of its lane, the order of its flash pages, and the number of these that
    /// hold data.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockId, u32, Order, u32)> + '_ {
        self.sections.windows(2).map(|two| {
            let Section { first, block, .. } = two[0];
            let in_lane = first - self.lanes.places(self.lane(block)).start;
            (block, in_lane, self.order_in(block), two[1].first - first)
        })
    }

    /// Returns the order of the flash pages of a block.
    #[inline]
    fn order_in(&self, block: BlockId) -> Order {
        let [a, b] = [0, 1].map(|n| splitmix::number(self.seed, 2 * u64::from(block.number()) + n));
        let keys = [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32];
        Order { pages: self.pages_per_block, keys }
    }

    /// Returns the lane of a block.
    #[inline]
    fn lane(&self, block: BlockId) -> usize {
        (block.number() / self.blocks_per_lane) as usize
    }

    /// Returns the flash pages of a block that hold data at the start, each with its data.
    pub fn held_by(&self, block: BlockId) -> impl Iterator<Item = (PageInBlock, Lpn)> + '_ {
        let (turn, lane) = (self.turn[block.index()] as usize, self.lane(block));
        let order = self.order_in(block);
        (0..).zip(self.sections[turn].first..self.sections[turn + 1].first).map(
            move |(rank, place)| {
                (PageInBlock::new(order.at_place(rank)), self.lanes.page_at(lane, place))
            },
        )
    }

    /// Returns the place of a page in the orders of all lanes; `None` if no flash page holds it.
    #[inline]
    pub fn place_of(&self, lpn: Lpn) -> Option<u32> {
        self.lanes.place_of(lpn)
    }

    /// Returns the flash page that holds the page at a place.
    #[inline]
    pub fn page_at(&self, place: u32) -> Ppn {
        let mut n = self.at_step[(place >> self.step_bits) as usize] as usize;
        // A step often has the end of one section, and rarely more. So the first comparison is no
        // branch.
        n += usize::from(self.sections[n + 1].first <= place);
        while self.sections[n + 1].first <= place {
            n += 1;
        }
        let Section { first, block } = self.sections[n];
        let page = self.order_in(block).at_place(place - first);
        Ppn::new(block.number() * self.pages_per_block + page)
    }

    /// Returns the page whose data a page of a block holds at the start; `None` without data.
    #[cold]
    pub fn owner(&self, block: BlockId, page: PageInBlock) -> Option<Lpn> {
        let turn = self.turn[block.index()];
        if turn == NOWHERE {
            return None;
        }
        let place =
            self.sections[turn as usize].first + self.order_in(block).place_of(page.number());
        if place >= self.sections[turn as usize + 1].first {
            return None;
        }
        let lane = self.lane(block);
        Some(self.lanes.page_at(lane, place))
    }
}

/// Returns the index of the section that has every `2^step_bits`th place.
fn steps(sections: &[Section], step_bits: u32) -> Vec<u32> {
    let places = sections[sections.len() - 1].first;
    let mut n = 0u32;
    let section_at = |place| {
        while sections[n as usize + 1].first <= place {
            n += 1;
        }
        n
    };
    (0..places).step_by(1 << step_bits).map(section_at).collect()
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    /// Returns the geometry of a drive with this number of dies, which groups pages into stripes if
    /// `stripe` has a number of host pages.
    fn geometry(dies: u32, stripe: Option<u32>) -> Geometry {
        let text = format!(
            r#"
            geometry = {{ channels = {dies}, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "tlc", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.5 }}
            "#
        );
        let mut config = toml::from_str::<crate::config::DriveConfig>(&text).unwrap();
        config.parity.stripe = stripe;
        Geometry::new(&config.resolve().unwrap())
    }

    /// Checks that a layout holds each of its pages once, in the block's lane, and leads back.
    fn check_layout(geometry: &Geometry, pages: Pages, blocks: &[BlockId], holds: &[u32]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
        let layout = Steady::draw(geometry, pages, blocks, holds, &mut rng);
        let all: Vec<Lpn> = pages.ranges().into_iter().flatten().map(Lpn::from_index).collect();
        let places: std::collections::BTreeSet<Ppn> = all
            .iter()
            .map(|lpn| {
                let ppn = layout.page_at(layout.place_of(*lpn).unwrap());
                let block = geometry.block_of(ppn);
                assert_eq!(layout.owner(block, geometry.page_in(block, ppn)), Some(*lpn));
                if let Some(stripes) = geometry.stripes {
                    assert_eq!(geometry.die_of(block), stripes.die(*lpn));
                }
                ppn
            })
            .collect();
        assert_eq!(places.len(), all.len(), "no two pages in one place");
        for (block, holds) in blocks.iter().zip(holds) {
            let first = geometry.first_page(*block);
            let held = first.run(192).filter(|ppn| places.contains(ppn)).count() as u32;
            assert_eq!(held, *holds);
            let mut taken: Vec<(PageInBlock, Lpn)> = layout.held_by(*block).collect();
            taken.sort_unstable_by_key(|(page, _)| page.number());
            let owner = |page| Some((page, layout.owner(*block, page)?));
            assert!(PageInBlock::range(0..192).filter_map(owner).eq(taken));
        }
        let filled = Lpn::new(pages.filled);
        assert_eq!(
            (layout.place_of(filled), layout.owner(BlockId::new(0), PageInBlock::FIRST)),
            (None, None)
        );
    }

    #[test]
    fn every_page_has_a_place_that_leads_back_to_it() {
        let geometry = geometry(1, None);
        let holds: Vec<u32> = (0..20).map(|n| 192 - 3 * n).collect();
        let blocks: Vec<BlockId> = BlockId::range(5..25).rev().collect();
        let pages = Pages::new(&geometry, holds.iter().sum());
        check_layout(&geometry, pages, &blocks, &holds);
    }

    /// Dies have 40 blocks. Each die begins with an empty block, and has a lane of its own.
    #[test]
    fn every_page_of_a_stripe_has_a_place_on_its_die() {
        for (dies, stripe, filled) in [(4, 3, 9001), (4, 3, 9000), (5, 2, 7777), (3, 2, 1)] {
            let geometry = geometry(dies, Some(stripe));
            let pages = Pages::new(&geometry, filled);
            let (mut blocks, mut holds) = (vec![], vec![]);
            for die in 0..dies {
                let mut left = pages.of_lane(die);
                for block in geometry.blocks_of_domain(die).skip(1) {
                    let taken = left.min(150 + block.number() % 43);
                    blocks.push(block);
                    holds.push(taken);
                    left -= taken;
                }
                assert_eq!(left, 0, "the die has room");
            }
            check_layout(&geometry, pages, &blocks, &holds);
        }
    }

    #[test]
    fn an_image_is_taken_again_for_what_begins_alike_alone() {
        let (geometry, blocks) = (geometry(1, None), [BlockId::new(3)]);
        let images = Images::new();
        let taken = |seed, filled: u32| {
            let pages = Pages::new(&geometry, filled);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
            images.layout(seed, (&pages, 192, &blocks, &[filled]), || {
                Steady::draw(&geometry, pages, &blocks, &[filled], &mut rng)
            })
        };
        let first = taken(1, 5);
        assert!(Arc::ptr_eq(&first, &taken(1, 5)));
        assert!(
            !Arc::ptr_eq(&first, &taken(1, 6)) && !Arc::ptr_eq(&first, &taken(1, 5)),
            "the last one alone is kept"
        );
        assert!(!Arc::ptr_eq(&taken(1, 5), &taken(2, 5)));
    }
}
