//! Error models: effects of reads on data. What each model does by itself is in a file, and the rest
//! is here and in `limits`. The drive rarely asks a model. `assess` gives the dose up to which every
//! page of a block certainly decodes at the first level. Beyond that dose, `health` gives the state
//! of one page.

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
use crate::config::{DisturbModel, DriveConfig};
use crate::error::budget::PageAt;
use crate::error::chance::Chances;
pub use levels::Levels;
use table::LimitTable;

/// Reads of a wordline since its block's erase, and the dose that does not count for the wordline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wordline {
    /// Dose by reads of this wordline.
    pub reads: Quarters,
    /// Dose of the block when the wordline was programmed. It does not count for the wordline.
    pub base: Quarters,
}

/// State of a block, as a model sees it.
pub struct BlockView<'a> {
    /// Number of the block.
    pub block: BlockId,
    /// Dose of the block since its erase.
    pub reads: Quarters,
    /// Number of P/E cycles.
    pub pec: u32,
    /// Wordlines of the block.
    pub wordlines: &'a [Wordline],
    /// Number of pages of a wordline, including pages that its coding gives up.
    pub pages_per_wordline: u32,
    /// Codings that the cells of the drive may have.
    pub codings: &'a Codings,
    /// Coding of the block's cells.
    pub mode: u8,
    /// Coding of each wordline that has its own coding; [`FULL`] for other wordlines. Empty if no
    /// wordline has its own coding.
    pub recoded: &'a [u8],
    /// Number of pages programmed so far.
    pub written: u32,
    /// Pages that hold current data, one bit each.
    pub valid: &'a [u64],
    /// Step of the age of the block's oldest page ([`crate::error::ages`]).
    pub age_step: usize,
    /// Strictest hint of the host for data in the block.
    pub budget: AccessLatency,
}

impl BlockView<'_> {
    /// Returns the number of wordlines programmed so far. The last one may be incomplete.
    pub fn programmed(&self) -> u32 {
        self.written.div_ceil(self.pages_per_wordline)
    }

    /// Returns the wordline and the page kind of a page.
    pub fn wordline_and_kind(&self, page: PageInBlock) -> (WordlineInBlock, u32) {
        (page.wordline(self.pages_per_wordline), page.kind(self.pages_per_wordline))
    }

    /// Returns the coding of a wordline's cells.
    pub fn mode_of(&self, wordline: WordlineInBlock) -> u8 {
        match self.recoded.get(wordline.index()) {
            None | Some(&FULL) => self.mode,
            Some(own) => *own,
        }
    }

    /// Returns the page kinds of a programmed wordline that hold current data or may still be
    /// written, one bit each.
    pub fn live_kinds(&self, wordline: WordlineInBlock) -> u32 {
        let first = wordline.first_page(self.pages_per_wordline);
        let written = self.written.saturating_sub(first.number()).min(self.pages_per_wordline);
        let to_come = u32::from(self.codings.row(self.mode).kept) & (u32::MAX << written);
        kinds_in(self.valid, wordline, self.pages_per_wordline) | to_come
    }
}

/// Counts of a block's wordlines, for a question about one wordline.
pub struct Counts<'a> {
    /// Counts of all wordlines of the block.
    pub wordlines: &'a [Wordline],
    /// Dose of the block since its erase.
    pub reads: Quarters,
    /// Wordline of the question.
    pub wordline: WordlineInBlock,
    /// Dose by reads of that wordline.
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

/// Largest dose that a model may return for [`Assessment::CleanUntil`].
pub(crate) const LATEST: Quarters = Quarters::from_count(u32::MAX - 1);

/// Result of a model's check of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// Every page decodes at the first level while the block's dose is at most this dose.
    CleanUntil(Quarters),
    /// Some page may need a retry or may be past its limit, so each page must be checked.
    Suspect,
}

/// Result of a read of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHealth {
    /// Number of retries until the page decodes or is given up.
    pub retries: u8,
    /// Whether the page is past its limit, so that no retry helps.
    pub is_lost: bool,
}

impl PageHealth {
    /// Page that decodes at its first sensing.
    pub const WELL: Self = Self { retries: 0, is_lost: false };
}

/// Effect of reads on data: the error model of a drive, with the limits of its pages. Limits are of
/// reads alone, or, with an error rate, also include the gain by retries and the loss by age.
pub struct ErrorModel {
    /// Limits by group and P/E count.
    pub table: LimitTable,
    chances: Option<Chances>,
    /// Number of pages of a wordline.
    kinds: usize,
    preprogram_weight: f64,
    /// Distance of a wordline's neighbours in the error model `wordline`; `None` in the model
    /// `count`.
    stride: Option<usize>,
}

impl ErrorModel {
    /// Returns how long all pages of the block are certainly good.
    pub fn assess(&self, block: &BlockView) -> Assessment {
        match self.stride {
            None => self.assess_by_count(block),
            Some(stride) => self.assess_by_wordline(stride, block),
        }
    }

