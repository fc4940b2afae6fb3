//! Error models: how reads wear at data, one model a file; this file is the seam. The drive asks a
//! model rarely: `assess` says up to which count every page of a block certainly decodes at once.
//! Past that count, `health` says how one page of the block stands.

mod allowed;
mod count;
mod levels;
mod limits;
mod rows;
pub mod table;
pub mod told;
mod wordline;

use crate::base::codings::{Codings, FULL};
use crate::base::dose::{Alpha, Dose, Quarters};
use crate::base::latency::AccessLatency;
use crate::base::page_set::kinds_in;
use crate::base::units::{BlockId, PageInBlock, WordlineInBlock};
use crate::bugs::{Bug, planted};
use crate::config::{DisturbModel, DriveConfig};
use crate::error::budget::PageAt;
use crate::error::chance::Chances;
pub use levels::Levels;
use limits::PageLimits;
use table::LimitTable;

/// Reads of a wordline since its block's erase, and the dose it does not have to answer for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wordline {
    /// Dose read from this wordline.
    pub reads: Quarters,
    /// Dose already accumulated when the wordline was programmed.
    pub base: Quarters,
}

/// What a model sees of a block.
pub struct BlockView<'a> {
    /// Which block it is.
    pub block: BlockId,
    /// Dose of the block since its erase.
    pub reads: Quarters,
    /// P/E cycles.
    pub pec: u32,
    /// Its wordlines.
    pub wordlines: &'a [Wordline],
    /// Pages that share a wordline, those included that its coding takes away.
    pub pages_per_wordline: u32,
    /// The codings that its cells may have.
    pub codings: &'a Codings,
    /// Coding of its cells.
    pub mode: u8,
    /// The coding of each wordline that has one of its own, [`FULL`] for others; nothing where none
    /// has.
    pub recoded: &'a [u8],
    /// Pages programmed so far.
    pub written: u32,
    /// Which pages hold current data, a bit each.
    pub valid: &'a [u64],
    /// Step of the age of its oldest page ([`crate::error::ages`]).
    pub age_step: usize,
    /// The tightest that the host says of what it holds.
    pub budget: AccessLatency,
}

impl BlockView<'_> {
    /// How many wordlines are programmed so far, the last one perhaps in part.
    pub fn programmed(&self) -> u32 {
        self.written.div_ceil(self.pages_per_wordline)
    }

    /// The wordline and the kind of a page, both numbered within the block.
    pub fn wordline_and_kind(&self, page: PageInBlock) -> (WordlineInBlock, u32) {
        (page.wordline(self.pages_per_wordline), page.kind(self.pages_per_wordline))
    }

    /// Coding of a wordline's cells.
    pub fn mode_of(&self, wordline: WordlineInBlock) -> u8 {
        match self.recoded.get(wordline.index()) {
            None | Some(&FULL) => self.mode,
            Some(own) => *own,
        }
    }

    /// Page kinds of a programmed wordline, a bit each, that hold current data or may still be
    /// given some.
    pub fn live_kinds(&self, wordline: WordlineInBlock) -> u32 {
        let first = wordline.first_page(self.pages_per_wordline);
        let written = self.written.saturating_sub(first.number()).min(self.pages_per_wordline);
        let to_come = u32::from(self.codings.row(self.mode).kept) & (u32::MAX << written);
        kinds_in(self.valid, wordline, self.pages_per_wordline)
            | if planted(Bug::ToComeForgotten) { 0 } else { to_come }
    }
}

/// What the wordlines of a block have counted, as it matters for one of them.
pub struct Counts<'a> {
    /// Those of the block.
    pub wordlines: &'a [Wordline],
    /// Dose of the block since its erase.
    pub reads: Quarters,
    /// The wordline that is asked about, numbered within the block.
    pub wordline: WordlineInBlock,
    /// Dose read from that wordline.
    pub own: Quarters,
}

