//! Flash that has failed: nothing can be read there or is written there, what parity can give back
//! is not lost, and what it cannot is reported before the host goes on.

use std::collections::{BTreeMap, BTreeSet};

use vpass_core::base::failure::Stretch;
use vpass_core::base::stripes::Stripes;
use vpass_core::base::units::{BlockId, Lpn, Ppn};
use vpass_core::drive::Drive;
use vpass_core::drive::failing::TakenByFailures;
use vpass_core::watch::observer::NO_PPN;

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::Stamp;

/// Why nothing gives a page back that lay on failed flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Helpless {
    /// There is no parity on the drive.
    NoParity,
    /// None that counts what it held.
    Unprotected,
    /// No page of its stripe lies in a worn block, so that it has none.
    NotWorn,
    /// Its stripe calls for parity, and has none yet.
    Waiting,
    /// Another page that it takes has failed, too.
    AnotherFailed,
    /// Another page that it takes could not be read when the drive last tried.
    AnotherUnread,
}

/// What is known of failures.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    failed: Vec<Stretch>,
    /// Pages that must be reported lost before the host goes on.
    lost: BTreeSet<Lpn>,
    /// Pages of which failures took what the host might still have read, or what was to complete
    /// newer parts of them.
    gone: BTreeSet<Lpn>,
    /// Those of them of which that was the newest data, and those that nothing gives back.
    whole: BTreeSet<Lpn>,
    helpless: BTreeMap<Lpn, Helpless>,
    /// Losses that failures explain.
    taken: TakenByFailures,
}

impl Failures {
    /// Whether any flash has failed.
    pub(crate) fn is_any(&self) -> bool {
        !self.failed.is_empty()
    }

    #[inline]
    pub(crate) fn is_failed(&self, ppn: Ppn) -> bool {
        !self.failed.is_empty() && self.failed.iter().any(|pages| pages.contains(ppn))
    }
}

impl Oracle {
    /// Pages have failed.
    pub(crate) fn fail(&mut self, pages: Stretch) {
        self.stamps.end_loading();
        self.parity.end_loading();
        self.failures.failed.push(pages);
        for block in pages.blocks(&self.geometry) {
            if pages.covers(self.geometry.first_page(block), self.geometry.pages_per_block) {
                self.retire(block);
            }
            self.keep_from_use(block);
        }
        let stamps: Vec<_> = pages
            .pages()
            .map(|ppn| (ppn, self.medium.stamp(At::new(&self.geometry, ppn))))
            .collect();
        let completing = self.completing();
        for (ppn, stamp) in
            stamps.into_iter().filter(|(_, stamp)| stamp.lpn.number() < self.geometry.host_pages)
        {
            let is_there = !self.parity.is_on() || self.parity.places[stamp.lpn.index()] == ppn;
            if is_there
                && (self.stamps.is_live(stamp) || completing.get(&stamp.lpn) == Some(&stamp))
            {
                self.failures.gone.insert(stamp.lpn);
                if self.stamps.is_live(stamp) {
                    self.failures.whole.insert(stamp.lpn);
                }
            }
        }
        // What an earlier failure took may be past help now.
        let gone: Vec<Lpn> = self.failures.gone.iter().copied().collect();
        for lpn in gone {
            self.weigh_failed(lpn);
        }
    }

    /// For pages that were written in part, what flash carries that completes them: of their
    /// versions there the newest.
    fn completing(&self) -> BTreeMap<Lpn, Stamp> {
        let mut found: BTreeMap<Lpn, Stamp> = BTreeMap::new();
        for stamp in (0..self.raw_pages).filter_map(|ppn| self.carried(Ppn::new(ppn))) {
            if self
                .stamps
                .newest(stamp.lpn)
                .is_some_and(|newest| newest.is_present() && newest.is_partial())
            {
                let known = found.entry(stamp.lpn).or_insert(stamp);
                *known = stamp.max(*known);
            }
        }
        found
    }

