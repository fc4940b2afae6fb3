//! The flash itself: what every block and wordline has endured and holds, and all that is ever done
//! to it.

mod age;
pub(crate) mod assess;
pub mod block;
mod burden;
pub(crate) mod contents;
pub(crate) mod count;
mod counted;
mod draws;
pub mod erasures;
mod failed;
mod fluid;
mod levels;
mod life;
mod look;
pub(crate) mod operate;
pub(crate) mod ops;
mod probed;
pub(crate) mod recoded;
pub mod rules;
mod served;
mod tell;
pub(crate) mod tired;
pub(crate) mod wear;

use crate::base::codings::CODINGS;
use crate::base::dose::Quarters;
use crate::base::failure::Stretch;
use crate::base::geometry::Geometry;
use crate::base::mem::{huge_vec, huge_zeros};
use crate::base::metrics::FlashCounts;
use crate::base::thinned::Thinned;
use crate::base::units::{Ns, Seq};
use crate::base::wheel::TimeWheel;
use crate::bugs::Bugs;
use crate::config::{DriveConfig, PartOf, ProgramUnit};
use crate::disturb::ErrorModel;
use crate::disturb::table::{dose_per_coding, dose_per_kind};
use crate::error::ages::Ages;
use crate::watch::observer::{Observer, PhysRead};
use block::{BlockCold, BlockHot, Wordline};
use contents::Contents;
use count::page_counters::PageCounters;
use count::space_saving::SpaceSaving;
use counted::{BLOCKS, CODED, PAGES, TRACKED, WORDLINES};
use draws::Draws;
use erasures::Erasure;
use fluid::Fluid;
use levels::Levels;
use ops::NandOp;
pub use probed::Probed;
use recoded::Recoded;
use served::Services;
use tell::Watch;
use tired::TiredBlocks;

/// The flash of a drive, with what it counts for the controller.
pub(crate) struct Flash {
    pub(crate) geometry: Geometry,
    contents: Contents,
    hot: Vec<BlockHot>,
    cold: Vec<BlockCold>,
    /// Empty where no error model counts per wordline.
    wordlines: Vec<Wordline>,
    /// Wordlines of blocks of full density that have a coding of their own.
    recoded: Recoded,
    /// The technique's counters, where it wants any.
    tracker: SpaceSaving,
    /// Reads of pages, in blocks of streams that want them counted.
    page_counters: PageCounters,
    /// [`BLOCKS`], [`WORDLINES`], [`TRACKED`] or [`PAGES`].
    counters: u8,
    /// The same, or [`CODED`].
    counted: u8,
    /// Dose of reading a page by its kind: in full density, and in every coding.
    dose: [Quarters; 4],
    dose_in: [[Quarters; 4]; CODINGS],
    /// What a wordline has to answer for of the dose before its first page:
    /// `disturb.preprogram_weight`.
    preprogram_weight: f64,
    /// Dose of reprogramming a wordline, in quarters.
    reprogram_dose: Quarters,
    /// Wear of a cycle with a reprogramming: `density.wear`.
    reprogram_wear: f64,
    /// Whether that wear counts for limits: `density.wear_counts_for_limits`.
    wear_counts: bool,
    /// P/E cycles that an erase counts as, except one that levels wear: 1, or from the measured
    /// phase on `wear.acceleration`.
    pub(crate) acceleration: u32,
    /// P/E cycles of every block when the drive was made.
    first_pec: u32,
    /// Beyond these, by block; nothing where all blocks began alike.
    more_pec: Vec<u32>,
    /// The larger drive that this is a sample of.
    part_of: Option<PartOf>,
    model: Option<Box<dyn ErrorModel>>,
    /// The levels that reads begin with.
    levels: Levels,
    draws: Draws,
    /// What blocks served, where parity raises limits.
    services: Option<Box<Services>>,
    /// Whether a program takes a whole wordline.
    by_wordline: bool,
    /// Page programs since the drive was made.
    seq: Seq,
    erases_total: u64,
    /// Log of the measured phase's erases; `None` if nobody asked for it.
    erasures: Option<Box<Thinned<Erasure>>>,
    /// Pages that the modes of blocks and wordlines take away now, by domain.
    pages_away: Vec<u32>,
    /// NAND operations since the measured phase began.
    counts: FlashCounts,
    /// Whether physical work is recorded in `ops`: a timed gear takes it from there.
    timed: bool,
    pub(crate) ops: Vec<NandOp>,
    /// The time, as far as anybody has said.
    pub(crate) now: Ns,
    /// Steps of age, and when a block of which the model was asked enters its next one; for a drive
    /// with an error rate that keeps time.
    ages: Option<Ages>,
    longest_age: Ns,
    ageing: TimeWheel,
    /// Where reads come in bulk.
    fluid: Option<Box<Fluid>>,
    /// What reads of blocks go by that may need retries.
    tired: TiredBlocks,
    /// Observers of the drive.
    pub(crate) watch: Watch,
    /// Pages that have failed.
    failed: Vec<Stretch>,
    bugs: Bugs,
}

