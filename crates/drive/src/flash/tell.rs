//! Observers of a drive. Reads are reported in batches, and other events after the reads before
//! them.

use std::any::Any;

use crate::base::units::Ns;
use crate::watch::observer::{Event, Observer, PhysRead};

/// Number of reads that are reported at a time.
const BATCH: usize = 32;

/// Observers in the order in which they were set, and the reads that are not reported yet.
#[derive(Default)]
pub(crate) struct Watch {
    observers: Vec<Box<dyn Observer>>,
    pending: Vec<PhysRead>,
    /// Time of the last read or event.
    now: Ns,
    told: Ns,
}

impl Watch {
    /// Adds an observer. It gets the events from now on.
    pub(crate) fn begin(&mut self, mut observer: Box<dyn Observer>) {
        self.flush();
        if self.told > 0 {
            observer.take(Event::Now { at: self.told });
        }
        self.pending.reserve_exact(BATCH);
        self.observers.push(observer);
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.observers.is_empty()
    }

    /// Returns the first observer of this type, after reporting everything so far.
    pub(crate) fn find<T: Observer>(&mut self) -> Option<&mut T> {
        self.flush();
        self.observers.iter_mut().find_map(|observer| {
            let observer: &mut dyn Any = observer.as_mut();
            observer.downcast_mut()
        })
    }

    /// Removes the observer that was set last, and returns it.
    pub(crate) fn end(&mut self) -> Option<Box<dyn Observer>> {
        self.flush();
        self.observers.pop()
    }

    /// Removes the first observer of this type, and returns it.
    pub(crate) fn end_of<T: Observer>(&mut self) -> Option<Box<dyn Observer>> {
        self.flush();
        let place = self.observers.iter().position(|observer| {
            let observer: &dyn Any = observer.as_ref();
            observer.is::<T>()
        });
        place.map(|place| self.observers.remove(place))
    }

    pub(crate) fn wants_time(&self) -> bool {
        self.observers.iter().any(|observer| observer.wants_time())
    }

    pub(crate) fn hears_alarms(&self) -> bool {
        self.observers.iter().any(|observer| observer.hears_alarms())
    }

    /// Reports a read at this time, in batches.
    #[inline]
    pub(crate) fn note(&mut self, read: PhysRead, now: Ns) {
        if self.is_on() {
            self.now = now;
            self.pending.push(read);
            if self.pending.len() == BATCH {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            self.tell_now();
            let batch = std::mem::take(&mut self.pending);
            self.send(Event::Reads { batch: &batch });
            self.pending = batch;
            self.pending.clear();
        }
    }

    #[inline]
    fn tell_now(&mut self) {
        if self.now != self.told && self.is_on() {
            self.told = self.now;
            self.send(Event::Now { at: self.now });
        }
    }

    fn send(&mut self, event: Event<'_>) {
        for observer in &mut self.observers {
            if !event.is_of_time() || observer.wants_time() {
                observer.take(event);
            }
        }
    }

    /// Reports an event at this time that is not a read.
    #[inline]
    pub(crate) fn tell(&mut self, now: Ns, event: Event<'_>) {
        if self.is_on() {
            self.flush();
            self.now = now;
            self.tell_now();
            self.send(event);
        }
    }
}

#[cfg(test)]
mod tests;
