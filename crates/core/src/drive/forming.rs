//! Parity where only worn blocks call for it: what a change of a stripe does to it, and how stripes that wait for theirs get it.
//!
//! Whether a stripe needs parity after a change depends on where its pages come to lie. So it is looked up first which blocks they will go to, and
//! only where the counter will be above 0 anything is read for parity. What happens in between may prove that wrong; then the stripe waits, as one
//! does of which a move has brought a page to a worn block.
//!
//! Without time a stripe that waits is formed as soon as nothing else is under way. In time one is formed after the other at the pace at which a die
//! copies pages, behind the host's reads, and at once where too many wait.

use crate::base::streams::HOST;
use crate::base::stripes::Stripes;
use crate::base::units::Lpn;
use crate::drive::Drive;
use crate::drive::striped::Update;

impl Drive {
    /// Begins with a change of a stripe. Tells whether it is going to have parity then: always, where wear does not say so.
    pub(super) fn plans_parity(&mut self, update: &Update) -> bool {
        let Some(by_wear) = self.config.parity.by_wear() else { return true };
        self.ftl.worn.updating = Some(update.stripe);
        let written: Vec<Lpn> = update.written().collect();
        // What makes room may move pages of this stripe, too.
        written.iter().for_each(|lpn| self.make_room_for(*lpn));
        let to_worn: Vec<bool> = written.iter().map(|lpn| self.goes_to_worn_block(*lpn)).collect();
        if by_wear.as_printed {
            return self.ftl.worn.as_printed(update.stripe, to_worn.into_iter()) > 0;
        }
        let leaving = update.pages(true).filter(|lpn| self.ftl.lies_in_worn_block(&self.flash, *lpn)).count() as u32;
        let coming = to_worn.into_iter().filter(|worn| *worn).count() as u32;
        self.ftl.counter(update.stripe) + coming > leaving
    }

    /// Whether a page of the host would be written to a worn block.
    fn goes_to_worn_block(&mut self, lpn: Lpn) -> bool {
        self.ftl.aim(HOST, lpn);
        self.ftl.next_block(&self.flash, HOST).is_some_and(|block| self.ftl.is_worn(&self.flash, block))
    }

    /// Ends a change of a stripe, all but the parity being done, where wear says which stripes have some.
    pub(super) fn end_update_by_wear(&mut self, update: &Update, protected: bool) {
        let (parity, pages) = (update.parity(), update.stripes.data(update.stripe).len() as u64);
        self.ftl.worn.updating = None;
        let had_parity = self.ftl.place_of(parity).is_some();
        if !self.ftl.needs_parity(update.stripe) {
            // Nothing worn is left of it: settling gives back what parity it had.
        } else if protected {
            self.ftl.parity.formed += u64::from(!had_parity);
            self.program_parity_of(update);
            let now = self.flash.now;
            self.ftl.worn.end_waiting(update.stripe, pages, now);
            self.ftl.protect_again(update.stripe);
        } else if update.plans_parity {
            self.ftl.unprotect(&mut self.flash, update.stripe);
        } else {
            // What it had does not count what was written.
            self.ftl.drop_page(&mut self.flash, parity);
        }
        self.ftl.settle_stripe(&mut self.flash, update.stripe);
        self.ftl.settle_parity(&mut self.flash);
    }

    /// Forms stripes that wait, where nothing else is under way: all of them where nothing takes time, and what is too many elsewhere.
    pub(crate) fn form_waiting(&mut self) {
        let Some(stripes) = self.geometry.stripes.filter(|_| self.ftl.worn.is_on() && self.ftl.worn.updating.is_none()) else { return };
        while (!self.flash.is_timed() || self.ftl.worn.are_too_many())
            && let Some(stripe) = self.ftl.worn.longest_waiting()
        {
            self.protect_anew(stripes, stripe);
        }
    }

    /// Forms the stripe that has waited longest if its time has come.
    pub(super) fn form_in_time(&mut self) {
        if self.ftl.worn.next_forming > self.flash.now {
            return;
        }
        if let Some((stripes, stripe)) = self.geometry.stripes.zip(self.ftl.worn.longest_waiting()) {
            self.protect_anew(stripes, stripe);
        }
        self.form_waiting();
        let (flash, ftl, _) = self.parts();
        ftl.pace_forming(flash);
    }

    /// Stripes that have parity.
    pub fn stripes_with_parity(&self) -> u64 {
        let stripes = |stripes: Stripes| (0..stripes.count()).filter(|stripe| self.ftl.place_of(stripes.parity(*stripe)).is_some()).count();
        self.geometry.stripes.map_or(0, |of| stripes(of) as u64)
    }

    /// Stripes whose counter is not the number of their pages in worn blocks: where it goes by the printed rule.
    pub fn miscounted_stripes(&self) -> u64 {
        let Some(stripes) = self.geometry.stripes.filter(|_| self.ftl.worn.is_on()) else { return 0 };
        let is_wrong = |stripe: &u32| self.ftl.counter(*stripe) != self.ftl.pages_in_worn_blocks(&self.flash, stripes, *stripe);
        (0..stripes.count()).filter(is_wrong).count() as u64
    }
}
