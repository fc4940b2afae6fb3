//! A job: a block of which something is written anew, and how far that has come.

use crate::base::codings::FASTER;
use crate::base::dose::Quarters;
use crate::base::page_set::{PageSet, WordlineSet};
use crate::base::streams::GC;
use crate::base::units::{BlockId, Cause, Moment, Ns, PageInBlock, Reads, WordlineInBlock};
use crate::bugs::{Bug, planted};
use crate::flash::Flash;
use crate::slots::rewrite::{Destination, Part, Recode, Rewrite};

/// Names a deferred job; slots are reused, serial numbers are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobRef {
    pub(super) slot: usize,
    pub(super) serial: u64,
    /// What it moves.
    pub(crate) block: BlockId,
}

/// A block of which something is written anew.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(super) serial: u64,
    pub(crate) block: BlockId,
    pub(crate) cause: Cause,
    /// What is to be done, as [`settled`](crate::ftl::Ftl::settle); wordlines that were merged by
    /// themselves are taken out.
    pub(super) rewrite: Rewrite,
    /// The pages that move, where not all.
    pub(crate) pages: Option<PageSet>,
    /// Where pages that stay within the block are written from.
    pub(super) within: Option<PageInBlock>,
    /// First page not yet looked at.
    pub(crate) cursor: PageInBlock,
    /// First wordline not yet merged of a block that is recoded.
    pub(crate) merged: WordlineInBlock,
    /// Wordlines that were adjusted, and when the first of them was.
    pub(super) adjusted: Option<(WordlineSet, Moment)>,
    /// Groups of 64 pages whose map entries were asked for.
    pub(super) fetched: u32,
    pub(crate) started_at: Ns,
    /// The block's dose, in quarters, when the job began or got its deadline.
    pub(crate) from: Quarters,
    /// Block reads at which the block may serve no further one, movers' own from `from` on apart.
    pub(crate) deadline: Reads,
}

impl Job {
    /// Where a page goes.
    #[inline]
    pub(super) fn destination(&self, page: PageInBlock) -> Destination {
        // Most jobs have one part, which holds all pages.
        if let [Part { pages: None, to }] = self.rewrite.parts[..] {
            to
        } else {
            self.destination_in_parts(page)
        }
    }

    fn destination_in_parts(&self, page: PageInBlock) -> Destination {
        let parts = &self.rewrite.parts;
        let at =
            parts.iter().position(|part| part.holds(page)).expect("a page that moves is in a part");
        parts[if planted(Bug::DivideInverted) { parts.len() - 1 - at } else { at }].to
    }

    /// Pages that recoding, as far as it is still to come, takes away.
    #[inline]
    pub(crate) fn pages_taken(&self, flash: &Flash) -> u32 {
        if self.rewrite.recode == Recode::Nothing { 0 } else { self.pages_recoded(flash) }
    }

    #[cold]
    fn pages_recoded(&self, flash: &Flash) -> u32 {
        match &self.rewrite.recode {
            Recode::Nothing => 0,
            Recode::Block(coding) => flash.pages_if_recoded(self.block, *coding),
            Recode::Wordlines(left) => left
                .by_coding()
                .map(|(coding, wordlines)| {
                    wordlines.len() * flash.geometry.codings.kept_away(coding)
                })
                .sum(),
        }
    }

    /// Wordlines that it has still to merge.
    pub(crate) fn merges_left(&self, flash: &Flash) -> u32 {
        match &self.rewrite.recode {
            Recode::Nothing => 0,
            Recode::Block(_) => flash.whole_wordlines(self.block) - self.merged.number(),
            Recode::Wordlines(left) => left.len(),
        }
    }

    /// Valid pages that it has still to move.
    pub(crate) fn pages_left(&self, flash: &Flash) -> u32 {
        match &self.pages {
            None => u32::from(flash.hot(self.block).valid),
            Some(pages) => {
                let valid = flash.contents().valid_words(self.block);
                valid
                    .iter()
                    .zip(pages.words())
                    .map(|(valid, wanted)| (valid & wanted).count_ones())
                    .sum()
            }
        }
    }

    /// Whether it adjusts wordlines, or has adjusted some.
    pub(crate) fn adjusts(&self) -> bool {
        self.adjusted.is_some()
            || matches!(&self.rewrite.recode, Recode::Wordlines(left) if left.by_coding().any(|(coding, _)| coding >= FASTER))
    }

    /// A wordline of a block of so many was adjusted.
    pub(super) fn note_adjusted(
        &mut self,
        wordline: WordlineInBlock,
        now: Moment,
        wordlines_per_block: u32,
    ) {
        self.adjusted
            .get_or_insert_with(|| (WordlineSet::none(wordlines_per_block), now))
            .0
            .insert(wordline, 1);
    }

    /// The clock is set back by so much.
    pub(crate) fn set_back(&mut self, by: Ns) {
        if let Some((_, first)) = &mut self.adjusted {
            *first -= by.cast_signed();
        }
    }

    /// The same job for the whole block, to the one stream that the reserve is kept for.
    pub(crate) fn widened(self) -> Self {
        Self {
            rewrite: Rewrite::all_to(self.block, GC),
            pages: None,
            within: None,
            cursor: PageInBlock::FIRST,
            fetched: 0,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::streams::WEAR;
    use crate::drive::tests::tiny_config;
    use crate::drive::{Drive, Techniques};
    use crate::flash::block::BlockState;

    /// A full drive in the timed gear, and a deferred job for a block of it.
    fn drive() -> (Drive, usize) {
        let mut config = tiny_config();
        config.start.fill = 1.0;
        let mut drive =
            Drive::new(config.resolve().unwrap(), &Techniques::default(), true).unwrap();
        drive.precondition(1);
        let block = drive
            .geometry
            .block_ids()
            .find(|block| drive.flash.hot(*block).state == BlockState::Closed)
            .unwrap();
        let (flash, ftl, mut slots) = drive.parts();
        ftl.rewrite(flash, &mut slots, Rewrite::all_to(block, WEAR), Cause::Wear, Reads::NEVER);
        let slot = ftl.job_of(block).unwrap();
        (drive, slot)
    }

    #[test]
    fn what_a_job_has_adjusted_is_set_back_with_the_clock() {
        let (mut drive, slot) = drive();
        drive.ftl.jobs[slot].as_mut().unwrap().note_adjusted(WordlineInBlock::new(0), 4, 8);
        drive.flash.now = 10;
        drive.restart_clock();
        let adjusted = drive.ftl.jobs[slot].as_ref().unwrap().adjusted.as_ref().unwrap();
        assert_eq!(adjusted.1, -6);
    }

    /// Merging the eight wordlines of a block takes a program of 500 us each, at least.
    #[test]
    fn merges_take_time() {
        let (mut drive, slot) = drive();
        let mut job = drive.ftl.jobs[slot].take().unwrap();
        let copies = drive.ftl.time_left(&drive.flash, &job);
        job.rewrite.recode = Recode::Block(1);
        let merges = drive.ftl.time_left(&drive.flash, &job) - copies;
        assert!((8 * 500_000..8 * 1_000_000).contains(&merges), "{merges} ns");
    }
}
