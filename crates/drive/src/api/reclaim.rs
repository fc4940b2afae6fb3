//! Read reclaim: the controller's reaction to read disturbance. This file is the interface between
//! the drive and the techniques.
//!
//! A policy names a read count for each block, which is the block's alarm. When the block reaches
//! its alarm, the drive calls the policy. The policy sees a read-only [`View`] of the drive, queues
//! [`Action`]s and names the next alarm.

mod action;
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
pub use params::{CHECK_INTERVAL, COUNTERS, OWN_AGE};
pub use promise::{Budget, Promise};

use crate::api::card::{Card, InSlot};
use crate::base::dose::Quarters;
use crate::base::geometry::Geometry;
use crate::base::page_set::{PageSet, holds, holds_any};
use crate::base::units::{
    BlockId, Bytes, Cause, Ns, PageInBlock, Ppn, Reads, StreamId, WordlineInBlock,
};
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

/// Name of the reclaim technique that never rewrites data.
pub const NO_RECLAIM: &str = "none";

/// State of the drive that a policy may see.
pub struct View<'a> {
    /// Geometry of the drive: numbers of its dies, blocks, wordlines and pages.
    pub geometry: &'a Geometry,
    /// Read-disturb limits of the block that the drive asks about. They take account of the hint of
    /// its data. `None` means that the drive has no limits.
    pub limits: Option<Limits<'a>>,
    /// Table `[disturb]` of the configuration.
    pub disturb: &'a DisturbConfig,
    /// Table `[density]` of the configuration.
    pub density: &'a DensityConfig,
    /// Value of `R_late`: number of host reads that a block may serve between its alarm and the end
    /// of its job.
    pub late_reads: u32,
    /// Value of the key `density.wear_counts_for_limits`.
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
    /// Steps of age; `None` if data does not age. `now` is the current time.
    pub(crate) ages: Option<&'a Ages>,
    pub(crate) now: Ns,
}

/// Number of age steps by which a technique looks ahead if it uses limits at the age of a block's
/// data. The technique acts during the first step, and its job may last until the end of the second
/// step.
const STEPS_AHEAD: usize = 2;

