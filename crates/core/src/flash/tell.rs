//! Whoever watches the flash: reads are told of in batches, anything else after the reads that came before it.

use crate::flash::Flash;
use crate::watch::observer::{Observer, PhysRead};

/// Reads that the observer is told of at a time.
const BATCH: usize = 32;

/// Who watches, if anyone does, and the reads that are still to be told of.
#[derive(Default)]
pub(crate) struct Watch {
    observer: Option<Box<dyn Observer>>,
    pending: Vec<PhysRead>,
}

impl Flash {
    /// Sets who watches.
    pub(crate) fn observe(&mut self, observer: Box<dyn Observer>) {
        self.watch.pending.reserve_exact(BATCH);
        self.watch.observer = Some(observer);
    }

    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.observer.is_some()
    }

    /// Who watches, told of everything so far.
    pub(crate) fn watcher(&mut self) -> Option<&mut dyn Observer> {
        self.flush_reads();
        self.watch.observer.as_deref_mut()
    }

    /// Ends watching and gives the watcher back.
    pub(crate) fn end_observation(&mut self) -> Option<Box<dyn Observer>> {
        self.flush_reads();
        self.watch.observer.take()
    }

    pub(crate) fn observer_wants_time(&self) -> bool {
        self.watch.observer.as_ref().is_some_and(|o| o.wants_time())
    }

    /// Tells the observer of a read, a batch at a time.
    #[inline]
    pub(crate) fn note_read(&mut self, read: PhysRead) {
        if self.watch.observer.is_some() {
            self.watch.pending.push(read);
            if self.watch.pending.len() == BATCH {
                self.flush_reads();
            }
        }
    }

    fn flush_reads(&mut self) {
        if let Some(observer) = &mut self.watch.observer
            && !self.watch.pending.is_empty()
        {
            observer.reads(&self.watch.pending);
            self.watch.pending.clear();
        }
    }

    /// Tells the observer of anything but reads, after the reads that came before it.
    #[inline]
    pub(crate) fn tell(&mut self, event: impl FnOnce(&mut dyn Observer)) {
        if self.watch.observer.is_some() {
            self.flush_reads();
            event(self.watch.observer.as_mut().expect("checked").as_mut());
        }
    }
}
