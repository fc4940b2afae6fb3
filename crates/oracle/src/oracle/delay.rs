//! Checks parity that is programmed late. It checks the content of the cache of partial parity. It
//! also checks the versions that must not be erased until the parity is programmed.
//!
//! The oracle knows, for each host page, the version that the parity on flash contains, and the
//! place of this version (`parity/records.rs`). A member that a partial parity does not cover must
//! still have this version. For a covered member, the partial parity must contain the version that
//! is on flash.

use std::collections::BTreeMap;

use vpass_drive::base::stripes::{Members, Stripes};
use vpass_drive::base::units::{Lpn, Ppn};
use vpass_drive::base::window::Window;
use vpass_drive::config::{DriveConfig, Number};
use vpass_drive::watch::observer::NO_PPN;

use crate::oracle::Oracle;
use crate::oracle::parity::Parity;
use crate::report::Kind;

/// Partial parity of a stripe.
#[derive(Clone, Copy, Debug)]
struct Partial {
    covered: Members,
    /// Members that the partial parity covered before and no longer covers.
    exposed: Members,
    sum: u64,
}

/// Partial parities.
#[derive(Debug, Default)]
pub(crate) struct Delay {
    partials: BTreeMap<u32, Partial>,
    /// Layout of the stripes.
    stripes: Option<Stripes>,
    /// Whether the paper's rule applies, which forgets pages that a partial parity covered.
    exposes: bool,
    /// Number of pages forgotten since the measured phase began.
    newly_exposed: u64,
}

impl Delay {
    pub(crate) fn new(stripes: Stripes, config: &DriveConfig) -> Self {
        let published = config.parity.params.get(Some("hc"), "published").map(Number::value);
        let exposes = published.is_some_and(|published| published > 0.0);
        Self { exposes, stripes: Some(stripes), ..Self::default() }
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        self.newly_exposed = 0;
    }

    /// Returns the number of stripes with a partial parity, and the number of host pages in them.
    fn open(&self) -> (u64, u64) {
        let Some(stripes) = self.stripes else { return (0, 0) };
        let pages = self.partials.keys().map(|stripe| stripes.data(*stripe).len() as u64).sum();
        (self.partials.len() as u64, pages)
    }

    /// Returns the content of a stripe's partial parity.
    pub(crate) fn sum(&self, stripe: u32) -> Option<u64> {
        self.partials.get(&stripe).map(|partial| partial.sum)
    }

    /// Records that a stripe has no partial parity any more.
    pub(crate) fn ends(&mut self, stripe: u32) {
        self.partials.remove(&stripe);
    }
}

impl Parity {
    /// Records that the parity on flash contains the present versions of a stripe's pages.
    pub(crate) fn count_stripe(&mut self, stripe: u32) {
        let Some(stripes) = self.stripes else { return };
        stripes.data(stripe).for_each(|lpn| self.records_mut().count(lpn));
    }

    /// Records the place of a host page on flash, and the payload of its version. A copy of the
    /// version that the parity on flash contains takes the place of that version.
    pub(crate) fn is_copied(&mut self, lpn: Lpn, ppn: Ppn, stands: u64) {
        let Some(stripes) = self.stripes else { return };
        let partial = self.delay.partials.get(&stripes.of(lpn));
        let is_covered = partial
            .is_some_and(|partial| (partial.covered | partial.exposed) & stripes.bit(lpn) != 0);
        if !is_covered && self.records().counted(lpn).1 == stands {
            self.records_mut().count_at(lpn, ppn);
        }
    }

    /// Returns the content that a stripe's parity should have at its next program.
    pub(crate) fn should_be(&self, stripe: u32) -> u64 {
        let records = self.records();
        if self.delay.partials.contains_key(&stripe) {
            records.sum(stripe)
        } else {
            records.content(stripe)
        }
    }

    /// Returns whether the parity on flash and the partial parity are right, or `None` without a
    /// partial parity.
    pub(crate) fn is_as_delayed(&self, stripe: u32) -> Option<bool> {
        let (partial, stripes) = (self.delay.partials.get(&stripe)?, self.stripes?);
        let records = self.records();
        let (mut on_flash, mut in_cache) = (0, 0);
        for lpn in stripes.data(stripe) {
            let stands = records.stands(lpn);
            let is = |members: Members| members & stripes.bit(lpn) != 0;
            on_flash ^=
                if is(partial.covered | partial.exposed) { records.counted(lpn).1 } else { stands };
            in_cache ^= if is(partial.covered) { stands } else { 0 };
        }
        Some(on_flash == records.content(stripe) && in_cache == partial.sum)
    }

