//! Geometry of a drive: numbers of its parts, and decoding of addresses without division.
//!
//! ```text
//! ppn   = block * pages_per_block + page          page = wordline * bits + kind   (kind 0 = LSB)
//! block = (die * planes_per_die + plane) * blocks_per_plane + index               die  = channel * dies_per_channel + i
//! ```

use std::ops::Range;

use crate::base::codings::{Codings, FULL};
use crate::base::reciprocal::Reciprocal;
use crate::base::stripes::Stripes;
use crate::base::units::{BlockId, DieId, PageInBlock, Ppn, WordlineInBlock};
use crate::config::{CellType, DriveConfig};

/// Geometry of a drive, after all values are resolved.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Number of channels.
    pub channels: u32,
    /// Number of dies per channel.
    pub dies_per_channel: u32,
    /// Number of planes per die.
    pub planes_per_die: u32,
    /// Number of blocks per plane.
    pub blocks_per_plane: u32,
    /// Number of wordlines per block.
    pub wordlines_per_block: u32,
    /// Cell type.
    pub cell: CellType,
    /// Distance between physical neighbours, in wordline numbers.
    pub neighbour_stride: u32,
    /// Number of consecutive wordlines that share a layer.
    pub strings_per_layer: u32,
    /// Number of data bytes of a page, a power of two.
    pub page_bytes: u32,
    /// Number of pages that the host can address.
    pub host_pages: u32,
    /// Grouping of pages for parity; `None` without parity.
    pub stripes: Option<Stripes>,
    /// Number of pages per block.
    pub pages_per_block: u32,
    /// Number of blocks of the drive.
    pub blocks: u32,
    /// Number of blocks that a sample has in addition to its share of the whole drive's blocks; 0
    /// without a sample.
    pub beyond_share: u32,
    /// Number of the first block of the IPR pool in each plane.
    pub pool_start: u32,
    /// Codings that the cells may have.
    pub codings: Codings,
    by_block: Reciprocal,
    by_bits: Reciprocal,
    by_die: Reciprocal,
    by_plane: Reciprocal,
}

impl Geometry {
    /// Computes the geometry of a resolved configuration (`DriveConfig::resolve`).
    pub fn new(config: &DriveConfig) -> Self {
        let g = &config.geometry;
        let blocks_per_plane =
            g.blocks_per_plane.expect("a resolved configuration has blocks_per_plane");
        let capacity = config.drive.capacity.expect("a resolved configuration has a capacity");
        let host_pages = (capacity.0 / g.page_size.0) as u32;
        Self {
            channels: g.channels,
            dies_per_channel: g.dies_per_channel,
            planes_per_die: g.planes_per_die,
            blocks_per_plane,
            wordlines_per_block: g.wordlines_per_block,
            cell: g.cell,
            neighbour_stride: g.neighbour_stride,
            strings_per_layer: g.strings_per_layer,
            page_bytes: g.page_size.0 as u32,
            host_pages,
            stripes: config
                .parity
                .stripe
                .map(|members| Stripes::new(members, g.channels * g.dies_per_channel, host_pages)),
            pages_per_block: g.pages_per_block(),
            blocks: g.planes() * blocks_per_plane,
            beyond_share: beyond_share(config, g.planes() * blocks_per_plane),
            pool_start: blocks_per_plane
                - (config.density.pool * f64::from(blocks_per_plane)) as u32,
            codings: Codings::of(config),
            by_block: Reciprocal::new(g.pages_per_block()),
            by_bits: Reciprocal::new(g.cell.bits()),
            by_die: Reciprocal::new(blocks_per_plane * g.planes_per_die),
            by_plane: Reciprocal::new(blocks_per_plane),
        }
    }

    /// Returns the drive's blocks in order.
    #[inline]
    pub fn block_ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = BlockId> + ExactSizeIterator + Clone + use<> {
        BlockId::range(0..self.blocks)
    }

    /// Returns the number of dies of the drive.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Returns the number of flash pages of the drive.
    pub fn raw_pages(&self) -> u32 {
        self.blocks * self.pages_per_block
    }

