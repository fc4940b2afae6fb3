//! Streams of requests for gears that draw reads in bulk: what is read is added up by page and
//! window of time, what is written stays as it is.
//!
//! ```text
//! reads of page 7 at 1 s, 2 s and 9 s, windows of 5 s:   0.4 reads a second from 0 to 5 s, 0.2 from 5 s on
//! ```
//!
//! Within a window a page's reads come evenly, and their number is drawn: it is that of the stream
//! in the mean. Where each read and write of a page falls within its window decides nothing but
//! which of its places is read, before a write or after.

mod table;
mod windowed;

pub use table::Windows;
pub use windowed::FluidWindows;
