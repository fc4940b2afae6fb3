//! Host writes and trims on drives with parity. Pages that leave the write buffer update the parity
//! of their stripe.
//!
//! Pages of one stripe that came in one request leave the buffer together. First, the drive reads
//! all data that the new parity needs. Then it frees space on each die, and programs the pages and
//! the parity. An old version stays in place until the new version is programmed. So flash always
//! holds a stripe and its parity, whatever happens in between.
//!
//! ```text
//! 3 + 1 dies, D1 in part and D2 whole leave, D0 stays:   read D1 (for its rest), D2, P       P' = P ^ D1 ^ D2 ^ D1' ^ D2'      (equation 1)
//!                                                    or  read D1 (for its rest), D0          P' = D0 ^ D1' ^ D2'               (equation 2)
//! ```

mod trims;

use crate::api::parity::{Change, Equation};
use crate::base::streams::HOST;
use crate::base::stripes::{Members, Stripes};
use crate::base::units::{Cause, Lpn, Ppn};
use crate::drive::Drive;
use crate::flash::operate::program::NewPage;
use crate::flash::ops::NandOp;
use crate::ftl::buffer::WHOLE;
use crate::ftl::map::Entry;
use crate::watch::observer::{Event, Origin, XorSource};

/// Stripe in which some pages change.
#[derive(Clone, Copy)]
pub(super) struct Update {
    pub(super) stripes: Stripes,
    pub(super) stripe: u32,
    /// Pages that change.
    pub(super) changing: Members,
    /// Changing pages whose old data is also in the controller's memory, because it was read to
    /// complete the new data.
    pub(super) old_read: Members,
    /// Pages that do not change, and that were on flash when the new parity was computed from them.
    staying: Members,
    /// Changing pages whose program waits for reads.
    pub(super) waiting: Members,
    /// Changing pages that are lost or trimmed, so that nothing is written for them.
    pub(super) gone: Members,
    /// Pages that a partial parity covered and drops.
    pub(super) exposes: Members,
    /// Whether the stripe will have parity.
    pub(super) plans_parity: bool,
    /// Whether the old parity was on flash when it was read.
    has_old_parity: bool,
    /// Whether the parity must not wait.
    pub(super) goes_through: bool,
    /// Number of the computation of the new parity.
    pub(super) number: u32,
    /// Number by which the timed gear recognises operations that belong together.
    pub(super) serial: u32,
}

impl Update {
    fn of(stripes: Stripes, stripe: u32, number: u32) -> Self {
        Self {
            stripes,
            stripe,
            changing: 0,
            old_read: 0,
            staying: 0,
            waiting: 0,
            gone: 0,
            exposes: 0,
            plans_parity: true,
            has_old_parity: false,
            goes_through: false,
            number,
            serial: number,
        }
    }

    pub(super) fn bit(&self, lpn: Lpn) -> Members {
        self.stripes.bit(lpn)
    }

    /// Returns the pages of the stripe that change, or those that stay.
    pub(super) fn pages(self, changing: bool) -> impl Iterator<Item = Lpn> {
        self.stripes.those(self.stripe, if changing { self.changing } else { !self.changing })
    }

    /// Returns the pages that are written.
    pub(super) fn written(self) -> impl Iterator<Item = Lpn> {
        self.stripes.those(self.stripe, self.changing & !self.gone)
    }

    pub(super) fn parity(&self) -> Lpn {
        self.stripes.parity(self.stripe)
    }
}

