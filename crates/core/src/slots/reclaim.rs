//! Read reclaim: the controller's reaction to read disturbance. This file is the seam; each
//! technique has its own file.
//!
//! A policy is asked when a block reaches the read count that the policy named. It sees a read-only
//! [`View`], queues [`Action`]s and names the next read count. It never changes the drive's state.

mod action;
mod block;
mod chance_probe;
mod count;
mod erased_probe;
mod hotld;
mod ideal;
mod ipr;
mod ipr_wl;
pub(crate) mod late;
mod none;
mod observed_retries;
mod page_type;
pub mod promise;
mod read_leveling;
mod redftl;
mod shared;
mod straw_ss;
mod straw_ss_published;
mod straw_ss_sound;
mod straw_wl;
mod tiered;

pub use crate::base::codings::{FASTER, FULL, GUARDED};
pub use crate::base::streams::{FIRST_OWN, StreamSpec};
pub use crate::flash::Probed;
pub use crate::slots::rewrite::{Destination, Part, Recode, Rewrite};
pub use action::Action;
pub use count::RETRIES;
pub use promise::Promise;
pub use shared::params::{CHECK_INTERVAL, COUNTERS, OWN_AGE};

use crate::base::dose::Quarters;
use crate::base::geometry::Geometry;
use crate::base::page_set::{PageSet, holds, holds_any};
use crate::base::units::{
    BlockId, Bytes, Cause, Ns, PageInBlock, Ppn, Reads, StreamId, WordlineInBlock,
};
use crate::bugs::{Bug, Bugs, planted};
use crate::config::{
    CellType, ConfigError, DensityConfig, DisturbConfig, DriveConfig, ErrorLaw, Params, require,
};
use crate::disturb::table::Worn;
use crate::disturb::told::Limits;
use crate::error::ages::Ages;
use crate::flash::block::next_filling;
use crate::flash::block::{BlockCold, BlockHot, BlockState, MOVING, Wordline};
use crate::flash::contents::Contents;
use crate::flash::count::page_counters::PageCounters;
use crate::flash::count::space_saving::{SpaceSaving, Tracked};
use crate::flash::recoded::Recoded;
use crate::slots::card::{Card, InSlot};

/// Name of the technique that rewrites no data.
pub const NO_RECLAIM: &str = none::CARD.about.name;

/// What a policy may look at.
pub struct View<'a> {
    /// The drive's parts.
    pub geometry: &'a Geometry,
    /// Read-disturb limits of the block that is asked about, at its budget; where the drive has
    /// any.
    pub limits: Option<Limits<'a>>,
    /// `[disturb]`.
    pub disturb: &'a DisturbConfig,
    /// `[density]`.
    pub density: &'a DensityConfig,
    /// Reads that a block may still serve between its alarm and the end of its job (`R_late`).
    pub late_reads: u32,
    /// `density.wear_counts_for_limits`.
    pub(crate) wear_counts: bool,
    pub(crate) hot: &'a [BlockHot],
    pub(crate) cold: &'a [BlockCold],
    pub(crate) wordlines: &'a [Wordline],
    pub(crate) tracker: &'a SpaceSaving,
    pub(crate) pages: &'a PageCounters,
    pub(crate) contents: &'a Contents,
    pub(crate) host_reads: u64,
    pub(crate) host_writes: u64,
    pub(crate) is_before_run: bool,
    pub(crate) timed_from: u64,
    pub(crate) rung_by: Ppn,
    pub(crate) recoded: &'a Recoded,
    pub(crate) pages_away: u32,
    pub(crate) pages_to_spare: u32,
    /// Steps of age, where data has one, and the time.
    pub(crate) ages: Option<&'a Ages>,
    pub(crate) now: Ns,
    pub(crate) bugs: Bugs,
}

/// A technique that looks limits up at the age of a block's data does so that many steps ahead:
/// during the first it is to act, during the second its job may still run.
const STEPS_AHEAD: usize = 2;

