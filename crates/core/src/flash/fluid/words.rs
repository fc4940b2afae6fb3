//! Which words of the host's hints the data has that is read in bulk.
//!
//! Most blocks hold data of one word. Of the reads of any other block each is of a word in
//! proportion to what was expected of the pages of that word since the last draw. As for wordlines,
//! that is what its pages come to at the rates of now, and beside it what they came to more or less
//! before their rates changed.

use super::{Fluid, reads_of};
use crate::base::latency::AccessLatency;
use crate::base::units::{BlockId, Lpn};
use crate::flash::Flash;
use crate::hints::Hinted;

/// The word of every page, and the reads of each word that the drive's books do not have yet.
pub(super) struct Words {
    hinted: Hinted,
    most_relaxed: AccessLatency,
    reads: [u64; AccessLatency::COUNT],
    /// Reads expected of each word in each block since it was drawn, beyond what its valid pages
    /// come to at the rates of now.
    pending: Vec<[f64; AccessLatency::COUNT]>,
}

impl Words {
    /// Of pages with these words, on so many blocks.
    pub(super) fn new(hinted: Hinted, blocks: usize) -> Self {
        let most_relaxed = hinted.in_use().last().copied().unwrap_or_default();
        Self {
            hinted,
            most_relaxed,
            reads: [0; AccessLatency::COUNT],
            pending: vec![[0.0; AccessLatency::COUNT]; blocks],
        }
    }

    /// A page has not been read as its rate of now says since its block was drawn: so many reads of
    /// it did not come.
    pub(super) fn leave_out(&mut self, block: BlockId, lpn: Lpn, reads: f64) {
        self.pending[block.index()][self.hinted.of(lpn) as usize] -= reads;
    }

    /// All reads of a block up to now are drawn.
    pub(super) fn begin_anew(&mut self, block: BlockId) {
        self.pending[block.index()] = [0.0; AccessLatency::COUNT];
    }
}

impl Flash {
    /// So many reads of a block were drawn.
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
        // A block goes by the tightest word of its data.
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
        // What came and went is the difference of large numbers.
        shares = shares.map(|share| share.max(0.0));
        let (mut left, mut beyond) = (count, shares.iter().sum::<f64>());
        for (reads, share) in words.reads.iter_mut().zip(shares) {
            let here = chance.part_of(left, if beyond > 0.0 { share / beyond } else { 0.0 });
            (*reads, left, beyond) = (*reads + here, left - here, beyond - share);
        }
        // Rounding, and data that is there no more.
        words.reads[tightest as usize] += left;
    }

    /// Reads drawn of each word since this was asked last.
    pub(crate) fn take_words(&mut self) -> Option<[u64; AccessLatency::COUNT]> {
        let words = self.fluid.as_mut()?.words.as_mut()?;
        Some(std::mem::take(&mut words.reads))
    }
}
