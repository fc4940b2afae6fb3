//! Content of all flash pages. Every flash page has a stamp, which names a host page and a version,
//! and every host page has a newest version. A flash page holds the newest data exactly if its
//! stamp equals that of its owner's newest version.

use std::ops::Range;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::mem::{huge_zeros, prefetch};
use vpass_drive::base::units::{Lpn, Ppn};
use vpass_drive::watch::observer::NO_LPN;

use crate::medium::{At, Medium};

/// Newest version of a host page with its state: `version * 8 + partial * 4 + state`. Versions
/// survive trims and losses, so old data never looks like newer data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag(u32);

impl Tag {
    const STATE: u32 = 0b011;
    /// Only a part of the newest version is new. An older version on flash must still complete it.
    const PARTIAL: u32 = 0b100;
    /// The page was never written, or it is trimmed.
    const ABSENT: u32 = 0b00;
    /// The drive has reported the page lost.
    const LOST: u32 = 0b01;
    /// The host may read the page.
    const PRESENT: u32 = 0b10;
    /// The host may read the page, but the drive has answered a read of it with an error.
    const REPORTED: u32 = 0b11;
    /// The first version, written as a whole.
    const FIRST: Self = Self(1 << 3 | Self::PRESENT);

    /// Returns the tag of an undamaged flash page with this newest version. No flash page has the
    /// tag of absent or lost data.
    #[inline]
    pub(crate) fn on_flash(self) -> Self {
        Self(self.0 & !(Self::PARTIAL | 1))
    }

    /// Returns whether the drive's last read of this flash page failed.
    #[inline]
    pub(crate) fn is_damaged(self) -> bool {
        self.0 & 1 != 0
    }

    pub(crate) fn is_present(self) -> bool {
        self.0 & Self::PRESENT != 0
    }

    /// Returns the tag after a host write of a part of the page.
    fn next_part(self) -> Self {
        if self.is_lost() {
            // The lost part does not come back.
            self.next().with(Self::LOST)
        } else if self.is_present() {
            Self(self.next().0 | Self::PARTIAL)
        } else {
            self.next()
        }
    }

    pub(crate) fn is_lost(self) -> bool {
        self.0 & Self::STATE == Self::LOST
    }

    pub(crate) fn is_reported(self) -> bool {
        self.0 & Self::STATE == Self::REPORTED
    }

    /// Returns whether only a part of the newest version is new.
    pub(crate) fn is_partial(self) -> bool {
        self.0 & Self::PARTIAL != 0
    }

    pub(crate) fn version(self) -> u32 {
        self.0 >> 3
    }

    fn with(self, state: u32) -> Self {
        Self(self.0 & !Self::STATE | state)
    }

    /// Returns the tag after the next host write.
    fn next(self) -> Self {
        Self((self.0 | Self::PARTIAL | Self::STATE).wrapping_add(1) | Self::PRESENT)
    }

    /// Returns the state in words, for findings.
    pub(crate) fn words(self) -> String {
        match self.0 & Self::STATE {
            Self::ABSENT => "no data".into(),
            Self::LOST => "data reported lost".into(),
            _ => format!("version {}", self.version()),
        }
    }
}

/// Content of a flash page. Its tag is that of the page's version. The lowest bit is set once the
/// drive could not decode it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    pub(crate) lpn: Lpn,
    pub(crate) tag: Tag,
}

impl Stamp {
    /// Stamp of a page without a program since the erase. No host page has this number.
    pub(crate) const ERASED: Self = Self { lpn: Lpn::new(u32::MAX), tag: Tag(u32::MAX) };
    /// Stamp of data without an owner, or of data that has been copied elsewhere.
    pub(crate) const DEAD: Self = Self { lpn: Lpn::new(u32::MAX), tag: Tag(0) };

    /// Returns the stamp of a page's first version, as a computed start leaves it on flash.
    pub(crate) fn first(lpn: Lpn) -> Self {
        Self { lpn, tag: Tag::FIRST }
    }