impl View<'_> {
    /// [`Self::late_reads`] of a job that is not done at once: one at least.
    pub fn late_in_a_job(&self) -> u32 {
        self.late_reads.max(1)
    }

    /// What the limits of a block are to be looked up by. With `own_age` that holds until the drive
    /// asks again: when the block is a step older.
    pub fn worn(&self, block: BlockId, own_age: bool) -> Worn {
        let pec = self.pec(block);
        let Some(ages) = self.ages.filter(|_| own_age) else { return Worn::at_longest(pec) };
        let age = (self.now.cast_signed() - self.cold[block.index()].programmed_at)
            .max(0)
            .cast_unsigned();
        Worn { pec, step: Some(ages.step(age) + STEPS_AHEAD) }
    }

    /// The P/E count at which the limits of a block are to be looked up; another after each erase.
    pub fn pec(&self, block: BlockId) -> u32 {
        self.cold[block.index()].limit_pec(self.wear_counts && !planted(Bug::WearUnseen))
    }

    /// Reads of a block since its erase, rounded up to a whole dose unit.
    pub fn reads(&self, block: BlockId) -> Reads {
        self.dose(block).whole_up()
    }

    /// Dose of a block since its erase.
    pub fn dose(&self, block: BlockId) -> Quarters {
        if planted(Bug::MoversUnseen) {
            return self.cold[block.index()].without_movers(self.hot[block.index()].reads);
        }
        self.hot[block.index()].reads
    }

    /// The exact counters of a block's wordlines.
    pub fn wordlines(&self, block: BlockId) -> &[Wordline] {
        &self.wordlines[self.geometry.rows_of(block)]
    }

    /// The wordline whose read made a block reach its alarm, numbered within the block; for the
    /// block that is asked about.
    pub fn wordline_read(&self, block: BlockId) -> WordlineInBlock {
        self.geometry.wordline_in(block, self.rung_by)
    }

    /// What the counters of a technique that tracks know of a block's wordlines.
    pub(crate) fn tracked(&self, block: BlockId) -> Tracked<'_> {
        self.tracker.of(block)
    }

    /// The page of a block that is programmed next; those before it are programmed, but for what
    /// its mode takes away.
    pub fn written(&self, block: BlockId) -> PageInBlock {
        self.hot[block.index()].written_to()
    }

    /// Whether the domain of the block that is asked about can spare the pages of one more full
    /// block of low density. Where not, [`Recode::Block`] is refused, and a stream of low density
    /// opens blocks of full density. A block reprogrammed before it is full takes more.
    pub fn can_spare(&self) -> bool {
        self.geometry.pages_per_block - self.geometry.available_pages(GUARDED) <= self.spare_pages()
    }

    /// Pages that the domain can still do without.
    pub fn spare_pages(&self) -> u32 {
        self.pages_to_spare.saturating_sub(self.pages_away)
    }

    /// Pages that low density takes away in the domain of the block that is asked about. What jobs
    /// under way will take counts.
    pub fn pages_away(&self) -> u32 {
        self.pages_away
    }

    /// The coding of each wordline of a block of full density that has one of its own, 0 for
    /// others; nothing where none has.
    pub fn recoded(&self, block: BlockId) -> &[u8] {
        self.recoded.of(block)
    }

    /// Whether a wordline of a block, numbered within it, has a coding of its own.
    pub fn is_recoded(&self, block: BlockId, wordline: WordlineInBlock) -> bool {
        self.recoded.coding(block, wordline) != FULL
    }

    /// Host page operations since the drive was made: the time of techniques that compare rates,
    /// the same in both gears.
    pub fn clock(&self) -> u64 {
        self.host_reads + self.host_writes
    }

    /// Pages that the host has read since the drive was made; where reads come in bulk, those
    /// expected by now.
    pub fn host_reads(&self) -> u64 {
        self.host_reads
    }

    /// Whether the drive is being given what it begins with: blocks written now may have served
    /// reads that nobody simulates.
    pub fn is_before_run(&self) -> bool {
        self.is_before_run || planted(Bug::StartCountsInRun)
    }

    /// Whether a block opened at this time of the [`Self::clock`] was opened within the run. One
    /// that begins with reads (`start.reads`) was opened nobody knows when.
    pub fn is_timed(&self, opened_at: u64) -> bool {
        opened_at >= self.timed_from
    }

    /// Whether nothing moves a block's data.
    pub fn is_idle(&self, block: BlockId) -> bool {
        !self.hot[block.index()].has(MOVING)
    }

    /// The stream that wrote a block.
    pub fn stream(&self, block: BlockId) -> StreamId {
        self.hot[block.index()].stream
    }

    /// The coding of a block's cells.
    pub fn mode(&self, block: BlockId) -> u8 {
        self.hot[block.index()].mode
    }

    /// Reads of each page of a block whose stream counts them, since its erase; of no page where it
    /// does not.
    pub fn page_reads(&self, block: BlockId) -> &[u32] {
        self.pages.of(block)
    }

    /// Whether a page of a block, numbered within it, is valid.
    pub fn is_valid_page(&self, block: BlockId, page: PageInBlock) -> bool {
        holds(self.contents.valid_words(block), page)
    }

    /// Whether a wordline holds valid pages.
    pub fn is_valid(&self, block: BlockId, wordline: WordlineInBlock) -> bool {
        let bits = self.geometry.cell.bits();
        if planted(Bug::LastWordlineInvalid)
            && wordline.number() + 1 == self.geometry.wordlines_per_block
        {
            return false;
        }
        holds_any(self.contents.valid_words(block), wordline, bits)
    }

    /// Whether any of these pages of a block is valid.
    pub fn holds_any(&self, block: BlockId, pages: &PageSet) -> bool {
        self.contents
            .valid_words(block)
            .iter()
            .zip(pages.words())
            .any(|(valid, page)| valid & page != 0)
    }

    /// Valid pages of a block.
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        if self.bugs.has(Bug::MoversForgotten) { 0 } else { self.hot[block.index()].valid.into() }
    }

    /// The page from which on [`Rewrite::within`] would write a block's valid pages again; none
    /// where they do not fit.
    pub fn next_filling(&self, block: BlockId) -> Option<PageInBlock> {
        next_filling(self.geometry, &self.hot[block.index()])
    }

    /// Whether any page of a block before this one is valid.
    pub fn holds_before(&self, block: BlockId, page: PageInBlock) -> bool {
        self.contents.next_valid(block, PageInBlock::FIRST).is_some_and(|first| first < page)
    }

    /// Pages of a block that may still be programmed before its erase.
    pub fn pages_to_come(&self, block: BlockId) -> u32 {
        let hot = &self.hot[block.index()];
        if self.bugs.has(Bug::OpenTakenForClosed) {
            return 0;
        }
        if hot.state == BlockState::Closed {
            0
        } else {
            self.geometry
                .available_from(hot.written_to(), hot.mode)
                .saturating_sub(u32::from(planted(Bug::ToComeOneShort)))
        }
    }
}