impl<'a> Counts<'a> {
    fn of(block: &BlockView<'a>, wordline: WordlineInBlock) -> Self {
        Self {
            wordlines: block.wordlines,
            reads: block.reads,
            wordline,
            own: block.wordlines[wordline.index()].reads,
        }
    }
}

/// The last count at which every block is looked at.
pub(crate) const LATEST: Quarters = Quarters::from_count(u32::MAX - 1);

/// What a model makes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// Every page decodes at once as long as the block's dose is at most this.
    CleanUntil(Quarters),
    /// Some page may need a retry, or be past its limit: ask for each.
    Suspect,
}

/// What a read of a page comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHealth {
    /// How often it is sensed again, until it decodes or is given up.
    pub retries: u8,
    /// It is past its limit: no retry helps.
    pub is_lost: bool,
}

impl PageHealth {
    /// It decodes as it is sensed first.
    pub const WELL: Self = Self { retries: 0, is_lost: false };
}

/// How reads wear at data.
pub trait ErrorModel: Send {
    /// How long the block is certainly whole.
    fn assess(&self, block: &BlockView) -> Assessment;

    /// Returns the dose of the block up to which every page decodes without a retry, whichever
    /// pages are read. Returns 0 if only a check of each page could tell.
    fn clean_whatever_was_read(&self, _block: &BlockView) -> Quarters {
        Quarters::ZERO
    }

    /// Dose of a wordline of a block, where a neighbour's read weighs so much; 1 for a model
    /// without limits by group. At most the block's dose times that weight or 1, whichever is
    /// larger.
    fn weighed_dose(&self, counts: &Counts, alpha: Alpha) -> Dose;

    /// Up to which dose a page, numbered within the block, decodes with so many retries; below 0
    /// where its age alone takes more.
    fn limit(&self, block: &BlockView, page: PageInBlock, retries: u8) -> Dose;

    /// The limits by group and P/E count behind it, where it has such. Techniques that go by them
    /// are refused without.
    fn page_limits(&self) -> Option<&PageLimits> {
        None
    }

    /// The same, to give them a bug.
    #[cfg(feature = "seeded-bugs")]
    fn page_limits_mut(&mut self) -> Option<&mut PageLimits> {
        None
    }

    /// What a wordline of this block need not answer for when it is programmed now.
    fn base_at_program(&self, block: &BlockView, wordline: WordlineInBlock) -> Quarters;

    /// Dose of a page, numbered within the block.
    fn dose(&self, block: &BlockView, page: PageInBlock) -> Dose {
        let (wordline, _) = block.wordline_and_kind(page);
        let alpha = self
            .limits()
            .map_or(Alpha::ONE, |table| table.truth(table.group_of(wordline), block.pec).alpha);
        self.weighed_dose(&Counts::of(block, wordline), alpha)
    }

    /// The limit of a page that techniques go by: that of data which reads alone wear at, or else
    /// as old as it may become and with the retries that techniques count with.
    fn limit_to_keep(&self, block: &BlockView, page: PageInBlock) -> Dose {
        self.page_limits()
            .map_or_else(|| self.limit(block, page, 0), |limits| limits.to_keep(block, page))
    }

    /// How often a read is tried again before its page is given up.
    fn max_retries(&self) -> u8 {
        self.page_limits().map_or(0, PageLimits::max_retries)
    }

    /// RBER of a page; asked where data has one.
    fn rate(&self, block: &BlockView, page: PageInBlock) -> f64 {
        self.page_limits().map_or(0.0, |limits| limits.rate(block, page, self.dose(block, page)))
    }

    /// How likely reads of an error rate take retries; none where no codeword is known.
    fn chances(&self) -> Option<&Chances> {
        self.page_limits().and_then(PageLimits::chances)
    }

    /// Whether data grows old under it: then an answer holds as long as [`BlockView::age_step`]
    /// does.
    fn ages(&self) -> bool {
        self.page_limits().is_some_and(PageLimits::age)
    }

    /// Whether age alone takes more of a page than its last retry decodes; by P/E count and step of
    /// age, wordline and kind.
    fn is_spoilt_by_age(&self, block: (u32, usize), page: (WordlineInBlock, u32)) -> bool {
        self.page_limits().is_some_and(|limits| limits.is_spoilt_by_age(block, page))
    }

