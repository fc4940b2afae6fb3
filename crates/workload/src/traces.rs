//! Trace files of other tools and of public collections, read as a stream in constant memory: one format a file.
//! A new format is a file with a [`Format`] and a line in [`FORMATS`].
//!
//! Start with [`TraceSource`]; [`TraceFile`] gives the rows of one file as they stand.

mod arc;
mod batches;
mod clock;
mod compact;
mod detect;
mod digest;
mod disksim;
mod fields;
mod file;
mod fio;
mod fit;
mod format;
mod input;
mod lines;
mod mqsim;
mod msr;
mod names;
mod options;
mod pace;
mod quote;
mod reader;
mod records;
mod source;
mod vscsi;
mod window;
mod write;

pub use digest::sha256_hex;
pub use file::{MAX_REQUEST_BYTES, Skipped, TraceFile};
pub use fit::Fit;
pub use format::{Clock, Column, Format, Row, format_named};
pub use options::{MissingClock, ReadOptions};
pub use source::{TraceOptions, TraceReport, TraceSource};
pub use write::{Losses, Target, TraceWriter, WriteError};

/// Every format that is read, in the order in which they are listed.
pub static FORMATS: [Format; 7] = [msr::FORMAT, disksim::FORMAT, mqsim::FORMAT, fio::FORMAT, arc::FORMAT, vscsi::FORMAT, compact::FORMAT];
