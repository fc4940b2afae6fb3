//! Parity that is programmed late. Pages that leave the write buffer update the partial parity of
//! their stripe. A stripe is committed when another stripe needs its place in the cache.
//!
//! Reads on the way may start moves, and these may complete a partial parity or remove it. The
//! computation then begins again.

use crate::api::parity::{Covering, Equation, Renewal};
use crate::base::streams::HOST;
use crate::base::stripes::{Members, Stripes};
use crate::base::units::{Cause, Lpn, Ppn};
use crate::drive::Drive;
use crate::drive::striped::Update;
use crate::ftl::partial::Part;
use crate::watch::observer::{Event, XorSource};

impl Drive {
    /// Ensures a place in the cache, and computes the new partial parity of an update except for
    /// the new data. Afterwards, there is space for all pages to be programmed. With `completes`,
    /// partly written pages are completed. If one of these steps is not possible, the result is
    /// false, and parity is not delayed.
    pub(super) fn renew_partial(&mut self, update: &mut Update, completes: bool) -> bool {
        if !self.ftl.partial.is_on() {
            return false;
        }
        self.make_place_for(update);
        let (mut unreadable, mut before) = ([false; 3], None);
        loop {
            if self.ftl.lacks_parity(update.stripes, update.stripe)
                || !update.stripes.has_parity(update.stripe)
            {
                return false;
            }
            let state = self.ftl.partial.state(update.stripe);
            if before.replace(state) != Some(state) {
                unreadable = [false; 3];
            }
            let Some(renewal) = self.renewal(update, unreadable) else {
                self.ftl.unprotect(&mut self.flash, update.stripe);
                return false;
            };
            let good = self.read_to_renew(update, renewal, completes);
            let same = |drive: &Self| {
                drive.ftl.partial.state(update.stripe) == state
                    && !drive.ftl.lacks_parity(update.stripes, update.stripe)
            };
            if good && same(self) {
                self.make_room(update, false);
                if same(self) {
                    return true;
                }
            }
            unreadable[renewal as usize] |= !good;
            self.begin_anew(update);
        }
    }

    /// Returns the way to update the partial parity of an update; `None` if neither way is
    /// readable.
    fn renewal(&self, update: &Update, unreadable: [bool; 3]) -> Option<Renewal> {
        let covered = self.ftl.partial.covered(update.stripe);
        let those = |members| update.stripes.those(update.stripe, members);
        let on_flash =
            |members| those(members).filter(|lpn| self.ftl.place_of(*lpn).is_some()).count() as u32;
        let covering = Covering {
            changing: those(update.changing).count() as u32,
            covered_changing: on_flash(covered & update.changing),
            covered_staying: on_flash(covered & !update.changing),
        };
        let first = self.parity.ask("renewal", |parity| parity.renewal(&covering));
        // A complete partial parity keeps no old versions, and stays complete.
        let is_whole = self.ftl.partial.get(update.stripe).is_some_and(|partial| partial.is_whole);
        let first = if first == Renewal::Expose && (covered == 0 || is_whole) {
            Renewal::Gather
        } else {
            first
        };
        [first, first.other()].into_iter().find(|renewal| !unreadable[*renewal as usize])
    }

    /// Reads the pages for a renewal. Returns whether all of them could be read.
    fn read_to_renew(&mut self, update: &mut Update, renewal: Renewal, completes: bool) -> bool {
        let covered = self.ftl.partial.covered(update.stripe);
        let taken_out = if renewal == Renewal::TakeOut { covered & update.changing } else { 0 };
        if renewal == Renewal::TakeOut && covered != 0 {
            let (number, stripe) = (update.number, update.stripe);
            self.flash.tell(Event::Xored { number, source: XorSource::Partial(stripe) });
        }
        if completes && !self.complete(update, taken_out) {
            return false;
        }
        let (number, serial) = (update.number, update.serial);
        let read = match renewal {
            Renewal::TakeOut => taken_out & update.changing & !update.old_read,
            Renewal::Gather => covered & !update.changing,
            Renewal::Expose => 0,
        };
        let is_read = update
            .stripes
            .those(update.stripe, read)
            .all(|lpn| self.read_source(lpn, number, serial));
        update.exposes = if renewal == Renewal::Expose { covered & !update.changing } else { 0 };
        if covered != 0 {
            // The pages leave the buffer only when the partial parity is in place too.
            update.waiting |= update.written().last().map_or(0, |lpn| update.bit(lpn));
        }
        is_read
    }

    /// Returns the old versions that must be kept. These are the versions in the parity on flash,
    /// for each page that the partial parity covers from this update on.
    pub(super) fn to_keep(&self, update: &Update) -> Vec<(Lpn, Ppn)> {
        let known = self.ftl.partial.counted(update.stripe);
        let new = update.stripes.those(update.stripe, update.changing & !known);
        new.filter_map(|lpn| Some((lpn, self.ftl.place_of(lpn)?))).collect()
    }