impl Drive {
    /// Writes the oldest page of the buffer to flash, together with all pages of its stripe from
    /// the same request.
    pub(super) fn flush_stripe(&mut self, stripes: Stripes) {
        let front = *self.ftl.buffer.oldest().expect("the buffer holds a page");
        self.rebuild_stripe(stripes.of(front.lpn));
        let number = self.ftl.next_xor();
        let mut update = Update::of(stripes, stripes.of(front.lpn), number);
        let (mut leaving, through) = (0, self.ftl.buffer.through());
        let by_stripe = self.longest_cached.is_some();
        let goes_with = |n: usize, group: u32| {
            if by_stripe { (n < through) == (through > 0) } else { group == front.group }
        };
        update.goes_through = through > 0;
        while let Some(slot) =
            self.ftl.buffer.nth(leaving).filter(|slot| {
                goes_with(leaving, slot.group) && stripes.of(slot.lpn) == update.stripe
            })
        {
            update.changing |= update.bit(slot.lpn);
            leaving += 1;
        }
        self.leave_without_parity(&update);
        let is_delayed = self.renew_partial(&mut update, true);
        let protected = is_delayed || self.prepare_update(&mut update);
        let kept = if is_delayed { self.to_keep(&update) } else { vec![] };
        for lpn in update.written() {
            self.flash.tell(Event::Xored { number: update.number, source: XorSource::Memory(lpn) });
        }
        for _ in 0..leaving {
            self.program_first(&update);
        }
        if is_delayed {
            self.end_renewal(&update, kept);
            if update.goes_through {
                self.commit(stripes, update.stripe);
            }
        } else {
            self.end_update(&update, protected);
        }
        self.form_waiting();
    }

    /// Reads the missing parts of the leaving pages, and the data that their parity needs, and
    /// ensures free blocks. Returns whether there is a new parity.
    fn prepare_update(&mut self, update: &mut Update) -> bool {
        update.plans_parity = self.plans_parity(update);
        if !update.plans_parity {
            self.complete(update, 0);
            self.make_room(update, false);
            return false;
        }
        let equation = self.equation(update);
        let into_parity = if equation == Equation::Modify { update.changing } else { 0 };
        if !self.complete(update, into_parity) {
            self.begin_anew(update);
        }
        self.prepare_parity(update, equation)
    }

    /// Returns the way to compute the new parity. Without an old parity, there is only one way.
    fn equation(&self, update: &Update) -> Equation {
        if self.ftl.lacks_parity(update.stripes, update.stripe) {
            return Equation::Whole;
        }
        let on_flash = |lpn: &Lpn| self.ftl.place_of(*lpn).is_some();
        let is_whole = |lpn: &Lpn| {
            let slot = self.ftl.map.slot_of(*lpn);
            slot.is_none_or(|slot| self.ftl.buffer.slot(slot).mask == WHOLE)
        };
        let old = update.pages(true).filter(|lpn| is_whole(lpn) && on_flash(lpn)).count() as u32;
        let change = Change {
            to_modify: old + u32::from(on_flash(&update.parity())),
            to_do_whole: update.pages(false).filter(on_flash).count() as u32,
        };
        self.parity.ask("equation", |parity| parity.equation(&change))
    }

    /// Reads the rest of partly written pages. For pages that go `into_parity`, this is also the
    /// read of the old data. Returns whether all old data could be read. If not, the parity must be
    /// computed again.
    pub(super) fn complete(&mut self, update: &mut Update, into_parity: Members) -> bool {
        let mut is_clean = true;
        for lpn in update.pages(true) {
            let slot = *self.ftl.buffer.slot(self.slot_of(lpn));
            let mut whole = !self.ftl.is_lost(lpn);
            if whole && slot.mask != WHOLE && slot.below.ppn().is_some() {
                let is_old = into_parity & update.bit(lpn) != 0;
                let good = self.read_rest(lpn, update, is_old, &mut is_clean);
                whole = (good || self.repair_rest(lpn)) && !self.ftl.is_lost(lpn);
            }
            if !whole {
                update.gone |= update.bit(lpn);
                if !self.ftl.is_lost(lpn) {
                    // A later move must not rebuild the page either.
                    self.ftl.lose_for_good(&mut self.flash, lpn);
                }
            }
        }
        is_clean
    }

    /// Reads the rest of a partly written page. If the rest `is_old` data of the parity, it is also
    /// added to the new parity. Returns whether the rest could be read. If the page was rebuilt
    /// elsewhere meanwhile, the rest is read there, and not added.
    fn read_rest(
        &mut self,
        lpn: Lpn,
        update: &mut Update,
        is_old: bool,
        is_clean: &mut bool,
    ) -> bool {
        let mut number = is_old.then_some(update.number);
        let mut next = self.ftl.place_of(lpn);
        while let Some(from) = next {
            self.host.fill_reads += 1;
            if self.read_at((lpn, from), Cause::Host, number, update.serial) {
                update.waiting |= update.bit(lpn);
                update.old_read |= if number.is_some() { update.bit(lpn) } else { 0 };
                self.make_whole(lpn);
                return true;
            }
            *is_clean &= number.take().is_none();
            next = self.rebuilt_elsewhere(lpn, from);
        }
        false
    }

