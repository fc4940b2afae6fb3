//! Reads of single pages, for the few blocks of which a technique wants them.

use crate::base::mem::prefetch;
use crate::base::units::{BlockId, PageInBlock};

const NONE: u32 = u32::MAX;

/// Row of counters for each block that is counted page by page. Rows are reused.
#[derive(Default)]
pub(crate) struct PageCounters {
    pages_per_block: usize,
    row_of: Vec<u32>,
    free: Vec<u32>,
    rows: Vec<u32>,
}

impl PageCounters {
    /// Creates counters for a drive with this number of blocks. Rows are allocated when needed.
    pub(crate) fn new(blocks: u32, pages_per_block: u32) -> Self {
        Self {
            pages_per_block: pages_per_block as usize,
            row_of: vec![NONE; blocks as usize],
            free: vec![],
            rows: vec![],
        }
    }

    /// Returns the number of bytes, if `counted` blocks are counted at the same time.
    pub(crate) fn bytes(blocks: u32, counted: u32, pages_per_block: u32) -> u64 {
        4 * (u64::from(blocks) + u64::from(counted) * u64::from(pages_per_block))
    }

    /// Begins to count a block from 0.
    pub(crate) fn begin(&mut self, block: BlockId) {
        let row = self.free.pop().unwrap_or_else(|| {
            self.rows.resize(self.rows.len() + self.pages_per_block, 0);
            (self.rows.len() / self.pages_per_block - 1) as u32
        });
        self.rows[row as usize * self.pages_per_block..][..self.pages_per_block].fill(0);
        self.row_of[block.index()] = row;
    }

    /// Ends the counting of a block.
    pub(crate) fn end(&mut self, block: BlockId) {
        self.free.push(std::mem::replace(&mut self.row_of[block.index()], NONE));
    }

    /// Counts a read.
    #[inline]
    pub(crate) fn count(&mut self, block: BlockId, page: PageInBlock) {
        let row = self.row_of[block.index()] as usize;
        self.rows[row * self.pages_per_block + page.index()] += 1;
    }

    /// Counts a number of reads for each page of a block.
    pub(crate) fn count_all(&mut self, block: BlockId, reads: &[u32]) {
        let row = self.row_of[block.index()] as usize;
        let counters = &mut self.rows[row * self.pages_per_block..][..self.pages_per_block];
        counters.iter_mut().zip(reads).for_each(|(counter, reads)| *counter += reads);
    }

    /// Prefetches the row number of a counted block.
    #[inline]
    pub(crate) fn prefetch_row(&self, block: BlockId) {
        prefetch(&self.row_of, block.index());
    }

    /// Prefetches the counter of a page, whose block may have none.
    #[inline]
    pub(crate) fn prefetch(&self, block: BlockId, page: PageInBlock) {
        // The row number of a block without counters lies outside the table.
        prefetch(
            &self.rows,
            self.row_of[block.index()] as usize * self.pages_per_block + page.index(),
        );
    }

    /// Returns the reads of each page of a block; empty if it is not counted.
    pub(crate) fn of(&self, block: BlockId) -> &[u32] {
        match self.row_of.get(block.index()) {
            Some(row) if *row != NONE => {
                &self.rows[*row as usize * self.pages_per_block..][..self.pages_per_block]
            }
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_used_again_and_begin_at_zero() {
        let mut counters = PageCounters::new(4, 3);
        assert!(counters.of(BlockId::new(2)).is_empty());
        counters.begin(BlockId::new(2));
        counters.begin(BlockId::new(0));
        counters.count(BlockId::new(2), PageInBlock::new(1));
        counters.count(BlockId::new(0), PageInBlock::new(2));
        counters.count_all(BlockId::new(2), &[3, 0, 1]);
        assert_eq!(
            (counters.of(BlockId::new(2)), counters.of(BlockId::new(0))),
            (&[3, 1, 1][..], &[0, 0, 1][..])
        );
        counters.end(BlockId::new(2));
        counters.begin(BlockId::new(3));
        assert_eq!(
            (counters.of(BlockId::new(2)), counters.of(BlockId::new(3)), counters.rows.len()),
            (&[][..], &[0, 0, 0][..], 6)
        );
    }
}
