//! Flash: state of every block and wordline, and all operations on them.

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
pub(crate) mod fluid;
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
use crate::base::units::{Cause, Ns, Ppn, Seq};
use crate::config::{DriveConfig, PartOf, ProgramUnit};
use crate::disturb::ErrorModel;
use crate::disturb::table::{dose_per_coding, dose_per_kind};
use crate::error::ages::Ages;
use crate::watch::observer::{Event, PhysRead};
use crate::wheel::TimeWheel;
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

/// Flash of a drive, with its counts for the controller.
pub(crate) struct Flash {
    pub(crate) geometry: Geometry,
    pub(crate) contents: Contents,
    hot: Vec<BlockHot>,
    cold: Vec<BlockCold>,
    /// Counts of each wordline; empty if no error model counts per wordline.
    pub(crate) wordlines: Vec<Wordline>,
    /// Wordlines with their own coding, in blocks of full density.
    pub(crate) recoded: Recoded,
    /// Counters of the technique, if it wants any.
    pub(crate) tracker: SpaceSaving,
    /// Reads of single pages, in blocks of streams that want them counted.
    pub(crate) page_counters: PageCounters,
    /// Kind of counting: [`BLOCKS`], [`WORDLINES`], [`TRACKED`] or [`PAGES`].
    counters: u8,
    /// Kind of counting on the read path: `counters`, or [`CODED`].
    pub(crate) counted: u8,
    /// Dose of reading a page by its kind, in full density and in every coding.
    dose: [Quarters; 4],
    dose_in: [[Quarters; 4]; CODINGS],
    /// Weight of the dose before a wordline's first page: `disturb.preprogram_weight`.
    preprogram_weight: f64,
    /// Dose of reprogramming a wordline, in quarters.
    reprogram_dose: Quarters,
    /// Wear of a cycle with a reprogramming: `density.wear`.
    reprogram_wear: f64,
    /// Whether that wear counts for limits: `density.wear_counts_for_limits`.
    pub(crate) wear_counts: bool,
    /// Number of P/E cycles that an erase counts as, except an erase for wear levelling. It is 1,
    /// or `wear.acceleration` from the measured phase on.
    pub(crate) acceleration: u32,
    /// Number of P/E cycles that were skipped. A block takes them over at its next erase.
    pub(crate) skipped: u32,
    /// Number of P/E cycles of every block when the drive was made.
    first_pec: u32,
    /// Additional number of P/E cycles of each block; empty if all blocks started alike.
    more_pec: Vec<u32>,
    /// Whole drive of which this drive is a sample.
    part_of: Option<PartOf>,
    pub(crate) model: Option<Box<ErrorModel>>,
    /// Levels at which reads begin.
    levels: Levels,
    pub(crate) draws: Draws,
    /// Reads that blocks served, if parity raises limits.
    services: Option<Box<Services>>,
    /// Whether a program writes a whole wordline.
    pub(crate) by_wordline: bool,
    /// Number of page programs since the drive was made.
    pub(crate) seq: Seq,
    pub(crate) erases_total: u64,
    /// Log of the measured phase's erases; `None` if it was not requested.
    pub(crate) erasures: Option<Box<Thinned<Erasure>>>,
    /// Number of pages that the codings of blocks and wordlines take away now, by domain.
    pages_away: Vec<u32>,
    /// Flash operations since the beginning of the measured phase.
    pub(crate) counts: FlashCounts,
    /// Whether physical work is recorded in `ops`, for the timed gear.
    pub(crate) timed: bool,
    pub(crate) ops: Vec<NandOp>,
    /// Present time, as far as it is known.
    pub(crate) now: Ns,
    /// Steps of age, and the time at which each assessed block enters its next step. Only drives
    /// with an error rate and a clock have them.
    ages: Option<Ages>,
    longest_age: Ns,
    ageing: TimeWheel,
    /// State of reads in bulk, in the fluid gear.
    fluid: Option<Box<Fluid>>,
    /// Limits for reads of blocks that may need retries.
    tired: TiredBlocks,
    /// Observers of the drive.
    pub(crate) watch: Watch,
    /// Failed pages.
    failed: Vec<Stretch>,
}

/// Counts that a reclaim technique wants in addition to the reads of wordlines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToCount {
    /// Number of counters of each block, if the technique wants counters.
    pub(crate) counters: Option<u32>,
    /// Whether reads of pages are counted.
    pub(crate) counts_pages: bool,
}

impl Flash {
    /// Creates erased flash. Without a model, reads disturb nothing.
    pub(crate) fn new(
        config: &DriveConfig,
        geometry: Geometry,
        model: Option<Box<ErrorModel>>,
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
            skipped: 0,
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
            geometry,
        }
    }

    /// Notes that wordlines may be merged for fewer sensings from now on.
    pub(crate) fn expect_fewer_sensings(&mut self) {
        if self.counters != BLOCKS && self.dose_in.iter().any(|kinds| *kinds != self.dose) {
            self.counted = CODED;
        }
    }

    /// Records physical work for the timed gear.
    #[inline]
    pub(crate) fn record(&mut self, op: NandOp) {
        if self.timed {
            self.ops.push(op);
        }
    }

    /// Records the read of a page that began with this level, without a program of its data.
    pub(crate) fn record_read(&mut self, src: Ppn, level: u8, cause: Cause) {
        let coding = self.read_coding(src);
        self.record(NandOp::Copy { src, coding, level, dst: None, cause });
    }

    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.is_on()
    }

    /// Passes a read to the observer, in batches.
    #[inline]
    pub(crate) fn note_read(&mut self, read: PhysRead) {
        self.watch.note(read, self.now);
    }

    /// Passes any event except reads to the observer, after all earlier reads.
    #[inline]
    pub(crate) fn tell(&mut self, event: Event<'_>) {
        self.watch.tell(self.now, event);
    }
}
