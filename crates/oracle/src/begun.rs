//! Places of the pages in a computed start: the page at each place of flash, and the place of each
//! page.
//!
//! The drive reports keys. They define an order of the host pages; with parity, one order for each
//! die. For each block the drive reports its first position in that order, the keys of an order of
//! its flash pages, and how many of these hold data. They are the first ones of the block's order.
//! `drive/tests/reference` shows that such an order is a permutation, with any keys.
//!
//! Each page of the start is in exactly one flash page: [`Begun::check`] checks that the blocks use
//! each position once. [`Begun::place_of`] follows a place back to its page.

use std::ops::Range;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::steady::Order;
use vpass_drive::base::stripes::Stripes;
use vpass_drive::base::units::{BlockId, DieId, Lpn, Ppn};

/// Part of the order that one block uses.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    first: u32,
    /// Keys of the order of the block's flash pages.
    keys: [u32; 4],
    /// Whether the block is part of the start.
    is_loaded: bool,
    /// Whether the block has not been erased since.
    stands: bool,
    /// Whether some pages of the block have got other stamps since the start.
    is_altered: bool,
}

/// Order of one list of pages, and the blocks that use it.
#[derive(Debug)]
struct Lane {
    order: Order,
    /// First position of the next block.
    next: u32,
    /// Blocks in the order of their positions, each with its first position.
    blocks: Vec<(u32, BlockId)>,
}

/// A computed start, as the drive reported it block by block.
#[derive(Debug)]
pub(crate) struct Begun {
    host_pages: u32,
    /// Number of host pages that the start fills.
    filled: u32,
    stripes: Option<Stripes>,
    lanes: Vec<Lane>,
    parts: Vec<Part>,
    /// Pages that hold data, one bit for each page of each block.
    chosen: Vec<u64>,
    words: usize,
    pages_per_block: u32,
    blocks_per_lane: u32,
}

impl Begun {
    /// Begins with these orders of a drive that fills its first `filled` host pages.
    ///
    /// # Errors
    /// Reports an order that does not have as many pages as it should.
    pub(crate) fn new(geometry: &Geometry, orders: &[Order], filled: u32) -> Result<Self, String> {
        let words = geometry.pages_per_block.div_ceil(64) as usize;
        let has: Vec<u32> = orders.iter().map(|order| order.pages).collect();
        let should: Vec<u32> = match geometry.stripes {
            None => vec![filled],
            Some(stripes) => {
                (0..geometry.dies() as DieId).map(|die| stripes.count_on_die(die, filled)).collect()
            }
        };
        if has != should {
            return Err(format!(
                "the start orders have {has:?} positions; a start of {filled} host pages needs \
                 {should:?}"
            ));
        }
        let lane = |order: &Order| Lane { order: *order, next: 0, blocks: vec![] };
        Ok(Self {
            host_pages: geometry.host_pages,
            filled,
            stripes: geometry.stripes,
            blocks_per_lane: geometry.blocks_per_domain(),
            lanes: orders.iter().map(lane).collect(),
            parts: vec![Part::default(); geometry.blocks as usize],
            chosen: vec![0; geometry.blocks as usize * words],
            words,
            pages_per_block: geometry.pages_per_block,
        })
    }

