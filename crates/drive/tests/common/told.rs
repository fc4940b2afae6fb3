//! Reports of a drive about its partial parities and jobs, and the order in which blocks were
//! erased and wordlines reprogrammed.

use std::sync::{Arc, Mutex};

use vpass_drive::base::dose::Quarters;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::steady::Order;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ns, Ppn, Reads, Seq, WordlineInBlock};
use vpass_drive::watch::observer::{Observer, Origin, PhysRead, XorSource};

/// Reports in their order.
#[derive(Clone, Default)]
pub(crate) struct Told(pub(crate) Arc<Mutex<Vec<Event>>>);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Added(u32, XorSource),
    Delayed(u32, u32, u64),
    Programmed(Lpn),
    Erased,
    Merged(BlockId, WordlineInBlock),
    JobBegan(BlockId),
    JobEnded(BlockId),
    AskedAt(BlockId, Reads),
}

impl Told {
    fn add(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

impl Observer for Told {
    fn xored(&mut self, number: u32, source: XorSource) {
        self.add(Event::Added(number, source));
    }
    fn delayed(&mut self, stripe: u32, number: u32, covered: u64, _: u64) {
        self.add(Event::Delayed(stripe, number, covered));
    }
    fn programmed(&mut self, _: Ppn, lpn: Lpn, _: Seq, _: Origin, _: Cause) {
        self.add(Event::Programmed(lpn));
    }
    fn erased(&mut self, _: BlockId, _: Cause) {
        self.add(Event::Erased);
    }
    fn merged(&mut self, block: BlockId, wordline: WordlineInBlock, _: u8, _: Cause) {
        self.add(Event::Merged(block, wordline));
    }
    fn moving(&mut self, block: BlockId, _: Option<&PageSet>, _: Cause) {
        self.add(Event::JobBegan(block));
    }
    fn job_ended(&mut self, block: BlockId) {
        self.add(Event::JobEnded(block));
    }
    fn asks_at(&mut self, block: BlockId, at: Reads) {
        self.add(Event::AskedAt(block, at));
    }
    fn reads(&mut self, _: &[PhysRead]) {}
    fn host_wrote(&mut self, _: u64, _: Lpn, _: bool) {}
    fn trimmed(&mut self, _: Lpn) {}
    fn lost(&mut self, _: Lpn) {}
    fn gathered(&mut self, _: Lpn, _: Ppn) {}
    fn padded(&mut self, _: Ppn, _: Seq, _: Cause) {}
    fn recoded(&mut self, _: BlockId, _: Option<WordlineInBlock>, _: u8) {}
    fn preloaded(&mut self, _: BlockId, _: &[Lpn]) {}
    fn begins_in_order(&mut self, _: &[Order], _: u32) {}
    fn preloaded_in_order(&mut self, _: BlockId, _: u32, _: Order, _: u32) {}
    fn served_before(&mut self, _: BlockId, _: &[Quarters]) {}
    fn measured_phase(&mut self) {}
    fn occupied(&mut self, _: &[(u32, Ns, Ns)]) {}
}
