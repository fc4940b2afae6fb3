//! Checks jobs from start to end. Only one job at a time moves a block. Pages that a job writes
//! again within its block lie on new wordlines, because the dose of a wordline counts from its
//! first page.

use std::collections::BTreeMap;

use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Cause, Ppn, Reads};

use crate::clock::{Begun, Now};
use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// Job under way.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    cause: Cause,
    /// Number of the job for the checker of times. `pages` has the pages that the job moves; `None`
    /// means all.
    serial: Option<u64>,
    pages: Option<PageSet>,
    /// Number of pages of the block that were programmed at the start of the job.
    written: u32,
    /// Whether the job has programmed pages of its own block.
    within: bool,
}

/// Jobs under way, by block.
pub(crate) type Jobs = BTreeMap<BlockId, Job>;

impl Oracle {
    /// Records that a mover begins with a block.
    pub(crate) fn begin_job(&mut self, block: BlockId, pages: Option<&PageSet>, cause: Cause) {
        if !self.check_block(block, "move") {
            return;
        }
        self.check_need(block, cause);
        self.check_fullness(cause);
        self.check_victim_of(block, cause);
        self.openings.moves(block);
        if cause == Cause::Reclaim {
            self.claims.jobs += 1;
            self.book_blame(block, pages);
            self.openings.reclaims(block, pages.is_none());
        }
        let serial = if cause == Cause::Reclaim { self.tell_clock(block) } else { None };
        let job = Job {
            cause,
            serial,
            pages: pages.cloned(),
            written: self.protocol.written(block),
            within: false,
        };
        if self.jobs.insert(block, job).is_some() {
            self.findings.add(Kind::Protocol, || {
                format!(
                    "{} begins to move block {block}, which is already being moved",
                    cause.name()
                )
            });
        }
    }

    /// Tells the checker of times that the technique also moves blocks without their alarm.
    pub fn expect_early_jobs(&mut self) {
        self.questions.expect_early_jobs();
    }

    /// Tells the checker of times that a reclaim job begins. Returns the job's number.
    fn tell_clock(&mut self, block: BlockId) -> Option<u64> {
        let dose = self.doses.read_of(block)?;
        let left = Some(self.questions.left(block, dose)?).filter(|left| *left < u64::MAX);
        let written = self.protocol.written(block);
        let most = (written, written / self.geometry.cell.bits());
        self.clock.reclaims(block, Begun { serial: 0, left, dose, most })
    }

    /// Records the state of jobs that may be urgent, before the drive reports the time.
    pub(crate) fn note_jobs(&mut self) {
        let near = self.clock.near();
        let now =
            near.into_iter().filter_map(|block| Some((block, self.job_now(block)?))).collect();
        self.clock.stand(now);
    }

    fn job_now(&self, block: BlockId) -> Option<Now> {
        let job = self.jobs.get(&block)?;
        let wanted = |page: u32| {
            job.pages
                .as_ref()
                .is_none_or(|pages| pages.words()[page as usize / 64] >> (page % 64) & 1 == 1)
        };
        let live = |page: &u32| {
            self.stamps.is_live(
                self.medium.stamp(At::new(&self.geometry, self.geometry.first_page(block) + *page)),
            )
        };
        let pages = (0..job.written).filter(|page| wanted(*page)).filter(live).count() as u32;
        Some(Now { serial: job.serial?, pages, dose: self.doses.read_of(block)? })
    }

    /// Returns whether a job moves this block.
    pub(crate) fn is_moved(&self, block: BlockId) -> bool {
        self.jobs.contains_key(&block)
    }

    /// Returns the cause of the job that moves this block; `None` without a job.
    pub(crate) fn cause_of_job(&self, block: BlockId) -> Option<Cause> {
        self.jobs.get(&block).map(|job| job.cause)
    }

    /// Returns the number of jobs under way for this cause.
    pub(crate) fn jobs_of(&self, cause: Cause) -> u32 {
        self.jobs.values().filter(|job| job.cause == cause).count() as u32
    }

    /// Returns the blocks under a reclaim job.
    pub(crate) fn reclaimed_blocks(&self) -> impl Iterator<Item = BlockId> {
        self.blocks_under(Cause::Reclaim)
    }

    /// Returns the blocks under a job of this cause.
    pub(crate) fn blocks_under(&self, cause: Cause) -> impl Iterator<Item = BlockId> {
        self.jobs.iter().filter(move |(_, job)| job.cause == cause).map(|(block, _)| *block)
    }

    /// Records that a page of a block is programmed.
    pub(crate) fn program_within(&mut self, block: BlockId) {
        if let Some(job) = self.jobs.get_mut(&block) {
            job.within = true;
        }
    }

    /// Records the dose at which the policy must be asked about a block next.
    pub(crate) fn name_question(&mut self, block: BlockId, at: Reads) {
        // For a block without data, this is the first alarm.
        let is_asked = at != Reads(0)
            && block.number() < self.geometry.blocks
            && self.protocol.written(block) > 0;
        self.claims.alarms += u64::from(is_asked && !self.jobs.contains_key(&block));
        self.questions.name(block, if self.doses.counts() { at } else { Reads::NEVER });
    }

    /// Checks the end of a job that leaves data in its block.
    pub(crate) fn end_job(&mut self, block: BlockId) {
        self.questions.end_job(block);
        let Some(job) = self.jobs.remove(&block) else { return };
        // GC may choose the block again.
        self.need.happens(false);
        if job.within {
            self.check_filling(block, job.written);
        }
    }

    /// Checks that no page written by a job within its block lies on a wordline that was partly
    /// programmed when the job began.
    fn check_filling(&mut self, block: BlockId, written: u32) {
        let bits = self.geometry.cell.bits();
        let first = self.geometry.first_page(block);
        let shared = written..written.next_multiple_of(bits);
        let live =
            |ppn: &Ppn| self.stamps.is_live(self.medium.stamp(At::new(&self.geometry, *ppn)));
        if let Some(ppn) = shared.map(|page| first + page).find(live) {
            let place = self.place(ppn);
            self.findings.add(Kind::Protocol, || {
                format!(
                    "block {block} was rewritten within itself, but it holds data at {place}, \
                     whose wordline is older"
                )
            });
        }
    }
}
