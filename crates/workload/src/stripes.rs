//! Writes that come back to the stripes that were written last: for parity over stripes of logical
//! pages.
//!
//! ```text
//! a write   with chance `sequential`         goes on where the last write ended
//!           else with chance `recent_share`  begins in one of the `recent` stripes written last, each as likely
//!           else                             begins in a stripe by `workload.distribution`
//!           at an even page of the stripe, for 1, 2, .. pages: geometric with mean `write_pages`, cut at `most_pages`
//! a read    begins in a stripe by `workload.distribution`, at an even page, for a geometric number of pages with mean `read_pages`
//! ```
//!
//! Zipf's ranks are scattered over the footprint by the seed, and reads and writes share them. What
//! begins near the end of the footprint ends there.

mod recent;
mod stripes_config;
mod stripes_source;

pub use stripes_config::StripesConfig;
pub use stripes_source::StripesSource;
