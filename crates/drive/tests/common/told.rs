//! Reports of a drive about its partial parities and jobs, and the order in which blocks were
//! erased and wordlines reprogrammed.

use std::sync::{Arc, Mutex};

use vpass_drive::base::units::{BlockId, Lpn, Reads, WordlineInBlock};
use vpass_drive::watch::observer::{Event, Observer, XorSource};

/// Reports in their order.
#[derive(Clone, Default)]
pub(crate) struct Told(pub(crate) Arc<Mutex<Vec<Report>>>);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Report {
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
    fn add(&self, report: Report) {
        self.0.lock().unwrap().push(report);
    }
}

impl Observer for Told {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Xored { number, source } => self.add(Report::Added(number, source)),
            Event::Delayed { stripe, number, covered, .. } => {
                self.add(Report::Delayed(stripe, number, covered))
            }
            Event::Programmed { lpn, .. } => self.add(Report::Programmed(lpn)),
            Event::Erased { .. } => self.add(Report::Erased),
            Event::Merged { block, wordline, .. } => self.add(Report::Merged(block, wordline)),
            Event::JobBegan { block, .. } => self.add(Report::JobBegan(block)),
            Event::JobEnded { block } => self.add(Report::JobEnded(block)),
            Event::AsksAt { block, at } => self.add(Report::AskedAt(block, at)),
            _ => {}
        }
    }
}
