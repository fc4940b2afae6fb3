//! Flash that has failed: its pages cannot be read any more. Every read of a block with a failed
//! part reaches the alarm, so that other reads need no check for failures.

use crate::base::dose::Quarters;
use crate::base::failure::Stretch;
use crate::base::units::{BlockId, Ppn};
use crate::flash::Flash;
use crate::flash::block::FAILED;
use crate::watch::observer::Event;

impl Flash {
    /// Makes these pages unreadable.
    pub(crate) fn fail(&mut self, pages: Stretch) {
        for block in pages.blocks(&self.geometry) {
            let hot = &mut self.hot[block.index()];
            hot.flags |= FAILED;
            hot.alarm = Quarters::ZERO;
        }
        self.failed.push(pages);
        self.tell(Event::Failed { pages });
    }

    /// Returns whether any flash has failed.
    #[inline]
    pub(crate) fn has_any_failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Returns whether any flash of a domain has failed. Each failed part belongs to one die.
    pub(crate) fn has_any_failed_in(&self, domain: usize) -> bool {
        let is_there = |block| self.geometry.domain_of(block) == domain;
        self.failed.iter().any(|pages| pages.blocks(&self.geometry).next().is_some_and(is_there))
    }

    /// Returns whether a page has failed.
    #[inline]
    pub(crate) fn is_failed(&self, ppn: Ppn) -> bool {
        self.failed.iter().any(|pages| pages.contains(ppn))
    }

    /// Returns whether a whole block has failed.
    pub(crate) fn is_dead(&self, block: BlockId) -> bool {
        let first = self.geometry.first_page(block);
        self.failed.iter().any(|pages| pages.covers(first, self.geometry.pages_per_block))
    }

    /// Returns whether a part of a block has failed.
    pub(crate) fn has_failed(&self, block: BlockId) -> bool {
        self.has_any_failed()
            && self
                .geometry
                .first_page(block)
                .run(self.geometry.pages_per_block)
                .any(|ppn| self.is_failed(ppn))
    }
}
