//! Checks that GC takes the right victim in the untimed gear, in which no job is under way when GC
//! chooses. GC must not take a block that a move has just filled if another block would do. Under
//! `greedy`, it must not take a block with more valid pages than another block.
//!
//! A lost page, or a page with newer data in memory, may be valid or not. So a block counts as
//! better only if its lead is larger than the number of such pages.

use vpass_drive::base::units::{BlockId, Cause};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::Stamp;

/// One victim in this number is checked closely.
const ONE_IN: u64 = 8;

/// State of GC.
#[derive(Debug, Default)]
pub(crate) struct Cleaning {
    /// Block that GC reads from now.
    victim: Option<BlockId>,
    /// Block that another mover reads from. It cannot be a victim.
    moving: Option<BlockId>,
    victims: u64,
    /// Better victim, with its message. It is dropped if another mover turns out to have begun with
    /// this block.
    better: Option<(BlockId, String)>,
    /// Whether GC takes the block with the fewest valid pages.
    pub(crate) is_greedy: bool,
    /// Whether the gear is untimed, so that no job is deferred and no other part holds blocks.
    pub(crate) is_untimed: bool,
}

impl Oracle {
    /// Checks GC against the choice of this technique. The drive must run in the untimed gear.
    pub fn expect_cleaning(&mut self, technique: &str) {
        (self.cleaning.is_greedy, self.cleaning.is_untimed) = (technique == "greedy", true);
    }

    /// Records that a mover reads a page of a block.
    pub(crate) fn note_cleaning(&mut self, block: BlockId, cause: Cause) {
        if !self.cleaning.is_untimed {
            return;
        }
        if cause != Cause::Gc {
            self.cleaning.moving = Some(block);
            // The mover needed space before it read its first page.
            self.cleaning.better.take_if(|(better, _)| *better == block);
            self.accuse_cleaning();
        } else if self.cleaning.victim != Some(block) {
            self.cleaning.victim = Some(block);
            self.cleaning.victims += 1;
            if self.wear.is_protected(block, &self.geometry)
                || self.cleaning.is_greedy && self.cleaning.victims.is_multiple_of(ONE_IN)
            {
                self.check_victim(block);
            }
        }
    }

    /// Reports the better victim. No other mover had begun with it, because the part that needed
    /// space continues.
    #[inline]
    pub(crate) fn accuse_cleaning(&mut self) {
        if self.cleaning.better.is_some()
            && let Some((_, sentence)) = self.cleaning.better.take()
        {
            self.findings.add(Kind::Books, || sentence);
        }
    }

    /// Records that a block is erased. If the block was a victim, the next victim is another block.
    pub(crate) fn end_cleaning(&mut self, block: BlockId) {
        for of in [&mut self.cleaning.victim, &mut self.cleaning.moving] {
            if *of == Some(block) {
                *of = None;
            }
        }
    }

    #[cold]
    fn check_victim(&mut self, victim: BlockId) {
        let is_protected = self.wear.is_protected(victim, &self.geometry);
        let held = self.valid_of(victim);
        let unsure = self.memory.pages().count() as u32 + self.waiting.len() as u32;
        // A block whose cleaning frees no page is not a victim.
        let most = if is_protected { self.geometry.pages_per_block } else { held };
        let better = self.geometry.block_ids().find(|block| {
            // Only a full-density block may be the better victim, because GC scales the valid pages
            // of other blocks.
            let may_be = *block != victim
                && self.geometry.domain_of(*block) == self.geometry.domain_of(victim)
                && Some(*block) != self.cleaning.moving
                && self.wear.is_full(*block)
                && self.protocol.has_all_pages(*block);
            may_be
                && !self.wear.is_protected(*block, &self.geometry)
                && self.valid_of(*block) + self.lost_of(*block) + unsure < most
        });
        let Some(better) = better else { return };
        let other = self.valid_of(better);
        let sentence = if is_protected {
            format!(
                "GC cleans block {victim}, which a move filled recently, although block {better} \
                 could be cleaned"
            )
        } else {
            format!("GC cleans block {victim} with {held} valid pages; block {better} has {other}")
        };
        self.cleaning.better.get_or_insert((better, sentence));
    }

    /// Returns the number of pages in a block that the host can still read there.
    fn valid_of(&self, block: BlockId) -> u32 {
        self.stamps_of(block).filter(|stamp| self.stamps.is_live(*stamp)).count() as u32
    }

    /// Returns the number of pages in a block whose host page is lost. The loss may be in another
    /// block.
    fn lost_of(&self, block: BlockId) -> u32 {
        self.stamps_of(block).filter(|stamp| self.is_lost(stamp.lpn)).count() as u32
    }

    fn stamps_of(&self, block: BlockId) -> impl Iterator<Item = Stamp> {
        let first = self.geometry.first_page(block);
        let ends = self.protocol.written(block);
        first.run(ends).map(|ppn| self.medium.stamp(At::new(&self.geometry, ppn)))
    }
}
