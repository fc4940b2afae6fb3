//! Several observers of one drive. Each of them gets every event, in the order in which they were
//! set.

use std::any::Any;

use crate::base::dose::Quarters;
use crate::base::failure::Stretch;
use crate::base::metrics::TimedMetrics;
use crate::base::page_set::PageSet;
use crate::base::request::Request;
use crate::base::steady::Order;
use crate::base::units::{BlockId, Cause, Lpn, Moment, Ns, Ppn, Reads, Seq, WordlineInBlock};
use crate::watch::observer::{BulkReads, Observer, Origin, PhysRead, ReadsOffFlash, XorSource};
use crate::watch::time_event::{OpId, TimeEvent};

/// Observers of one drive, in the order in which they were set.
pub(crate) struct Several {
    members: Vec<Box<dyn Observer>>,
}

impl Several {
    /// Adds an observer to the current ones.
    pub(crate) fn with(now: Box<dyn Observer>, new: Box<dyn Observer>) -> Self {
        let mut members = members_of(now);
        members.push(new);
        Self { members }
    }

    fn each(&mut self, mut tell: impl FnMut(&mut dyn Observer)) {
        for member in &mut self.members {
            tell(member.as_mut());
        }
    }

    /// Calls the observers that want to know of time.
    fn each_timed(&mut self, mut tell: impl FnMut(&mut dyn Observer)) {
        for member in self.members.iter_mut().filter(|member| member.wants_time()) {
            tell(member.as_mut());
        }
    }
}

/// Returns the observers that one observer stands for, in the order in which they were set.
pub(crate) fn members_of(observer: Box<dyn Observer>) -> Vec<Box<dyn Observer>> {
    if is::<Several>(observer.as_ref()) {
        let several: Box<dyn Any> = observer;
        several.downcast::<Several>().expect("its type was asked for").members
    } else {
        vec![observer]
    }
}

/// Returns one observer that stands for these; `None` for no observer.
pub(crate) fn one_of(mut members: Vec<Box<dyn Observer>>) -> Option<Box<dyn Observer>> {
    match members.len() {
        0 | 1 => members.pop(),
        _ => Some(Box::new(Several { members })),
    }
}

/// Returns the first observer of this type.
pub(crate) fn find<'a, T: Observer>(
    observer: &'a mut (dyn Observer + 'static),
) -> Option<&'a mut T> {
    let observer: &mut dyn Any = observer;
    if observer.is::<Several>() {
        let several = observer.downcast_mut::<Several>().expect("its type was asked for");
        several.members.iter_mut().find_map(|member| {
            let member: &mut dyn Any = member.as_mut();
            member.downcast_mut()
        })
    } else {
        observer.downcast_mut()
    }
}

