//! Rewrite of a block: the destinations of its pages, and the wordlines to reprogram afterwards.
//! Techniques, garbage collection and wear levelling use this type. If the drive cannot do a
//! rewrite, it does the safest similar one.

use crate::base::page_set::{PageSet, WordlineSet};
use crate::base::streams::RECLAIM;
use crate::base::units::{BlockId, PageInBlock, StreamId, WordlineInBlock};

/// Destination of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Free pages of a stream.
    Stream(StreamId),
    /// Free pages of the same block, after its programmed pages. The moved pages begin with the
    /// dose that `disturb.preprogram_weight` causes. If a wordline already holds some data, the
    /// drive first fills its other pages, so some pages may be programmed twice. Each page is read
    /// once.
    Within,
}

/// Part of a rewrite: some pages of a block, and their destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Pages of the part; `None` for all pages of the block. Invalid pages are skipped.
    pub pages: Option<PageSet>,
    /// Destination of the pages.
    pub to: Destination,
}

impl Part {
    /// Creates a part that sends these pages to this stream.
    pub fn of(pages: PageSet, to: StreamId) -> Self {
        Self { pages: Some(pages), to: Destination::Stream(to) }
    }

    fn all(to: StreamId) -> Self {
        Self { pages: None, to: Destination::Stream(to) }
    }

    /// Returns whether a page of the block belongs to the part.
    pub fn holds(&self, page: PageInBlock) -> bool {
        self.pages.as_ref().is_none_or(|pages| pages.holds(page))
    }
}

/// Wordlines of a block to reprogram in place, and their new coding. The wordlines keep their dose.
/// The pages that the coding gives up move first. Then each wordline is read completely and merged.
/// So the job reads each page of the block once, and the pages of these wordlines twice. The policy
/// must ensure that the new limits allow these reads and those of the next job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recode {
    /// No wordline of the block.
    Nothing,
    /// All wordlines of a full-density block. The block's limits change when all its completely
    /// programmed wordlines are merged. The drive refuses this if no further coding exists, if a
    /// wordline already has its own coding, or if [`super::reclaim::View::can_spare`] returns
    /// false.
    Block(u8),
    /// Some wordlines of a full-density block. The limits of a wordline change as soon as it is
    /// merged. The drive refuses wordlines that are partly programmed or already merged. It refuses
    /// guard levels if [`super::reclaim::View::spare_pages`] is too small. Wordlines without data
    /// are skipped.
    Wordlines(Merges),
}

/// Wordlines to merge, listed by their new coding. No wordline occurs twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merges {
    by_coding: Vec<(u8, WordlineSet)>,
}

impl Merges {
    /// Creates an empty list.
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates a list of these wordlines, all with one new coding.
    pub fn into_one(coding: u8, wordlines: WordlineSet) -> Self {
        Self { by_coding: vec![(coding, wordlines)] }
    }

    /// Adds a wordline to the list. Its block has `wordlines_per_block` wordlines.
    pub fn insert(&mut self, coding: u8, wordline: WordlineInBlock, wordlines_per_block: u32) {
        let known = self.by_coding.iter().position(|(other, _)| *other == coding);
        let at = known.unwrap_or_else(|| {
            self.by_coding.push((coding, WordlineSet::none(wordlines_per_block)));
            self.by_coding.len() - 1
        });
        self.by_coding[at].1.insert(wordline, 1);
    }

    /// Returns each new coding with its wordlines.
    pub fn by_coding(&self) -> impl Iterator<Item = (u8, &WordlineSet)> {
        self.by_coding.iter().map(|(coding, wordlines)| (*coding, wordlines))
    }

    /// Returns all wordlines of the list, whatever their coding. The block has
    /// `wordlines_per_block` wordlines.
    pub fn wordlines(&self, wordlines_per_block: u32) -> WordlineSet {
        let mut all = WordlineSet::none(wordlines_per_block);
        self.by_coding.iter().for_each(|(_, wordlines)| all.add(wordlines));
        all
    }

