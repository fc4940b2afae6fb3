//! Read reclaim: the controller's reaction to read disturbance. This file is the interface between
//! the drive and the techniques.
//!
//! A policy is asked when a block reaches the read count that the policy named. It sees a read-only
//! [`View`], queues [`Action`]s and names the next read count. It never changes the drive's state.

mod action;
mod checked;
pub(crate) mod late;
mod params;
pub mod promise;
mod reads_per_rewrite;

pub use crate::api::rewrite::{Destination, Part, Recode, Rewrite};
pub use crate::base::codings::{FASTER, FULL, GUARDED};
pub use crate::base::streams::{FIRST_OWN, StreamSpec};
pub use crate::flash::Probed;
pub use crate::flash::count::space_saving::{Entry, Tracked};
pub use action::Action;
use checked::Checked;
pub use params::{CHECK_INTERVAL, COUNTERS, OWN_AGE};
pub use promise::{Budget, Promise};

use crate::api::brought::List;
use crate::api::card::{Card, InSlot};
use crate::base::dose::Quarters;
use crate::base::geometry::Geometry;
use crate::base::page_set::{PageSet, holds, holds_any};
use crate::base::units::{
    BlockId, Bytes, Cause, Ns, PageInBlock, Ppn, Reads, StreamId, WordlineInBlock,
};
use crate::bugs::{Bug, Bugs, planted};
use crate::config::{
    CellType, ConfigError, DensityConfig, DisturbConfig, DriveConfig, Params, require,
};
use crate::disturb::table::Worn;
use crate::disturb::told::Limits;
use crate::error::ages::Ages;
use crate::flash::block::next_filling;
use crate::flash::block::{BlockCold, BlockHot, BlockState, MOVING, Wordline};
use crate::flash::contents::Contents;
use crate::flash::count::page_counters::PageCounters;
use crate::flash::count::space_saving::SpaceSaving;
use crate::flash::recoded::Recoded;

/// Name of the technique that rewrites no data.
pub const NO_RECLAIM: &str = "none";

/// State of the drive that a policy may see.
pub struct View<'a> {
    /// Numbers of the drive's parts.
    pub geometry: &'a Geometry,
    /// Read-disturb limits of the block in question, for the hint of its data; `None` if the drive
    /// has no limits.
    pub limits: Option<Limits<'a>>,
    /// `[disturb]`.
    pub disturb: &'a DisturbConfig,
    /// `[density]`.
    pub density: &'a DensityConfig,
    /// Number of reads that a block may serve between its alarm and the end of its job (`R_late`).
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
    /// Steps of age; `None` if data does not age. `now` is the time.
    pub(crate) ages: Option<&'a Ages>,
    pub(crate) now: Ns,
    pub(crate) bugs: Bugs,
}

/// Number of steps of age by which a technique looks ahead, if it uses the limits at the age of a
/// block's data. It acts during the first step. Its job may still run during the second step.
const STEPS_AHEAD: usize = 2;