/// Returns whether an observer has this type.
pub(crate) fn is<T: Observer>(observer: &(dyn Observer + 'static)) -> bool {
    let observer: &dyn Any = observer;
    observer.is::<T>()
}

#[deny(clippy::missing_trait_methods)]
impl Observer for Several {
    fn now(&mut self, at: Ns) {
        self.each(|o| o.now(at));
    }

    fn requests(&mut self, first: u64, requests: &[Request]) {
        self.each(|o| o.requests(first, requests));
    }

    fn reads(&mut self, batch: &[PhysRead]) {
        self.each(|o| o.reads(batch));
    }

    fn read_in_bulk(&mut self, block: BlockId, reads: u64, doses: &[u32]) {
        self.each(|o| o.read_in_bulk(block, reads, doses));
    }

    fn read_in_bulk_with_retries(&mut self, reads: &BulkReads) {
        self.each(|o| o.read_in_bulk_with_retries(reads));
    }

    fn read_off_flash(&mut self, reads: ReadsOffFlash) {
        self.each(|o| o.read_off_flash(reads));
    }

    fn quiet_until(&mut self, at: Ns) {
        self.each(|o| o.quiet_until(at));
    }

    fn host_wrote(&mut self, request: u64, lpn: Lpn, whole: bool) {
        self.each(|o| o.host_wrote(request, lpn, whole));
    }

    fn took_in(&mut self, lpn: Lpn, parts: u64) {
        self.each(|o| o.took_in(lpn, parts));
    }

    fn filled(&mut self, lpn: Lpn) {
        self.each(|o| o.filled(lpn));
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.each(|o| o.trimmed(lpn));
    }

    fn lost(&mut self, lpn: Lpn) {
        self.each(|o| o.lost(lpn));
    }

    fn gathered(&mut self, lpn: Lpn, from: Ppn) {
        self.each(|o| o.gathered(lpn, from));
    }

    fn xored(&mut self, number: u32, source: XorSource) {
        self.each(|o| o.xored(number, source));
    }

    fn recovering(&mut self, lpn: Lpn, number: u32) {
        self.each(|o| o.recovering(lpn, number));
    }

    fn rebuilt(&mut self, lpn: Lpn, number: u32) {
        self.each(|o| o.rebuilt(lpn, number));
    }

    fn superseded(&mut self, lpn: Lpn) {
        self.each(|o| o.superseded(lpn));
    }

    fn unprotected(&mut self, stripe: u32) {
        self.each(|o| o.unprotected(stripe));
    }

    fn delayed(&mut self, stripe: u32, number: u32, covered: u64, exposed: u64) {
        self.each(|o| o.delayed(stripe, number, covered, exposed));
    }

    fn lives_in(&mut self, stage: u8) {
        self.each(|o| o.lives_in(stage));
    }

    fn failed(&mut self, pages: Stretch) {
        self.each(|o| o.failed(pages));
    }

    fn rebuild_done(&mut self) {
        self.each(Observer::rebuild_done);
    }

    fn awaits_parity(&mut self, stripe: u32) {
        self.each(|o| o.awaits_parity(stripe));
    }

    fn needs_no_parity(&mut self, stripe: u32) {
        self.each(|o| o.needs_no_parity(stripe));
    }

    fn padded(&mut self, ppn: Ppn, seq: Seq, cause: Cause) {
        self.each(|o| o.padded(ppn, seq, cause));
    }

    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, seq: Seq, origin: Origin, cause: Cause) {
        self.each(|o| o.programmed(ppn, lpn, seq, origin, cause));
    }

    fn merged(&mut self, block: BlockId, wordline: WordlineInBlock, mode: u8, cause: Cause) {
        self.each(|o| o.merged(block, wordline, mode, cause));
    }

    fn recoded(&mut self, block: BlockId, wordline: Option<WordlineInBlock>, mode: u8) {
        self.each(|o| o.recoded(block, wordline, mode));
    }

    fn hears_alarms(&self) -> bool {
        self.members.iter().any(|member| member.hears_alarms())
    }

    fn alarm(&mut self, block: BlockId) {
        self.each(|o| o.alarm(block));
    }

    fn asks_at(&mut self, block: BlockId, at: Reads) {
        self.each(|o| o.asks_at(block, at));
    }

    fn job_ended(&mut self, block: BlockId) {
        self.each(|o| o.job_ended(block));
    }

    fn moving(&mut self, block: BlockId, pages: Option<&PageSet>, cause: Cause) {
        self.each(|o| o.moving(block, pages, cause));
    }

    fn erased(&mut self, block: BlockId, cause: Cause) {
        self.each(|o| o.erased(block, cause));
    }

    fn preloaded(&mut self, block: BlockId, lpns: &[Lpn]) {
        self.each(|o| o.preloaded(block, lpns));
    }

    fn begins_in_order(&mut self, orders: &[Order], filled: u32) {
        self.each(|o| o.begins_in_order(orders, filled));
    }

    fn preloaded_in_order(&mut self, block: BlockId, first: u32, pages: Order, holds: u32) {
        self.each(|o| o.preloaded_in_order(block, first, pages, holds));
    }

    fn worn_before(&mut self, block: BlockId, pec: u32) {
        self.each(|o| o.worn_before(block, pec));
    }

    fn served_before(&mut self, block: BlockId, doses: &[Quarters]) {
        self.each(|o| o.served_before(block, doses));
    }

    fn clock(&mut self, at: Ns) {
        self.each(|o| o.clock(at));
    }

    fn aged(&mut self, block: BlockId, since: Moment) {
        self.each(|o| o.aged(block, since));
    }

    fn renewed(&mut self, block: BlockId, since: Moment) {
        self.each(|o| o.renewed(block, since));
    }

    fn clock_restarts(&mut self, passed: Ns) {
        self.each(|o| o.clock_restarts(passed));
    }

    fn measured_phase(&mut self) {
        self.each(Observer::measured_phase);
    }

    fn cycles_skipped(&mut self, cycles: u32) {
        self.each(|o| o.cycles_skipped(cycles));
    }

    fn occupied(&mut self, intervals: &[(u32, Ns, Ns)]) {
        self.each(|o| o.occupied(intervals));
    }

    fn wants_time(&self) -> bool {
        self.members.iter().any(|member| member.wants_time())
    }

    fn run_began(&mut self, at: Ns, latencies: &TimedMetrics) {
        self.each_timed(|o| o.run_began(at, latencies));
    }

    fn time(&mut self, events: &[TimeEvent]) {
        self.each_timed(|o| o.time(events));
    }

    fn run_ended(&mut self, pending: &[OpId], latencies: &TimedMetrics) {
        self.each_timed(|o| o.run_ended(pending, latencies));
    }
}

#[cfg(test)]
mod tests;
