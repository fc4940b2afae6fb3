//! Flash that has failed: its pages cannot be read any more. Every read of a block of which anything has failed rings, so that other reads pay
//! nothing for it.

use std::ops::Range;

use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Ppn};
use crate::flash::Flash;
use crate::flash::block::FAILED;

impl Flash {
    /// These pages cannot be read any more.
    pub(crate) fn fail(&mut self, pages: Range<Ppn>) {
        for block in self.geometry.blocks_with(&pages) {
            let hot = &mut self.hot[block.index()];
            hot.flags |= FAILED;
            hot.alarm = Quarters::ZERO;
        }
        self.failed.push(pages.clone());
        self.tell(|o| o.failed(pages));
    }

    /// Whether a page is one of them.
    #[inline]
    pub(crate) fn is_failed(&self, ppn: Ppn) -> bool {
        !self.failed.is_empty() && self.failed.iter().any(|pages| pages.contains(&ppn))
    }

    /// Whether anything of a block has failed.
    pub(crate) fn has_failed(&self, block: BlockId) -> bool {
        let first = self.geometry.first_page(block);
        let is_here = |pages: &Range<Ppn>| pages.start < first + self.geometry.pages_per_block && pages.end > first;
        self.failed.iter().any(is_here)
    }
}