    /// Returns the size in bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        let words = u64::from(geometry.pages_per_block.div_ceil(64));
        u64::from(geometry.blocks) * (words * size_of::<u64>() as u64 + size_of::<Part>() as u64)
    }

    /// Returns the host pages and the parity pages of the start.
    pub(crate) fn ranges(&self) -> [Range<u32>; 2] {
        let parity = self.stripes.map_or(0, |stripes| self.filled.div_ceil(stripes.members()));
        [0..self.filled, self.host_pages..self.host_pages + parity]
    }

    /// Returns the number of pages in the start.
    pub(crate) fn pages(&self) -> u32 {
        self.ranges().into_iter().map(|range| range.end - range.start).sum()
    }

    /// Returns the page of the start with this number. Host pages come before parity pages.
    pub(crate) fn nth(&self, n: u32) -> Lpn {
        let [host, parity] = self.ranges();
        Lpn::new(if n < host.end { n } else { parity.start + (n - host.end) })
    }

    /// Returns whether the start has data of a page.
    #[inline]
    pub(crate) fn has(&self, lpn: Lpn) -> bool {
        self.ranges().iter().any(|range| range.contains(&lpn.number()))
    }

    /// Returns the number of pages of a run that the start has.
    pub(crate) fn pages_in(&self, run: Range<u32>) -> u32 {
        let both =
            |range: Range<u32>| range.end.min(run.end).saturating_sub(range.start.max(run.start));
        self.ranges().into_iter().map(both).sum()
    }

    /// Returns the lane of a block.
    fn lane_of(&self, block: BlockId) -> usize {
        (block.number() / self.blocks_per_lane) as usize
    }

    /// Gives a block its part of the order. The part lies in the first `holds` flash pages of an
    /// order of the block's pages.
    pub(crate) fn load(
        &mut self,
        block: BlockId,
        first: u32,
        order: Order,
        holds: u32,
    ) -> Result<(), String> {
        let pages = self.pages_per_block;
        let part = &mut self.parts[block.index()];
        if part.is_loaded || order.pages != pages || holds > pages {
            return Err(format!(
                "the start loads block {block} twice, or loads {holds} of {} pages into the \
                 {pages} pages of the block",
                order.pages
            ));
        }
        *part = Part { first, keys: order.keys, is_loaded: true, stands: true, is_altered: false };
        let own = &mut self.chosen[block.index() * self.words..][..self.words];
        for (at, word) in (0..).step_by(64).zip(own.iter_mut()) {
            *word = u64::MAX >> (64 - (pages - at).min(64));
        }
        for page in (holds..pages).map(|rank| order.at_place(rank)) {
            own[page as usize / 64] &= !(1 << (page % 64));
        }
        let lane = &mut self.lanes[(block.number() / self.blocks_per_lane) as usize];
        lane.blocks.push((first, block));
        let expected = lane.next;
        lane.next = first + holds;
        if first != expected {
            return Err(format!(
                "block {block} starts at position {first} of the start order; the next position is \
                 {expected}"
            ));
        }
        Ok(())
    }

    /// Checks that each position of each order is used once.
    pub(crate) fn check(&self) -> Result<(), String> {
        let wrong = self.lanes.iter().find(|lane| lane.next != lane.order.pages);
        wrong.map_or(Ok(()), |lane| {
            let (taken, pages) = (lane.next, lane.order.pages);
            Err(format!("the start order has {pages} positions; blocks use {taken}"))
        })
    }

    /// Returns whether a block is part of the start and has not been erased since.
    #[inline]
    pub(crate) fn stands(&self, block: BlockId) -> bool {
        self.parts[block.index()].stands
    }

    /// Returns whether a block is part of the start, even if it has been erased since.
    pub(crate) fn is_loaded(&self, block: BlockId) -> bool {
        self.parts[block.index()].is_loaded
    }

    /// Returns whether a page of the block has got another stamp since the start.
    pub(crate) fn is_altered(&self, block: BlockId) -> bool {
        self.parts[block.index()].is_altered
    }

    pub(crate) fn alter(&mut self, block: BlockId) {
        self.parts[block.index()].is_altered = true;
    }

    pub(crate) fn erase(&mut self, block: BlockId) {
        self.parts[block.index()].stands = false;
    }

    /// Returns the pages of a block that the start filled, one bit for each page.
    pub(crate) fn chosen(&self, block: BlockId) -> &[u64] {
        &self.chosen[block.index() * self.words..][..self.words]
    }

    /// Returns the host page, or the parity page, that a page of a block holds at the start.
    pub(crate) fn page_at(&self, block: BlockId, page: u32) -> Option<Lpn> {
        let (part, chosen) = (self.parts[block.index()], self.chosen(block));
        let is_chosen = part.is_loaded && chosen[page as usize / 64] & 1 << (page % 64) != 0;
        is_chosen.then(|| {
            let position = part.first + self.order_in(block).place_of(page);
            let lane = self.lane_of(block);
            let order = &self.lanes[lane].order;
            // A wrong position may lie outside the order.
            let number = order.at_place(position % order.pages.max(1));
            self.stripes
                .map_or(Lpn::new(number), |stripes| stripes.page_on_die(lane as DieId, number))
        })
    }

    /// Returns the order of the flash pages of a block of the start.
    fn order_in(&self, block: BlockId) -> Order {
        Order { pages: self.pages_per_block, keys: self.parts[block.index()].keys }
    }

    /// Returns the host page, or the parity page, that a flash page holds at the start.
    pub(crate) fn page_of(&self, ppn: Ppn) -> Option<Lpn> {
        self.page_at(
            BlockId::new(ppn.number() / self.pages_per_block),
            ppn.number() % self.pages_per_block,
        )
    }

    /// Returns the flash page into which the start put a page. Returns `None` if the start does not
    /// have the page, or if the flash page does not lead back to it.
    pub(crate) fn place_of(&self, lpn: Lpn) -> Option<Ppn> {
        if !self.has(lpn) {
            return None;
        }
        let (die, number) =
            self.stripes.map_or((0, lpn.number()), |stripes| stripes.number_on_die(lpn));
        let lane = &self.lanes[usize::from(die)];
        let position = lane.order.place_of(number);
        let after = lane.blocks.partition_point(|(first, _)| *first <= position);
        let (first, block) = *lane.blocks.get(after.checked_sub(1)?)?;
        let rank = position.checked_sub(first).filter(|rank| *rank < self.pages_per_block)?;
        let page = self.order_in(block).at_place(rank);
        let ppn = Ppn::new(block.number() * self.pages_per_block + page);
        Some(ppn).filter(|ppn| self.page_of(*ppn) == Some(lpn))
    }
}