    /// Returns the number of wordlines.
    pub fn len(&self) -> u32 {
        self.by_coding.iter().map(|(_, wordlines)| wordlines.len()).sum()
    }

    /// Returns whether there is no wordline.
    pub fn is_empty(&self) -> bool {
        self.by_coding.iter().all(|(_, wordlines)| wordlines.is_empty())
    }

    /// Removes the first wordline from the list, and returns it with its new coding.
    pub(crate) fn take_first(&mut self) -> Option<(u8, WordlineInBlock)> {
        let first =
            |(at, (_, wordlines)): (usize, &(u8, WordlineSet))| Some((wordlines.first()?, at));
        let (wordline, at) = self.by_coding.iter().enumerate().filter_map(first).min()?;
        self.by_coding[at].1.take_first();
        Some((self.by_coding[at].0, wordline))
    }
}

/// Rewrite of a block. If the block is open, it is closed first. If no data stays in the block, the
/// block is erased. Otherwise, the drive asks the policy again at the block's next read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// Number of the block.
    pub block: BlockId,
    /// Pages that move, with their destinations. If several parts hold a page, the first of these
    /// parts decides. A page that is in no part stays.
    pub parts: Vec<Part>,
    /// Wordlines that are reprogrammed in place after the pages have moved.
    pub recode: Recode,
    /// Destination of the pages that a coding gives up, and of all pages if the rewrite is refused.
    /// The drive refuses it if a block or a wordline cannot be recoded. It also refuses it if the
    /// block has no space for its own pages ([`super::reclaim::View::next_filling`]).
    pub otherwise: StreamId,
}

impl Rewrite {
    /// Moves all pages to the reclaim stream.
    pub fn all(block: BlockId) -> Self {
        Self::all_to(block, RECLAIM)
    }

    /// Moves all pages to one stream.
    pub fn all_to(block: BlockId, to: StreamId) -> Self {
        Self { block, parts: vec![Part::all(to)], recode: Recode::Nothing, otherwise: to }
    }

    /// Moves these pages to the reclaim stream.
    pub fn pages(block: BlockId, pages: PageSet) -> Self {
        Self { parts: vec![Part::of(pages, RECLAIM)], ..Self::all(block) }
    }

    /// Moves the pages in `marked` to the stream `to`, and all other pages to the stream `rest`.
    pub fn divide(block: BlockId, marked: PageSet, to: StreamId, rest: StreamId) -> Self {
        Self { parts: vec![Part::of(marked, to), Part::all(rest)], ..Self::all_to(block, rest) }
    }

    /// Writes all valid pages again to free pages of the same block.
    pub fn within(block: BlockId) -> Self {
        Self { parts: vec![Part { pages: None, to: Destination::Within }], ..Self::all(block) }
    }

    /// Gives the whole block a new coding. Pages that no longer fit go to the stream `otherwise`.
    pub fn recode(block: BlockId, coding: u8, otherwise: StreamId) -> Self {
        Self { block, parts: vec![], recode: Recode::Block(coding), otherwise }
    }

    /// Gives these wordlines new codings. Pages that no longer fit, and the pages in `pages`, go to
    /// the reclaim stream.
    pub fn recode_wordlines(
        block: BlockId,
        coding: u8,
        wordlines: WordlineSet,
        pages: PageSet,
    ) -> Self {
        Self {
            recode: Recode::Wordlines(Merges::into_one(coding, wordlines)),
            ..Self::pages(block, pages)
        }
    }

    /// Returns the pages of the first part whose destination is this stream.
    pub fn named_for(&self, stream: StreamId) -> Option<&PageSet> {
        self.parts.iter().find(|part| part.to == Destination::Stream(stream))?.pages.as_ref()
    }

    /// Returns all pages that are in parts of the rewrite; `None` if these are all pages of the
    /// block.
    pub(crate) fn moving(&self, pages_per_block: u32) -> Option<PageSet> {
        let mut moving = PageSet::none(pages_per_block);
        self.parts
            .iter()
            .try_for_each(|part| part.pages.as_ref().map(|pages| moving.add(pages)))?;
        Some(moving)
    }
}
