//! Checks that GC begins with a block only if needed. There are three such cases. Too few blocks
//! are free for writes, the IPR pool lacks a free block that is wanted, or the timed gear has an
//! idle gap. In idle gaps, GC cleans up to the share of the spare blocks that `gc.background`
//! gives.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Cause};
use vpass_drive::config::DriveConfig;

use crate::oracle::Oracle;
use crate::report::Kind;

/// Number of free blocks that only moves may take.
const RESERVE: u32 = 2;

/// Number of free blocks up to which GC may clean.
#[derive(Debug)]
pub(crate) struct Need {
    /// The number in idle gaps, or 0 if GC does not use them.
    in_gaps: u32,
    /// Whether the last event was the program of a host page.
    flushed: bool,
}

impl Need {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig, reserve: u32) -> Self {
        let share = config.gc.background;
        let in_gaps = (share * f64::from(geometry.spare_blocks_of_domain())) as u32;
        Self { in_gaps: if share > 0.0 { in_gaps.max(reserve + 2) } else { 0 }, flushed: false }
    }

    /// Sets whether there are idle gaps. The untimed gear has none.
    pub(crate) fn has_gaps(&mut self, timed: bool) {
        self.in_gaps *= u32::from(timed);
    }

    /// Records an event: the program of a host page, or any other event.
    pub(crate) fn happens(&mut self, is_flush: bool) {
        self.flushed = is_flush;
    }
}

impl Oracle {
    /// Checks the need for GC when a move begins with a block.
    pub(crate) fn check_need(&mut self, block: BlockId, cause: Cause) {
        if cause != Cause::Wear {
            self.need.happens(false);
        }
        if cause != Cause::Gc {
            return;
        }
        // If data cannot go to another die, only the blocks of this die count.
        let domain = self.geometry.domain_of(block);
        let is_here = |block: &BlockId| self.geometry.domain_of(*block) == domain;
        let (free, cleaning) = if self.parity.is_on() {
            (
                self.wear.free().filter(is_here).count() as u32,
                self.blocks_under(Cause::Gc).filter(is_here).count() as u32,
            )
        } else {
            (self.wear.free_count(), self.jobs_of(Cause::Gc))
        };
        let for_pool = || {
            self.openings.wants_pool()
                && !self.wear.free().filter(is_here).any(|block| self.openings.is_in_pool(block))
        };
        // A block that GC is already cleaning will be free.
        let reserve = self.reserve();
        if free > reserve && free + cleaning >= self.need.in_gaps && !for_pool() {
            let wanted = self.need.in_gaps.max(reserve + 1);
            self.findings.add(Kind::Books, || {
                format!(
                    "GC cleans block {block} with {free} blocks free and {cleaning} being cleaned, \
                     but it needs only {wanted} free"
                )
            });
        }
    }

    /// Checks when a move begins with a block that a victim of GC frees pages.
    pub(crate) fn check_victim_of(&mut self, block: BlockId, cause: Cause) {
        if cause != Cause::Gc || !self.openings.are_known() {
            return;
        }
        let all = self.geometry.pages_per_block;
        // After a failure, a block that holds fewer pages than it could may be a victim, however
        // full it looks.
        let gives_way = || {
            self.failures.is_any() && self.blame.valid_of(&self.geometry, &self.medium, block) < all
        };
        let gains_nothing = || {
            self.blame.is_exact()
                && !self.openings.may_evict(block)
                && self.fullness(block) == all
                && !gives_way()
        };
        if gains_nothing() {
            self.findings
                .add(Kind::Books, || format!("GC cleans block {block}, whose pages are all valid"));
        }
    }

    /// Checks background GC when the host continues. Suppose that a host page was just programmed
    /// and few blocks are free. Then GC must have begun with a block. There are three exceptions.
    /// As many blocks are being cleaned as there are dies, only the reserve is left, or no block
    /// would free a page.
    pub(crate) fn check_background(&mut self) {
        if !std::mem::take(&mut self.need.flushed)
            || !self.clock.is_on()
            || !self.openings.are_known()
            || !self.blame.is_exact()
            || self.parity.is_on()
        {
            return;
        }
        let (free, cleaning) = (self.wear.free_count(), self.jobs_of(Cause::Gc));
        let may = cleaning < self.geometry.dies() && free + u32::from(cleaning == 0) > RESERVE;
        if free + cleaning >= self.need.in_gaps || !may {
            return;
        }
        let gives = |block: &BlockId| {
            self.wear.is_full(*block)
                && !self.is_moved(*block)
                && self.fullness(*block) < self.geometry.pages_per_block
        };
        if let Some(block) = self.geometry.block_ids().find(gives) {
            let wanted = self.need.in_gaps;
            self.findings.add(Kind::Books, || {
                format!(
                    "{free} blocks are free and {cleaning} are being cleaned in an idle gap, which \
                     must keep {wanted} free; GC does not clean block {block}"
                )
            });
        }
    }
}