    /// Returns whether the drive has this page. Numbers that stand for "no page" are not pages.
    #[inline]
    pub fn has_page(&self, ppn: Ppn) -> bool {
        ppn.number() < self.raw_pages()
    }

    /// Returns the number of wordlines of the drive.
    pub fn wordlines(&self) -> u32 {
        self.blocks * self.wordlines_per_block
    }

    /// Returns the number of pages in the drive's map: pages of the host, and then pages of parity.
    pub fn logical_pages(&self) -> u32 {
        self.stripes.map_or(self.host_pages, |stripes| stripes.pages())
    }

    /// Returns the number of blocks that neither host pages nor parity pages need.
    pub fn spare_blocks(&self) -> u32 {
        self.domains() * self.spare_blocks_of_domain()
    }

    /// Returns the number of spare blocks, without the blocks that a sample has in addition to its
    /// share.
    pub fn spare_blocks_in_share(&self) -> u32 {
        self.spare_blocks().saturating_sub(self.beyond_share)
    }

    /// Returns the number of domains. A domain has free blocks and GC victims of its own. With
    /// parity, each die is a domain, because its pages cannot move to another die. Without parity,
    /// the drive is one domain.
    pub fn domains(&self) -> u32 {
        self.stripes.map_or(1, |_| self.dies())
    }

    /// Returns the number of blocks per domain.
    pub fn blocks_per_domain(&self) -> u32 {
        self.blocks / self.domains()
    }

    /// Returns the blocks of a domain in order.
    pub fn blocks_of_domain(&self, domain: u32) -> impl Iterator<Item = BlockId> + use<> {
        let blocks = self.blocks_per_domain();
        BlockId::range(domain * blocks..(domain + 1) * blocks)
    }

    /// Returns the domain of a block.
    #[inline]
    pub fn domain_of(&self, block: BlockId) -> usize {
        if self.stripes.is_some() { self.die_of(block).into() } else { 0 }
    }

    /// Returns the number of blocks per domain that no data needs.
    pub fn spare_blocks_of_domain(&self) -> u32 {
        self.blocks_per_domain()
            .saturating_sub(self.pages_of_domain().div_ceil(self.pages_per_block))
    }

    /// Returns the number of pages per domain that no data needs.
    pub fn spare_pages_of_domain(&self) -> u32 {
        (self.blocks_per_domain() * self.pages_per_block).saturating_sub(self.pages_of_domain())
    }

    /// Returns the largest number of host and parity pages that a domain holds.
    fn pages_of_domain(&self) -> u32 {
        self.stripes.map_or(self.host_pages, |stripes| stripes.most_on_a_die())
    }

    /// Returns the shift that turns a byte offset into a page number.
    pub fn page_shift(&self) -> u32 {
        self.page_bytes.trailing_zeros()
    }

    /// Returns the number of pages that a block can hold in a coding.
    pub fn available_pages(&self, coding: u8) -> u32 {
        self.wordlines_per_block * self.codings.row(coding).kinds()
    }

    /// Returns whether a coding keeps this page.
    #[inline]
    pub fn keeps(&self, coding: u8, ppn: Ppn) -> bool {
        coding == FULL || self.codings.row(coding).keeps(self.kind_of(ppn))
    }

    /// Returns the number of pages of a block, from this page on, that can hold data in a coding.
    pub fn available_from(&self, page: PageInBlock, coding: u8) -> u32 {
        let (wordline, kind) = (page.wordline(self.cell.bits()), page.kind(self.cell.bits()));
        let row = self.codings.row(coding);
        let before = (0..kind).filter(|kind| row.keeps(*kind)).count() as u32;
        (self.wordlines_per_block - wordline.number()) * row.kinds() - before
    }

