//! Prepares a stream of requests for simulation gears that draw reads in bulk. From the reads of
//! the stream, a read rate is calculated for each page and each window of time. Writes stay single
//! requests.
//!
//! ```text
//! reads of page 7   at 1 s, 2 s and 9 s
//! windows of 5 s    0.4 reads/s from 0 to 5 s, 0.2 reads/s from 5 s on
//! ```
//!
//! Within a window, a page is read at a constant rate. The number of reads is random; its mean is
//! the number of reads in the stream. The order of reads and writes within a window is lost. This
//! order would only decide whether a read finds the old or the new copy of a rewritten page.

//!
//! A trace repeats: its pass is replayed again and again. A generator, such as a fio job, draws new
//! requests in each pass. Its reads have mean rates of many passes.

mod strata;
mod table;
mod windowed;

pub use strata::StrataBy;
pub(crate) use table::add_up;
pub use table::{Counted, Counting, MOST_REQUESTS, Windows};
pub use windowed::FluidWindows;
pub(crate) use windowed::changed;