impl View<'_> {
    /// Returns the number of reads that a block may serve during a job. It is [`Self::late_reads`],
    /// but at least 1.
    pub fn late_in_a_job(&self) -> u32 {
        self.late_reads.max(1)
    }

    /// Returns the wear and age for which the limits of a block are looked up. With `own_age`, the
    /// result is valid until the block's age reaches the next step. Then the drive asks the policy
    /// again.
    pub fn worn(&self, block: BlockId, own_age: bool) -> Worn {
        let pec = self.pec(block);
        let Some(ages) = self.ages.filter(|_| own_age) else { return Worn::at_longest(pec) };
        let age = (self.now.cast_signed() - self.cold[block.index()].programmed_at)
            .max(0)
            .cast_unsigned();
        Worn { pec, step: Some(ages.step(age) + STEPS_AHEAD) }
    }

    /// Returns the P/E count for which the limits of a block are looked up. Each erase changes this
    /// count.
    pub fn pec(&self, block: BlockId) -> u32 {
        self.cold[block.index()].limit_pec(self.wear_counts)
    }

    /// Returns the number of reads of a block since its erase. If reads weigh unevenly, this is the
    /// sum of their weights, rounded up.
    pub fn reads(&self, block: BlockId) -> Reads {
        self.dose(block).whole_up()
    }

    /// Returns the dose of a block since its erase.
    pub fn dose(&self, block: BlockId) -> Quarters {
        self.hot[block.index()].reads
    }

    /// Returns the exact read counters of a block's wordlines.
    pub fn wordlines(&self, block: BlockId) -> &[Wordline] {
        &self.wordlines[self.geometry.rows_of(block)]
    }

    /// Returns the wordline whose read caused the block's alarm. The wordline is numbered within
    /// the block.
    pub fn wordline_read(&self, block: BlockId) -> WordlineInBlock {
        self.geometry.wordline_in(block, self.rung_by)
    }

    /// Returns the Space-Saving counters of a block's wordlines.
    pub fn tracked(&self, block: BlockId) -> Tracked<'_> {
        self.tracker.of(block)
    }

    /// Returns the next page of a block to be programmed. All earlier pages are programmed, except
    /// those that the block's coding takes away.
    pub fn written(&self, block: BlockId) -> PageInBlock {
        self.hot[block.index()].written_to()
    }

    /// Returns whether the block's domain can spare the pages that one more low-density block
    /// costs. If it cannot, [`Recode::Block`] is refused, and low-density streams open blocks of
    /// full density. A block that is reprogrammed before it is full costs more pages.
    pub fn can_spare(&self) -> bool {
        self.geometry.pages_per_block - self.geometry.available_pages(GUARDED) <= self.spare_pages()
    }

    /// Returns the number of pages that the block's domain can still give up for guard levels.
    pub fn spare_pages(&self) -> u32 {
        self.pages_to_spare.saturating_sub(self.pages_away)
    }

    /// Returns the number of pages that guard levels take away in the block's domain. Pages that
    /// running jobs will take away are included.
    pub fn pages_away(&self) -> u32 {
        self.pages_away
    }

    /// Returns the codings of a full-density block's wordlines. A wordline without a coding of its
    /// own has the entry 0. If all entries would be 0, the list is empty.
    pub fn recoded(&self, block: BlockId) -> &[u8] {
        self.recoded.of(block)
    }

    /// Returns whether a wordline has a coding of its own. The wordline is numbered within its
    /// block.
    pub fn is_recoded(&self, block: BlockId, wordline: WordlineInBlock) -> bool {
        self.recoded.coding(block, wordline) != FULL
    }

    /// Returns the number of host page operations since the drive was made. Techniques that compare
    /// read rates use this number as their clock. So their results do not depend on the gear.
    pub fn clock(&self) -> u64 {
        self.host_reads + self.host_writes
    }

    /// Returns the number of pages that the host has read since the drive was made. If reads are
    /// drawn in bulk, it is the number expected by now.
    pub fn host_reads(&self) -> u64 {
        self.host_reads
    }

    /// Returns whether the start-up state of the drive is being made. Blocks written now may
    /// already have served reads that were not simulated.
    pub fn is_before_run(&self) -> bool {
        self.is_before_run
    }

    /// Returns whether the value `opened_at` of [`Self::clock`] lies in the run. If blocks begin
    /// with reads (`start.reads`), earlier opening times are unknown.
    pub fn is_timed(&self, opened_at: u64) -> bool {
        opened_at >= self.timed_from
    }

    /// Returns whether a block is idle. A block is idle if no job moves its data.
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

    /// Returns the number of reads of each page of a block since its erase. The list is empty if
    /// the block's stream does not count reads by page.
    pub fn page_reads(&self, block: BlockId) -> &[u32] {
        self.pages.of(block)
    }

    /// Returns whether a page is valid. The page is numbered within its block.
    pub fn is_valid_page(&self, block: BlockId, page: PageInBlock) -> bool {
        holds(self.contents.valid_words(block), page)
    }

    /// Returns whether a wordline holds at least one valid page.
    pub fn is_valid(&self, block: BlockId, wordline: WordlineInBlock) -> bool {
        let bits = self.geometry.cell.bits();
        holds_any(self.contents.valid_words(block), wordline, bits)
    }

    /// Returns whether at least one of these pages of a block is valid.
    pub fn holds_any(&self, block: BlockId, pages: &PageSet) -> bool {
        self.contents
            .valid_words(block)
            .iter()
            .zip(pages.words())
            .any(|(valid, page)| valid & page != 0)
    }

    /// Returns the number of valid pages of a block.
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        self.hot[block.index()].valid.into()
    }

    /// Returns the page at which [`Rewrite::within`] would begin to write a block's valid pages;
    /// `None` if the pages do not fit.
    pub fn next_filling(&self, block: BlockId) -> Option<PageInBlock> {
        next_filling(self.geometry, &self.hot[block.index()])
    }

    /// Returns whether a block has a valid page before the given page.
    pub fn holds_before(&self, block: BlockId, page: PageInBlock) -> bool {
        self.contents.next_valid(block, PageInBlock::FIRST).is_some_and(|first| first < page)
    }

    /// Returns the number of pages that may still be programmed in a block before its next erase.
    pub fn pages_to_come(&self, block: BlockId) -> u32 {
        let hot = &self.hot[block.index()];
        if hot.state == BlockState::Closed {
            0
        } else {
            self.geometry.available_from(hot.written_to(), hot.mode)
        }
    }
}

