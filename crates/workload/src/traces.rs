//! Reads trace files of other tools and of public collections, as streams in constant memory. Each
//! format has a file of its own.
//!
//! Start with [`TraceSource`], which makes requests and needs a [`Survey`] of the trace files.
//! [`TraceFile`] gives the rows of one file unchanged.

mod bytes;
mod detect;
mod file;
mod formats;
mod options;
mod replay;
mod rows;
mod shown;
mod write;

pub use bytes::digest::sha256_hex;
pub use bytes::output::Compressed;
pub use file::{MAX_REQUEST_BYTES, MAX_TRIM_BYTES, Skipped, TraceFile};
pub use formats::{FORMATS, format_named};
pub use options::{MissingClock, TraceOptions};
pub use replay::capacity_fit::Fit;
pub use replay::layout::Device;
pub use replay::survey::{FileSurvey, Survey};
pub use replay::trace_source::{TraceReport, TraceSource};
pub use rows::blk::BlkAction;
pub use rows::format::{Column, Epoch, Format, TraceEvent, TraceRow};
pub use rows::oddities::Oddities;
pub(crate) use rows::quote::quote;
pub use rows::rate::doubts;
pub use rows::unit::{TimeUnit, Times, UnitBasis, UnitTaken};
pub use shown::{STANDARD_INPUT, show_as_standard_input, shown};
pub use write::{Losses, Target, TraceWriter, WriteError};