    /// Begins the computation of the new parity again, because the data read so far cannot be used.
    pub(super) fn begin_anew(&mut self, update: &mut Update) {
        update.number = self.ftl.next_xor();
        update.old_read = 0;
    }

    /// Returns the slot of a page in the write buffer.
    fn slot_of(&self, lpn: Lpn) -> u32 {
        self.ftl.map.slot_of(lpn).expect("a page that is being written is in the buffer")
    }

    /// Marks the page as whole in the controller.
    pub(super) fn make_whole(&mut self, lpn: Lpn) {
        let slot = self.slot_of(lpn);
        self.ftl.buffer.slot_mut(slot).mask = WHOLE;
        self.flash.tell(Event::Filled { lpn });
    }

    /// Reads the data for the new parity by one equation or, if that is not readable, by the other.
    /// Also ensures free blocks. Returns whether there is a new parity.
    fn prepare_parity(&mut self, update: &mut Update, equation: Equation) -> bool {
        if !update.stripes.has_parity(update.stripe) {
            self.make_room(update, false);
            return false;
        }
        let first = self.read_old(update, equation);
        let used = if first {
            equation
        } else {
            self.begin_anew(update);
            if equation == Equation::Modify { Equation::Whole } else { Equation::Modify }
        };
        let ready = first || self.read_old(update, used);
        self.make_room(update, ready);
        // Work in between may have found pages of the stripe that are lost.
        let holds = ready && self.still_holds(update, used);
        match used {
            Equation::Modify => self.ftl.parity.modified += u64::from(holds),
            Equation::Whole => self.ftl.parity.whole += u64::from(holds),
        }
        holds
    }

    /// Reads the data of an equation. Returns whether all of it could be read.
    fn read_old(&mut self, update: &mut Update, equation: Equation) -> bool {
        match equation {
            Equation::Modify => {
                update.has_old_parity = self.has_parity_on_flash(update);
                self.still_holds(update, equation)
                    && self.read_to_modify(update)
                    && self.still_holds(update, equation)
            }
            Equation::Whole => {
                update.staying = self.staying(update);
                self.read_whole(update) && self.still_holds(update, equation)
            }
        }
    }

    /// Returns whether flash still holds what an equation assumes: the old parity with all pages
    /// that it protects, or the data to be read.
    fn still_holds(&self, update: &Update, equation: Equation) -> bool {
        match equation {
            // If the last protected page is lost meanwhile, the old parity is given up, because it
            // contains that page.
            Equation::Modify => {
                !self.ftl.lacks_parity(update.stripes, update.stripe)
                    && self.has_parity_on_flash(update) == update.has_old_parity
            }
            Equation::Whole => self.staying(update) == update.staying,
        }
    }

    fn has_parity_on_flash(&self, update: &Update) -> bool {
        self.ftl.place_of(update.parity()).is_some()
    }

    /// Returns the pages that do not change and are on flash.
    fn staying(&self, update: &Update) -> Members {
        update
            .pages(false)
            .filter(|lpn| self.ftl.place_of(*lpn).is_some())
            .fold(0, |members, lpn| members | update.bit(lpn))
    }

    /// Reads the old parity, and the old data that is not in memory.
    fn read_to_modify(&mut self, update: &Update) -> bool {
        let old = update.stripes.those(update.stripe, update.changing & !update.old_read);
        old.chain([update.parity()]).all(|lpn| self.read_source(lpn, update.number, update.serial))
    }

    /// Reads the data that stays. Data that can neither be read nor be rebuilt is lost.
    fn read_whole(&mut self, update: &Update) -> bool {
        update.pages(false).all(|lpn| self.read_source(lpn, update.number, update.serial))
    }