    /// Returns the stamp as it was programmed.
    pub(crate) fn undamaged(self) -> Self {
        Self { lpn: self.lpn, tag: self.tag.on_flash() }
    }

    /// Returns a number to add up over many pages. Other stamps, or other places, hardly ever give
    /// the same sum.
    #[inline]
    pub(crate) fn fingerprint(self, ppn: Ppn) -> u64 {
        // The finaliser of splitmix64 gets different numbers for different stamps.
        let z = (u64::from(self.lpn.number()) << 32 | u64::from(ppn.number()))
            .wrapping_add(u64::from(self.tag.0).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns the stamp as one word; [`Self::ERASED`] is zero.
    #[inline]
    pub(crate) fn pack(self) -> u64 {
        !(u64::from(self.lpn.number()) << 32 | u64::from(self.tag.0))
    }

    #[inline]
    pub(crate) fn unpack(word: u64) -> Self {
        Self { lpn: Lpn::new((!word >> 32) as u32), tag: Tag(!word as u32) }
    }

    /// Returns the content in words, for findings.
    pub(crate) fn words(self) -> String {
        match self {
            Self::ERASED => "nothing (erased)".into(),
            Self::DEAD => "data without an owner".into(),
            Self { lpn, tag } => format!("version {} of lpn {lpn}", tag.version()),
        }
    }
}

/// The drive's report of a loss, compared with the oracle's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The drive had answered a read of the newest version with an error.
    Seen,
    /// No read has shown the loss. It is true if a flash page with this stamp is past its limit.
    Unseen(Stamp),
    /// The drive had reported the loss before.
    Again,
    /// The page held no data.
    Absent,
}

/// The newest version of every host page.
#[derive(Debug)]
pub(crate) struct Stamps {
    /// Tag of each page; 0 if nothing has changed since the start. No tag returns to 0, because
    /// versions only rise.
    newest: Vec<u32>,
    /// Host pages and parity pages that a computed start has loaded.
    begun: [Range<u32>; 2],
    /// Whether any data was ever reported lost.
    any_was_lost: bool,
    present: u64,
}

impl Stamps {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let pages = geometry.logical_pages();
        Self {
            newest: huge_zeros(pages as usize),
            begun: [0..0, 0..0],
            any_was_lost: false,
            present: 0,
        }
    }

