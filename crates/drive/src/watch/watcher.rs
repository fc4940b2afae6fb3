//! Watchers of a drive: observers from elsewhere. A watcher takes events in batches, and may live
//! in another crate or in another language.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::dose::Quarters;
use crate::base::failure::Stretch;
use crate::base::metrics::TimedMetrics;
use crate::base::page_set::PageSet;
use crate::base::request::Request;
use crate::base::steady::Order;
use crate::base::units::{BlockId, Cause, Lpn, Moment, Ns, Ppn, Reads, Seq, WordlineInBlock};
use crate::watch::event::{Event, Fact};
use crate::watch::observer::{BulkReads, Observer, Origin, PhysRead, ReadsOffFlash, XorSource};
use crate::watch::time_event::{OpId, TimeEvent};

/// Largest number of events of a batch.
pub const BATCH: usize = 1 << 16;

/// Watcher of a drive. It changes nothing. A panic in it ends the run.
pub trait Watcher: Send {
    /// Takes events, in the order in which they happened. A batch also ends before the reclaim
    /// technique is asked, at the end of the run, and when a panic ends the run.
    fn events(&mut self, batch: &[Event]);

    /// Returns whether it wants [`Self::reads`]. The answer never changes.
    fn wants_reads(&self) -> bool {
        false
    }

    /// Takes at most 32 page reads. All events before them have been reported. `_at` is the time of
    /// the last read. Reads in bulk (the fluid gear) are only counted.
    fn reads(&mut self, _at: Ns, _batch: &[PhysRead]) {}
}

/// Observer that gathers events for one watcher.
pub struct Batches {
    watcher: Box<dyn Watcher>,
    wants_reads: bool,
    batch: Vec<Event>,
    at: Ns,
    requests: u64,
    reads: u64,
    /// Whether the watcher is running. It stays so after a panic in the watcher, which then hears
    /// nothing more.
    is_running: bool,
}

impl Batches {
    /// Creates the observer.
    pub fn new(watcher: Box<dyn Watcher>) -> Self {
        Self {
            wants_reads: watcher.wants_reads(),
            watcher,
            batch: vec![],
            at: 0,
            requests: 0,
            reads: 0,
            is_running: false,
        }
    }

    /// Reports the events that are gathered.
    pub fn flush(&mut self) {
        if !self.batch.is_empty() {
            self.tell(|watcher, batch| watcher.events(batch));
            self.batch.clear();
        }
    }

    fn tell(&mut self, report: impl FnOnce(&mut dyn Watcher, &[Event])) {
        if !self.is_running {
            self.is_running = true;
            report(self.watcher.as_mut(), &self.batch);
            self.is_running = false;
        }
    }

    fn push(&mut self, fact: Fact) {
        let Self { at, requests, reads, .. } = *self;
        self.batch.push(Event { at, requests, reads, fact });
        if self.batch.len() == BATCH {
            self.flush();
        }
    }
}

/// Reports the last events of a run that a panic ends. A second panic, in the watcher, is ignored.
impl Drop for Batches {
    fn drop(&mut self) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.flush()));
    }
}

#[deny(clippy::missing_trait_methods)]
impl Observer for Batches {
    fn now(&mut self, at: Ns) {
        self.at = at;
    }

    fn requests(&mut self, first: u64, requests: &[Request]) {
        self.requests = first + requests.len() as u64;
    }

    fn reads(&mut self, batch: &[PhysRead]) {
        self.reads += batch.len() as u64;
        if self.wants_reads {
            self.flush();
            let at = self.at;
            self.tell(|watcher, _| watcher.reads(at, batch));
        }
    }

    fn read_in_bulk(&mut self, _: BlockId, reads: u64, _: &[u32]) {
        self.reads += reads;
    }

    fn read_in_bulk_with_retries(&mut self, reads: &BulkReads) {
        self.reads += reads.reads.iter().map(|reads| u64::from(*reads)).sum::<u64>();
    }

    fn read_off_flash(&mut self, reads: ReadsOffFlash) {
        self.reads += reads.sum();
    }

    fn host_wrote(&mut self, request: u64, lpn: Lpn, whole: bool) {
        self.push(Fact::Wrote { request, lpn, whole });
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.push(Fact::Trimmed { lpn });
    }

    fn lost(&mut self, lpn: Lpn) {
        self.push(Fact::Lost { lpn });
    }