    /// Reads the data of a page on flash, if any, and adds it to a XOR. The timed gear knows the
    /// program by `serial`. Returns whether the data could be read.
    pub(super) fn read_source(&mut self, lpn: Lpn, number: u32, serial: u32) -> bool {
        let src = self.ftl.place_of(lpn);
        src.is_none_or(|src| self.read_at((lpn, src), Cause::Parity, Some(number), serial))
    }

    /// Reads the data at a place and adds it to a XOR.
    pub(super) fn read_at(
        &mut self,
        (lpn, src): (Lpn, Ppn),
        cause: Cause,
        number: Option<u32>,
        serial: u32,
    ) -> bool {
        let coding = self.flash.read_coding(src);
        let sensed = self.flash.sense(lpn, src, cause, cause == Cause::Host);
        self.flash.record(NandOp::Load { src, coding, level: sensed.level, serial, cause });
        if let Some(number) = number {
            self.flash.tell(Event::Xored { number, source: XorSource::Page(src) });
        }
        self.answer(lpn, src, sensed, true);
        sensed.good
    }

    /// Ensures free blocks wherever the update will write.
    pub(super) fn make_room(&mut self, update: &Update, protected: bool) {
        let parity = Some(update.parity()).filter(|_| protected);
        for lpn in update.written().chain(parity) {
            self.make_room_for(lpn);
        }
    }

    /// Programs the oldest page of the buffer. Its old version is then not needed any more.
    fn program_first(&mut self, update: &Update) {
        let (ftl, mut cx) = self.parts();
        let slot = ftl.buffer.evict().expect("the buffer holds a page");
        let lpn = slot.lpn;
        ftl.map.set(lpn, Entry::UNMAPPED);
        if update.gone & update.bit(lpn) == 0 {
            let data = NewPage { lpn, origin: Origin::Host, cause: Cause::Host };
            let dst = ftl.place(&mut cx, HOST, data);
            let waits = update.waiting & update.bit(lpn) != 0;
            cx.flash.record(NandOp::Striped {
                dst,
                serial: update.serial,
                waits,
                cause: Cause::Host,
            });
        } else {
            // The rest of the page could not be read. A page of old and new parts would be wrong,
            // so the page is reported lost.
            ftl.report_lost(cx.flash, lpn);
        }
        if let Some(below) = slot.below.ppn() {
            ftl.invalidate(cx.flash, below);
        }
    }

    /// Ends an update after everything except the parity. Programs the parity, or gives it up if it
    /// could not be computed.
    fn end_update(&mut self, update: &Update, protected: bool) {
        if self.ftl.worn.is_on() {
            self.end_update_by_wear(update, protected);
            return self.clean_after(update);
        }
        let (flash, ftl) = (&mut self.flash, &mut self.ftl);
        if !ftl.is_on_flash(update.stripe) {
            // All data is zero, and so is the parity.
            ftl.drop_page(flash, update.parity());
            ftl.protect_again(update.stripe);
        } else if !protected {
            ftl.unprotect(flash, update.stripe);
        } else {
            self.place_parity(update.parity(), update.number, update.serial);
            self.ftl.protect_again(update.stripe);
        }
        self.clean_after(update);
    }

    /// Programs a parity page that was computed under a number, with the stripe of this serial
    /// number. Its old version is then not needed any more.
    pub(super) fn place_parity(&mut self, parity: Lpn, number: u32, serial: u32) {
        let (ftl, mut cx) = self.parts();
        let old = ftl.place_of(parity);
        let data = NewPage { lpn: parity, origin: Origin::Xor(number), cause: Cause::Parity };
        let dst = ftl.place(&mut cx, HOST, data);
        cx.flash.record(NandOp::Striped { dst, serial, waits: true, cause: Cause::Parity });
        if let Some(old) = old {
            ftl.invalidate(cx.flash, old);
        }
    }

    /// Ends an update. Background cleaning may then begin.
    pub(super) fn clean_after(&mut self, update: &Update) {
        let (ftl, mut cx) = self.parts();
        if cx.flash.timed {
            for lpn in update.pages(true).chain([update.parity()]) {
                let domain = ftl.domain_of_page(lpn);
                ftl.collect_in_background(&mut cx, domain);
            }
        }
        ftl.level_wear(&mut cx);
        ftl.adjust_in_turn(&mut cx);
    }
}
