//! How often each page of the host is read, where no single read is known: a rate a page.

use crate::base::units::Lpn;

/// Reads a second of each of the host's pages.
#[derive(Clone, Debug, PartialEq)]
pub enum PageRates {
    /// All pages alike.
    Same(f64),
    /// Page by page, from page 0 on. Pages beyond the end are not read.
    Each(Vec<f32>),
}

/// How the host reads for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRates {
    /// Of each page.
    pub pages: PageRates,
    /// Requests a page that is read: 1 where each request reads one page.
    pub requests_per_page: f64,
    /// Bytes that the host asks for, for each page that is read.
    pub bytes_per_page: f64,
}

/// Nanoseconds in a second.
pub(crate) const NS_PER_S: f64 = 1e9;

impl PageRates {
    /// Reads of a page in a nanosecond.
    #[inline]
    pub fn per_ns(&self, lpn: Lpn) -> f64 {
        match self {
            Self::Same(rate) => rate / NS_PER_S,
            Self::Each(rates) => {
                rates.get(lpn.index()).map_or(0.0, |rate| f64::from(*rate) / NS_PER_S)
            }
        }
    }

    /// A page is read so often a second. Pages beyond the end of [`Self::Each`] are not read,
    /// whatever is said here.
    ///
    /// # Panics
    /// Where all pages are read alike: nothing is kept of a single one.
    pub fn set(&mut self, lpn: Lpn, per_s: f32) {
        let Self::Each(rates) = self else { panic!("all pages are read alike") };
        if let Some(rate) = rates.get_mut(lpn.index()) {
            *rate = per_s;
        }
    }

    /// Reads a second of all of so many pages.
    pub fn sum(&self, pages: u32) -> f64 {
        match self {
            Self::Same(rate) => rate * f64::from(pages),
            Self::Each(rates) => {
                rates.iter().take(pages as usize).map(|rate| f64::from(*rate)).sum()
            }
        }
    }
}
