//! Compares parity with the true content of flash. Each version of a host page has a number, its
//! payload. The parity of a stripe must contain the XOR of the payloads of its pages on flash. For
//! each page that the drive adds to a XOR, the oracle uses the version that physically lies there.
//!
//! A member that was never written, was trimmed or is lost counts as zero. Parity may be late while
//! its stripe is being updated. When the host continues, it must be right, unless the drive has
//! reported the stripe as unprotected.

mod loaded;
pub(crate) mod records;
mod recoveries;

use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::stripes::Stripes;
use vpass_drive::base::units::{BlockId, Lpn, Ppn};
use vpass_drive::config::DriveConfig;
use vpass_drive::watch::observer::{NO_PPN, PhysRead, ReadResult, XorSource};

use self::records::Records;
use self::recoveries::Recoveries;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::oracle::delay::Delay;
use crate::oracle::failures::Failures;
use crate::oracle::worn::Worn;
use crate::report::Kind;
use crate::stamps::{Stamp, Tag};

/// Knowledge about stripes. It is empty if the drive has none.
#[derive(Debug, Default)]
pub(crate) struct Parity {
    pub(crate) stripes: Option<Stripes>,
    /// Places and payloads of pages, and sums and parity of stripes, if there are stripes.
    records: Option<Records>,
    /// Stripes whose parity is wrong, and stripes whose parity the drive has given up.
    wrong: BTreeSet<u32>,
    pub(crate) unprotected: BTreeSet<u32>,
    /// State of late parity.
    pub(crate) delay: Delay,
    /// State of parity that depends on wear.
    pub(crate) worn: Worn,
    /// XORs that are being computed, each with its first error.
    xors: BTreeMap<u32, (u64, Option<String>)>,
    /// Page that was read last, if the read succeeded.
    last_read: Option<Ppn>,
    /// Page of the last failed host read.
    last_failed: Option<Lpn>,
    /// Whether the drive still reports its content at the start.
    is_loading: bool,
    rebuilt: u64,
    given_up: u64,
    /// Attempts to rebuild a page.
    pub(crate) recoveries: Recoveries,
    pub(crate) failures: Failures,
}

