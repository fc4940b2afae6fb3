//! Jobs from their beginning to their end: only one job at a time moves a block, and pages that a job writes again within its block lie on
//! wordlines of their own, because what a wordline has endured counts from its first page.

use std::collections::BTreeMap;

use vpass_core::base::page_set::PageSet;
use vpass_core::base::units::{BlockId, Cause, Reads};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// A job under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// Pages of its block that were programmed when it began.
    written: u32,
    /// It has programmed pages of its block.
    within: bool,
}

/// Those under way, by block.
pub(crate) type Jobs = BTreeMap<BlockId, Job>;

impl Oracle {
    /// A mover begins with a block.
    pub(crate) fn begin_job(&mut self, block: BlockId, pages: Option<&PageSet>, cause: Cause) {
        if !self.check_block(block, "move") {
            return;
        }
        if cause == Cause::Reclaim {
            self.claims.jobs += 1;
            self.book_blame(block, pages);
        }
        let job = Job { written: self.protocol.written(block), within: false };
        if self.jobs.insert(block, job).is_some() {
            self.findings.add(Kind::Protocol, || format!("{} begins to move block {block}, which is being moved already", cause.name()));
        }
    }

    /// A page of a block is programmed.
    pub(crate) fn program_within(&mut self, block: BlockId) {
        if let Some(job) = self.jobs.get_mut(&block) {
            job.within = true;
        }
    }

    /// The policy is to be asked about a block: at the next read, where a job has left data in it.
    pub(crate) fn name_question(&mut self, block: BlockId, at: Reads) {
        self.questions.name(block, at);
        if at == Reads(0)
            && let Some(job) = self.jobs.remove(&block).filter(|job| job.within)
        {
            self.check_filling(block, job.written);
        }
    }

    /// Of what a job wrote within its block nothing is left on a wordline that was programmed in part when it began.
    fn check_filling(&mut self, block: BlockId, written: u32) {
        let bits = self.geometry.cell.bits();
        let first = self.geometry.first_page(block);
        let shared = written..written.next_multiple_of(bits);
        let live = |ppn: &u32| self.stamps.is_live(self.medium.stamp(At::new(&self.geometry, *ppn)));
        if let Some(ppn) = shared.map(|page| first + page).find(live) {
            let place = self.place(ppn);
            self.findings.add(Kind::Protocol, || {
                format!("block {block} was written again within it, and holds data at {place}, whose wordline is older")
            });
        }
    }
}
