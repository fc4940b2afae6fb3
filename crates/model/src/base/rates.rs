//! Read rates of the host's pages, for reads that are not known one by one.

use crate::base::units::Lpn;

/// Number of reads of each host page per second.
#[derive(Clone, Debug, PartialEq)]
pub enum PageRates {
    /// Equal rate of all pages.
    Same(f64),
    /// Rate of each page, from page 0 on. Pages beyond the end are not read.
    Each(Vec<f32>),
}

/// Reads of the host during some time.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRates {
    /// Read rate of each page.
    pub pages: PageRates,
    /// Number of requests per page read; 1 if each request reads one page.
    pub requests_per_page: f64,
    /// Number of bytes that the host requests, per page read.
    pub bytes_per_page: f64,
}

/// Number of nanoseconds in a second.
pub const NS_PER_S: f64 = 1e9;

impl PageRates {
    /// Returns the number of reads of a page per nanosecond.
    #[inline]
    pub fn per_ns(&self, lpn: Lpn) -> f64 {
        match self {
            Self::Same(rate) => rate / NS_PER_S,
            Self::Each(rates) => {
                rates.get(lpn.index()).map_or(0.0, |rate| f64::from(*rate) / NS_PER_S)
            }
        }
    }

    /// Sets the number of reads of a page per second. Pages beyond the end of [`Self::Each`] are
    /// never read, so nothing is set for them.
    ///
    /// # Panics
    /// Panics if all pages have one rate.
    pub fn set(&mut self, lpn: Lpn, per_s: f32) {
        let Self::Each(rates) = self else { panic!("all pages are read alike") };
        if let Some(rate) = rates.get_mut(lpn.index()) {
            *rate = per_s;
        }
    }

    /// Returns the number of reads of `pages` pages together, per second.
    pub fn sum(&self, pages: u32) -> f64 {
        match self {
            Self::Same(rate) => rate * f64::from(pages),
            Self::Each(rates) => {
                rates.iter().take(pages as usize).map(|rate| f64::from(*rate)).sum()
            }
        }
    }
}
