//! Job: a block whose data is rewritten, and the progress of the rewrite.

use crate::api::rewrite::{Destination, Part, Recode, Rewrite};
use crate::base::codings::FASTER;
use crate::base::dose::Quarters;
use crate::base::page_set::{PageSet, WordlineSet};
use crate::base::streams::GC;
use crate::base::units::{BlockId, Cause, Moment, Ns, PageInBlock, Reads, WordlineInBlock};
use crate::flash::Flash;

/// Reference to a deferred job. Slots are reused, but serial numbers are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobRef {
    pub(super) slot: usize,
    pub(super) serial: u64,
    /// Block that the job rewrites.
    pub(crate) block: BlockId,
}

/// Block whose data is rewritten.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(super) serial: u64,
    pub(crate) block: BlockId,
    pub(crate) cause: Cause,
    /// Work of the job, as [`settled`](crate::ftl::Ftl::settle). Wordlines that were merged by
    /// themselves are removed.
    pub(super) rewrite: Rewrite,
    /// Pages that move; `None` if all move.
    pub(crate) pages: Option<PageSet>,
    /// First page to which pages that stay within the block are written.
    pub(super) within: Option<PageInBlock>,
    /// First page that is not yet handled.
    pub(crate) cursor: PageInBlock,
    /// First wordline of a recoded block that is not yet merged.
    pub(crate) merged: WordlineInBlock,
    /// Wordlines that were merged in place for faster reads, and the time of the first of these
    /// merges.
    pub(super) adjusted: Option<(WordlineSet, Moment)>,
    /// Number of groups of 64 pages whose map entries were prefetched.
    pub(super) fetched: u32,
    /// Whether the job may now use the blocks kept for moves.
    pub(super) reserved: bool,
    pub(crate) started_at: Ns,
    /// Dose of the block, in quarters, when the job began or got its deadline.
    pub(crate) from: Quarters,
    /// Number of block reads at which the block may serve no more reads. The reads of movers from
    /// `from` on do not count.
    pub(crate) deadline: Reads,
}

impl Job {
    /// Returns the destination of a page.
    #[inline]
    pub(super) fn destination(&self, page: PageInBlock) -> Destination {
        // Most jobs have one part with all pages.
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
        parts[at].to
    }

    /// Returns the number of pages that the remaining recoding takes away.
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

    /// Returns the number of wordlines that are still to be merged.
    pub(crate) fn merges_left(&self, flash: &Flash) -> u32 {
        match &self.rewrite.recode {
            Recode::Nothing => 0,
            Recode::Block(_) => flash.whole_wordlines(self.block) - self.merged.number(),
            Recode::Wordlines(left) => left.len(),
        }
    }

    /// Returns the number of valid pages that are still to be moved.
    pub(crate) fn pages_left(&self, flash: &Flash) -> u32 {
        match &self.pages {
            None => u32::from(flash.hot(self.block).valid),
            Some(pages) => {
                let valid = flash.contents.valid_words(self.block);
                valid
                    .iter()
                    .zip(pages.words())
                    .map(|(valid, wanted)| (valid & wanted).count_ones())
                    .sum()
            }
        }
    }

    /// Returns whether the job merges wordlines for faster reads, or has merged some.
    pub(crate) fn adjusts(&self) -> bool {
        self.adjusted.is_some()
            || matches!(&self.rewrite.recode, Recode::Wordlines(left) if left.by_coding().any(|(coding, _)| coding >= FASTER))
    }

    /// Records that a wordline was merged in place for faster reads. The block has this many
    /// wordlines.
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

    /// Sets the clock back by this time.
    pub(crate) fn set_back(&mut self, by: Ns) {
        if let Some((_, first)) = &mut self.adjusted {
            *first -= by.cast_signed();
        }
    }

    /// Returns the job for the whole block. Its destination is the stream for which the reserve is
    /// kept.
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
    use crate::drive::Drive;
    use crate::drive::tests::tiny_config;
    use crate::flash::block::BlockState;
    use crate::testing::fakes;

    /// Creates a full drive in the timed gear, and a deferred job for one of its blocks.
    fn drive() -> (Drive, usize) {
        let mut config = tiny_config();
        config.start.fill = 1.0;
        let mut drive = Drive::new(config.resolve().unwrap(), &fakes(), true).unwrap();
        drive.precondition(1);
        let block = drive
            .geometry
            .block_ids()
            .find(|block| drive.flash.hot(*block).state == BlockState::Closed)
            .unwrap();
        let (ftl, mut cx) = drive.parts();
        ftl.rewrite(&mut cx, Rewrite::all_to(block, WEAR), Cause::Wear, Reads::NEVER);
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

    /// Merging the eight wordlines of a block takes at least a program of 500 us each.
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