/// One threshold of a policy and where it comes from, for `vpass explain`.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// What it is.
    pub name: String,
    /// Its value, in reads of the block since its erase.
    pub reads: u32,
    /// The formula with its numbers put in.
    pub because: String,
}

/// A read-disturb policy.
pub trait Policy: Send {
    /// First alarm of a block, asked at its first program after an erase.
    fn arm(&mut self, view: &View, block: BlockId) -> Reads;

    /// The block reached its alarm. Gives the next one: more than now, or [`Reads::NEVER`]. After a
    /// relocation was asked for, it is the count at which the block may serve no further read.
    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads;

    /// Other blocks by whose reads it may go when it is asked about this one: where reads come in
    /// bulk, these are drawn first.
    fn compares_with(&self, _view: &View, _block: BlockId) -> Vec<BlockId> {
        vec![]
    }

    /// Probes that were asked for have been carried out. As [`Self::on_alarm`], whose answer this
    /// replaces.
    fn probed(
        &mut self,
        view: &View,
        block: BlockId,
        found: &[Probed],
        out: &mut Vec<Action>,
    ) -> Reads {
        let _ = (view, block, found, out);
        unreachable!("only a policy that asks for probes is told what they found")
    }

    /// Whether it is to be asked about a block that is a step of age older, read or not: its
    /// answers hold no longer.
    fn follows_age(&self) -> bool {
        false
    }

    /// Whether it is to be told of reads that took retries.
    fn follows_retries(&self) -> bool {
        false
    }

    /// A read of the host's found a page, numbered within its block, only after so many retries.
    /// What is to be done with the block, if anything.
    fn retried(
        &mut self,
        _view: &View,
        _block: BlockId,
        _page: PageInBlock,
        _retries: u8,
    ) -> Option<Rewrite> {
        None
    }

