//! Places blocks of pages on the drive.
//!
//! A cell is a set of equal blocks. The blocks of a cell lie one after the other in extents, which
//! are runs of pages. The extents of all cells are shuffled, so popular pages lie in scattered
//! runs. Every page of the range is in exactly one block.
//!
//! The length of a full extent is a multiple of 16 pages, so that large requests stay aligned to
//! the larger pages of a drive. A partial extent contains the rest of a cell, or a whole small
//! cell. Partial extents are combined into random groups, and the length of a group is also a
//! multiple of 16 pages. Groups are placed between the full extents.

use std::cmp::Reverse;

use super::tiling::BlockClass;
use crate::synthetic::random::{Random, below};

/// Unit of the length of full extents, in pages. For pages of 4 KiB, this unit is 64 KiB, which is
/// the largest page size of a drive.
const ALIGNED_PAGES: u64 = 16;

/// Extents that contain the blocks of one cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// Number of the first extent of the cell.
    first: u32,
    /// Binary logarithm of the number of blocks in a full extent.
    shift: u32,
}

/// Positions of all blocks on the drive.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// First page of each extent. The extents are in the order of the cells.
    starts: Vec<u32>,
}

impl Layout {
    /// Returns the number of bytes that the table occupies in memory.
    pub(super) fn memory(&self) -> u64 {
        size_of_val(self.starts.as_slice()) as u64
    }

    /// Places cells in extents of about `extent_pages` pages. All cells together fill a range of
    /// pages that begins at page `base`.
    pub(super) fn new(
        cells: &[BlockClass],
        base: u32,
        extent_pages: u64,
        random: &mut Random,
    ) -> (Self, Vec<Blocks>) {
        let mut placed = vec![];
        let (mut full, mut partial) = (vec![], vec![]);
        let mut extents = 0u32;
        for cell in cells {
            let shift = shift(u64::from(cell.pages), extent_pages);
            placed.push(Blocks { first: extents, shift });
            let whole = (cell.blocks >> shift) as u32;
            full.extend(extents..extents + whole);
            extents += whole;
            if cell.blocks > u64::from(whole) << shift {
                partial.push(extents);
                extents += 1;
            }
        }
        let pages = |extent: u32| {
            let cell = placed.partition_point(|b| b.first <= extent) - 1;
            let Blocks { first, shift } = placed[cell];
            let blocks =
                (cells[cell].blocks - (u64::from(extent - first) << shift)).min(1 << shift);
            (blocks * u64::from(cells[cell].pages)) as u32
        };
        shuffle(&mut full, random);
        shuffle(&mut partial, random);
        let mut layout = Self { starts: vec![0; extents as usize] };
        let mut next = base;
        let mut place = |extent: u32| {
            layout.starts[extent as usize] = next;
            next += pages(extent);
        };
        let mut groups = groups(&partial, |extent| u64::from(pages(extent)), full.len(), random)
            .into_iter()
            .peekable();
        for (i, extent) in full.iter().enumerate() {
            while let Some((_, group)) = groups.next_if(|(at, _)| *at <= i) {
                group.into_iter().for_each(&mut place);
            }
            place(*extent);
        }
        groups.for_each(|(_, group)| group.into_iter().for_each(&mut place));
        (layout, placed)
    }

    /// Returns the first page of a block of a cell.
    #[inline]
    pub(super) fn page(&self, blocks: Blocks, block: u32, block_pages: u32) -> u64 {
        let extent = blocks.first + (block >> blocks.shift);
        let within = block & ((1 << blocks.shift) - 1);
        u64::from(self.starts[extent as usize]) + u64::from(within) * u64::from(block_pages)
    }
}

/// Returns the binary logarithm of the number of blocks in a full extent. The length of this extent
/// is a multiple of [`ALIGNED_PAGES`]. If possible, the extent has at most `extent_pages` pages.
fn shift(block_pages: u64, extent_pages: u64) -> u32 {
    let aligned = ALIGNED_PAGES.trailing_zeros().saturating_sub(block_pages.trailing_zeros());
    (extent_pages / block_pages).checked_ilog2().unwrap_or(0).max(aligned)
}

/// Combines partial extents into groups. The number of pages of each group except the last is a
/// multiple of [`ALIGNED_PAGES`]. Each group comes with the number of full extents before the
/// group.
fn groups(
    partial: &[u32],
    pages: impl Fn(u32) -> u64,
    full: usize,
    random: &mut Random,
) -> Vec<(usize, Vec<u32>)> {
    let mut groups = vec![];
    let (mut group, mut sum) = (vec![], 0);
    for extent in partial {
        group.push(*extent);
        sum += pages(*extent);
        if sum % ALIGNED_PAGES == 0 {
            groups.push((below(random, full as u64 + 1) as usize, std::mem::take(&mut group)));
        }
    }
    groups.sort_by_key(|(at, _)| *at);
    groups.push((full, group));
    for (_, group) in &mut groups {
        // Extents whose number of pages is divisible by a larger power of 2 come first. In this
        // order, all extents stay aligned.
        group.sort_by_key(|extent| Reverse(pages(*extent).trailing_zeros()));
    }
    groups
}

/// Shuffles the items with the method of Fisher and Yates.
pub(super) fn shuffle(items: &mut [u32], random: &mut Random) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(random, i as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn every_page_is_in_one_block() {
        let cell = |accesses, pages, blocks| BlockClass { accesses, pages, length: 0, blocks };
        let cells = [
            cell(900, 1, 1),
            cell(50, 1, 33),
            cell(7, 3, 100),
            cell(5, 16, 40),
            cell(1, 257, 3),
            cell(1, 2, 1),
        ];
        let sum: u64 = cells.iter().map(|c| c.blocks * u64::from(c.pages)).sum();
        for seed in 0..20 {
            for extent_pages in [1, 16, 256] {
                let (layout, placed) =
                    Layout::new(&cells, 1000, extent_pages, &mut Random::seed_from_u64(seed));
                let mut seen = vec![0; sum as usize];
                for (cell, blocks) in cells.iter().zip(placed) {
                    for block in 0..cell.blocks as u32 {
                        let first = layout.page(blocks, block, cell.pages) - 1000;
                        (first..first + u64::from(cell.pages))
                            .for_each(|page| seen[page as usize] += 1);
                        // Blocks of 16 pages must stay aligned.
                        assert!(cell.pages != 16 || first.is_multiple_of(16));
                    }
                }
                assert!(seen.iter().all(|n| *n == 1), "{seen:?}");
            }
        }
    }
}