    /// Whether a page that lay on failed flash is past help.
    fn weigh_failed(&mut self, lpn: Lpn) {
        if let Some(why) = self.is_beyond(lpn) {
            self.failures.helpless.entry(lpn).or_insert(why);
            // That another page is past its limit the drive may find out when it comes to rebuild
            // this one.
            if why != Helpless::AnotherUnread && self.failures.whole.contains(&lpn) {
                self.failures.lost.insert(lpn);
            }
        }
    }

    /// A stripe has no parity any more: what of it lies on failed flash is past help.
    pub(crate) fn weigh_stripe(&mut self, stripe: u32) {
        let Some(stripes) = self.parity.stripes.filter(|_| !self.failures.gone.is_empty()) else {
            return;
        };
        for lpn in stripes.data(stripe) {
            if self.failures.gone.contains(&lpn) {
                self.weigh_failed(lpn);
            }
        }
    }

    /// A page of the host in a stripe that lies on failed flash, with parity that is to give it
    /// back.
    pub(crate) fn to_be_rebuilt(&self, stripe: u32) -> Option<Lpn> {
        let stripes = self
            .parity
            .stripes
            .filter(|_| !self.failures.failed.is_empty() && self.parity.has_parity(stripe))?;
        stripes.data(stripe).find(|lpn| self.failures.is_failed(self.parity.places[lpn.index()]))
    }

    /// Whether fewer dies are left than a stripe has pages of the host and of parity.
    pub(crate) fn lacks_dies(&self, stripes: Stripes, stripe: u32) -> bool {
        let per_die = self.geometry.blocks_per_domain() * self.geometry.pages_per_block;
        let has_failed = |die: &u32| {
            self.failures.failed.iter().any(|pages| pages.covers(Ppn::new(die * per_die), per_die))
        };
        let left = (0..self.geometry.dies()).filter(|die| !has_failed(die)).count();
        left <= stripes.data(stripe).len()
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
        if self
            .geometry
            .first_page(block)
            .run(self.geometry.pages_per_block)
            .any(|ppn| self.failures.is_failed(ppn))
        {
            self.wear.retire(block);
        }
    }