    /// Ends an update after its pages were written or trimmed. Its partial parity is then as
    /// computed.
    pub(super) fn end_renewal(&mut self, update: &Update, kept: Vec<(Lpn, Ppn)>) {
        let (flash, ftl) = (&mut self.flash, &mut self.ftl);
        if ftl.is_on_flash(update.stripe) {
            let (covered, exposed) = ftl.partial.renew(
                update.stripes,
                update.stripe,
                (update.changing, update.exposes, kept),
                flash.now,
            );
            ftl.parity.delayed += 1;
            ftl.parity.exposed += u64::from(update.exposes.count_ones());
            flash.tell(Event::Delayed {
                stripe: update.stripe,
                number: update.number,
                covered,
                exposed,
            });
        } else {
            // All data is zero, and so is the parity.
            ftl.drop_page(flash, update.parity());
            ftl.partial.end(update.stripe, flash.now);
        }
        self.clean_after(update);
    }

    /// Handles stripes whose parity was given up, commits due stripes, and frees a place for this
    /// stripe's partial parity.
    fn make_place_for(&mut self, update: &Update) {
        let (stripes, stripe) = (update.stripes, update.stripe);
        while let Some(unprotected) = self.ftl.partial.to_protect.pop() {
            if unprotected != stripe && self.ftl.is_unprotected(unprotected) {
                self.protect_anew(stripes, unprotected);
            }
        }
        while let Some(other) = self
            .ftl
            .partial
            .due()
            .or_else(|| self.ftl.partial.in_the_way_of(stripe).filter(|_| !update.goes_through))
        {
            self.commit(stripes, other);
        }
    }

    /// Programs the parity of a stripe with a partial parity, and ends the partial parity. If the
    /// parity cannot be computed, the stripe is unprotected.
    pub(super) fn commit(&mut self, stripes: Stripes, stripe: u32) {
        self.rebuild_stripe(stripe);
        if !stripes.has_parity(stripe) && self.ftl.partial.get(stripe).is_some() {
            return self.ftl.unprotect(&mut self.flash, stripe);
        }
        let mut unreadable: (Option<u64>, Members) = (None, 0);
        while let Some(state) = self.ftl.partial.state(stripe) {
            if unreadable.0 != Some(state) {
                unreadable = (Some(state), 0);
            }
            let first = self.ftl.change_of(stripes, stripe).cheaper(Equation::Whole);
            let Some(equation) = [first, first.other()]
                .into_iter()
                .find(|equation| unreadable.1 >> *equation as u32 & 1 == 0)
            else {
                return self.ftl.unprotect(&mut self.flash, stripe);
            };
            let number = self.ftl.next_xor();
            if !self.read_to_commit(stripes, stripe, equation, (number, state)) {
                unreadable.1 |= 1 << equation as u32;
                continue;
            }
            self.make_room_for(stripes.parity(stripe));
            if self.ftl.partial.state(stripe) == Some(state) {
                let parity = stripes.parity(stripe);
                self.place_parity(parity, number, number);
                self.ftl.is_programmed(&self.flash, parity);
                match equation {
                    Equation::Modify => self.ftl.parity.modified += 1,
                    Equation::Whole => self.ftl.parity.whole += 1,
                }
            }
        }
    }

    /// Reads the pages from which parity is computed, while the partial parity stays in this state.
    /// Returns whether all pages could be read.
    fn read_to_commit(
        &mut self,
        stripes: Stripes,
        stripe: u32,
        equation: Equation,
        (number, state): (u32, u64),
    ) -> bool {
        self.ftl.parts_of_parity(stripes, stripe, equation).into_iter().all(|part| {
            if self.ftl.partial.state(stripe) != Some(state) {
                // The computation begins again.
                return true;
            }
            match part {
                Part::Partial(stripe) => {
                    self.flash.tell(Event::Xored { number, source: XorSource::Partial(stripe) });
                    true
                }
                Part::Page(lpn) => self.read_source(lpn, number, number),
                Part::Kept(lpn, src) => {
                    self.flash.look_at_kept(src);
                    self.read_at((lpn, src), Cause::Parity, Some(number), number)
                }
            }
        })
    }

    /// Ensures a free block where a page is going to be written.
    pub(super) fn make_room_for(&mut self, lpn: Lpn) {
        let (ftl, mut cx) = self.parts();
        ftl.aim(HOST, lpn);
        if ftl.needs_block(HOST) {
            let domain = ftl.domain_of_page(lpn);
            ftl.ensure_room(&mut cx, domain);
        }
    }
}