impl View<'_> {
    /// Returns [`Self::late_reads`] of a job that takes time, at least 1.
    pub fn late_in_a_job(&self) -> u32 {
        self.late_reads.max(1)
    }

    /// Returns the wear and age for which the limits of a block are looked up. With `own_age`, the
    /// result holds until the block is a step older. The drive then asks again.
    pub fn worn(&self, block: BlockId, own_age: bool) -> Worn {
        let pec = self.pec(block);
        let Some(ages) = self.ages.filter(|_| own_age) else { return Worn::at_longest(pec) };
        let age = (self.now.cast_signed() - self.cold[block.index()].programmed_at)
            .max(0)
            .cast_unsigned();
        Worn { pec, step: Some(ages.step(age) + STEPS_AHEAD) }
    }

    /// Returns the P/E count for which the limits of a block are looked up. It changes with each
    /// erase.
    pub fn pec(&self, block: BlockId) -> u32 {
        self.cold[block.index()].limit_pec(self.wear_counts && !planted(Bug::WearUnseen))
    }

    /// Returns the reads of a block since its erase, rounded up to a whole dose unit.
    pub fn reads(&self, block: BlockId) -> Reads {
        self.dose(block).whole_up()
    }

    /// Returns the dose of a block since its erase.
    pub fn dose(&self, block: BlockId) -> Quarters {
        if planted(Bug::MoversUnseen) {
            return self.cold[block.index()].without_movers(self.hot[block.index()].reads);
        }
        self.hot[block.index()].reads
    }

    /// Returns the exact counters of a block's wordlines.
    pub fn wordlines(&self, block: BlockId) -> &[Wordline] {
        &self.wordlines[self.geometry.rows_of(block)]
    }

    /// Returns the wordline whose read made the block in question reach its alarm. It is numbered
    /// within the block.
    pub fn wordline_read(&self, block: BlockId) -> WordlineInBlock {
        self.geometry.wordline_in(block, self.rung_by)
    }

    /// Returns the Space-Saving counters of a block's wordlines.
    pub fn tracked(&self, block: BlockId) -> Tracked<'_> {
        self.tracker.of(block)
    }

    /// Returns the page of a block that is programmed next. All pages before it are programmed,
    /// except pages that the block's coding takes away.
    pub fn written(&self, block: BlockId) -> PageInBlock {
        self.hot[block.index()].written_to()
    }

    /// Returns whether the domain of the block in question can spare the pages of one more full
    /// block of low density. If not, [`Recode::Block`] is refused, and a stream of low density
    /// opens blocks of full density. A block that is reprogrammed before it is full takes more
    /// pages.
    pub fn can_spare(&self) -> bool {
        self.geometry.pages_per_block - self.geometry.available_pages(GUARDED) <= self.spare_pages()
    }

    /// Returns the number of pages that the domain can still spare.
    pub fn spare_pages(&self) -> u32 {
        self.pages_to_spare.saturating_sub(self.pages_away)
    }

    /// Returns the number of pages that low density takes away in the domain of the block in
    /// question. Pages that running jobs will take away count too.
    pub fn pages_away(&self) -> u32 {
        self.pages_away
    }

    /// Returns the coding of each wordline of a full-density block, or 0 for wordlines without
    /// their own coding. Returns an empty list if no wordline has its own coding.
    pub fn recoded(&self, block: BlockId) -> &[u8] {
        self.recoded.of(block)
    }

    /// Returns whether a wordline, numbered within its block, has its own coding.
    pub fn is_recoded(&self, block: BlockId, wordline: WordlineInBlock) -> bool {
        self.recoded.coding(block, wordline) != FULL
    }

    /// Returns the number of host page operations since the drive was made. Techniques that compare
    /// rates use it as their clock, so all gears give the same results.
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

    /// Returns whether a block opened at this time of the [`Self::clock`] was opened during the
    /// run. The opening time of a block that begins with reads (`start.reads`) is unknown.
    pub fn is_timed(&self, opened_at: u64) -> bool {
        opened_at >= self.timed_from
    }

    /// Returns whether no job moves a block's data.
    pub fn is_idle(&self, block: BlockId) -> bool {
        !self.hot[block.index()].has(MOVING)
    }

    /// Returns the stream that wrote a block.
    pub fn stream(&self, block: BlockId) -> StreamId {
        self.hot[block.index()].stream
    }

    /// Returns the coding of a block's cells.
    pub fn mode(&self, block: BlockId) -> u8 {
        self.hot[block.index()].mode
    }

    /// Returns the reads of each page of a block since its erase. The list is empty if the block's
    /// stream does not count them.
    pub fn page_reads(&self, block: BlockId) -> &[u32] {
        self.pages.of(block)
    }

    /// Returns whether a page, numbered within its block, is valid.
    pub fn is_valid_page(&self, block: BlockId, page: PageInBlock) -> bool {
        holds(self.contents.valid_words(block), page)
    }

    /// Returns whether a wordline holds valid pages.
    pub fn is_valid(&self, block: BlockId, wordline: WordlineInBlock) -> bool {
        let bits = self.geometry.cell.bits();
        if planted(Bug::LastWordlineInvalid)
            && wordline.number() + 1 == self.geometry.wordlines_per_block
        {
            return false;
        }
        holds_any(self.contents.valid_words(block), wordline, bits)
    }

    /// Returns whether any of these pages of a block is valid.
    pub fn holds_any(&self, block: BlockId, pages: &PageSet) -> bool {
        self.contents
            .valid_words(block)
            .iter()
            .zip(pages.words())
            .any(|(valid, page)| valid & page != 0)
    }

    /// Returns the number of valid pages of a block.
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        if self.bugs.has(Bug::MoversForgotten) { 0 } else { self.hot[block.index()].valid.into() }
    }

    /// Returns the first page to which [`Rewrite::within`] would write a block's valid pages;
    /// `None` if they do not fit.
    pub fn next_filling(&self, block: BlockId) -> Option<PageInBlock> {
        next_filling(self.geometry, &self.hot[block.index()])
    }

    /// Returns whether any page before this page of a block is valid.
    pub fn holds_before(&self, block: BlockId, page: PageInBlock) -> bool {
        self.contents.next_valid(block, PageInBlock::FIRST).is_some_and(|first| first < page)
    }

    /// Returns the number of pages of a block that may still be programmed before its erase.
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

/// Threshold of a policy and its derivation, for `vpass explain`.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// Name of the threshold.
    pub name: String,
    /// Value of the threshold, in reads of the block since its erase.
    pub reads: u32,
    /// Formula of the threshold with its numbers.
    pub because: String,
}

