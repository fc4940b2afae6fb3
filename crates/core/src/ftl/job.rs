//! A job: a block whose data is to move, where its pages go, and what is merged in place then.

use crate::base::page_set::{PageSet, any};
use crate::base::streams::{GC, RECLAIM};
use crate::base::units::{BlockId, Cause, Ns, Reads, StreamId};
use crate::bugs::{Bug, planted};
use crate::flash::Flash;
use crate::flash::operate::recode::GUARDED;

/// Names a deferred job; slots are reused, serial numbers are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobRef {
    pub(super) slot: usize,
    pub(super) serial: u64,
    /// What it moves.
    pub(crate) block: BlockId,
}

/// What of a block is to move, and where.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The pages, where not all.
    pub(crate) pages: Option<PageSet>,
    /// Pages that go to a stream of their own.
    pub(super) marked: Option<(PageSet, StreamId)>,
    pub(super) to: StreamId,
    /// What is merged in place then.
    pub(crate) merges: Merges,
    /// Written again in the same block instead, from this page on.
    pub(super) within: Option<u32>,
}

/// What of a block is merged in place when the pages have moved.
#[derive(Clone, Debug)]
pub(crate) enum Merges {
    Nothing,
    /// All that is programmed whole.
    Block,
    /// These wordlines; those merged already are taken out.
    Wordlines(PageSet),
}

impl Plan {
    /// All of it to one stream.
    pub(crate) fn whole(to: StreamId) -> Self {
        Self { pages: None, marked: None, to, merges: Merges::Nothing, within: None }
    }

    /// Some pages.
    pub(crate) fn some(pages: PageSet, to: StreamId) -> Self {
        Self { pages: Some(pages), marked: None, to, merges: Merges::Nothing, within: None }
    }

    /// Some pages, and then the block is reprogrammed in place.
    pub(crate) fn reprogramming(leaving: PageSet, to: StreamId) -> Self {
        Self { pages: Some(leaving), marked: None, to, merges: Merges::Block, within: None }
    }

    /// Some pages, and then these wordlines are merged.
    pub(crate) fn guarding(leaving: PageSet, wordlines: PageSet) -> Self {
        Self { merges: Merges::Wordlines(wordlines), ..Self::some(leaving, RECLAIM) }
    }

    /// All of it, some pages apart.
    pub(crate) fn divided(marked: PageSet, to: StreamId, rest: StreamId) -> Self {
        Self { pages: None, marked: Some((marked, to)), to: rest, merges: Merges::Nothing, within: None }
    }

    /// These pages again in the same block, from its page `first` on.
    pub(crate) fn within(pages: PageSet, first: u32) -> Self {
        Self { within: Some(first), ..Self::some(pages, RECLAIM) }
    }

    pub(super) fn stream(&self, page: u32) -> StreamId {
        match &self.marked {
            Some((marked, to)) if any(marked.words(), page, 1) != planted(Bug::DivideInverted) => *to,
            _ => self.to,
        }
    }
}

/// A block whose data is being moved.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(super) serial: u64,
    pub(crate) block: BlockId,
    pub(crate) cause: Cause,
    pub(crate) plan: Plan,
    /// First page not yet looked at.
    pub(crate) cursor: u32,
    /// Wordlines merged.
    pub(crate) merged: u32,
    /// Groups of 64 pages whose map entries were asked for.
    pub(super) fetched: u32,
    pub(crate) started_at: Ns,
    /// The block's dose, in quarters, when the job began or got its deadline.
    pub(crate) from: u32,
    /// Block reads at which the block may serve no further one, movers' own from `from` on apart.
    pub(crate) deadline: Reads,
}

impl Job {
    /// Pages that its merges, as far as they are still to come, take away.
    pub(crate) fn pages_taken(&self, flash: &Flash) -> u32 {
        match &self.plan.merges {
            Merges::Nothing => 0,
            Merges::Block => flash.pages_if_recoded(self.block),
            Merges::Wordlines(left) => left.len() * u32::from(GUARDED),
        }
    }

    /// Wordlines that it has still to merge.
    pub(crate) fn merges_left(&self, flash: &Flash) -> u32 {
        match &self.plan.merges {
            Merges::Nothing => 0,
            Merges::Block => flash.whole_wordlines(self.block) - self.merged,
            Merges::Wordlines(left) => left.len(),
        }
    }

    /// Valid pages that it has still to move.
    pub(crate) fn pages_left(&self, flash: &Flash) -> u32 {
        match &self.plan.pages {
            None => u32::from(flash.hot(self.block).valid),
            Some(pages) => {
                let valid = flash.contents().valid_words(self.block);
                valid.iter().zip(pages.words()).map(|(valid, wanted)| (valid & wanted).count_ones()).sum()
            }
        }
    }

    /// The same job for the whole block, to the one stream that the reserve is kept for.
    pub(crate) fn widened(self) -> Self {
        Self { plan: Plan::whole(GC), cursor: 0, fetched: 0, ..self }
    }
}
