//! Repair: a page that cannot be read is computed from the other pages of its stripe. Some stripes
//! have no parity for this.
//!
//! A stripe's parity is the XOR of the data of its pages on flash. A page counts as zero if it was
//! never written, was trimmed or is lost. A page with newer data in the write buffer counts with
//! its older data.

use crate::base::stripes::Stripes;
use crate::base::units::{Cause, Lpn, Ppn};
use crate::flash::Flash;
use crate::flash::ops::NandOp;
use crate::ftl::Ftl;
use crate::ftl::buffer::WHOLE;
use crate::ftl::map::Entry;
use crate::ftl::partial::Part;
use crate::ftl::retire::Beyond;
use crate::watch::observer::{Event, XorSource};

impl Ftl {
    /// Returns a new number for a XOR computation.
    pub(crate) fn next_xor(&mut self) -> u32 {
        self.xors = self.xors.wrapping_add(1);
        self.xors
    }

    /// Returns whether the parity of a stripe was given up and not programmed since.
    pub(crate) fn is_unprotected(&self, stripe: u32) -> bool {
        self.unprotected
            .get(stripe as usize / 64)
            .is_some_and(|word| word >> (stripe % 64) & 1 == 1)
    }

    /// Returns the number of stripes whose parity was given up.
    pub(crate) fn unprotected_stripes(&self) -> u64 {
        self.unprotected.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Records that the parity of a stripe is valid again.
    pub(crate) fn protect_again(&mut self, stripe: u32) {
        if let Some(word) = self.unprotected.get_mut(stripe as usize / 64) {
            *word &= !(1 << (stripe % 64));
        }
    }

    /// Gives up the parity of a stripe, and with it the stripe's data on failed flash.
    pub(crate) fn unprotect(&mut self, flash: &mut Flash, stripe: u32) {
        self.unprotect_because(flash, stripe, Beyond::AnotherPage);
    }

    /// Gives up the parity of a stripe. `beyond` says why parity cannot restore the data lost with
    /// it.
    pub(crate) fn unprotect_because(&mut self, flash: &mut Flash, stripe: u32, beyond: Beyond) {
        let Some(stripes) = self.stripes else { return };
        self.lose_what_failed(flash, stripe, beyond);
        self.drop_page(flash, stripes.parity(stripe));
        self.partial.end(stripe, flash.now);
        self.worn.end_waiting(stripe, stripes.data(stripe).len() as u64, flash.now);
        if self.is_unprotected(stripe) {
            return;
        }
        if self.unprotected.is_empty() {
            self.unprotected = vec![0; (stripes.count() as usize).div_ceil(64)];
        }
        self.unprotected[stripe as usize / 64] |= 1 << (stripe % 64);
        self.parity.given_up += 1;
        flash.tell(Event::Unprotected { stripe });
    }

    /// Handles a page that can be neither read from flash nor rebuilt. Its data is lost, unless the
    /// write buffer has newer data, and its stripe is unprotected.
    pub(crate) fn lose_for_good(&mut self, flash: &mut Flash, lpn: Lpn) {
        let Some(stripes) = self.stripes else { return };
        if !stripes.is_parity(lpn) {
            self.lose_page(flash, lpn, Beyond::AnotherPage);
        }
        // Without parity, none is given up, and the rest of the stripe may still get parity.
        if stripes.is_parity(lpn) || self.may_give_up_parity(stripes, stripes.of(lpn)) {
            self.unprotect(flash, stripes.of(lpn));
        }
        self.forgive_empty(stripes.of(lpn));
        self.touch_after_failure(flash, stripes.of(lpn));
        self.settle_parity(flash);
    }

    /// Marks a stripe as protected if flash holds none of its data: there is nothing to protect.
    pub(crate) fn forgive_empty(&mut self, stripe: u32) {
        if self.is_unprotected(stripe) && !self.is_on_flash(stripe) {
            self.protect_again(stripe);
        }
    }

    /// After the failure of a die, some stripes have no place for their parity. They do not wait
    /// for it any more, and it is not rebuilt.
    pub(crate) fn give_up_parity_without_place(&mut self, flash: &mut Flash, stripes: Stripes) {
        for stripe in (0..stripes.count()).filter(|stripe| !stripes.has_parity(*stripe)) {
            if self.worn.waits(stripe) || self.lies_on_failed(flash, stripes.parity(stripe)) {
                self.unprotect(flash, stripe);
            }
        }
    }

    /// Returns whether flash holds any host page of a stripe.
    pub(crate) fn is_on_flash(&self, stripe: u32) -> bool {
        self.stripes
            .is_some_and(|stripes| stripes.data(stripe).any(|lpn| self.place_of(lpn).is_some()))
    }

    /// Returns whether the write buffer holds all of a page.
    pub(crate) fn is_whole_in_memory(&self, lpn: Lpn) -> bool {
        self.map.slot_of(lpn).is_some_and(|slot| self.buffer.slot(slot).mask == WHOLE)
    }

    /// Prepares for writing a rebuilt page to another die than its old one. If this die holds its
    /// stripe's parity, the parity is given up.
    pub(crate) fn make_way(&mut self, flash: &mut Flash, lpn: Lpn, from: Ppn) {
        let stripes = self
            .stripes
            .filter(|stripes| !stripes.is_parity(lpn) && !stripes.has_parity(stripes.of(lpn)));
        if let Some(stripes) = stripes.filter(|stripes| {
            stripes.die(lpn) != flash.geometry.die_of(flash.geometry.block_of(from))
        }) {
            self.unprotect(flash, stripes.of(lpn));
        }
    }

    /// Drops the data of a page on flash.
    pub(crate) fn drop_page(&mut self, flash: &mut Flash, lpn: Lpn) {
        if let Some(ppn) = self.place_of(lpn) {
            self.invalidate(flash, ppn);
            self.set_place(lpn, Entry::UNMAPPED);
        }
    }

    /// Computes the data of a page on flash from the other pages of its stripe. Returns the number
    /// of the computation; `None` if it is impossible.
    pub(crate) fn rebuild(&mut self, flash: &mut Flash, lpn: Lpn) -> Option<u32> {
        let parts = self.parts_of(lpn)?;
        if self.has_failed_part(flash, &parts) {
            return None;
        }
        let number = self.next_xor();
        flash.tell(Event::Recovering { lpn, number });
        let is_read = self.read_parts(flash, &parts, number);
        self.parity.recoveries += 1;
        self.note_unasked(flash, &parts);
        if !is_read {
            return None;
        }
        self.parity.rebuilt += 1;
        Some(number)
    }

    /// Returns the inputs to rebuild a page; `None` if its stripe's parity does not protect it.
    fn parts_of(&self, lpn: Lpn) -> Option<Vec<Part>> {
        let stripes = self.stripes?;
        let stripe = stripes.of(lpn);
        if self.lacks_parity(stripes, stripe) || self.partial.is_exposed(stripes, lpn) {
            return None;
        }
        let others = || {
            stripes
                .data(stripe)
                .chain([stripes.parity(stripe)])
                .filter(|other| *other != lpn)
                .map(Part::Page)
        };
        Some(self.parts_with_partial(stripes, lpn).unwrap_or_else(|| others().collect()))
    }

    pub(super) fn has_failed_part(&self, flash: &Flash, parts: &[Part]) -> bool {
        flash.has_any_failed()
            && parts.iter().any(|part| match *part {
                Part::Partial(_) => false,
                Part::Page(lpn) => self.lies_on_failed(flash, lpn),
                Part::Kept(_, src) => flash.is_failed(src),
            })
    }

    /// Returns why parity does not restore a page on failed flash. Returns `None` if it does, as
    /// far as failures are known.
    pub(crate) fn beyond(&self, flash: &Flash, lpn: Lpn) -> Option<Beyond> {
        match self.parts_of(lpn) {
            None => Some(self.why_without_parity(lpn)),
            Some(parts) => self.has_failed_part(flash, &parts).then_some(Beyond::AnotherPage),
        }
    }
}

/// Reads a page as an input of a numbered computation, and returns whether it could be read.
pub(super) fn read_for_xor(flash: &mut Flash, (lpn, src): (Lpn, Ppn), number: u32) -> bool {
    let coding = flash.read_coding(src);
    let sensed = flash.sense(lpn, src, Cause::Parity, true);
    flash.record(NandOp::Load {
        src,
        coding,
        level: sensed.level,
        serial: number,
        cause: Cause::Parity,
    });
    flash.tell(Event::Xored { number, source: XorSource::Page(src) });
    sensed.good
}