    /// Why nothing gives a page back that lies on failed flash; none where its stripe does.
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
        if sources.iter().any(|ppn| self.failures.is_failed(*ppn)) {
            return Some(Helpless::AnotherFailed);
        }
        let was_read = |ppn: &Ppn| {
            *ppn == NO_PPN || self.carried(*ppn).is_some_and(|stamp| !stamp.tag.is_damaged())
        };
        (!sources.iter().all(was_read)).then_some(Helpless::AnotherUnread)
    }

    /// A page is reported lost; tells whether a failure explains it.
    pub(crate) fn explain_by_failure(&mut self, lpn: Lpn) -> bool {
        // Others of its stripe may go with it.
        if let Some(stripes) = self.parity.stripes.filter(|stripes| lpn.number() < stripes.pages())
        {
            self.weigh_stripe(stripes.of(lpn));
        }
        self.failures.lost.remove(&lpn);
        let on_failed = !self.parity.is_on()
            || self
                .failures
                .is_failed(self.parity.places.get(lpn.index()).copied().unwrap_or(NO_PPN));
        if !on_failed || !self.failures.gone.remove(&lpn) {
            return false;
        }
        self.failures.whole.remove(&lpn);
        let why = self.failures.helpless.remove(&lpn).or_else(|| self.is_beyond(lpn));
        if why.is_none() {
            self.findings.add(Kind::FalseLoss, || {
                format!("lpn {lpn} was reported lost, but its stripe can rebuild it")
            });
        }
        self.failures.taken.pages += 1;
        self.failures.taken.unprotected += u64::from(matches!(
            why,
            Some(Helpless::Unprotected | Helpless::NotWorn | Helpless::Waiting)
        ));
        self.failures.taken.not_worn += u64::from(why == Some(Helpless::NotWorn));
        self.failures.taken.waiting += u64::from(why == Some(Helpless::Waiting));
        self.failures.taken.twice_failed +=
            u64::from(matches!(why, Some(Helpless::AnotherFailed | Helpless::AnotherUnread)));
        true
    }

    /// A page is new, or wanted no more.
    #[inline]
    pub(crate) fn forget_failed(&mut self, lpn: Lpn) {
        if !self.failures.failed.is_empty() {
            for of in [&mut self.failures.gone, &mut self.failures.whole, &mut self.failures.lost] {
                of.remove(&lpn);
            }
            self.failures.helpless.remove(&lpn);
        }
    }

    /// The host goes on: what failures have taken is reported.
    #[inline]
    pub(crate) fn check_failures(&mut self) {
        if !self.failures.lost.is_empty() {
            self.find_unreported();
        }
    }

    /// Reports each page that failures took and that the drive did not report lost.
    #[cold]
    fn find_unreported(&mut self) {
        for lpn in std::mem::take(&mut self.failures.lost) {
            self.findings.add(Kind::FalseLoss, || {
                format!(
                    "the data of lpn {lpn} is lost with failed flash, but it was not reported lost"
                )
            });
        }
    }

    /// What the drive reports of failures, against what was seen; and what still lies on failed
    /// flash can be given back.
    pub(crate) fn check_failure_books(&mut self, drive: &Drive) {
        if self.failures.failed.is_empty() {
            return;
        }
        self.check_failures();
        let (told, seen) = (drive.failure_books().unwrap_or_default().taken, self.failures.taken);
        if told != seen {
            self.findings
                .add(Kind::Books, || format!("the drive reports {told:?}; {seen:?} was seen"));
        }
        // Without parity it is not known of which of its versions a page in memory lacks something.
        let is_wanted = |lpn: &Lpn| self.parity.is_on() || self.failures.whole.contains(lpn);
        let left: Vec<Lpn> = self.failures.gone.iter().copied().filter(is_wanted).collect();
        if let Some((lpn, why)) = left.into_iter().find_map(|lpn| Some((lpn, self.is_beyond(lpn)?)))
        {
            self.findings.add(Kind::FalseLoss, || {
                format!(
                    "lpn {lpn} waits for its rebuild at the end, but it cannot be rebuilt: {why:?}"
                )
            });
        }
    }

    /// The drive has rebuilt all that it could.
    pub(crate) fn check_rebuild_done(&mut self) {
        let left = self.parity.places.iter().position(|ppn| {
            let is_wanted = || self.carried(*ppn).is_some_and(|stamp| self.stamps.is_live(stamp));
            *ppn != NO_PPN && self.failures.is_failed(*ppn) && is_wanted()
        });
        if let Some(lpn) = left {
            self.findings.add(Kind::Protocol, || {
                format!(
                    "the drive reports that everything is rebuilt, but lpn {lpn} is on failed flash"
                )
            });
        }
    }

    /// Where a page of a stripe may lie once dies have failed: on its own die or, where that has
    /// failed, on one without another page of the stripe.
    pub(crate) fn check_member(&mut self, lpn: Lpn, ppn: Ppn) {
        let Some(stripes) = self.parity.stripes else { return };
        let die_of = |ppn: Ppn| {
            ppn.number() / self.geometry.pages_per_block / self.geometry.blocks_per_domain()
        };
        let (die, own) = (die_of(ppn), u32::from(stripes.die(lpn)));
        if die == own {
            return;
        }
        let per_die = self.geometry.blocks_per_domain() * self.geometry.pages_per_block;
        let own_has_failed =
            self.failures.failed.iter().any(|pages| pages.covers(Ppn::new(own * per_die), per_die));
        let shares = |other: &Lpn| {
            let place = self.parity.places[other.index()];
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
