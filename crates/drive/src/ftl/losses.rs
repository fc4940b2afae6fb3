//! Host pages that the drive has reported lost, until they are written again.

use crate::base::units::{Cause, Lpn, Ppn};
use crate::flash::Flash;
use crate::flash::operate::sense::Sensed;
use crate::ftl::Ftl;
use crate::ftl::map::Entry;
use crate::watch::observer::Event;

impl Ftl {
    /// Senses a page for the drive itself. Unreadable data is reported lost, unless newer data
    /// hides it or parity may rebuild it.
    pub(crate) fn sense(
        &mut self,
        flash: &mut Flash,
        lpn: Lpn,
        ppn: Ppn,
        cause: Cause,
        hidden: bool,
    ) -> Sensed {
        let sensed = flash.sense(lpn, ppn, cause, hidden);
        if !sensed.good && !hidden && self.stripes.is_none() {
            self.report_lost(flash, lpn);
        }
        sensed
    }

    /// Returns whether the drive reported this page as lost and it was not written since.
    pub(crate) fn is_lost(&self, lpn: Lpn) -> bool {
        self.lost.get(lpn.index() / 64).is_some_and(|word| word >> (lpn.number() % 64) & 1 == 1)
    }

    /// Returns the lost pages, one bit each; empty until the first.
    pub(crate) fn lost_words(&self) -> &[u64] {
        &self.lost
    }

    /// Reports the host's data at a page as lost, once. The page on flash has not been dropped yet.
    pub(crate) fn report_lost(&mut self, flash: &mut Flash, lpn: Lpn) {
        let by_age = self
            .place_of(lpn)
            .and_then(|ppn| flash.aged(ppn))
            .is_some_and(|aged| flash.is_lost_by_age(aged));
        self.report_lost_by(flash, lpn, by_age);
    }

    /// Reports a page as lost. `by_age` says whether age made its data unreadable.
    pub(crate) fn report_lost_by(&mut self, flash: &mut Flash, lpn: Lpn, by_age: bool) {
        if self.is_lost(lpn) {
            return;
        }
        if self.lost.is_empty() {
            self.lost = vec![0; (flash.geometry.host_pages as usize).div_ceil(64)];
        }
        self.lost[lpn.index() / 64] |= 1 << (lpn.number() % 64);
        self.lost_pages += 1;
        self.lost_by_age += u64::from(by_age);
        flash.note_lost(lpn);
        flash.tell(Event::Lost { lpn });
    }

    /// Returns the place of the data of a page on flash, if there is any.
    pub(crate) fn place_of(&self, lpn: Lpn) -> Option<Ppn> {
        let entry = self.map.get(lpn);
        entry.slot().map_or(entry, |slot| self.buffer.slot(slot).below).ppn()
    }

    /// Sets a new place for the data that flash had of a page, or none. Data in the write buffer
    /// stays.
    pub(super) fn set_place(&mut self, lpn: Lpn, place: Entry) {
        match self.map.slot_of(lpn) {
            None => self.map.set(lpn, place),
            Some(slot) => self.buffer.slot_mut(slot).below = place,
        }
    }

    pub(crate) fn clear_lost(&mut self, flash: &mut Flash, lpn: Lpn) {
        if self.is_lost(lpn) {
            flash.note_lost(lpn);
        }
        if let Some(word) = self.lost.get_mut(lpn.index() / 64) {
            *word &= !(1 << (lpn.number() % 64));
        }
    }
}