    fn rebuilt(&mut self, lpn: Lpn, _: u32) {
        self.push(Fact::Rebuilt { lpn });
    }

    fn superseded(&mut self, lpn: Lpn) {
        self.push(Fact::Superseded { lpn });
    }

    fn unprotected(&mut self, stripe: u32) {
        self.push(Fact::Unprotected { stripe });
    }

    fn lives_in(&mut self, stage: u8) {
        self.push(Fact::LivesIn { stage });
    }

    fn failed(&mut self, pages: Stretch) {
        let mut all = pages.pages();
        if let Some(first) = all.next() {
            self.push(Fact::Failed { first, pages: 1 + all.count() as u32 });
        }
    }

    fn rebuild_done(&mut self) {
        self.push(Fact::RebuildDone);
    }

    fn awaits_parity(&mut self, stripe: u32) {
        self.push(Fact::AwaitsParity { stripe });
    }

    fn needs_no_parity(&mut self, stripe: u32) {
        self.push(Fact::NeedsNoParity { stripe });
    }

    fn padded(&mut self, ppn: Ppn, _: Seq, cause: Cause) {
        self.push(Fact::Padded { ppn, cause });
    }

    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, _: Seq, origin: Origin, cause: Cause) {
        self.push(Fact::Programmed { ppn, lpn, origin, cause });
    }

    fn merged(&mut self, block: BlockId, wordline: WordlineInBlock, mode: u8, cause: Cause) {
        self.push(Fact::Merged { block, wordline, mode, cause });
    }

    fn recoded(&mut self, block: BlockId, wordline: Option<WordlineInBlock>, mode: u8) {
        self.push(Fact::Recoded { block, wordline, mode });
    }

    fn hears_alarms(&self) -> bool {
        true
    }

    fn alarm(&mut self, block: BlockId) {
        self.push(Fact::Alarm { block });
        self.flush();
    }

    fn job_ended(&mut self, block: BlockId) {
        self.push(Fact::JobEnded { block });
    }

    fn moving(&mut self, block: BlockId, pages: Option<&PageSet>, cause: Cause) {
        self.push(Fact::JobBegan { block, pages: pages.map(PageSet::len), cause });
    }

    fn erased(&mut self, block: BlockId, cause: Cause) {
        self.push(Fact::Erased { block, cause });
    }

    fn clock_restarts(&mut self, passed: Ns) {
        self.push(Fact::ClockRestarted { passed });
        self.at = 0;
    }

    fn measured_phase(&mut self) {
        self.push(Fact::MeasuredPhase);
    }

    // A watcher begins after the start-up state.
    fn preloaded(&mut self, _: BlockId, _: &[Lpn]) {}
    fn begins_in_order(&mut self, _: &[Order], _: u32) {}
    fn preloaded_in_order(&mut self, _: BlockId, _: u32, _: Order, _: u32) {}
    fn worn_before(&mut self, _: BlockId, _: u32) {}
    fn served_before(&mut self, _: BlockId, _: &[Quarters]) {}
    fn aged(&mut self, _: BlockId, _: Moment) {}

    // Inputs of the oracle's own arithmetic are no facts of the medium.
    fn quiet_until(&mut self, _: Ns) {}
    fn took_in(&mut self, _: Lpn, _: u64) {}
    fn filled(&mut self, _: Lpn) {}
    fn gathered(&mut self, _: Lpn, _: Ppn) {}
    fn xored(&mut self, _: u32, _: XorSource) {}
    fn recovering(&mut self, _: Lpn, _: u32) {}
    fn delayed(&mut self, _: u32, _: u32, _: u64, _: u64) {}
    fn asks_at(&mut self, _: BlockId, _: Reads) {}
    fn clock(&mut self, _: Ns) {}
    fn renewed(&mut self, _: BlockId, _: Moment) {}
    fn cycles_skipped(&mut self, _: u32) {}

    // Other observers divide the time of dies.
    fn occupied(&mut self, _: &[(u32, Ns, Ns)]) {}
    fn wants_time(&self) -> bool {
        false
    }
    fn run_began(&mut self, _: Ns, _: &TimedMetrics) {}
    fn time(&mut self, _: &[TimeEvent]) {}
    fn run_ended(&mut self, _: &[OpId], _: &TimedMetrics) {}
}

#[cfg(test)]
mod tests;
