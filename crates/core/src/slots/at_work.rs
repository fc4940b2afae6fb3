//! The techniques that run in a drive. The controller uses them to arm blocks, to report erases and
//! to choose victims. Only the drive asks a technique what to do against reads.

use crate::base::latency::AccessLatency;
use crate::base::metrics::HostCounts;
use crate::base::units::{BlockId, Cause, Moment, Ns, Ppn, Reads};
use crate::bugs::{Bug, Bugs, planted};
use crate::config::DriveConfig;
use crate::disturb::told::Limits;
use crate::flash::Flash;
use crate::slots::gc::{Candidates, GcPolicy};
use crate::slots::reclaim::{Policy, View};
use crate::slots::refresh::{Held, Refresh};
use crate::slots::rewrite::Merges;

/// Pages that low density takes away in a domain, what jobs under way will take among them; and
/// what it may take there in all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Away {
    pub(crate) pages: u32,
    pub(crate) at_most: u32,
}

/// What a reclaim technique is told beside the state of the flash and the drive's tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// `R_late`.
    pub(crate) late_reads: u32,
    /// Pages that the host read before the measured phase, and those that it wrote.
    pub(crate) host_reads_before: u64,
    pub(crate) host_writes_before: u64,
    /// The drive is being given what it begins with.
    pub(crate) is_before_run: bool,
    /// Blocks opened before this time of the techniques' clock have served reads that nobody timed.
    pub(crate) timed_from: u64,
    /// The page whose read made a block ask its policy last.
    pub(crate) rung_by: Ppn,
    pub(crate) bugs: Bugs,
}

/// All that it is told.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) config: &'a DriveConfig,
    pub(crate) facts: &'a Facts,
    pub(crate) host: &'a HostCounts,
}

impl<'a> View<'a> {
    /// The view of a drive, by somebody who is asked about a block of this budget.
    pub(crate) fn of(flash: &'a Flash, away: Away, told: Told<'a>, budget: AccessLatency) -> Self {
        let Told { config, facts, host } = told;
        let late_reads = match facts.late_reads {
            _ if facts.bugs.has(Bug::LateReadsZero) => 0,
            late if planted(Bug::LateHalved) => late / 2,
            late => late,
        };
        Self {
            geometry: &flash.geometry,
            limits: flash
                .limits()
                .map(|table| Limits::new(table, budget).accelerated(flash.acceleration)),
            disturb: &config.disturb,
            density: &config.density,
            late_reads,
            wear_counts: flash.wear_counts(),
            hot: flash.blocks().0,
            cold: flash.blocks().1,
            wordlines: flash.wordlines(),
            tracker: flash.tracker(),
            pages: flash.page_counters(),
            contents: flash.contents(),
            recoded: flash.recoded(),
            pages_away: away.pages,
            pages_to_spare: away.at_most,
            host_reads: flash.host_reads(host.read_pages)
                + if planted(Bug::HostReadsRestart) { 0 } else { facts.host_reads_before },
            host_writes: facts.host_writes_before + host.write_pages,
            is_before_run: facts.is_before_run,
            timed_from: facts.timed_from,
            rung_by: facts.rung_by,
            ages: flash.ages(),
            now: flash.now,
            bugs: facts.bugs,
        }
    }
}

impl<'a> Held<'a> {
    /// A block as it is.
    pub(crate) fn of(flash: &'a Flash, block: BlockId) -> Self {
        Self {
            block,
            geometry: &flash.geometry,
            whole_wordlines: flash.whole_wordlines(block),
            valid: flash.contents().valid_words(block),
            mode: flash.hot(block).mode,
            recoded: flash.recoded().of(block),
        }
    }
}

/// What the controller may ask of the techniques.
pub(crate) struct Slots<'a> {
    reclaim: &'a mut dyn Policy,
    gc: &'a mut dyn GcPolicy,
    refresh: &'a dyn Refresh,
    told: Told<'a>,
    /// The drive's time, for the jobs that begin.
    pub(crate) now: Ns,
}

impl<'a> Slots<'a> {
    pub(crate) fn new(
        reclaim: &'a mut dyn Policy,
        gc: &'a mut dyn GcPolicy,
        refresh: &'a dyn Refresh,
        told: Told<'a>,
        now: Ns,
    ) -> Self {
        Self { reclaim, gc, refresh, told, now }
    }

    /// First alarm of a block that is about to be written.
    pub(crate) fn arm(&mut self, flash: &Flash, away: Away, block: BlockId) -> Reads {
        self.reclaim.arm(&View::of(flash, away, self.told, flash.cold(block).budget), block)
    }

    /// Blocks whose reads have to be drawn before [`Self::arm`], where they come in bulk.
    pub(crate) fn compared_with(&self, flash: &Flash, away: Away, block: BlockId) -> Vec<BlockId> {
        self.reclaim
            .compares_with(&View::of(flash, away, self.told, flash.cold(block).budget), block)
    }

    /// A block is about to be erased.
    pub(crate) fn erased(&mut self, flash: &Flash, away: Away, block: BlockId, cause: Cause) {
        self.reclaim.erased(
            &View::of(flash, away, self.told, flash.cold(block).budget),
            block,
            cause,
        );
    }

    /// When a block is to be looked at first because of its age; never where none.
    pub(crate) fn first_look(&self, since: Moment) -> Option<Moment> {
        self.refresh.first_look(since)
    }

    /// Which wordlines of a block are adjusted, GC having picked another with so many valid pages.
    pub(crate) fn adjusted_at_gc(&self, held: &Held, picked: u32) -> Merges {
        self.refresh.at_gc(held, picked)
    }

    /// The block to clean.
    pub(crate) fn pick(&mut self, among: &Candidates) -> Option<BlockId> {
        self.gc.pick(among)
    }
}