    /// Returns the first page of a wordline, from this page on, that a coding keeps. Returns this
    /// page if the coding keeps none.
    #[inline]
    pub fn next_kept(&self, page: PageInBlock, coding: u8) -> PageInBlock {
        if coding == FULL {
            return page;
        }
        let kind = page.kind(self.cell.bits());
        let from_here = self.codings.row(coding).kept >> kind;
        if from_here == 0 { page } else { page + from_here.trailing_zeros() }
    }

    /// Returns the block of a page.
    #[inline]
    pub fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId::new(self.by_block.quotient(ppn.number()))
    }

    /// Returns the wordline of a page, counted over the whole drive.
    #[inline]
    pub fn wordline_of(&self, ppn: Ppn) -> u32 {
        self.by_bits.quotient(ppn.number())
    }

    /// Returns the page kind of a page; LSB is 0.
    #[inline]
    pub fn kind_of(&self, ppn: Ppn) -> u32 {
        ppn.number() - self.wordline_of(ppn) * self.by_bits.divisor()
    }

    /// Returns the number of a page within its block.
    #[inline]
    pub fn page_in(&self, block: BlockId, ppn: Ppn) -> PageInBlock {
        PageInBlock::new(ppn - self.first_page(block))
    }

    /// Returns the number within its block of a page's wordline.
    #[inline]
    pub fn wordline_in(&self, block: BlockId, ppn: Ppn) -> WordlineInBlock {
        WordlineInBlock::new(self.wordline_of(ppn) - self.first_wordline(block))
    }

    /// Returns the wordlines of a block in order.
    #[inline]
    pub fn wordlines_in_block(
        &self,
    ) -> impl DoubleEndedIterator<Item = WordlineInBlock> + ExactSizeIterator + Clone + use<> {
        WordlineInBlock::range(0..self.wordlines_per_block)
    }

    /// Returns the first page of a block.
    #[inline]
    pub fn first_page(&self, block: BlockId) -> Ppn {
        Ppn::new(block.number() * self.pages_per_block)
    }

    /// Returns the first wordline of a block, counted over the whole drive.
    #[inline]
    pub fn first_wordline(&self, block: BlockId) -> u32 {
        block.number() * self.wordlines_per_block
    }

    /// Returns the index of a wordline in a table with one row for each wordline of the drive.
    #[inline]
    pub fn row_of(&self, block: BlockId, wordline: WordlineInBlock) -> usize {
        (self.first_wordline(block) + wordline.number()) as usize
    }

    /// Returns the indexes of a block's wordlines in a table with one row for each wordline of the
    /// drive.
    #[inline]
    pub fn rows_of(&self, block: BlockId) -> Range<usize> {
        let first = self.first_wordline(block) as usize;
        first..first + self.wordlines_per_block as usize
    }

    /// Returns the next block. After the last block comes the first.
    pub fn block_behind(&self, block: BlockId) -> BlockId {
        BlockId::new((block.number() + 1) % self.blocks)
    }

    /// Returns the die of a block.
    #[inline]
    pub fn die_of(&self, block: BlockId) -> DieId {
        self.by_die.quotient(block.number()) as DieId
    }

    /// Returns the plane of a block within its die.
    #[inline]
    pub fn plane_of(&self, block: BlockId) -> u32 {
        self.by_plane.quotient(block.number()) - u32::from(self.die_of(block)) * self.planes_per_die
    }

    /// Returns whether a block lies in the IPR pool (ipr-2018 III-D). The pool has the highest
    /// addresses of each plane, so that every die has its share.
    pub fn is_in_pool(&self, block: BlockId) -> bool {
        block.number() - self.by_plane.quotient(block.number()) * self.blocks_per_plane
            >= self.pool_start
    }

    /// Returns the channel of a die.
    pub fn channel_of(&self, die: DieId) -> u32 {
        u32::from(die) / self.dies_per_channel
    }
}

/// Returns the number of blocks that a sample has in addition to its share of the whole drive's
/// blocks.
fn beyond_share(config: &DriveConfig, blocks: u32) -> u32 {
    config
        .part_of
        .as_ref()
        .map_or(0, |part| (f64::from(blocks) - part.share()).round().max(0.0) as u32)
}
