//! Flash that has failed: nothing can be read there or is written there, what parity can give back is not lost, and what it cannot is reported before
//! the host goes on.

use std::collections::BTreeSet;
use std::ops::Range;

use vpass_core::base::units::{BlockId, Lpn, Ppn};
use vpass_core::watch::observer::NO_PPN;

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// What is known of failures.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    failed: Vec<Range<Ppn>>,
    /// Pages that must be reported lost before the host goes on.
    lost: BTreeSet<Lpn>,
    /// Pages of which the last failures took what the host might still have read, or what was to complete newer parts of them.
    gone: BTreeSet<Lpn>,
    /// Those of them of which that was the newest data, and those that nothing gives back.
    whole: BTreeSet<Lpn>,
    helpless: BTreeSet<Lpn>,
}

impl Failures {
    #[inline]
    pub(crate) fn is_failed(&self, ppn: Ppn) -> bool {
        !self.failed.is_empty() && self.failed.iter().any(|pages| pages.contains(&ppn))
    }
}

impl Oracle {
    /// Pages have failed.
    pub(crate) fn fail(&mut self, pages: Range<Ppn>) {
        self.stamps.end_loading();
        self.parity.end_loading();
        self.failures.failed.push(pages.clone());
        let per_block = self.geometry.pages_per_block;
        for block in self.geometry.blocks_with(&pages) {
            if pages.len() >= per_block as usize {
                self.retire(block);
            }
            self.keep_from_use(block);
        }
        let stamps: Vec<_> = pages.map(|ppn| (ppn, self.medium.stamp(At::new(&self.geometry, ppn)))).collect();
        for (ppn, stamp) in stamps.into_iter().filter(|(_, stamp)| stamp.lpn < self.geometry.host_pages) {
            let is_there = !self.parity.is_on() || self.parity.places[stamp.lpn as usize] == ppn;
            let completes = self.stamps.newest(stamp.lpn).is_some_and(|newest| newest.is_present() && newest.is_partial());
            if is_there && (self.stamps.is_live(stamp) || completes) {
                self.failures.gone.insert(stamp.lpn);
                if self.stamps.is_live(stamp) {
                    self.failures.whole.insert(stamp.lpn);
                }
            }
        }
        // What an earlier failure took may be past help now.
        let held: Vec<Lpn> = self.failures.gone.iter().copied().filter(|lpn| !self.is_given_back(*lpn)).collect();
        for lpn in held {
            self.failures.helpless.insert(lpn);
            if self.failures.whole.contains(&lpn) {
                self.failures.lost.insert(lpn);
            }
        }
    }

    /// Nobody writes to a block any more; once empty it stays so.
    fn keep_from_use(&mut self, block: BlockId) {
        self.wear.retire(block);
        self.openings.moves(block);
    }

    /// Nobody asks after a block any more.
    fn retire(&mut self, block: BlockId) {
        self.openings.erase(block);
        self.questions.erase(block);
        self.forget_told(block);
        self.jobs.remove(&block);
        self.ageing.end(block);
        self.asked_of_age(block);
        self.forget_adjusted(block);
    }

    /// A block is erased: if a part of it has failed, it is no free one.
    pub(crate) fn keep_failed_from_use(&mut self, block: BlockId) {
        let first = self.geometry.first_page(block);
        if (first..first + self.geometry.pages_per_block).any(|ppn| self.failures.is_failed(ppn)) {
            self.wear.retire(block);
        }
    }

    /// Whether the stripe of a page on failed flash gives it back: it is protected, and nothing else of it has failed or could not be read.
    fn is_given_back(&self, lpn: Lpn) -> bool {
        let Some(stripes) = self.parity.stripes else { return false };
        let stripe = stripes.of(lpn);
        let can_be_read = |other: Lpn| {
            let ppn = self.parity.places[other as usize];
            ppn == NO_PPN || !self.failures.is_failed(ppn) && self.carried(ppn).is_some_and(|stamp| !stamp.tag.is_damaged())
        };
        let others = stripes.data(stripe).chain([stripes.parity(stripe)]).filter(|other| *other != lpn);
        !self.parity.unprotected.contains(&stripe) && { others }.all(can_be_read)
    }

    /// A page is reported lost; tells whether a failure explains it.
    pub(crate) fn explain_by_failure(&mut self, lpn: Lpn) -> bool {
        self.failures.lost.remove(&lpn);
        let on_failed = !self.parity.is_on() || self.failures.is_failed(self.parity.places.get(lpn as usize).copied().unwrap_or(NO_PPN));
        if !on_failed || !self.failures.gone.remove(&lpn) {
            return false;
        }
        self.failures.whole.remove(&lpn);
        if !self.failures.helpless.remove(&lpn) && self.is_given_back(lpn) {
            self.findings.add(Kind::FalseLoss, || format!("lpn {lpn} was reported lost, and its stripe gives it back"));
        }
        true
    }

    /// A page is new, or wanted no more.
    #[inline]
    pub(crate) fn forget_failed(&mut self, lpn: Lpn) {
        if !self.failures.failed.is_empty() {
            for of in [&mut self.failures.gone, &mut self.failures.whole, &mut self.failures.helpless, &mut self.failures.lost] {
                of.remove(&lpn);
            }
        }
    }

    /// The host goes on: what failures have taken is reported.
    #[inline]
    pub(crate) fn check_failures(&mut self) {
        if !self.failures.lost.is_empty() {
            for lpn in std::mem::take(&mut self.failures.lost) {
                self.findings
                    .add(Kind::FalseLoss, || format!("the data of lpn {lpn} is gone with flash that failed, and was not reported lost"));
            }
        }
    }

    /// The drive has rebuilt all that it could.
    pub(crate) fn check_mended(&mut self) {
        let left = self.parity.places.iter().position(|ppn| {
            let is_wanted = || self.carried(*ppn).is_some_and(|stamp| self.stamps.is_live(stamp));
            *ppn != NO_PPN && self.failures.is_failed(*ppn) && is_wanted()
        });
        if let Some(lpn) = left {
            self.findings.add(Kind::Protocol, || format!("all is said to be rebuilt; lpn {lpn} lies on flash that has failed"));
        }
    }

    /// Where a page of a stripe may lie once dies have failed: on its own die or, where that has failed, on one without another page of the stripe.
    pub(crate) fn check_member(&mut self, lpn: Lpn, ppn: Ppn) {
        let Some(stripes) = self.parity.stripes else { return };
        let die_of = |ppn: Ppn| ppn / self.geometry.pages_per_block / self.geometry.blocks_per_domain();
        let (die, own) = (die_of(ppn), u32::from(stripes.die(lpn)));
        let per_die = self.geometry.blocks_per_domain() * self.geometry.pages_per_block;
        let own_has_failed = self.failures.failed.iter().any(|pages| pages.start <= own * per_die && pages.end >= (own + 1) * per_die);
        let shares = |other: &Lpn| {
            let place = self.parity.places[*other as usize];
            *other != lpn && place != NO_PPN && die_of(place) == die
        };
        let stripe = stripes.of(lpn);
        let with = stripes.data(stripe).chain([stripes.parity(stripe)]).find(shares);
        if die != own && (!own_has_failed || with.is_some()) {
            self.findings.add(Kind::Protocol, || format!("lpn {lpn} of stripe {stripe} was written to die {die}; it belongs on die {own}"));
        }
    }
}
