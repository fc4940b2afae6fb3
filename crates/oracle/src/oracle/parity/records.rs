//! Records of all pages and stripes of a drive with parity.
//!
//! ```text
//! page     word 0   place (32 bits)   place of the counted version (32)
//!          word 1   payload of its data on flash
//!          word 2   payload of the version that the parity on flash contains
//! stripe   word 0   XOR of the payloads of its pages on flash
//!          word 1   content of its parity
//!          word 2   number of its host pages on flash
//! ```
//!
//! A place is stored as its number plus 1, and 0 is no place. After a computed start, the records
//! of a stripe are loaded when something first happens to it. Records that are not loaded take no
//! memory, and a look at them is a fault of the oracle.

use vpass_drive::base::mem::{prefetch, zeros};
use vpass_drive::base::stripes::Stripes;
use vpass_drive::base::units::{Lpn, Ppn};
use vpass_drive::watch::observer::NO_PPN;

use crate::bits::Bits;

/// Words of a record.
const WORDS: usize = 3;

/// Records of pages and stripes.
#[derive(Debug)]
pub(crate) struct Records {
    stripes: Stripes,
    pages: Vec<u64>,
    sums: Vec<u64>,
    /// Stripes whose records are loaded, one bit each; `None` if all are.
    loaded: Option<Bits>,
}

impl Records {
    /// Returns the largest size in bytes for a drive of this geometry. After a computed start, only
    /// records of touched stripes take memory.
    pub(crate) fn bytes(stripes: Stripes) -> u64 {
        (u64::from(stripes.pages()) + u64::from(stripes.count())) * size_of::<[u64; WORDS]>() as u64
    }

    /// Makes the records of an empty drive.
    pub(crate) fn new(stripes: Stripes) -> Self {
        Self {
            stripes,
            pages: zeros(stripes.pages() as usize * WORDS),
            sums: zeros(stripes.count() as usize * WORDS),
            loaded: None,
        }
    }

    /// Notes a computed start. No record is loaded any more.
    pub(crate) fn begin(&mut self) {
        self.loaded = Some(Bits::none_of(self.stripes.count()));
    }

    /// Returns whether the records of a stripe are loaded.
    #[inline]
    pub(crate) fn knows(&self, stripe: u32) -> bool {
        self.loaded.as_ref().is_none_or(|loaded| loaded.contains(Lpn::new(stripe)))
    }

    /// Loads the records of a stripe: the places of its pages, with the payloads of their data. The
    /// parity contains these pages.
    pub(crate) fn load(&mut self, stripe: u32, pages: impl Iterator<Item = (Lpn, Ppn, u64)>) {
        if let Some(loaded) = &mut self.loaded {
            loaded.insert(Lpn::new(stripe));
        }
        let (mut sum, mut members) = (0, 0);
        for (lpn, ppn, stands) in pages {
            self.put(lpn, ppn, stands);
            if !self.stripes.is_parity(lpn) {
                self.count(lpn);
                (sum, members) = (sum ^ stands, members + 1);
            }
        }
        self.set_sum(stripe, sum, members);
        self.set_content(stripe, sum);
    }

    /// Returns the stripes whose records are loaded.
    pub(crate) fn known(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.stripes.count()).filter(|stripe| self.knows(*stripe))
    }

    /// Prefetches the record of a page.
    #[inline]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.pages, lpn.index() * WORDS);
    }

    fn page(&self, lpn: Lpn) -> &[u64] {
        assert!(self.knows(self.stripes.of(lpn)), "the record of lpn {lpn} is not loaded");
        &self.pages[lpn.index() * WORDS..][..WORDS]
    }

    fn page_mut(&mut self, lpn: Lpn) -> &mut [u64] {
        assert!(self.knows(self.stripes.of(lpn)), "the record of lpn {lpn} is not loaded");
        &mut self.pages[lpn.index() * WORDS..][..WORDS]
    }

    fn stripe(&self, stripe: u32) -> &[u64] {
        assert!(self.knows(stripe), "the record of stripe {stripe} is not loaded");
        &self.sums[stripe as usize * WORDS..][..WORDS]
    }

    fn stripe_mut(&mut self, stripe: u32) -> &mut [u64] {
        assert!(self.knows(stripe), "the record of stripe {stripe} is not loaded");
        &mut self.sums[stripe as usize * WORDS..][..WORDS]
    }

    /// Returns the place of a page on flash; [`NO_PPN`] without data on flash.
    #[inline]
    pub(crate) fn place(&self, lpn: Lpn) -> Ppn {
        unpack(self.page(lpn)[0] as u32)
    }

    /// Returns the payload of a page's data on flash; 0 without data on flash.
    #[inline]
    pub(crate) fn stands(&self, lpn: Lpn) -> u64 {
        self.page(lpn)[1]
    }

    /// Sets the place of a page and the payload of its data on flash.
    #[inline]
    pub(crate) fn put(&mut self, lpn: Lpn, ppn: Ppn, stands: u64) {
        let record = self.page_mut(lpn);
        record[0] = record[0] & !u64::from(u32::MAX) | u64::from(pack(ppn));
        record[1] = stands;
    }

    /// Returns the place and the payload of the version of a page that the parity on flash
    /// contains.
    #[inline]
    pub(crate) fn counted(&self, lpn: Lpn) -> (Ppn, u64) {
        let record = self.page(lpn);
        (unpack((record[0] >> 32) as u32), record[2])
    }

    /// Notes that the parity on flash contains the version of a page that is on flash.
    pub(crate) fn count(&mut self, lpn: Lpn) {
        let record = self.page_mut(lpn);
        record[0] = record[0] & u64::from(u32::MAX) | record[0] << 32;
        record[2] = record[1];
    }

    /// Notes the place of the version of a page that the parity on flash contains.
    pub(crate) fn count_at(&mut self, lpn: Lpn, ppn: Ppn) {
        let record = self.page_mut(lpn);
        record[0] = record[0] & u64::from(u32::MAX) | u64::from(pack(ppn)) << 32;
    }

    /// Returns the XOR of the payloads of a stripe's pages on flash.
    #[inline]
    pub(crate) fn sum(&self, stripe: u32) -> u64 {
        self.stripe(stripe)[0]
    }

    /// Returns the number of a stripe's host pages on flash.
    #[inline]
    pub(crate) fn members(&self, stripe: u32) -> u32 {
        self.stripe(stripe)[2] as u32
    }

    /// Sets what [`Self::sum`] and [`Self::members`] return.
    #[inline]
    pub(crate) fn set_sum(&mut self, stripe: u32, sum: u64, members: u32) {
        let record = self.stripe_mut(stripe);
        (record[0], record[2]) = (sum, members.into());
    }

    /// Returns the content of a stripe's parity; 0 without parity.
    #[inline]
    pub(crate) fn content(&self, stripe: u32) -> u64 {
        self.stripe(stripe)[1]
    }

    /// Sets the content of a stripe's parity.
    #[inline]
    pub(crate) fn set_content(&mut self, stripe: u32, content: u64) {
        self.stripe_mut(stripe)[1] = content;
    }
}

fn pack(ppn: Ppn) -> u32 {
    if ppn == NO_PPN { 0 } else { ppn.number() + 1 }
}

fn unpack(word: u32) -> Ppn {
    word.checked_sub(1).map_or(NO_PPN, Ppn::new)
}
