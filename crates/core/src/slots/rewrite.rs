//! Rewrite of a block: which of its pages go where, and which of its wordlines are then
//! reprogrammed. Techniques, garbage collection and wear levelling use the same type. The drive
//! does what it says, or the safest similar action.

use crate::base::page_set::{PageSet, WordlineSet};
use crate::base::streams::RECLAIM;
use crate::base::units::{BlockId, PageInBlock, StreamId, WordlineInBlock};

/// Where pages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To a stream.
    Stream(StreamId),
    /// To pages of the same block that hold nothing yet, behind what it was programmed with. The
    /// pages have then endured nothing but what `disturb.preprogram_weight` says. Where a wordline
    /// would be shared with older data it is completed first, so that some pages may be programmed
    /// twice; each is read once.
    Within,
}

/// Some pages of a block, and where they go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The pages, or all of them; those without current data are passed over.
    pub pages: Option<PageSet>,
    /// Where they go.
    pub to: Destination,
}

impl Part {
    pub(crate) fn of(pages: PageSet, to: StreamId) -> Self {
        Self { pages: Some(pages), to: Destination::Stream(to) }
    }

    fn all(to: StreamId) -> Self {
        Self { pages: None, to: Destination::Stream(to) }
    }

    /// Whether a page of the block belongs to it.
    pub fn holds(&self, page: PageInBlock) -> bool {
        self.pages.as_ref().is_none_or(|pages| pages.holds(page))
    }
}

/// What of a block is programmed over itself when its pages have moved, into which coding. What it
/// has endured stays. The pages that the coding gives up move first; then each wordline is read
/// whole and merged. So the job reads each page once, and those twice; that limits grow by enough
/// to bear this and the reads of the next job is for the policy to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recode {
    /// Nothing.
    Nothing,
    /// All of a block of full density: its limits change when all of its whole wordlines are
    /// merged. Refused where no coding is left to go to, where some of its wordlines are recoded
    /// already, and where [`super::reclaim::View::can_spare`] says no.
    Block(u8),
    /// These wordlines of a block of full density, each by itself: its limits change at once.
    /// Refused to a wordline that is not programmed whole or was merged before, and for guard
    /// levels where [`super::reclaim::View::spare_pages`] has no room; one without data is passed
    /// over.
    Wordlines(Merges),
}

/// Wordlines by the coding that each goes to; none is named twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merges {
    by_coding: Vec<(u8, WordlineSet)>,
}

impl Merges {
    /// None yet.
    pub fn none() -> Self {
        Self::default()
    }

    /// These, all into one coding.
    pub fn into_one(coding: u8, wordlines: WordlineSet) -> Self {
        Self { by_coding: vec![(coding, wordlines)] }
    }

    /// Adds a wordline of a block of so many.
    pub fn insert(&mut self, coding: u8, wordline: WordlineInBlock, wordlines_per_block: u32) {
        let known = self.by_coding.iter().position(|(other, _)| *other == coding);
        let at = known.unwrap_or_else(|| {
            self.by_coding.push((coding, WordlineSet::none(wordlines_per_block)));
            self.by_coding.len() - 1
        });
        self.by_coding[at].1.insert(wordline, 1);
    }

    /// Codings with their wordlines.
    pub fn by_coding(&self) -> impl Iterator<Item = (u8, &WordlineSet)> {
        self.by_coding.iter().map(|(coding, wordlines)| (*coding, wordlines))
    }

    /// All wordlines, of a block of so many.
    pub fn wordlines(&self, wordlines_per_block: u32) -> WordlineSet {
        let mut all = WordlineSet::none(wordlines_per_block);
        self.by_coding.iter().for_each(|(_, wordlines)| all.add(wordlines));
        all
    }

    /// How many they are.
    pub fn len(&self) -> u32 {
        self.by_coding.iter().map(|(_, wordlines)| wordlines.len()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_coding.iter().all(|(_, wordlines)| wordlines.is_empty())
    }

    /// Takes the first wordline out, with its coding.
    pub(crate) fn take_first(&mut self) -> Option<(u8, WordlineInBlock)> {
        let first =
            |(at, (_, wordlines)): (usize, &(u8, WordlineSet))| Some((wordlines.first()?, at));
        let (wordline, at) = self.by_coding.iter().enumerate().filter_map(first).min()?;
        self.by_coding[at].1.take_first();
        Some((self.by_coding[at].0, wordline))
    }
}

/// What is to be done with a block. An open block is closed first. A block that is left without
/// data is erased; of one that keeps data, the policy is asked at the next read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The block.
    pub block: BlockId,
    /// Pages that go somewhere: a page goes where the first part that holds it says, and stays
    /// where none does.
    pub parts: Vec<Part>,
    /// What is programmed over itself then.
    pub recode: Recode,
    /// Where pages go that a coding gives up, and all pages of what is refused: a block or a
    /// wordline to be recoded, or a block that has no room to be written again
    /// ([`super::reclaim::View::next_filling`]).
    pub otherwise: StreamId,
}

impl Rewrite {
    /// All of it to the reclaim stream.
    pub fn all(block: BlockId) -> Self {
        Self::all_to(block, RECLAIM)
    }

    /// All of it to one stream.
    pub fn all_to(block: BlockId, to: StreamId) -> Self {
        Self { block, parts: vec![Part::all(to)], recode: Recode::Nothing, otherwise: to }
    }

    /// These pages to the reclaim stream.
    pub fn pages(block: BlockId, pages: PageSet) -> Self {
        Self { parts: vec![Part::of(pages, RECLAIM)], ..Self::all(block) }
    }

    /// All of it: these pages to one stream and the others to another.
    pub fn divide(block: BlockId, marked: PageSet, to: StreamId, rest: StreamId) -> Self {
        Self { parts: vec![Part::of(marked, to), Part::all(rest)], ..Self::all_to(block, rest) }
    }

    /// All of it again within the block.
    pub fn within(block: BlockId) -> Self {
        Self { parts: vec![Part { pages: None, to: Destination::Within }], ..Self::all(block) }
    }

    /// The whole block into a coding; what it can hold no longer goes to a stream.
    pub fn recode(block: BlockId, coding: u8, otherwise: StreamId) -> Self {
        Self { block, parts: vec![], recode: Recode::Block(coding), otherwise }
    }

    /// These wordlines into a coding; what they can hold no longer goes to the reclaim stream, and
    /// `pages` with it.
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

    /// Pages that are named for a stream, by the first part that goes there.
    pub(crate) fn named_for(&self, stream: StreamId) -> Option<&PageSet> {
        self.parts.iter().find(|part| part.to == Destination::Stream(stream))?.pages.as_ref()
    }

    /// All pages that its parts hold; none where that is every page.
    pub(crate) fn moving(&self, pages_per_block: u32) -> Option<PageSet> {
        let mut moving = PageSet::none(pages_per_block);
        self.parts
            .iter()
            .try_for_each(|part| part.pages.as_ref().map(|pages| moving.add(pages)))?;
        Some(moving)
    }
}
