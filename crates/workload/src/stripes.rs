//! Makes requests for simulations of parity. Logical pages form stripes, and some writes return to
//! a stripe that was written recently.
//!
//! ```text
//! a write   with chance `sequential`         continues where the last write ended
//!           else with chance `recent_share`  begins in one of the `recent` stripes written last
//!           else                             begins in a stripe by `workload.distribution`
//!           page     drawn evenly within the stripe
//!           length   geometric with mean `write_pages`, cut at `most_pages`
//! a read    begins in a stripe by `workload.distribution`, at an evenly drawn page
//!           length   geometric with mean `read_pages`, cut at `most_pages`
//! ```
//!
//! With Zipf's law, each stripe has a popularity rank, which is the same for reads and writes. The
//! seed decides which stripe has which rank. Requests are cut at the end of the footprint.

mod recent;
mod stripes_config;
mod stripes_source;

pub use stripes_config::StripesConfig;
pub use stripes_source::StripesSource;