/// Threshold of a policy and its derivation. `vpass explain` prints both.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// Name of the threshold.
    pub name: String,
    /// Value of the threshold: a number of reads of the block since its erase.
    pub reads: u32,
    /// Formula of the threshold, with the numbers filled in.
    pub because: String,
}

/// Read-reclaim policy.
pub trait Policy: Send {
    /// Returns the first alarm of a block. The drive calls this method when it programs the block
    /// for the first time after an erase.
    fn arm(&mut self, view: &View, block: BlockId) -> Reads;

    /// Handles a block that reached its alarm, and returns the next alarm. The next alarm must be
    /// above the block's present read count, or [`Reads::NEVER`]. If the policy requests a move of
    /// data, the next alarm is the job's deadline.
    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads;

    /// Returns the other blocks that the policy compares with this block by their reads. If reads
    /// are drawn in bulk, the drive first draws the reads of these blocks.
    fn compares_with(&self, _view: &View, _block: BlockId) -> Vec<BlockId> {
        vec![]
    }

    /// Handles the results of requested probes, and returns the next alarm as [`Self::on_alarm`]
    /// does. This alarm replaces the one that was returned with the request.
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

    /// Returns whether the policy's alarms depend on the age of data. If so, the drive asks the
    /// policy again about each block whose age reaches the next step.
    fn follows_age(&self) -> bool {
        false
    }

    /// Returns whether the drive must report host reads with retries to the policy.
    fn follows_retries(&self) -> bool {
        false
    }

    /// Returns whether the policy also moves blocks that have not reached their alarms. Reasons are
    /// retries of a read, and a pass over the whole drive. Such a move has no deadline.
    fn moves_without_alarm(&self) -> bool {
        self.follows_retries()
    }

    /// Handles a host read that took `retries` retries, and returns the rewrite that the policy
    /// requests; `None` for no rewrite. The page is numbered within its block.
    fn retried(
        &mut self,
        _view: &View,
        _block: BlockId,
        _page: PageInBlock,
        _retries: u8,
    ) -> Option<Rewrite> {
        None
    }

    /// Returns the streams that only this policy uses. They have consecutive numbers from
    /// [`FIRST_OWN`] on.
    fn streams(&self) -> Vec<StreamSpec> {
        vec![]
    }

    /// Reports that a block is about to be erased. The view still shows the block before the erase.
    fn erased(&mut self, _view: &View, _block: BlockId, _cause: Cause) {}

    /// Returns counts for the results, each with its name. The policy counts since the drive was
    /// made.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![]
    }

    /// Returns the RAM that the technique would need in a real controller.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes;

    /// Returns the largest memory that the policy's counters take in the simulation. A few bytes
    /// per block are not included.
    fn memory(&self) -> Bytes {
        Bytes(0)
    }

    /// Returns the guarantee for blocks at this P/E count, with the condition of the guarantee. The
    /// view has no blocks, so the method must not ask about a block.
    fn promise(&self, view: &View, pec: u32) -> Promise;

    /// Returns the thresholds for a block at this P/E count.
    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold>;

    /// Returns the number of reads between two rewrites of an evenly read block at this P/E count;
    /// `None` if reads never cause a rewrite. Only the ratio of two such numbers has a meaning. It
    /// shows how read wear grows with the P/E count.
    fn reads_per_rewrite(&self, view: &View, pec: u32) -> Option<f64> {
        reads_per_rewrite::harmonic_mean(&self.explain(view, pec))
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

/// Card of a reclaim technique.
pub type Technique = Card<dyn Policy>;

/// Refuses a reclaim technique if the drive lacks something that the technique needs.
///
/// # Errors
/// Returns a sentence that says what the drive lacks.
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

/// Refuses a technique that needs limits if the drive has no limits. On a drive without read
/// disturb, no technique needs limits.
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
