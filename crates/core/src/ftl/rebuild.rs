//! Repair: a page that cannot be read is worked out from the other pages of its stripe; and which
//! stripes have no parity to do that with.
//!
//! A stripe's parity is the XOR of what flash holds of its pages: a page that was never written,
//! was trimmed or is lost counts as zero, and one with newer data in the write buffer as what it
//! was before.

use crate::base::stripes::Stripes;
use crate::base::units::{Cause, Lpn, Ppn};
use crate::bugs::Bug;
use crate::flash::Flash;
use crate::flash::ops::NandOp;
use crate::ftl::Ftl;
use crate::ftl::buffer::WHOLE;
use crate::ftl::map::Entry;
use crate::ftl::partial::Part;
use crate::ftl::retire::Beyond;
use crate::watch::observer::XorSource;

impl Ftl {
    /// A number for what is going to be worked out.
    pub(crate) fn next_xor(&mut self) -> u32 {
        self.xors = self.xors.wrapping_add(1);
        self.xors
    }

    /// Whether the parity of a stripe was given up and not programmed since.
    pub(crate) fn is_unprotected(&self, stripe: u32) -> bool {
        self.unprotected
            .get(stripe as usize / 64)
            .is_some_and(|word| word >> (stripe % 64) & 1 == 1)
    }

    /// How many there are.
    pub(crate) fn unprotected_stripes(&self) -> u64 {
        self.unprotected.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The parity of a stripe holds again.
    pub(crate) fn protect_again(&mut self, stripe: u32) {
        if let Some(word) = self.unprotected.get_mut(stripe as usize / 64) {
            *word &= !(1 << (stripe % 64));
        }
    }

    /// Gives up the parity of a stripe, and with it what lies of the stripe on failed flash.
    pub(crate) fn unprotect(&mut self, flash: &mut Flash, stripe: u32) {
        self.unprotect_because(flash, stripe, Beyond::AnotherPage);
    }

    /// The same, and why parity does not give back what is lost with that.
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
        flash.tell(|o| o.unprotected(stripe));
    }

    /// What flash holds of a page can neither be read nor be rebuilt: its data is lost, unless
    /// there is newer in the write buffer, and its stripe unprotected.
    pub(crate) fn lose_for_good(&mut self, flash: &mut Flash, lpn: Lpn) {
        let Some(stripes) = self.stripes else { return };
        if !stripes.is_parity(lpn) {
            self.lose_page(flash, lpn, Beyond::AnotherPage);
        }
        // Without parity there is none to give up, and what is left of the stripe may get some.
        if stripes.is_parity(lpn) || self.may_give_up_parity(stripes, stripes.of(lpn)) {
            self.unprotect(flash, stripes.of(lpn));
        }
        self.forgive_empty(stripes.of(lpn));
        self.touch_after_failure(flash, stripes.of(lpn));
        self.settle_parity(flash);
    }

    /// A stripe of which flash holds nothing has nothing to protect.
    pub(crate) fn forgive_empty(&mut self, stripe: u32) {
        if self.is_unprotected(stripe) && !self.is_on_flash(stripe) {
            self.protect_again(stripe);
        }
    }

    /// A die has failed: stripes for whose parity none is left neither wait for it any more nor
    /// have it rebuilt.
    pub(crate) fn give_up_parity_without_place(&mut self, flash: &mut Flash, stripes: Stripes) {
        for stripe in (0..stripes.count()).filter(|stripe| !stripes.has_parity(*stripe)) {
            if self.worn.waits(stripe) || self.lies_on_failed(flash, stripes.parity(stripe)) {
                self.unprotect(flash, stripe);
            }
        }
    }

    /// Whether flash holds any of the host's pages in a stripe.
    pub(crate) fn is_on_flash(&self, stripe: u32) -> bool {
        self.stripes
            .is_some_and(|stripes| stripes.data(stripe).any(|lpn| self.place_of(lpn).is_some()))
    }

    /// Whether the write buffer holds all of a page.
    pub(crate) fn is_whole_in_memory(&self, lpn: Lpn) -> bool {
        self.map.slot_of(lpn).is_some_and(|slot| self.buffer.slot(slot).mask == WHOLE)
    }

    /// A page that was rebuilt is about to be written to another die than that where it lay: where
    /// that is its stripe's parity's, that is given up.
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

    /// What flash holds of a page is not wanted any more.
    pub(crate) fn drop_page(&mut self, flash: &mut Flash, lpn: Lpn) {
        if let Some(ppn) = self.place_of(lpn) {
            self.invalidate(flash, ppn);
            self.set_place(lpn, Entry::UNMAPPED);
        }
    }

    /// Works out what flash holds of a page from the others of its stripe; gives the number under
    /// which that was done, or none where it cannot be.
    pub(crate) fn rebuild(&mut self, flash: &mut Flash, lpn: Lpn) -> Option<u32> {
        let parts = self.parts_of(lpn)?;
        if self.has_failed_part(flash, &parts) && !self.bugs.has(Bug::RebuiltFromGarbage) {
            return None;
        }
        let number = self.next_xor();
        self.parity.recoveries += 1;
        let is_read = self.read_parts(flash, &parts, number);
        self.note_unasked(flash, &parts);
        if !is_read {
            return None;
        }
        self.parity.rebuilt += 1;
        Some(number)
    }

    /// What a page is rebuilt of; none where its stripe's parity does not protect it.
    fn parts_of(&self, lpn: Lpn) -> Option<Vec<Part>> {
        let stripes = self.stripes?;
        let stripe = stripes.of(lpn);
        let is_zero = self.worn.is_on()
            && !self.is_unprotected(stripe)
            && self.bugs.has(Bug::RebuiltWithoutParity);
        if self.lacks_parity(stripes, stripe) && !is_zero || self.partial.is_exposed(stripes, lpn) {
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

    /// Why parity does not give a page on failed flash back; none where it does, as far as failures
    /// are known.
    pub(crate) fn beyond(&self, flash: &Flash, lpn: Lpn) -> Option<Beyond> {
        match self.parts_of(lpn) {
            None => Some(self.why_without_parity(lpn)),
            Some(parts) => self.has_failed_part(flash, &parts).then_some(Beyond::AnotherPage),
        }
    }
}

/// Reads a page for what is worked out under a number; tells whether it could be read.
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
    flash.tell(|o| o.xored(number, XorSource::Page(src)));
    sensed.good
}