    /// The streams it writes to, beside the drive's own: the first is number [`FIRST_OWN`], the
    /// next one more.
    fn streams(&self) -> Vec<StreamSpec> {
        vec![]
    }

    /// A block is about to be erased; the view still shows it as it was.
    fn erased(&mut self, _view: &View, _block: BlockId, _cause: Cause) {}

    /// What it counts of its own, by name, since the drive was made.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![]
    }

    /// RAM that the technique would take in a real controller.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes;

    /// Memory that its own counters take in the simulation at most, beside a few bytes a block.
    fn memory(&self) -> Bytes {
        Bytes(0)
    }

    /// What it promises of blocks of this age, and what that rests on. Asked of a view without
    /// blocks.
    fn promise(&self, view: &View, pec: u32) -> Promise;

    /// Its thresholds for a block of this age.
    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold>;

    /// Reads between two rewrites of a block of this age that is read evenly, for how read-caused
    /// wear grows with age; only the ratio between ages counts. None where reads never cause a
    /// rewrite.
    fn reads_per_rewrite(&self, view: &View, pec: u32) -> Option<f64> {
        shared::reads_per_rewrite::harmonic_mean(&self.explain(view, pec))
    }
}

impl InSlot for dyn Policy {
    const TABLE: &'static str = "reclaim";

    fn given(config: &DriveConfig) -> &Params {
        &config.reclaim.params
    }

    fn given_mut(config: &mut DriveConfig) -> &mut Params {
        &mut config.reclaim.params
    }
}

/// A technique of this slot.
pub type Technique = Card<dyn Policy>;

/// Every reclaim technique; one line each.
pub const RECLAIM: &[Technique] = &[
    none::CARD,
    block::CARD,
    page_type::CARD,
    straw_wl::CARD,
    straw_ss::CARD,
    straw_ss_published::CARD,
    straw_ss_sound::CARD,
    tiered::CARD,
    erased_probe::CARD,
    chance_probe::CARD,
    redftl::CARD,
    read_leveling::CARD,
    hotld::CARD,
    ipr::CARD,
    ipr_wl::CARD,
    count::CARD,
    observed_retries::CARD,
    ideal::CARD,
];

/// Refuses a technique on a drive that lacks what it goes by.
///
/// # Errors
/// What the drive lacks.
pub fn check(config: &DriveConfig, technique: &Technique) -> Result<(), ConfigError> {
    require(!technique.lowers_density || config.geometry.cell != CellType::Tlc232, || {
        let name = technique.name;
        format!(
            "`{name}` uses guard levels, which are defined for the 1-2-4 code only; with \
             geometry.cell = \"tlc-2-3-2\", choose a technique without guard levels"
        )
    })?;
    check_table(technique, !config.disturb.model.disturbs() || config.disturb.model.has_table())?;
    let has_retries = config.ecc.levels() > 1 && config.error.model != ErrorLaw::None;
    require(!technique.needs.retries || has_retries, || {
        let name = technique.name;
        format!(
            "`{name}` needs a drive with read retries: set [error] and [ecc], with more than one \
             level"
        )
    })?;
    let retries = retries_that_move(config, technique);
    require(retries == 0 || has_retries, || {
        let key = technique.path(config, &RETRIES);
        format!(
            "{key} = {retries} needs a drive with read retries: set [error] and [ecc], with more \
             than one level, or {key} = 0"
        )
    })
}

/// Retries of a read that move its block before the block's alarm; 0 where none do.
pub fn retries_that_move(config: &DriveConfig, technique: &Technique) -> u32 {
    technique.has(&RETRIES).then(|| technique.args(config).whole(&RETRIES)).unwrap_or(0)
}

/// Refuses a technique that goes by limits to a drive that has none, though reads disturb it.
pub(crate) fn check_table(
    technique: &Technique,
    has_all_it_needs: bool,
) -> Result<(), ConfigError> {
    require(has_all_it_needs || !technique.needs.limits, || {
        let name = technique.name;
        format!(
            "`{name}` needs a table of limits, and this drive's error model has none: use `none`, \
             which needs no table"
        )
    })
}

/// The technique of this name.
pub fn technique(name: &str) -> Option<&'static Technique> {
    RECLAIM.iter().find(|t| t.name == name)
}