    /// Returns the places of all pages that a rebuild needs, in addition to the cache. Returns
    /// `None` if no parity contains the page's present version.
    pub(crate) fn sources(&self, lpn: Lpn) -> Option<Vec<Ppn>> {
        let stripes = self.stripes?;
        let stripe = stripes.of(lpn);
        let others = |of: Members| {
            stripes.data(stripe).filter(move |other| *other != lpn && of & stripes.bit(*other) != 0)
        };
        let place = |lpn: Lpn| self.records().place(lpn);
        let (all, is_parity) = (stripes.all_of(stripe), stripes.is_parity(lpn));
        let Some(partial) = self.delay.partials.get(&stripe) else {
            let parity = (!is_parity).then(|| place(stripes.parity(stripe)));
            return Some(others(all).map(place).chain(parity).collect());
        };
        let counted = partial.covered | partial.exposed;
        if is_parity {
            return Some(others(all & !partial.covered).map(place).collect());
        }
        if partial.covered & stripes.bit(lpn) != 0 {
            return Some(others(partial.covered).map(place).collect());
        }
        if partial.exposed & stripes.bit(lpn) != 0 {
            return None;
        }
        let kept = stripes
            .data(stripe)
            .filter(|other| counted & stripes.bit(*other) != 0)
            .map(|other| self.records().counted(other).0);
        Some(
            others(all & !counted)
                .map(place)
                .chain(kept)
                .chain([place(stripes.parity(stripe))])
                .collect(),
        )
    }

    /// Returns whether delayed parity needs the version at this place. It needs the version in the
    /// parity on flash of a covered page, as long as the stripe has a page that is not covered.
    pub(crate) fn is_kept(&self, lpn: Lpn, ppn: Ppn) -> bool {
        let stripes = self.stripes_with(lpn).filter(|stripes| !stripes.is_parity(lpn));
        let Some(stripes) = stripes else { return false };
        let Some(partial) = self.delay.partials.get(&stripes.of(lpn)) else { return false };
        let is_covered = |lpn: Lpn| (partial.covered | partial.exposed) & stripes.bit(lpn) != 0;
        let is_alone = stripes
            .data(stripes.of(lpn))
            .all(|other| is_covered(other) || self.records().place(other) == NO_PPN);
        let (counted_at, counted) = self.records().counted(lpn);
        is_covered(lpn) && !is_alone && counted_at == ppn && counted != 0
    }
}

impl Oracle {
    /// Records that the drive keeps a computed XOR as the partial parity of a stripe.
    pub(crate) fn delays(
        &mut self,
        stripe: u32,
        number: u32,
        (covered, exposed): (Members, Members),
    ) -> Result<(), String> {
        let Some(stripes) = self.parity.stripes.filter(|stripes| stripe < stripes.count()) else {
            return Err(format!(
                "stripe {stripe} has a partial parity, but the stripe does not exist"
            ));
        };
        self.parity.end_loading();
        self.know_stripe(stripes, stripe);
        let sum = self.take_xor(number)?;
        if (covered | exposed) & !stripes.all_of(stripe) != 0 {
            return Err(format!(
                "the partial parity of stripe {stripe} covers pages outside the stripe"
            ));
        }
        let (covered_before, exposed_before) = self
            .parity
            .delay
            .partials
            .get(&stripe)
            .map_or((0, 0), |partial| (partial.covered, partial.exposed));
        let forgotten = (covered_before | exposed_before) & !covered;
        if exposed != forgotten {
            return Err(format!(
                "the partial parity of stripe {stripe} exposes pages {exposed:#b}; it omits \
                 {forgotten:#b}"
            ));
        }
        let newly = covered_before & !covered;
        if newly != 0 && !self.parity.delay.exposes {
            return Err(format!(
                "the partial parity of stripe {stripe} omits pages that it must cover"
            ));
        }
        self.parity.delay.newly_exposed += u64::from(newly.count_ones());
        if self.parity.unprotected.contains(&stripe) {
            return Err(format!("stripe {stripe} has a partial parity, but it is unprotected"));
        }
        self.parity.delay.partials.insert(stripe, Partial { covered, exposed, sum });
        self.parity.weigh(stripe);
        if self.parity.is_as_delayed(stripe) == Some(true) {
            return Ok(());
        }
        Err(format!(
            "stripe {stripe}: the partial parity is not the XOR of its pages, or the parity on \
             flash is not the XOR of the other pages"
        ))
    }

    /// Compares the drive's report about the window without protection with the oracle's counts.
    pub(crate) fn check_window(&mut self, reported: Option<Window>, exposed: u64) {
        let delay = &self.parity.delay;
        if self.parity.is_on() {
            self.findings.compare(&[("exposed pages", exposed, delay.newly_exposed)]);
        }
        let delay = &self.parity.delay;
        let Some(window) = reported else {
            if !delay.partials.is_empty() {
                self.findings.add(Kind::Books, || {
                    "the drive reports no delayed parity, but parity is delayed".into()
                });
            }
            return;
        };
        let (stripes, pages) = delay.open();
        self.findings.compare(&[
            ("stripes with delayed parity", window.stripes, stripes),
            ("pages in these", window.pages, pages),
        ]);
    }
}
