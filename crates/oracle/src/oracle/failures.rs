//! Checks failed flash. Pages there are neither read nor written. Pages that parity can rebuild are
//! not lost. All other pages are reported lost before the host continues.

use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::base::failure::Stretch;
use vpass_drive::base::units::{BlockId, Lpn, Ppn};
use vpass_drive::drive::Drive;
use vpass_drive::drive::failing::TakenByFailures;
use vpass_drive::watch::observer::NO_PPN;

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::Stamp;

/// Reason why a page on failed flash cannot be rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Helpless {
    /// The drive has no parity.
    NoParity,
    /// No parity contains the page's version.
    Unprotected,
    /// No page of the stripe lies in a worn block, so the stripe has no parity.
    NotWorn,
    /// The stripe needs parity, but has none yet.
    Waiting,
    /// Another page that the rebuild needs has failed, too.
    AnotherFailed,
    /// Another page that the rebuild needs could not be read at the drive's last attempt.
    AnotherUnread,
}

/// Knowledge about failures.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    failed: Vec<Stretch>,
    /// Pages that must be reported lost before the host continues.
    lost: BTreeSet<Lpn>,
    /// Pages with data on failed flash that the host might still read, or that newer parts need.
    gone: BTreeSet<Lpn>,
    /// Pages of `gone` whose newest data is on failed flash, and pages that cannot be rebuilt.
    whole: BTreeSet<Lpn>,
    helpless: BTreeMap<Lpn, Helpless>,
    /// Losses that failures explain.
    taken: TakenByFailures,
}

impl Failures {
    #[inline]
    pub(crate) fn is_failed(&self, ppn: Ppn) -> bool {
        !self.failed.is_empty() && self.failed.iter().any(|pages| pages.contains(ppn))
    }
}

impl Oracle {
    /// Records that pages have failed.
    pub(crate) fn fail(&mut self, pages: Stretch) {
        self.parity.end_loading();
        self.parity.failures.failed.push(pages);
        for block in pages.blocks(&self.truth.geometry) {
            if pages
                .covers(self.truth.geometry.first_page(block), self.truth.geometry.pages_per_block)
            {
                self.retire(block);
            }
        }
        let stamps: Vec<_> = pages
            .pages()
            .map(|ppn| (ppn, self.truth.medium.stamp(At::new(&self.truth.geometry, ppn))))
            .collect();
        for (_, stamp) in &stamps {
            self.know_stripe_of(stamp.lpn);
        }
        let completing = self.completing();
        for (ppn, stamp) in stamps
            .into_iter()
            .filter(|(_, stamp)| stamp.lpn.number() < self.truth.geometry.host_pages)
        {
            let is_there = self.parity.place_of(stamp.lpn).is_none_or(|place| place == ppn);
            if is_there
                && (self.truth.stamps.is_live(stamp) || completing.get(&stamp.lpn) == Some(&stamp))
            {
                self.parity.failures.gone.insert(stamp.lpn);
                if self.truth.stamps.is_live(stamp) {
                    self.parity.failures.whole.insert(stamp.lpn);
                }
            }
        }
        // Pages that an earlier failure hit may be beyond repair now.
        let gone: Vec<Lpn> = self.parity.failures.gone.iter().copied().collect();
        for lpn in gone {
            self.weigh_failed(lpn);
        }
    }

    /// Returns, for partly written pages, the newest version on flash, which completes them.
    /// Blocks that are as a computed start left them are not searched. The start itself says where
    /// they hold a partly written page.
    fn completing(&self) -> BTreeMap<Lpn, Stamp> {
        let mut found: BTreeMap<Lpn, Stamp> = BTreeMap::new();
        let mut find = |stamp: Stamp| {
            if self.truth.stamps.is_partly_written(stamp.lpn) {
                let known = found.entry(stamp.lpn).or_insert(stamp);
                *known = stamp.max(*known);
            }
        };
        let searched =
            self.truth.geometry.block_ids().filter(|block| !self.truth.medium.is_as_begun(*block));
        searched
            .flat_map(|block| {
                self.truth.geometry.first_page(block).run(self.truth.geometry.pages_per_block)
            })
            .filter_map(|ppn| self.truth.carried(ppn))
            .for_each(&mut find);
        if let Some(begun) = self.truth.medium.begun() {
            let places = self.truth.stamps.partly_written().filter_map(|lpn| begun.place_of(lpn));
            places.filter_map(|ppn| self.truth.carried(ppn)).for_each(&mut find);
        }
        found
    }

