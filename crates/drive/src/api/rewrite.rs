//! Rewrite of a block: which of its pages go where, and which of its wordlines are then
//! reprogrammed. Techniques, garbage collection and wear levelling use the same type. The drive
//! does what it says, or the safest similar action.

use crate::base::page_set::{PageSet, WordlineSet};
use crate::base::streams::RECLAIM;
use crate::base::units::{BlockId, PageInBlock, StreamId, WordlineInBlock};

/// Destination of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Pages of a stream.
    Stream(StreamId),
    /// Empty pages of the block itself, behind its programmed pages. The moved pages then have only
    /// the dose that `disturb.preprogram_weight` gives. A wordline with older data is completed
    /// first, so some pages may be programmed twice. Each page is read once.
    Within,
}

/// Some pages of a block, and their destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Pages of the part; `None` for all. Pages without current data are skipped.
    pub pages: Option<PageSet>,
    /// Destination of the pages.
    pub to: Destination,
}

impl Part {
    /// Returns the part with these pages, for this stream.
    pub fn of(pages: PageSet, to: StreamId) -> Self {
        Self { pages: Some(pages), to: Destination::Stream(to) }
    }

    fn all(to: StreamId) -> Self {
        Self { pages: None, to: Destination::Stream(to) }
    }

    /// Returns whether a page of the block belongs to it.
    pub fn holds(&self, page: PageInBlock) -> bool {
        self.pages.as_ref().is_none_or(|pages| pages.holds(page))
    }
}

/// Part of a block that is reprogrammed in place after its pages have moved, and the new coding.
/// Its dose stays. The pages that the coding gives up move first. Then each wordline is read
/// completely and merged. So the job reads each page once, and the pages of the part twice. The
/// policy must ensure that limits grow enough for these reads and those of the next job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recode {
    /// No part of the block.
    Nothing,
    /// All of a block of full density. Its limits change when all its whole wordlines are merged.
    /// This is refused if no coding is left, if some of its wordlines are already recoded, or if
    /// [`super::reclaim::View::can_spare`] returns false.
    Block(u8),
    /// Some wordlines of a block of full density, each by itself. Its limits change at once. This
    /// is refused for a wordline that is partly programmed or was merged before. Guard levels are
    /// refused if [`super::reclaim::View::spare_pages`] is too small. A wordline without data is
    /// skipped.
    Wordlines(Merges),
}

/// Wordlines by their new coding. No wordline is named twice.
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

    /// Adds a wordline of a block with `wordlines_per_block` wordlines.
    pub fn insert(&mut self, coding: u8, wordline: WordlineInBlock, wordlines_per_block: u32) {
        let known = self.by_coding.iter().position(|(other, _)| *other == coding);
        let at = known.unwrap_or_else(|| {
            self.by_coding.push((coding, WordlineSet::none(wordlines_per_block)));
            self.by_coding.len() - 1
        });
        self.by_coding[at].1.insert(wordline, 1);
    }

    /// Returns codings with their wordlines.
    pub fn by_coding(&self) -> impl Iterator<Item = (u8, &WordlineSet)> {
        self.by_coding.iter().map(|(coding, wordlines)| (*coding, wordlines))
    }

    /// Returns all wordlines, for a block with `wordlines_per_block` wordlines.
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

    /// Removes and returns the first wordline, with its coding.
    pub(crate) fn take_first(&mut self) -> Option<(u8, WordlineInBlock)> {
        let first =
            |(at, (_, wordlines)): (usize, &(u8, WordlineSet))| Some((wordlines.first()?, at));
        let (wordline, at) = self.by_coding.iter().enumerate().filter_map(first).min()?;
        self.by_coding[at].1.take_first();
        Some((self.by_coding[at].0, wordline))
    }
}

/// Rewrite of a block. An open block is closed first. A block that is left without data is erased.
/// If a block keeps data, the policy is asked at its next read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// Number of the block.
    pub block: BlockId,
    /// Pages that move. A page goes to the destination of the first part that holds it, and stays
    /// if no part holds it.
    pub parts: Vec<Part>,
    /// Part of the block that is reprogrammed in place afterwards.
    pub recode: Recode,
    /// Destination of the pages that a coding gives up. Also the destination of all pages of a
    /// refused rewrite. It is refused for a block or a wordline that cannot be recoded, and for a
    /// block without space to be written again ([`super::reclaim::View::next_filling`]).
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

    /// Moves these pages to one stream and all others to another.
    pub fn divide(block: BlockId, marked: PageSet, to: StreamId, rest: StreamId) -> Self {
        Self { parts: vec![Part::of(marked, to), Part::all(rest)], ..Self::all_to(block, rest) }
    }

    /// Writes all pages again within the block.
    pub fn within(block: BlockId) -> Self {
        Self { parts: vec![Part { pages: None, to: Destination::Within }], ..Self::all(block) }
    }

    /// Recodes the whole block. The pages that it cannot hold any more go to a stream.
    pub fn recode(block: BlockId, coding: u8, otherwise: StreamId) -> Self {
        Self { block, parts: vec![], recode: Recode::Block(coding), otherwise }
    }

    /// Recodes these wordlines. The pages that they cannot hold any more, and `pages`, go to the
    /// reclaim stream.
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

    /// Returns the pages of the first part that goes to this stream.
    pub fn named_for(&self, stream: StreamId) -> Option<&PageSet> {
        self.parts.iter().find(|part| part.to == Destination::Stream(stream))?.pages.as_ref()
    }

    /// Returns all pages of its parts; `None` if this is every page.
    pub(crate) fn moving(&self, pages_per_block: u32) -> Option<PageSet> {
        let mut moving = PageSet::none(pages_per_block);
        self.parts
            .iter()
            .try_for_each(|part| part.pages.as_ref().map(|pages| moving.add(pages)))?;
        Some(moving)
    }
}
