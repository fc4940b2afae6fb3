//! Prepares streams of requests for gears that draw reads in bulk. Reads become rates for each page
//! and window of time. Writes stay as they are.
//!
//! ```text
//! reads of page 7   at 1 s, 2 s and 9 s
//! windows of 5 s    0.4 reads/s from 0 to 5 s, 0.2 reads/s from 5 s on
//! ```
//!
//! Within a window, the reads of a page come evenly. Their number is random, and its mean is the
//! number of the stream. The order of reads and writes within a window is lost. This order decides
//! only whether a read meets the old or the new copy of a rewritten page.

mod table;
mod windowed;

pub use table::Windows;
pub use windowed::FluidWindows;