    /// Decides whether a page on failed flash is beyond repair.
    fn weigh_failed(&mut self, lpn: Lpn) {
        if let Some(why) = self.is_beyond(lpn) {
            self.parity.failures.helpless.entry(lpn).or_insert(why);
            // If another page is past its limit, the drive may notice this only when it rebuilds
            // this page.
            if why != Helpless::AnotherUnread && self.parity.failures.whole.contains(&lpn) {
                self.parity.failures.lost.insert(lpn);
            }
        }
    }

    /// Handles a stripe that loses its parity. Its pages on failed flash are beyond repair.
    pub(crate) fn weigh_stripe(&mut self, stripe: u32) {
        let Some(stripes) = self.parity.stripes.filter(|_| !self.parity.failures.gone.is_empty())
        else {
            return;
        };
        for lpn in stripes.data(stripe) {
            if self.parity.failures.gone.contains(&lpn) {
                self.weigh_failed(lpn);
            }
        }
    }

    /// Returns a host page of a stripe that lies on failed flash and can be rebuilt.
    pub(crate) fn to_be_rebuilt(&self, stripe: u32) -> Option<Lpn> {
        let stripes = self.parity.stripes.filter(|_| {
            !self.parity.failures.failed.is_empty() && self.parity.has_parity(stripe)
        })?;
        let records = self.parity.records();
        stripes.data(stripe).find(|lpn| self.parity.failures.is_failed(records.place(*lpn)))
    }

    /// Records that no technique is asked about a block any more.
    fn retire(&mut self, block: BlockId) {
        self.truth.jobs.remove(&block);
        self.truth.ages.end(block);
        self.forget_adjusted(block);
    }

    /// Returns why a page on failed flash cannot be rebuilt, or `None` if it can.
    fn is_beyond(&self, lpn: Lpn) -> Option<Helpless> {
        let Some(stripes) = self.parity.stripes else { return Some(Helpless::NoParity) };
        let stripe = stripes.of(lpn);
        if !self.parity.unprotected.contains(&stripe)
            && self.parity.worn.is_on()
            && !self.parity.has_parity(stripe)
        {
            return Some(if self.parity.worn.should_have_parity(stripe) {
                Helpless::Waiting
            } else {
                Helpless::NotWorn
            });
        }
        let sources =
            if self.parity.unprotected.contains(&stripe) { None } else { self.parity.sources(lpn) };
        let Some(sources) = sources else { return Some(Helpless::Unprotected) };
        if sources.iter().any(|ppn| self.parity.failures.is_failed(*ppn)) {
            return Some(Helpless::AnotherFailed);
        }
        let was_read = |ppn: &Ppn| {
            *ppn == NO_PPN || self.truth.carried(*ppn).is_some_and(|stamp| !stamp.tag.is_damaged())
        };
        (!sources.iter().all(was_read)).then_some(Helpless::AnotherUnread)
    }

    /// Handles the reported loss of a page. Returns whether a failure explains it.
    pub(crate) fn explain_by_failure(&mut self, lpn: Lpn) -> bool {
        // Other pages of the stripe may be lost with it.
        if let Some(stripes) = self.parity.stripes_with(lpn) {
            self.weigh_stripe(stripes.of(lpn));
        }
        self.parity.failures.lost.remove(&lpn);
        let on_failed = !self.parity.is_on()
            || self.parity.failures.is_failed(self.parity.place_of(lpn).unwrap_or(NO_PPN));
        if !on_failed || !self.parity.failures.gone.remove(&lpn) {
            return false;
        }
        self.parity.failures.whole.remove(&lpn);
        let why = self.parity.failures.helpless.remove(&lpn).or_else(|| self.is_beyond(lpn));
        if why.is_none() {
            self.findings.add(Kind::FalseLoss, || {
                format!("lpn {lpn} was reported lost, but its stripe can rebuild it")
            });
        }
        self.parity.failures.taken.pages += 1;
        self.parity.failures.taken.unprotected += u64::from(matches!(
            why,
            Some(Helpless::Unprotected | Helpless::NotWorn | Helpless::Waiting)
        ));
        self.parity.failures.taken.not_worn += u64::from(why == Some(Helpless::NotWorn));
        self.parity.failures.taken.waiting += u64::from(why == Some(Helpless::Waiting));
        self.parity.failures.taken.twice_failed +=
            u64::from(matches!(why, Some(Helpless::AnotherFailed | Helpless::AnotherUnread)));
        true
    }

