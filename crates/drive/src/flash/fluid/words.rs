//! Hints of the data that is read in bulk.
//!
//! Most blocks hold data of one hint. In other blocks, the reads are split in proportion to the
//! expected reads of the pages of each hint since the last draw. These are the expected reads at
//! the current rates, corrected for the time before the rates changed. Wordlines work in this way,
//! too.

use super::{Fluid, reads_of};
use crate::base::latency::AccessLatency;
use crate::base::units::{BlockId, Lpn};
use crate::flash::Flash;
use crate::hints::Hinted;

/// Hint of every page, and the number of reads by hint that the drive's counts do not have yet.
pub(super) struct Words {
    hinted: Hinted,
    most_relaxed: AccessLatency,
    reads: [u64; AccessLatency::COUNT],
    /// Expected reads by hint in each block since its last draw, beyond those of its valid pages at
    /// the current rates.
    pending: Vec<[f64; AccessLatency::COUNT]>,
}

impl Words {
    /// Creates the counts of pages with these hints, for a number of blocks.
    pub(super) fn new(hinted: Hinted, blocks: usize) -> Self {
        let most_relaxed = hinted.in_use().last().copied().unwrap_or_default();
        Self {
            hinted,
            most_relaxed,
            reads: [0; AccessLatency::COUNT],
            pending: vec![[0.0; AccessLatency::COUNT]; blocks],
        }
    }

    /// Returns the number of the hint of a page.
    pub(super) fn of(&self, lpn: Lpn) -> usize {
        self.hinted.of(lpn) as usize
    }

    /// Counts drawn reads of a hint.
    pub(super) fn count(&mut self, hint: usize, reads: u64) {
        self.reads[hint] += reads;
    }

    /// Removes `reads` expected reads of a page: since its block was drawn, it was not always read
    /// at its current rate.
    pub(super) fn leave_out(&mut self, block: BlockId, lpn: Lpn, reads: f64) {
        self.pending[block.index()][self.hinted.of(lpn) as usize] -= reads;
    }

    /// Begins a new count of a block: all its reads up to now are drawn.
    pub(super) fn begin_anew(&mut self, block: BlockId) {
        self.pending[block.index()] = [0.0; AccessLatency::COUNT];
    }
}

impl Flash {
    /// Counts `count` drawn reads of a block by hint.
    #[inline]
    pub(super) fn count_words(&self, fluid: &mut Fluid, block: BlockId, count: u64) {
        if count == 0 || fluid.words.is_none() {
            return;
        }
        self.count_words_of(fluid, block, count);
    }

    fn count_words_of(&self, fluid: &mut Fluid, block: BlockId, count: u64) {
        let Fluid { rates, hours, host_pages, chance, flows, words: Some(words), .. } = fluid
        else {
            return;
        };
        // A block has the strictest hint of its data.
        let tightest = self.cold[block.index()].budget;
        if tightest == words.most_relaxed {
            words.reads[tightest as usize] += count;
            return;
        }
        let first = self.geometry.first_page(block);
        let span = (hours.worked(self.now) - flows[block.index()].drawn_at) as f64;
        let mut shares = words.pending[block.index()];
        for page in self.valid_pages_of(block) {
            let lpn = self.contents.owner(first + page);
            shares[words.hinted.of(lpn) as usize] += reads_of(rates, *host_pages, lpn) * span;
        }
        // Small differences of large numbers may be negative.
        shares = shares.map(|share| share.max(0.0));
        let (mut left, mut beyond) = (count, shares.iter().sum::<f64>());
        for (reads, share) in words.reads.iter_mut().zip(shares) {
            let here = chance.part_of(left, if beyond > 0.0 { share / beyond } else { 0.0 });
            (*reads, left, beyond) = (*reads + here, left - here, beyond - share);
        }
        // The rest is due to rounding and to data that is no longer there.
        words.reads[tightest as usize] += left;
    }

    /// Returns the number of reads by hint that were drawn since the last call.
    pub(crate) fn take_words(&mut self) -> Option<[u64; AccessLatency::COUNT]> {
        let words = self.fluid.as_mut()?.words.as_mut()?;
        Some(std::mem::take(&mut words.reads))
    }
}
