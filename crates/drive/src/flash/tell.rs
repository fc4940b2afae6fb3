//! Observers of a drive. Reads are reported in batches, and other events after the reads before
//! them.

use crate::base::units::Ns;
use crate::watch::observer::{Observer, PhysRead};
use crate::watch::several::{Several, find, is, members_of, one_of};

/// Number of reads that are reported at a time.
const BATCH: usize = 32;

/// Observers, if there are any, and the reads that are not reported yet.
#[derive(Default)]
pub(crate) struct Watch {
    /// The only observer, or [`Several`].
    observer: Option<Box<dyn Observer>>,
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
            observer.now(self.told);
        }
        self.pending.reserve_exact(BATCH);
        self.observer = Some(match self.observer.take() {
            None => observer,
            Some(now) => Box::new(Several::with(now, observer)),
        });
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.observer.is_some()
    }

    /// Returns the first observer of this type, after reporting everything so far.
    pub(crate) fn find<T: Observer>(&mut self) -> Option<&mut T> {
        self.flush();
        find(self.observer.as_deref_mut()?)
    }

    /// Removes the observer that was set last, and returns it.
    pub(crate) fn end(&mut self) -> Option<Box<dyn Observer>> {
        self.flush();
        let mut members = members_of(self.observer.take()?);
        let last = members.pop();
        self.observer = one_of(members);
        last
    }

    /// Removes the first observer of this type, and returns it.
    pub(crate) fn end_of<T: Observer>(&mut self) -> Option<Box<dyn Observer>> {
        self.flush();
        let mut members = members_of(self.observer.take()?);
        let found = members.iter().position(|member| is::<T>(member.as_ref()));
        let found = found.map(|place| members.remove(place));
        self.observer = one_of(members);
        found
    }

    pub(crate) fn wants_time(&self) -> bool {
        self.observer.as_ref().is_some_and(|o| o.wants_time())
    }

    pub(crate) fn hears_alarms(&self) -> bool {
        self.observer.as_ref().is_some_and(|o| o.hears_alarms())
    }

    /// Reports a read at this time, in batches.
    #[inline]
    pub(crate) fn note(&mut self, read: PhysRead, now: Ns) {
        if self.observer.is_some() {
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
            if let Some(observer) = &mut self.observer {
                observer.reads(&self.pending);
            }
            self.pending.clear();
        }
    }

    #[inline]
    fn tell_now(&mut self) {
        if self.now != self.told
            && let Some(observer) = &mut self.observer
        {
            self.told = self.now;
            observer.now(self.now);
        }
    }

    /// Reports an event at this time that is not a read.
    #[inline]
    pub(crate) fn tell(&mut self, now: Ns, event: impl FnOnce(&mut dyn Observer)) {
        if self.observer.is_some() {
            self.flush();
            self.now = now;
            self.tell_now();
            event(self.observer.as_mut().expect("checked").as_mut());
        }
    }
}
