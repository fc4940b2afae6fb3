//! Whoever watches a drive: reads are told of in batches, anything else after the reads that came
//! before it.

use crate::watch::observer::{Observer, PhysRead};

/// Reads that the observer is told of at a time.
const BATCH: usize = 32;

/// Who watches, if anyone does, and the reads that are still to be told of.
#[derive(Default)]
pub(crate) struct Watch {
    observer: Option<Box<dyn Observer>>,
    pending: Vec<PhysRead>,
}

impl Watch {
    /// Sets who watches.
    pub(crate) fn begin(&mut self, observer: Box<dyn Observer>) {
        self.pending.reserve_exact(BATCH);
        self.observer = Some(observer);
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.observer.is_some()
    }

    /// Who watches, told of everything so far.
    pub(crate) fn watcher(&mut self) -> Option<&mut dyn Observer> {
        self.flush();
        self.observer.as_deref_mut()
    }

    /// Ends watching and gives the watcher back.
    pub(crate) fn end(&mut self) -> Option<Box<dyn Observer>> {
        self.flush();
        self.observer.take()
    }

    pub(crate) fn wants_time(&self) -> bool {
        self.observer.as_ref().is_some_and(|o| o.wants_time())
    }

    /// Tells the observer of a read, a batch at a time.
    #[inline]
    pub(crate) fn note(&mut self, read: PhysRead) {
        if self.observer.is_some() {
            self.pending.push(read);
            if self.pending.len() == BATCH {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        if let Some(observer) = &mut self.observer
            && !self.pending.is_empty()
        {
            observer.reads(&self.pending);
            self.pending.clear();
        }
    }

    /// Tells the observer of anything but reads.
    #[inline]
    pub(crate) fn tell(&mut self, event: impl FnOnce(&mut dyn Observer)) {
        if self.observer.is_some() {
            self.flush();
            event(self.observer.as_mut().expect("checked").as_mut());
        }
    }
}
