//! The techniques that run in a drive. The controller calls them to get the first alarm of a block,
//! to report erases and to choose GC victims. The reaction to reads is requested elsewhere, by the
//! drive.

use crate::api::asked::Asked;
use crate::api::gc::GcPolicy;
use crate::api::reclaim::{Policy, View};
use crate::api::refresh::{Held, Refresh};
use crate::base::latency::AccessLatency;
use crate::base::metrics::HostCounts;
use crate::base::units::{BlockId, Cause, Ppn, Reads};
use crate::config::DriveConfig;
use crate::disturb::told::Limits;
use crate::flash::Flash;

/// Number of pages that low-density blocks cost a domain, and the largest number allowed. Pages
/// that running jobs will take away are included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Away {
    pub(crate) pages: u32,
    pub(crate) at_most: u32,
}

/// Facts that a reclaim technique cannot find in the state of the flash and in the tables of the
/// drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Value of `R_late`.
    pub(crate) late_reads: u32,
    /// Number of pages that the host read before the measured phase.
    pub(crate) host_reads_before: u64,
    /// Number of pages that the host wrote before the measured phase.
    pub(crate) host_writes_before: u64,
    /// Whether the start-up state of the drive is being made.
    pub(crate) is_before_run: bool,
    /// Smallest value of the techniques' clock at which a block counts as opened during the run.
    /// For blocks opened earlier, the opening time is unknown.
    pub(crate) timed_from: u64,
    /// Page of the read that caused the latest alarm.
    pub(crate) rung_by: Ppn,
}

/// Input of a technique: configuration, facts, and counts of host operations.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) config: &'a DriveConfig,
    pub(crate) facts: &'a Facts,
    pub(crate) host: &'a HostCounts,
}

impl<'a> Told<'a> {
    /// Creates the view that a technique has of the drive when it is asked about this block.
    fn view(self, flash: &'a Flash, away: Away, block: BlockId) -> View<'a> {
        View::of(flash, away, self, flash.cold(block).budget)
    }
}

impl<'a> View<'a> {
    /// Creates the view that a technique has of the drive, for a block whose data has this hint.
    pub(crate) fn of(flash: &'a Flash, away: Away, told: Told<'a>, budget: AccessLatency) -> Self {
        let Told { config, facts, host } = told;
        Self {
            geometry: &flash.geometry,
            limits: flash
                .limits()
                .map(|table| Limits::new(table, budget).accelerated(flash.acceleration)),
            disturb: &config.disturb,
            density: &config.density,
            late_reads: facts.late_reads,
            wear_counts: flash.wear_counts,
            hot: flash.blocks().0,
            cold: flash.blocks().1,
            wordlines: &flash.wordlines,
            tracker: &flash.tracker,
            pages: &flash.page_counters,
            contents: &flash.contents,
            recoded: &flash.recoded,
            pages_away: away.pages,
            pages_to_spare: away.at_most,
            host_reads: flash.host_reads(host.read_pages) + facts.host_reads_before,
            host_writes: facts.host_writes_before + host.write_pages,
            is_before_run: facts.is_before_run,
            timed_from: facts.timed_from,
            rung_by: facts.rung_by,
            ages: flash.ages(),
            now: flash.now,
        }
    }
}

impl<'a> Held<'a> {
    /// Creates the facts about a block's contents in its current state.
    pub(crate) fn of(flash: &'a Flash, block: BlockId) -> Self {
        Self {
            block,
            geometry: &flash.geometry,
            whole_wordlines: flash.whole_wordlines(block),
            valid: flash.contents.valid_words(block),
            mode: flash.hot(block).mode,
            recoded: flash.recoded.of(block),
        }
    }
}

/// The flash, and the interface of the controller to the techniques.
pub(crate) struct Context<'a> {
    pub(crate) flash: &'a mut Flash,
    pub(crate) reclaim: &'a mut Asked<dyn Policy>,
    pub(crate) gc: &'a mut Asked<dyn GcPolicy>,
    pub(crate) refresh: &'a Asked<dyn Refresh>,
    pub(crate) told: Told<'a>,
}

impl Context<'_> {
    /// Returns the read count at which a block that will be written has its first alarm.
    pub(crate) fn arm(&mut self, away: Away, block: BlockId) -> Reads {
        self.reclaim.arm(&self.told.view(self.flash, away, block), block)
    }

    /// Returns the blocks whose reads must be drawn before [`Self::arm`] is called. This matters
    /// only if reads are drawn in bulk.
    pub(crate) fn compared_with(&self, away: Away, block: BlockId) -> Vec<BlockId> {
        self.reclaim.compares_with(&self.told.view(self.flash, away, block), block)
    }

    /// Reports that a block will be erased.
    pub(crate) fn erased(&mut self, away: Away, block: BlockId, cause: Cause) {
        let view = self.told.view(self.flash, away, block);
        self.reclaim.ask_mut("erased", |policy| policy.erased(&view, block, cause));
    }
}
