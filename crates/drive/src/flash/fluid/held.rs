//! Read rates by place: the rate of the data in each flash page. The list of a block's rates then
//! comes from neighbouring memory. By host page, each rate would be a cache miss.

use crate::base::mem::huge_zeros;
use crate::base::rates::{NS_PER_S, PageRates};
use crate::base::units::{Lpn, Ppn};

/// Reads per second of the data in each flash page, from its programming on. The list is empty if
/// all host pages have one rate.
pub(crate) struct Held(Vec<f32>);

impl Held {
    /// Returns the list for a number of flash pages, without data.
    pub(super) fn new(rates: &PageRates, flash_pages: usize) -> Self {
        match rates {
            PageRates::Same(_) => Self(vec![]),
            PageRates::Each(_) => Self(huge_zeros(flash_pages)),
        }
    }

    /// Returns the memory of the list, in bytes.
    pub(crate) const fn bytes(flash_pages: u64) -> u64 {
        size_of::<f32>() as u64 * flash_pages
    }

    /// Notes the rate of the data of a host page, which lies in this flash page from now on. Parity
    /// is beyond the host's pages and is not read.
    #[inline]
    pub(super) fn note(&mut self, ppn: Ppn, lpn: Lpn, rates: &PageRates) {
        if let (PageRates::Each(rates), Some(held)) = (rates, self.0.get_mut(ppn.index())) {
            *held = rates.get(lpn.index()).copied().unwrap_or(0.0);
        }
    }

    /// Returns the rates of a block's pages from this one on; `None` if all host pages have one
    /// rate.
    pub(super) fn from(&self, first: Ppn) -> Option<&[f32]> {
        self.0.get(first.index()..).filter(|held| !held.is_empty())
    }
}

/// Returns a rate per second as a rate per nanosecond.
#[inline]
pub(super) fn per_ns(per_s: f32) -> f64 {
    f64::from(per_s) / NS_PER_S
}