    /// The limits of blocks of a P/E count at a step of age, where it has a table of them.
    fn levels(&self, pec: u32, step: usize) -> Option<Levels> {
        self.page_limits().map(|limits| Levels::of(limits, pec, step))
    }

    /// What a read of a page comes to, by what its block's wordlines have counted and by the levels
    /// of its block's wear and age.
    ///
    /// # Panics
    /// Where the model has no table, and so no levels.
    fn health_by(&self, levels: &Levels, counts: &Counts, page: PageAt) -> PageHealth {
        let limits = self.page_limits().expect("levels are those of a table");
        let dose = self.weighed_dose(counts, levels.alpha(limits.table.group_of(page.wordline)));
        limits.health(levels, page, dose)
    }

    /// Returns the retries that a read of a page takes now, and the dose that reads anywhere in the
    /// block may add before a read of the page takes more. Returns `None` if no retry decodes the
    /// page. The arguments are those of [`Self::health_by`].
    ///
    /// # Panics
    /// Panics if the model has no table.
    fn room_by(&self, levels: &Levels, counts: &Counts, page: PageAt) -> Option<(u8, Quarters)> {
        let limits = self.page_limits().expect("levels are those of a table");
        let alpha = levels.alpha(limits.table.group_of(page.wordline));
        let dose = self.weighed_dose(counts, alpha);
        let (retries, limit) = limits.level(levels, page, dose)?;
        // A read elsewhere in the block adds its dose, a neighbour's read alpha times that.
        let most = if planted(Bug::BulkRoomAnywhere) { Alpha::ONE } else { alpha.max(Alpha::ONE) };
        Some((retries, (limit - dose) / most))
    }

    /// What a read of a page comes to: the fewest retries that decode it.
    fn health(&self, block: &BlockView, page: PageInBlock) -> PageHealth {
        let (dose, most) = (self.dose(block, page), self.max_retries());
        let enough = (0..=most).find(|retries| {
            let limit = self.limit(block, page, *retries);
            limit >= Dose::ZERO && dose <= limit
        });
        PageHealth { retries: enough.unwrap_or(most), is_lost: enough.is_none() }
    }

    /// The limits behind it, by group and P/E count, where it has such.
    fn limits(&self) -> Option<&LimitTable> {
        self.page_limits().map(|limits| &limits.table)
    }
}

/// The model that a configuration names; none where reads disturb nothing.
pub fn error_model(config: &DriveConfig) -> Option<Box<dyn ErrorModel>> {
    let limits = || PageLimits::of(config).expect("the model has a table");
    let weight = config.disturb.preprogram_weight;
    match config.disturb.model {
        DisturbModel::None => None,
        DisturbModel::Count => Some(Box::new(count::Count::new(limits(), weight))),
        DisturbModel::Wordline => Some(Box::new(wordline::WordlineModel::new(
            limits(),
            weight,
            config.geometry.neighbour_stride,
        ))),
    }
}

/// Every model: name and one line.
pub const MODELS: &[(&str, &str)] = &[
    ("none", "reads disturb nothing"),
    ("count", "each read of a block disturbs all its pages equally (ipr-2018)"),
    (
        "wordline",
        "each read disturbs the neighbouring wordlines alpha times as much as the rest of the \
         block (straw-2024)",
    ),
];

/// The part of what came before programming that a wordline is spared: all of it at weight 0,
/// nothing at weight 1.
pub(crate) fn spared(before: Quarters, preprogram_weight: f64) -> Quarters {
    // In 1/65536, and rounded down, so that a dose is over-counted rather than under-counted.
    let kept = (preprogram_weight * 65_536.0).round() as u64;
    let parts = u64::from(before.count()) * (65_536 - kept)
        + if planted(Bug::SparedRoundsUp) { 65_535 } else { 0 };
    Quarters::from_count((parts >> 16) as u32)
}