/// What a reclaim technique has the flash count beside the reads of wordlines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToCount {
    /// So many counters of each block.
    pub(crate) counters: Option<u32>,
    /// Reads of pages.
    pub(crate) counts_pages: bool,
}

impl Flash {
    /// Erased flash; without a model reads disturb nothing.
    pub(crate) fn new(
        config: &DriveConfig,
        geometry: Geometry,
        model: Option<Box<dyn ErrorModel>>,
        counts: ToCount,
        timed: bool,
    ) -> Self {
        let ToCount { counters, counts_pages } = counts;
        let g = &geometry;
        let counted = match &model {
            None => BLOCKS,
            Some(_) if counters.is_some() => TRACKED,
            Some(_) if counts_pages => PAGES,
            Some(_) => WORDLINES,
        };
        let page_counters = if counted == PAGES {
            PageCounters::new(g.blocks, g.pages_per_block)
        } else {
            PageCounters::default()
        };
        let tracker = match counters.filter(|_| counted == TRACKED) {
            Some(counters) => SpaceSaving::new(g.blocks, g.wordlines_per_block, counters),
            None => SpaceSaving::default(),
        };
        Self {
            contents: Contents::new(g.raw_pages(), g.pages_per_block),
            hot: huge_vec(g.blocks as usize, BlockHot::ERASED),
            cold: vec![BlockCold::new(config.start.pec); g.blocks as usize],
            wordlines: huge_zeros(if counted == BLOCKS { 0 } else { g.wordlines() as usize }),
            recoded: Recoded::new(g.blocks, g.wordlines_per_block),
            tracker,
            page_counters,
            counters: counted,
            counted,
            dose: dose_per_kind(config.disturb.dose, g.cell),
            dose_in: dose_per_coding(config.disturb.dose, g.cell, &g.codings),
            preprogram_weight: config.disturb.preprogram_weight,
            reprogram_dose: config.density.reprogram_quarters(),
            reprogram_wear: config.density.wear,
            wear_counts: config.density.wear_counts_for_limits,
            acceleration: 1,
            first_pec: config.start.pec,
            more_pec: vec![],
            part_of: config.part_of.clone(),
            levels: Levels::new(&config.ecc, g.blocks),
            draws: Draws::new(model.as_deref().and_then(ErrorModel::chances), None),
            services: Services::of(config),
            model,
            by_wordline: config.timing.program_unit == ProgramUnit::Wordline,
            seq: 0,
            erases_total: 0,
            erasures: None,
            pages_away: vec![0; geometry.domains() as usize],
            counts: FlashCounts::default(),
            timed,
            ops: vec![],
            now: 0,
            ages: None,
            longest_age: 0,
            ageing: TimeWheel::new(),
            fluid: None,
            tired: TiredBlocks::default(),
            watch: Watch::default(),
            failed: vec![],
            bugs: Bugs::default(),
            geometry,
        }
    }

    /// From now on wordlines may be merged for fewer sensings.
    pub(crate) fn expect_fewer_sensings(&mut self) {
        if self.counters != BLOCKS && self.dose_in.iter().any(|kinds| *kinds != self.dose) {
            self.counted = CODED;
        }
    }

    /// Remembers physical work for the timed gear.
    #[inline]
    pub(crate) fn record(&mut self, op: NandOp) {
        if self.timed {
            self.ops.push(op);
        }
    }

    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.is_on()
    }

    /// Tells the observer of a read, a batch at a time.
    #[inline]
    pub(crate) fn note_read(&mut self, read: PhysRead) {
        self.watch.note(read, self.now);
    }

    /// Tells the observer of anything but reads, after the reads that came before it.
    #[inline]
    pub(crate) fn tell(&mut self, event: impl FnOnce(&mut dyn Observer)) {
        self.watch.tell(self.now, event);
    }
}