/// Read-disturb policy.
pub trait Policy: Send {
    /// Returns the first alarm of a block. The drive asks at the block's first program after an
    /// erase.
    fn arm(&mut self, view: &View, block: BlockId) -> Reads;

    /// Handles a block that reached its alarm, and returns the next alarm. This is more than the
    /// present reads, or [`Reads::NEVER`]. If a relocation was requested, it is the read count at
    /// which the block may serve no more reads.
    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads;

    /// Returns the other blocks whose reads may affect the policy's answer about this block. If
    /// reads come in bulk, the reads of these blocks are drawn first.
    fn compares_with(&self, _view: &View, _block: BlockId) -> Vec<BlockId> {
        vec![]
    }

    /// Handles the results of requested probes. The answer is as in [`Self::on_alarm`], and
    /// replaces the earlier answer.
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

    /// Returns whether the policy must be asked about each block that becomes a step older, even
    /// without reads. The policy's earlier answers are then no longer valid.
    fn follows_age(&self) -> bool {
        false
    }

    /// Returns whether the policy must know of reads that took retries.
    fn follows_retries(&self) -> bool {
        false
    }

    /// Returns whether the policy moves blocks for other reasons than their own alarms: retries of a
    /// read, or a pass over the whole drive. Such a move has no deadline.
    fn moves_without_alarm(&self) -> bool {
        self.follows_retries()
    }

    /// Handles a host read that took this number of retries. Returns the rewrite that the policy
    /// wants, if any. The page is numbered within its block.
    fn retried(
        &mut self,
        _view: &View,
        _block: BlockId,
        _page: PageInBlock,
        _retries: u8,
    ) -> Option<Rewrite> {
        None
    }

    /// Returns the policy's own streams. The first has the number [`FIRST_OWN`], and the others
    /// follow.
    fn streams(&self) -> Vec<StreamSpec> {
        vec![]
    }

    /// Reports that a block is about to be erased. The view still shows the block before the erase.
    fn erased(&mut self, _view: &View, _block: BlockId, _cause: Cause) {}

    /// Returns the policy's own counts by name, since the drive was made.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![]
    }

    /// Returns the RAM that the technique would need in a real controller.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes;

    /// Returns the largest memory of the policy's counters in the simulation, without a few bytes
    /// per block.
    fn memory(&self) -> Bytes {
        Bytes(0)
    }

    /// Returns the guarantee for blocks at this P/E count, and its condition. The view has no
    /// blocks.
    fn promise(&self, view: &View, pec: u32) -> Promise;

    /// Returns the thresholds for a block at this P/E count.
    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold>;

    /// Returns the number of reads between two rewrites of a block at this P/E count, if the block
    /// is read evenly. It shows how read wear grows with P/E count, so only the ratio between P/E
    /// counts has a meaning. Returns `None` if reads never cause a rewrite.
    fn reads_per_rewrite(&self, view: &View, pec: u32) -> Option<f64> {
        reads_per_rewrite::harmonic_mean(&self.explain(view, pec))
    }
}

impl InSlot for dyn Policy {
    const TABLE: &'static str = "reclaim";

    fn listed() -> &'static List<Self> {
        &RECLAIM
    }

    fn checked(technique: Box<Self>, name: &'static str) -> Box<Self> {
        Box::new(Checked { technique, name })
    }

    fn given(config: &DriveConfig) -> &Params {
        &config.reclaim.params
    }

    fn given_mut(config: &mut DriveConfig) -> &mut Params {
        &mut config.reclaim.params
    }
}

/// Technique of this slot, as its card describes it.
pub type Technique = Card<dyn Policy>;

/// Reclaim techniques that the program brings.
pub static RECLAIM: List<dyn Policy> = List(|brought| brought.reclaim);

/// Refuses a technique on a drive that lacks what the technique needs.
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
    require(!technique.needs.retries || config.has_retries(), || {
        let name = technique.name;
        format!(
            "`{name}` needs a drive with read retries: set [error] and [ecc], with more than one \
             level"
        )
    })?;
    technique.check(config)
}

/// Refuses a technique that needs limits if reads disturb the drive's data and the drive has no
/// limits.
pub(crate) fn check_table(
    technique: &Technique,
    has_all_it_needs: bool,
) -> Result<(), ConfigError> {
    require(has_all_it_needs || !technique.needs.limits, || {
        let name = technique.name;
        format!(
            "`{name}` needs a table of limits, but this drive's error model has none: use `none`, \
             which needs no table"
        )
    })
}

/// Returns the technique of this name.
pub fn technique(name: &str) -> Option<&'static Technique> {
    RECLAIM.named(name)
}
