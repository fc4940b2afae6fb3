//! Checks jobs from start to end. Only one job at a time moves a block. Pages that a job writes
//! again within its block lie on new wordlines, because the dose of a wordline counts from its
//! first page.

use std::collections::BTreeMap;

use vpass_drive::base::units::{BlockId, Cause, Ppn};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// Job under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    cause: Cause,
    /// Number of pages of the block that were programmed at the start of the job.
    written: u32,
    /// Whether the job has programmed pages of its own block.
    within: bool,
}

/// Jobs under way, by block.
pub(crate) type Jobs = BTreeMap<BlockId, Job>;

impl Oracle {
    /// Records that a mover begins with a block.
    pub(crate) fn begin_job(&mut self, block: BlockId, cause: Cause) {
        if !self.check_block(block, "move") {
            return;
        }
        if cause == Cause::Reclaim {
            self.books.claims.jobs += 1;
        }
        let job = Job { cause, written: self.truth.protocol.written(block), within: false };
        if self.truth.jobs.insert(block, job).is_some() {
            self.findings.add(Kind::Protocol, || {
                format!(
                    "{} begins to move block {block}, which is already being moved",
                    cause.name()
                )
            });
        }
    }

    /// Returns the cause of the job that moves this block; `None` without a job.
    pub(crate) fn cause_of_job(&self, block: BlockId) -> Option<Cause> {
        self.truth.jobs.get(&block).map(|job| job.cause)
    }

    /// Records that a page of a block is programmed.
    pub(crate) fn program_within(&mut self, block: BlockId) {
        if let Some(job) = self.truth.jobs.get_mut(&block) {
            job.within = true;
        }
    }

    /// Checks the end of a job that leaves data in its block.
    pub(crate) fn end_job(&mut self, block: BlockId) {
        let Some(job) = self.truth.jobs.remove(&block) else { return };
        if job.within {
            self.check_filling(block, job.written);
        }
    }

    /// Checks that no page written by a job within its block lies on a wordline that was partly
    /// programmed when the job began.
    fn check_filling(&mut self, block: BlockId, written: u32) {
        let bits = self.truth.geometry.cell.bits();
        let first = self.truth.geometry.first_page(block);
        let shared = written..written.next_multiple_of(bits);
        let live = |ppn: &Ppn| {
            self.truth.stamps.is_live(self.truth.medium.stamp(At::new(&self.truth.geometry, *ppn)))
        };
        if let Some(ppn) = shared.map(|page| first + page).find(live) {
            let place = self.truth.place(ppn);
            self.findings.add(Kind::Protocol, || {
                format!(
                    "block {block} was rewritten within itself, but it holds data at {place}, \
                     whose wordline is older"
                )
            });
        }
    }
}