    /// Forgets a page that is written again or not needed any more.
    #[inline]
    pub(crate) fn forget_failed(&mut self, lpn: Lpn) {
        if !self.parity.failures.failed.is_empty() {
            for of in [
                &mut self.parity.failures.gone,
                &mut self.parity.failures.whole,
                &mut self.parity.failures.lost,
            ] {
                of.remove(&lpn);
            }
            self.parity.failures.helpless.remove(&lpn);
        }
    }

    /// Checks that all losses by failures are reported before the host continues.
    #[inline]
    pub(crate) fn check_failures(&mut self) {
        if !self.parity.failures.lost.is_empty() {
            self.find_unreported();
        }
    }

    /// Reports each page that failures destroyed and that the drive did not report lost.
    #[cold]
    fn find_unreported(&mut self) {
        for lpn in std::mem::take(&mut self.parity.failures.lost) {
            self.findings.add(Kind::FalseLoss, || {
                format!(
                    "the data of lpn {lpn} is lost with failed flash, but it was not reported lost"
                )
            });
        }
    }

    /// Compares the drive's report about failures with the oracle's counts. Also checks that each
    /// page on failed flash can be rebuilt.
    pub(crate) fn check_failure_books(&mut self, drive: &Drive) {
        if self.parity.failures.failed.is_empty() {
            return;
        }
        self.check_failures();
        let (told, seen) =
            (drive.failure_books().unwrap_or_default().taken, self.parity.failures.taken);
        if told != seen {
            self.findings
                .add(Kind::Books, || format!("the drive reports {told:?}; {seen:?} was seen"));
        }
        // Without parity, the oracle does not know which version a page in memory needs.
        let is_wanted = |lpn: &Lpn| self.parity.is_on() || self.parity.failures.whole.contains(lpn);
        let left: Vec<Lpn> = self.parity.failures.gone.iter().copied().filter(is_wanted).collect();
        if let Some((lpn, why)) = left.into_iter().find_map(|lpn| Some((lpn, self.is_beyond(lpn)?)))
        {
            self.findings.add(Kind::FalseLoss, || {
                format!(
                    "lpn {lpn} waits for its rebuild at the end, but it cannot be rebuilt: {why:?}"
                )
            });
        }
    }

    /// Checks the drive's report that all possible rebuilds are done. Every failed page is in a
    /// stripe with loaded records, so other stripes need no look.
    pub(crate) fn check_rebuild_done(&mut self) {
        let Some(stripes) = self.parity.stripes else { return };
        let records = self.parity.records();
        let is_left = |lpn: &Lpn| {
            let ppn = records.place(*lpn);
            let is_wanted = || self.truth.is_live(ppn);
            ppn != NO_PPN && self.parity.failures.is_failed(ppn) && is_wanted()
        };
        let pages = |stripe| stripes.data(stripe).chain([stripes.parity(stripe)]);
        let left = records.known().flat_map(pages).filter(is_left).min();
        if let Some(lpn) = left {
            self.findings.add(Kind::Protocol, || {
                format!(
                    "the drive reports that everything is rebuilt, but lpn {lpn} is on failed flash"
                )
            });
        }
    }

    /// Checks the place of a stripe's page after a failure. It must be the page's own die. If this
    /// die has failed, it must be a die without another page of the stripe.
    pub(crate) fn check_member(&mut self, lpn: Lpn, ppn: Ppn) {
        let Some(stripes) = self.parity.stripes else { return };
        let die_of = |ppn: Ppn| {
            ppn.number()
                / self.truth.geometry.pages_per_block
                / self.truth.geometry.blocks_per_domain()
        };
        let (die, own) = (die_of(ppn), u32::from(stripes.die(lpn)));
        if die == own {
            return;
        }
        let per_die = self.truth.geometry.blocks_per_domain() * self.truth.geometry.pages_per_block;
        let own_has_failed = self
            .parity
            .failures
            .failed
            .iter()
            .any(|pages| pages.covers(Ppn::new(own * per_die), per_die));
        let shares = |other: &Lpn| {
            let place = self.parity.records().place(*other);
            *other != lpn && place != NO_PPN && die_of(place) == die
        };
        let stripe = stripes.of(lpn);
        let with = stripes.data(stripe).chain([stripes.parity(stripe)]).find(shares);
        if !own_has_failed || with.is_some() {
            self.findings.add(Kind::Protocol, || {
                format!(
                    "lpn {lpn} of stripe {stripe} was written to die {die}; it belongs to die {own}"
                )
            });
        }
    }
}
