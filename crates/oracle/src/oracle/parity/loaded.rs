//! Records of stripes at the start. A drive reports its start page by page, or as a computed start.
//! After a computed start, the records of a stripe are loaded when something first happens to it.

use vpass_drive::base::stripes::Stripes;
use vpass_drive::base::units::{Lpn, Ppn};
use vpass_drive::watch::observer::NO_PPN;

use super::{Parity, payload};
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::Stamp;

impl Parity {
    /// Notes a computed start. Each parity has the right content.
    ///
    /// # Errors
    /// Reports a drive on which wear decides about parity. The oracle must know where all pages of
    /// such a drive lie.
    pub(crate) fn begin(&mut self) -> Result<(), String> {
        if self.worn.is_on() {
            return Err("a computed start, but wear decides which stripes have parity".into());
        }
        self.is_loading = false;
        if let Some(records) = &mut self.records {
            records.begin();
        }
        Ok(())
    }

    /// Loads the records of a stripe to which nothing has happened since a computed start.
    fn load_stripe(&mut self, stripe: u32, pages: &[(Lpn, Ppn)]) {
        let first = |lpn| payload(Stamp::first(lpn));
        let pages = pages.iter().map(|(lpn, ppn)| (*lpn, *ppn, first(*lpn)));
        self.records_mut().load(stripe, pages);
    }

    /// Ends the report of the content at the start. Each parity has the right content.
    pub(crate) fn end_loading(&mut self) {
        if std::mem::take(&mut self.is_loading) {
            let Some(stripes) = self.stripes else { return };
            (0..stripes.count()).for_each(|stripe| self.sum_up_loaded(stripes, stripe));
            self.wrong.clear();
            self.worn.end_loading();
            if self.worn.is_on() {
                (0..stripes.count()).for_each(|stripe| self.weigh(stripe));
            }
        }
    }

    /// Records the place of a page at the start. Its payload is computed later, in the order of the
    /// pages, because stripes are checked only after all places are known.
    pub(super) fn load(&mut self, lpn: Lpn, (ppn, stamp): (Ppn, Stamp)) {
        let stands = if stamp == Stamp::first(lpn) { 0 } else { payload(stamp) };
        self.records_mut().put(lpn, ppn, stands);
    }

    /// Computes the payload of each page of a stripe at the start, and their sum. The parity of the
    /// stripe has the right content.
    fn sum_up_loaded(&mut self, stripes: Stripes, stripe: u32) {
        let records = self.records();
        let lying = |lpn: Lpn| {
            let (ppn, stands) = (records.place(lpn), records.stands(lpn));
            let is_first = stands == 0 && ppn != NO_PPN;
            (lpn, ppn, if is_first { payload(Stamp::first(lpn)) } else { stands })
        };
        let pages = stripes.data(stripe).chain([stripes.parity(stripe)]).map(lying);
        let pages: Vec<_> = pages.filter(|(_, ppn, _)| *ppn != NO_PPN).collect();
        self.records_mut().load(stripe, pages.into_iter());
    }

    /// Fetches the place of a page that will be loaded soon.
    #[inline]
    pub(crate) fn prefetch_load(&self, lpn: Lpn) {
        if let Some(records) = &self.records {
            records.prefetch(lpn);
        }
    }
}

impl Oracle {
    /// Loads the records of a page's stripe. Each report that changes a stripe, or that needs its
    /// records, comes here first. Numbers that are not pages of a stripe have no records.
    #[inline]
    pub(crate) fn know_stripe_of(&mut self, lpn: Lpn) {
        if let Some(stripes) = self.parity.stripes_with(lpn) {
            self.know_stripe(stripes, stripes.of(lpn));
        }
    }

    #[inline]
    pub(crate) fn know_stripe(&mut self, stripes: Stripes, stripe: u32) {
        if !self.parity.records().knows(stripe) {
            self.load_stripe(stripes, stripe);
        }
    }

    /// Loads the records of a stripe to which nothing has happened since a computed start. Checks
    /// that each page of the stripe has a place, which still holds it, on a die of its own.
    #[cold]
    #[inline(never)]
    fn load_stripe(&mut self, stripes: Stripes, stripe: u32) {
        let Some(begun) = self.truth.medium.begun() else { return };
        let pages = stripes.data(stripe).chain([stripes.parity(stripe)]);
        let place_of = |lpn: Lpn| {
            begun.place_of(lpn).filter(|ppn| {
                self.truth.carried(*ppn).is_some_and(|stamp| stamp.undamaged() == Stamp::first(lpn))
            })
        };
        let places: Vec<(Lpn, Option<Ppn>)> =
            pages.filter(|lpn| begun.has(*lpn)).map(|lpn| (lpn, place_of(lpn))).collect();
        let lying: Vec<(Lpn, Ppn)> =
            places.iter().filter_map(|(lpn, ppn)| Some((*lpn, (*ppn)?))).collect();
        self.parity.load_stripe(stripe, &lying);
        for (lpn, ppn) in lying {
            self.check_member(lpn, ppn);
        }
        if let Some((lpn, _)) = places.iter().find(|(_, ppn)| ppn.is_none()) {
            self.findings.add(Kind::Stamp, || {
                format!("lpn {lpn} of stripe {stripe} does not lie where the start put it")
            });
        }
    }
}