/// Returns the payload of a page's version, by the finaliser of splitmix64.
fn payload(stamp: Stamp) -> u64 {
    let z = (u64::from(stamp.lpn.number()) << 32 | u64::from(stamp.tag.version()))
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Parity {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let Some(stripes) = geometry.stripes else { return Self::default() };
        Self {
            stripes: Some(stripes),
            records: Some(Records::new(stripes)),
            delay: Delay::new(stripes, config),
            worn: Worn::new(stripes, config),
            is_loading: true,
            ..Self::default()
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.stripes.is_some()
    }

    /// Returns the layout of stripes if one of them has this page.
    #[inline]
    pub(crate) fn stripes_with(&self, lpn: Lpn) -> Option<Stripes> {
        self.stripes.filter(|stripes| lpn.number() < stripes.pages())
    }

    pub(crate) fn records(&self) -> &Records {
        self.records.as_ref().expect("a drive with stripes has records")
    }

    pub(crate) fn records_mut(&mut self) -> &mut Records {
        self.records.as_mut().expect("a drive with stripes has records")
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        (self.rebuilt, self.given_up, self.recoveries.count) = (0, 0, 0);
        self.delay.begin_measured_phase();
        self.worn.begin_measured_phase();
    }

    /// Checks whether the parity of a stripe is right.
    pub(crate) fn weigh(&mut self, stripe: u32) {
        let has_parity = self.has_parity(stripe);
        let has =
            (has_parity, self.is_as_delayed(stripe).is_some(), self.unprotected.contains(&stripe));
        self.worn.weigh(stripe, self.is_on_flash(stripe), has);
        // If parity depends on wear, `worn` has checked whether it must exist.
        let is_none = self.worn.is_on() && !has_parity;
        let is_sum = || self.records().sum(stripe) == self.records().content(stripe);
        let is_right = is_none || self.is_as_delayed(stripe).unwrap_or_else(is_sum);
        if is_right || self.unprotected.contains(&stripe) {
            self.wrong.remove(&stripe);
        } else {
            self.wrong.insert(stripe);
        }
    }

    /// Returns the place of a page of a stripe in flash, which is [`NO_PPN`] if flash has no copy;
    /// `None` if no stripe has the page.
    pub(crate) fn place_of(&self, lpn: Lpn) -> Option<Ppn> {
        self.stripes_with(lpn).map(|_| self.records().place(lpn))
    }

    /// Returns whether a stripe has a page of parity.
    pub(crate) fn has_parity(&self, stripe: u32) -> bool {
        self.stripes.is_some_and(|stripes| self.records().place(stripes.parity(stripe)) != NO_PPN)
    }

    /// Returns whether flash holds any host page of a stripe.
    pub(crate) fn is_on_flash(&self, stripe: u32) -> bool {
        self.records().members(stripe) > 0
    }

    /// Records the place and stamp of a page on flash, or that it is not on flash.
    fn set(&mut self, lpn: Lpn, after: Option<(Ppn, Stamp)>, is_worn: bool) {
        let Some(stripes) = self.stripes else { return };
        if let Some(loaded) = after.filter(|_| self.is_loading && !self.worn.is_on()) {
            return self.load(lpn, loaded);
        }
        let (was, stood) = (self.records().place(lpn), self.records().stands(lpn));
        let stands = after.map_or(0, |(_, stamp)| payload(stamp));
        self.records_mut().put(lpn, after.map_or(NO_PPN, |(ppn, _)| ppn), stands);
        let stripe = stripes.of(lpn);
        if stripes.is_parity(lpn) {
            return self.weigh(stripe);
        }
        self.worn.lies(stripe, lpn, is_worn);
        let sum = self.records().sum(stripe) ^ stood ^ stands;
        let members =
            self.records().members(stripe) + u32::from(after.is_some()) - u32::from(was != NO_PPN);
        self.records_mut().set_sum(stripe, sum, members);
        if let Some((ppn, _)) = after {
            self.is_copied(lpn, ppn, stands);
        }
        if members == 0 {
            // The stripe has no data to protect.
            self.records_mut().set_content(stripe, 0);
            self.unprotected.remove(&stripe);
            self.delay.ends(stripe);
            self.worn.ends(stripe);
            self.count_stripe(stripe);
        }
        self.weigh(stripe);
    }

    /// Records the read of a page.
    #[inline]
    pub(crate) fn note_read(&mut self, read: &PhysRead, by_host: bool) {
        if self.is_on() {
            let good = read.result == ReadResult::Good;
            self.last_read = Some(read.ppn).filter(|_| good);
            if by_host {
                self.last_failed = Some(read.lpn).filter(|_| !good);
            }
        }
    }
}

impl Oracle {
    /// Records a data page that was programmed, copied, or present from the start.
    pub(crate) fn lies_at(&mut self, lpn: Lpn, ppn: Ppn) {
        if self.parity.stripes_with(lpn).is_none() {
            return;
        }
        self.know_stripe_of(lpn);
        let stamp = self.truth.medium.stamp(At::new(&self.truth.geometry, ppn)).undamaged();
        self.parity.set(lpn, Some((ppn, stamp)), self.is_worn(ppn));
        self.check_member(lpn, ppn);
    }

    /// Records that a page is not on flash any more, because it was trimmed or lost.
    pub(crate) fn leaves_stripe(&mut self, lpn: Lpn) {
        let Some(stripes) = self.parity.stripes.filter(|stripes| !stripes.is_parity(lpn)) else {
            return;
        };
        self.parity.end_loading();
        self.know_stripe_of(lpn);
        if self.parity.records().place(lpn) != NO_PPN {
            self.parity.set(lpn, None, false);
            self.drop_parity_of_none(stripes.of(lpn));
        }
    }

    /// Removes the parity of a stripe without pages.
    fn drop_parity_of_none(&mut self, stripe: u32) {
        if let Some(stripes) = self.parity.stripes.filter(|_| !self.parity.is_on_flash(stripe)) {
            self.parity.records_mut().put(stripes.parity(stripe), NO_PPN, 0);
            self.parity.weigh(stripe);
            let checked = self.truth.stamps.trimmed(stripes.parity(stripe));
            self.findings.note(Kind::Protocol, checked);
        }
    }

    /// Adds a page to a XOR.
    pub(crate) fn add_to_xor(&mut self, number: u32, source: XorSource) {
        let Some(stripes) = self.parity.stripes else {
            return self
                .findings
                .add(Kind::Protocol, || "parity is computed, but the drive has no parity".into());
        };
        self.parity.end_loading();
        let (value, trouble) = match source {
            XorSource::Page(ppn) => self.what_lies_at(ppn, stripes),
            XorSource::Memory(lpn) => {
                match self.truth.stamps.newest(lpn).filter(|newest| newest.is_present()) {
                    Some(tag) if !self.is_full() || self.host.memory.holds(lpn) => {
                        (payload(Stamp { lpn, tag }), None)
                    }
                    _ => (0, Some(format!("lpn {lpn} is not in memory"))),
                }
            }
            XorSource::Partial(stripe) => match self.parity.delay.sum(stripe) {
                Some(sum) => (sum, None),
                None => (0, Some(format!("there is no partial parity of stripe {stripe}"))),
            },
        };
        let (sum, before) = self.parity.xors.entry(number).or_default();
        *sum ^= value;
        *before = before.take().or(trouble);
    }

    fn what_lies_at(&mut self, ppn: Ppn, stripes: Stripes) -> (u64, Option<String>) {
        let Some(stamp) = self.truth.carried(ppn) else {
            return (0, Some(format!("ppn {ppn} is beyond the flash")));
        };
        if self.parity.last_read != Some(ppn) {
            return (0, Some(format!("ppn {ppn} was not read, or its read failed")));
        }
        if stamp.lpn.number() >= stripes.pages() {
            return (0, Some(format!("ppn {ppn} carries {}", stamp.words())));
        }
        if !stripes.is_parity(stamp.lpn) {
            return (payload(stamp), None);
        }
        self.know_stripe_of(stamp.lpn);
        let is_newest = self.parity.records().place(stamp.lpn) == ppn;
        let trouble = (!is_newest).then(|| format!("ppn {ppn} carries outdated parity"));
        (self.parity.records().content(stripes.of(stamp.lpn)), trouble)
    }

    /// Removes and returns a computed XOR.
    pub(crate) fn take_xor(&mut self, number: u32) -> Result<u64, String> {
        let (sum, trouble) = self.parity.xors.remove(&number).unwrap_or_default();
        trouble.map_or(Ok(sum), |what| {
            Err(format!("parity is computed from unavailable data: {what}"))
        })
    }

    /// Checks the program of a computed XOR: the parity of a stripe, or data that could not be
    /// read.
    pub(crate) fn program_xor(
        &mut self,
        at: At,
        (ppn, lpn): (Ppn, Lpn),
        number: u32,
    ) -> Result<(), String> {
        let Some(stripes) = self.parity.stripes_with(lpn) else {
            return Err(format!(
                "lpn {lpn} is programmed with parity, but the drive has no parity"
            ));
        };
        let content = self.take_xor(number)?;
        let stripe = stripes.of(lpn);
        self.know_stripe(stripes, stripe);
        if !stripes.is_parity(lpn) {
            self.check_is_recovery(lpn, number);
            return self.program_rebuilt(at, (ppn, lpn), content);
        }
        self.parity.records_mut().set_content(stripe, content);
        self.parity.unprotected.remove(&stripe);
        self.parity.delay.ends(stripe);
        let had = self.parity.has_parity(stripe);
        self.parity.worn.programmed(stripe, had);
        self.parity.count_stripe(stripe);
        self.parity.weigh(stripe);
        self.truth.stamps.host_wrote(lpn, true)?;
        self.truth.stamps.program_host(&mut self.truth.medium, at, lpn)?;
        self.lies_at(lpn, ppn);
        if self.parity.wrong.contains(&stripe) {
            return Err(format!("the parity of stripe {stripe} is not the XOR of its pages"));
        }
        Ok(())
    }

    fn program_rebuilt(
        &mut self,
        at: At,
        (ppn, lpn): (Ppn, Lpn),
        content: u64,
    ) -> Result<(), String> {
        let from = self.parity.records().place(lpn);
        let before = self.parity.records().stands(lpn);
        let carried = self.truth.carried(from).unwrap_or(Stamp::ERASED).undamaged();
        self.truth.medium.set_stamp(at, carried);
        if from != NO_PPN {
            self.truth.medium.set_stamp(At::new(&self.truth.geometry, from), Stamp::DEAD);
        }
        self.truth.stamps.is_readable_again(carried);
        self.lies_at(lpn, ppn);
        self.parity.rebuilt += 1;
        self.forget_failed(lpn);
        self.check_rebuilt(lpn, before, content)
    }

    fn check_rebuilt(&self, lpn: Lpn, before: u64, content: u64) -> Result<(), String> {
        let is_there = self.parity.records().place(lpn) != NO_PPN;
        if is_there && before == content {
            Ok(())
        } else {
            Err(format!("lpn {lpn} is rebuilt with wrong data"))
        }
    }

    /// Checks a page that was rebuilt in the controller's memory.
    pub(crate) fn rebuilt_in_memory(&mut self, lpn: Lpn, number: u32) {
        let Some(stripes) = self.parity.stripes_with(lpn) else {
            return;
        };
        self.know_stripe_of(lpn);
        self.check_is_recovery(lpn, number);
        let (sum, trouble) = self.parity.xors.get(&number).cloned().unwrap_or_default();
        let should = if stripes.is_parity(lpn) {
            self.parity.should_be(stripes.of(lpn))
        } else {
            self.parity.records().stands(lpn)
        };
        let checked =
            trouble.map_or(Ok(()), Err).and_then(|()| self.check_rebuilt(lpn, should, sum));
        self.findings.note(Kind::Stamp, checked);
        let from = self.parity.records().place(lpn);
        if let Some(carried) = self.truth.carried(from) {
            self.truth.stamps.is_readable_again(carried.undamaged());
        }
        self.host.memory.rest_is_there(lpn);
        // The host gets the page from the rebuild.
        if self.parity.last_failed.take() == Some(lpn) {
            self.losses.uncorrectable_reads -= 1;
            let has_failed = self.parity.failures.is_failed(from);
            let checked = self.clock.rebuilds(lpn, from, number, has_failed);
            self.findings.note(Kind::Protocol, checked);
        }
    }

    /// Records that the drive gives up a stripe's parity.
    pub(crate) fn unprotect(&mut self, stripe: u32) {
        let Some(stripes) = self.parity.stripes.filter(|stripes| stripe < stripes.count()) else {
            return;
        };
        self.parity.end_loading();
        self.know_stripe(stripes, stripe);
        self.parity.given_up += 1;
        self.parity.records_mut().put(stripes.parity(stripe), NO_PPN, 0);
        self.parity.records_mut().set_content(stripe, 0);
        self.parity.delay.ends(stripe);
        self.parity.worn.ends(stripe);
        if self.parity.is_on_flash(stripe) {
            self.parity.unprotected.insert(stripe);
        }
        self.parity.weigh(stripe);
        let checked = self.truth.stamps.trimmed(stripes.parity(stripe));
        self.findings.note(Kind::Protocol, checked);
        self.weigh_stripe(stripe);
    }

    /// Returns whether a page is partly written, and the drive's last read of its version on flash
    /// failed.
    pub(crate) fn has_lost_rest(&self, lpn: Lpn) -> bool {
        let is_partial = self.truth.stamps.newest(lpn).is_some_and(Tag::is_partial);
        let lies = self.parity.place_of(lpn).and_then(|place| self.truth.carried(place));
        is_partial && lies.is_some_and(|carried| carried.lpn == lpn && carried.tag.is_damaged())
    }

    /// Checks that no stripe's parity needs a page of a block that is about to be erased.
    pub(crate) fn check_still_needed(&mut self, block: BlockId) {
        let first = self.truth.geometry.first_page(block);
        self.check_not_needed(first.run(self.truth.protocol.written(block)), "is erased");
    }

    /// Checks that no stripe's parity needs a page at these places. `what` describes them.
    pub(crate) fn check_not_needed(&mut self, mut places: impl Iterator<Item = Ppn>, what: &str) {
        let Some(stripes) = self.parity.stripes else { return };
        let mut needed = |ppn: Ppn| {
            let stamp = self.truth.carried(ppn)?;
            self.know_stripe_of(stamp.lpn);
            let is_current = self.parity.place_of(stamp.lpn) == Some(ppn);
            let is_needed = is_current || self.parity.is_kept(stamp.lpn, ppn);
            (is_needed && !self.parity.unprotected.contains(&stripes.of(stamp.lpn)))
                .then_some((ppn, stamp))
        };
        if let Some((ppn, stamp)) = places.find_map(&mut needed) {
            let stripe = stripes.of(stamp.lpn);
            self.findings.add(Kind::Stamp, || {
                format!(
                    "ppn {ppn} {what}, but it carries {}, which the parity of stripe {stripe} \
                     needs",
                    stamp.words()
                )
            });
        }
    }

    /// Returns whether late parity needs a version on a wordline. The wordline is counted over the
    /// whole drive.
    pub(crate) fn keeps_any(&self, wordline: u32) -> bool {
        let bits = self.truth.geometry.cell.bits();
        let first = Ppn::new(wordline * bits);
        self.parity.is_on()
            && first.run(bits).any(|ppn| {
                self.truth.carried(ppn).is_some_and(|stamp| self.parity.is_kept(stamp.lpn, ppn))
            })
    }

    /// Checks, when the host continues, that every stripe's parity is right. Unfinished XORs are
    /// dropped. During an update, the moves that it triggers may rebuild any number of pages.
    #[inline]
    pub(crate) fn check_stripes(&mut self) {
        if !self.parity.is_loading && self.parity.is_on() {
            self.check_finished_stripes();
        }
    }

    /// Reports a stripe whose parity is wrong although no update of the stripe is under way.
    fn check_finished_stripes(&mut self) {
        self.parity.xors.clear();
        self.parity.recoveries.under_way.clear();
        if let Some(stripe) = self.parity.wrong.first().copied() {
            self.parity.wrong.clear();
            self.findings.add(Kind::Stamp, || {
                format!(
                    "the host continues, but the parity of stripe {stripe} is not the XOR of its \
                     pages"
                )
            });
        }
        if let Some(sentence) = self.first_worn_wrongly() {
            self.findings.add(Kind::Stamp, || sentence);
        }
    }

    /// Compares the drive's report about its parity with the oracle's counts.
    pub(crate) fn check_parity(&mut self, unprotected: u64, given_up: u64) {
        if !self.parity.is_on() {
            return;
        }
        self.check_stripes();
        self.findings.compare(&[
            ("unprotected stripes", unprotected, self.parity.unprotected.len() as u64),
            ("times that parity was given up", given_up, self.parity.given_up),
        ]);
    }
}

impl Tag {
    /// Returns whether a flash page with this tag is, or completes, the newest version, which could
    /// not be read.
    pub(crate) fn waits_for(self, newest: Self) -> bool {
        newest.is_reported() && (self.on_flash() == newest.on_flash() || newest.is_partial())
    }
}