    /// Returns the size in bytes for a drive of this geometry, without the stamps.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.logical_pages()) * size_of::<Tag>() as u64
    }

    /// Notes that a computed start has loaded the first version of these pages.
    pub(crate) fn begin(&mut self, pages: [Range<u32>; 2]) {
        self.present += pages.iter().map(|range| range.len() as u64).sum::<u64>();
        self.begun = pages;
    }

    /// Returns whether a computed start has loaded a page.
    fn has_begun(&self, lpn: Lpn) -> bool {
        self.begun.iter().any(|range| range.contains(&lpn.number()))
    }

    /// Returns whether nothing has happened to a page since the computed start.
    #[inline]
    pub(crate) fn is_as_begun(&self, lpn: Lpn) -> bool {
        self.newest[lpn.index()] == 0
    }

    /// Returns whether nothing has happened to any page of this range since the computed start.
    pub(crate) fn are_as_begun(&self, run: Range<u32>) -> bool {
        self.newest[run.start as usize..run.end as usize].iter().fold(0, |any, tag| any | tag) == 0
    }

    /// Prefetches the newest version of a host page.
    #[inline]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.newest, lpn.index());
    }

    /// Returns the newest version of a host page; `None` beyond the host's capacity.
    #[inline]
    pub(crate) fn newest(&self, lpn: Lpn) -> Option<Tag> {
        Some(match *self.newest.get(lpn.index())? {
            0 => self.at_start(lpn),
            tag => Tag(tag),
        })
    }

    #[inline]
    fn at_start(&self, lpn: Lpn) -> Tag {
        if self.has_begun(lpn) { Tag::FIRST } else { Tag(Tag::ABSENT) }
    }

    /// Sets the newest version of a page.
    #[inline]
    fn put(&mut self, lpn: Lpn, tag: Tag) {
        self.newest[lpn.index()] = tag.0;
    }

    /// Returns whether a stamp is the newest version of a page that the host may read.
    #[inline]
    pub(crate) fn is_live(&self, stamp: Stamp) -> bool {
        self.newest(stamp.lpn).is_some_and(|newest| newest.on_flash() == stamp.tag.on_flash())
    }

    /// Returns whether only a part of a page's newest data is new.
    pub(crate) fn is_partly_written(&self, lpn: Lpn) -> bool {
        self.newest(lpn).is_some_and(|newest| newest.is_present() && newest.is_partial())
    }

    /// Returns the pages whose last write changed only a part of their data.
    pub(crate) fn partly_written(&self) -> impl Iterator<Item = Lpn> + '_ {
        let touched = Lpn::all().zip(&self.newest).filter(|(_, tag)| **tag != 0);
        touched.map(|(lpn, _)| lpn).filter(|lpn| self.is_partly_written(*lpn))
    }

    /// Returns whether any data was reported lost.
    pub(crate) fn any_was_lost(&self) -> bool {
        self.any_was_lost
    }

    /// Returns whether a flash page holds the version of a host page that was reported lost.
    pub(crate) fn is_what_was_lost(&self, stamp: Stamp) -> bool {
        if !self.any_was_lost {
            return false;
        }
        let newest = self.newest(stamp.lpn).filter(|newest| newest.is_lost());
        newest.is_some_and(|newest| newest.version() == stamp.tag.version())
    }

    /// Returns the number of pages that the host may read.
    pub(crate) fn present(&self) -> u64 {
        self.present
    }

    fn set(&mut self, lpn: Lpn, to: impl FnOnce(Tag) -> Tag) -> Result<Tag, String> {
        let pages = self.newest.len();
        let Some(before) = self.newest(lpn) else {
            return Err(format!("lpn {lpn} is beyond the host's {pages} pages"));
        };
        let now = to(before);
        self.put(lpn, now);
        self.present = self.present + u64::from(now.is_present()) - u64::from(before.is_present());
        Ok(before)
    }

    pub(crate) fn host_wrote(&mut self, lpn: Lpn, whole: bool) -> Result<(), String> {
        self.set(lpn, if whole { Tag::next } else { Tag::next_part }).map(drop)
    }

    pub(crate) fn trimmed(&mut self, lpn: Lpn) -> Result<(), String> {
        self.set(lpn, |t| t.with(Tag::ABSENT)).map(drop)
    }

    pub(crate) fn lost(&mut self, lpn: Lpn) -> Result<Loss, String> {
        self.any_was_lost = true;
        let before = self.set(lpn, |t| if t.is_present() { t.with(Tag::LOST) } else { t })?;
        Ok(match before.0 & Tag::STATE {
            Tag::ABSENT => Loss::Absent,
            Tag::LOST => Loss::Again,
            Tag::REPORTED => Loss::Seen,
            _ => Loss::Unseen(Stamp { lpn, tag: before.on_flash() }),
        })
    }

    /// Notes that a partly written page was completed in memory. The drive needs no old version
    /// from flash any more.
    pub(crate) fn completed(&mut self, lpn: Lpn) {
        if let Some(newest) = self.newest(lpn) {
            self.put(lpn, Tag(newest.0 & !Tag::PARTIAL));
        }
    }

    /// Notes that the drive could not decode this flash page. The host page counts as reported if
    /// the flash page holds its newest version, or an older version for a partly written page. The
    /// latter needs `completes`, because parity reads a page as it was. The caller has checked that
    /// both pages exist.
    pub(crate) fn failed(&mut self, medium: &mut Medium, at: At, lpn: Lpn, completes: bool) {
        let carried = medium.stamp(at);
        if carried.lpn != lpn {
            return;
        }
        medium.set_stamp(at, Stamp { lpn, tag: Tag(carried.tag.0 | 1) });
        let Some(newest) = self.newest(lpn) else { return };
        let needed =
            carried.tag.on_flash() == newest.on_flash() || completes && newest.is_partial();
        if newest.is_present() && needed {
            self.put(lpn, newest.with(Tag::REPORTED));
        }
    }

    /// Notes that a later read, perhaps a retry, decoded a flash page that had failed.
    #[cold]
    pub(crate) fn recovered(&mut self, medium: &mut Medium, at: At) {
        let carried = medium.stamp(at).undamaged();
        medium.set_stamp(at, carried);
        if self.is_live(carried) {
            self.put(carried.lpn, carried.tag);
        }
    }

    /// Notes that undecodable data with this stamp is readable again.
    pub(crate) fn is_readable_again(&mut self, carried: Stamp) {
        if let Some(newest) =
            self.newest(carried.lpn).filter(|newest| carried.tag.waits_for(*newest))
        {
            self.put(carried.lpn, newest.with(Tag::PRESENT));
        }
    }

    /// Notes that the newest host data is programmed into a flash page.
    pub(crate) fn program_host(
        &mut self,
        medium: &mut Medium,
        at: At,
        lpn: Lpn,
    ) -> Result<(), String> {
        let Some(newest) = self.newest(lpn) else {
            medium.set_stamp(at, Stamp::DEAD);
            return Err(format!(
                "program of host data of lpn {lpn}, which is beyond the host's capacity"
            ));
        };
        medium.set_stamp(at, Stamp { lpn, tag: newest.with(Tag::PRESENT).on_flash() });
        self.put(lpn, Tag(newest.0 & !Tag::PARTIAL));
        if newest.is_reported() {
            return Err(format!(
                "program of lpn {lpn}, but the drive could not read its data and did not report it \
                 lost"
            ));
        }
        if !newest.is_present() {
            return Err(format!(
                "program of host data of lpn {lpn}, which holds {}",
                newest.words()
            ));
        }
        Ok(())
    }

    /// Notes that a flash page gets a copy of this content, which may differ from the page that the
    /// drive names.
    pub(crate) fn program_copy(
        medium: &mut Medium,
        at: At,
        lpn: Lpn,
        copied: Stamp,
    ) -> Result<(), String> {
        let erased = copied == Stamp::ERASED;
        medium.set_stamp(at, if erased { Stamp::DEAD } else { copied });
        Self::check_copy(lpn, copied)
    }

    /// Checks that the copied data belongs to the page and was read correctly.
    pub(crate) fn check_copy(lpn: Lpn, copied: Stamp) -> Result<(), String> {
        if copied.lpn != lpn {
            return Err(format!("copy for lpn {lpn} of a page that carries {}", copied.words()));
        }
        if copied.tag.is_damaged() {
            return Err(format!("copy for lpn {lpn} of a page that the drive could not read"));
        }
        Ok(())
    }

    /// Notes a page that was there before the run began; [`NO_LPN`] stands for data without an
    /// owner.
    pub(crate) fn preload(&mut self, medium: &mut Medium, at: At, lpn: Lpn) -> Result<(), String> {
        if lpn == NO_LPN {
            medium.set_stamp(at, Stamp::DEAD);
            return Ok(());
        }
        let before = self.set(lpn, |t| if t.is_present() { t } else { t.next() })?;
        medium.set_stamp(at, Stamp { lpn, tag: Tag(self.newest[lpn.index()]).on_flash() });
        if before.is_present() {
            return Err(format!("preload of lpn {lpn}, which already holds {}", before.words()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
