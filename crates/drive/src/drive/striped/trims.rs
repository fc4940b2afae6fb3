//! Trims on drives with parity. The parity of a stripe forgets the trimmed pages.

use super::Update;
use crate::api::parity::Equation;
use crate::base::stripes::Stripes;
use crate::base::units::Lpns;
use crate::drive::Drive;
use crate::ftl::map::Entry;
use crate::watch::observer::Event;

impl Drive {
    /// Trims whole host pages.
    pub(crate) fn trim_striped(&mut self, stripes: Stripes, pages: &Lpns) {
        let mut next = pages.start;
        while next < pages.end {
            let end = stripes.data(stripes.of(next)).end.min(pages.end);
            self.trim_in_stripe(stripes, Lpns { start: next, end });
            next = end;
        }
        self.form_waiting();
    }

    /// Handles a changing stripe whose parity has no place any more after a die failure. The
    /// existing parity is now outdated, and may be in the way.
    pub(super) fn leave_without_parity(&mut self, update: &Update) {
        let has_no_place =
            !update.stripes.has_parity(update.stripe) && self.ftl.is_on_flash(update.stripe);
        if has_no_place && self.ftl.may_give_up_parity(update.stripes, update.stripe) {
            self.ftl.unprotect(&mut self.flash, update.stripe);
        }
    }

    /// Gives an unprotected stripe parity again, if all its pages can be read.
    pub(in crate::drive) fn protect_anew(&mut self, stripes: Stripes, stripe: u32) {
        let mut update = Update::of(stripes, stripe, self.ftl.next_xor());
        self.ftl.worn.updating = Some(stripe);
        let protected = self.prepare_parity(&mut update, Equation::Whole);
        self.end_update(&update, protected);
    }

    pub(super) fn trim_in_stripe(&mut self, stripes: Stripes, pages: Lpns) {
        self.rebuild_stripe(stripes.of(pages.start));
        let number = self.ftl.next_xor();
        let mut update = Update::of(stripes, stripes.of(pages.start), number);
        for lpn in pages.clone() {
            // The parity does not contain pages that were never on flash.
            update.changing |= if self.ftl.place_of(lpn).is_some() { update.bit(lpn) } else { 0 };
        }
        update.gone = update.changing;
        let changes = update.changing != 0;
        self.leave_without_parity(&update);
        let is_delayed = changes && self.renew_partial(&mut update, false);
        let mut protected = is_delayed;
        if changes && !is_delayed {
            update.plans_parity = self.plans_parity(&update);
            let equation = self.equation(&update);
            protected = update.plans_parity && self.prepare_parity(&mut update, equation);
        }
        let kept = if is_delayed { self.to_keep(&update) } else { vec![] };
        for lpn in pages {
            self.ftl.clear_lost(&mut self.flash, lpn);
            self.flash.tell(Event::Trimmed { lpn });
            self.ftl.drop_page(&mut self.flash, lpn);
            if let Some(slot) = self.ftl.map.slot_of(lpn) {
                self.ftl.buffer.discard(slot);
                self.ftl.map.set(lpn, Entry::UNMAPPED);
            }
        }
        match (changes, is_delayed) {
            (true, true) => self.end_renewal(&update, kept),
            (true, false) => self.end_update(&update, protected),
            (false, _) => self.ftl.forgive_empty(update.stripe),
        }
    }
}
