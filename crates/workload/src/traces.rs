//! Trace files of other tools and of public collections, read as a stream in constant memory: one format a file.
//! A new format is a file with a [`Format`] and a line in [`FORMATS`].
//!
//! Start with [`TraceSource`]; [`TraceFile`] gives the rows of one file as they stand.

mod clock;
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
mod quote;
mod source;

pub use digest::sha256_hex;
pub use file::{MAX_REQUEST_BYTES, TraceFile};
pub use fit::Fit;
pub use format::{Column, Format, Row, format_named};
pub use source::{TraceOptions, TraceReport, TraceSource};

/// Every format that is read, in the order in which detection asks them.
pub static FORMATS: [Format; 4] = [
    fio::FORMAT,     // by its header
    msr::FORMAT,     // by commas and Read or Write
    disksim::FORMAT, // by the decimal point in its time
    mqsim::FORMAT,   // by five whole numbers
];