    /// Returns the dose of the block up to which every page decodes without a retry, whichever
    /// pages are read. Returns 0 if only a check of each page could tell.
    pub fn clean_whatever_was_read(&self, block: &BlockView) -> Quarters {
        if self.stride.is_none() {
            return Quarters::ZERO;
        }
        let endurances = self.endurances(block.pec);
        self.of_new(block, &self.of_groups(block, &endurances), &endurances).min(LATEST)
    }

    /// Returns the dose of a wordline if a neighbour's read has the weight `alpha`. The result is
    /// at most the block's dose times `alpha` or 1, whichever is larger.
    #[inline]
    fn weighed_dose(&self, counts: &Counts, alpha: Alpha) -> Dose {
        match self.stride {
            None => count::dose(counts),
            Some(stride) => wordline::dose(stride, counts, alpha),
        }
    }

    /// Returns the part of the block's present dose that does not count for a wordline if the
    /// wordline is programmed now.
    pub fn base_at_program(&self, block: &BlockView, wordline: WordlineInBlock) -> Quarters {
        let before = match self.stride {
            None => block.reads,
            Some(stride) => self.before_program(stride, block, wordline),
        };
        spared(before, self.preprogram_weight)
    }

    /// Returns the dose of a page.
    pub fn dose(&self, block: &BlockView, page: PageInBlock) -> Dose {
        let (wordline, _) = block.wordline_and_kind(page);
        let alpha = self.table.truth(self.table.group_of(wordline), block.pec).alpha;
        self.weighed_dose(&Counts::of(block, wordline), alpha)
    }

    /// Returns the limits of blocks at a P/E count and a step of age.
    pub fn levels(&self, pec: u32, step: usize) -> Levels {
        Levels::of(self, pec, step)
    }

    /// Returns the result of a read of a page, from the counts of the block's wordlines and from
    /// the limits at its wear and age.
    pub fn health_by(&self, levels: &Levels, counts: &Counts, page: PageAt) -> PageHealth {
        let alpha = levels.alpha(self.table.group_of(page.wordline));
        self.health_at(levels, page, self.weighed_dose(counts, alpha))
    }

    /// Returns the number of retries that a read of a page takes now. Also returns the dose that
    /// reads anywhere in the block may add before a read of the page takes more retries. Returns
    /// `None` if no retry decodes the page. The arguments are those of [`Self::health_by`].
    pub fn room_by(
        &self,
        levels: &Levels,
        counts: &Counts,
        page: PageAt,
    ) -> Option<(u8, Quarters)> {
        let alpha = levels.alpha(self.table.group_of(page.wordline));
        let dose = self.weighed_dose(counts, alpha);
        let (retries, limit) = self.level(levels, page, dose)?;
        // A read elsewhere in the block adds its dose. A read of a neighbour adds alpha times its
        // dose.
        let most = alpha.max(Alpha::ONE);
        Some((retries, (limit - dose) / most))
    }

    /// Returns the result of a read of a page: the smallest number of retries that decodes the
    /// page.
    pub fn health(&self, block: &BlockView, page: PageInBlock) -> PageHealth {
        let (dose, most) = (self.dose(block, page), self.max_retries());
        let enough = (0..=most).find(|retries| {
            let limit = self.limit(block, page, *retries);
            limit >= Dose::ZERO && dose <= limit
        });
        PageHealth { retries: enough.unwrap_or(most), is_lost: enough.is_none() }
    }
}

/// Returns the model of a configuration; `None` if reads disturb nothing.
pub fn error_model(config: &DriveConfig) -> Option<Box<ErrorModel>> {
    let stride = match config.disturb.model {
        DisturbModel::None => return None,
        DisturbModel::Count => None,
        DisturbModel::Wordline => Some(config.geometry.neighbour_stride as usize),
    };
    Some(Box::new(ErrorModel::of(config, stride).expect("the model has a table")))
}

/// Names of all models, each with a line of text.
pub const MODELS: &[(&str, &str)] = &[
    ("none", "reads disturb nothing"),
    ("count", "each read of a block disturbs all pages of the block equally (ipr-2018)"),
    (
        "wordline",
        "each read disturbs the neighbouring wordlines alpha times as much as the rest of the \
         block (straw-2024)",
    ),
];

/// Returns the part of the dose before programming that does not count for a wordline. This is the
/// whole dose at weight 0, and 0 at weight 1.
pub fn spared(before: Quarters, preprogram_weight: f64) -> Quarters {
    // The weight is in 1/65536, and the result is rounded down. A dose is then counted too large
    // rather than too small.
    let kept = (preprogram_weight * 65_536.0).round() as u64;
    let parts = u64::from(before.count()) * (65_536 - kept);
    Quarters::from_count((parts >> 16) as u32)
}
