//! Reads trace files of other tools and of public collections, as streams in constant memory. Each
//! format has a file of its own.
//!
//! Start with [`TraceSource`], which makes requests and needs a [`Survey`] of the trace files.
//! [`TraceFile`] gives the rows of one file unchanged.

mod bytes;
mod detect;
mod file;
mod formats;
mod replay;
mod rows;
mod shown;
mod write;

use std::io::Read;
use std::path::Path;

use vpass_drive::base::request::SourceError;

pub use bytes::digest::sha256_hex;
pub use bytes::output::Compressed;
pub use file::{MAX_REQUEST_BYTES, MAX_TRIM_BYTES, Skipped, TraceFile};
pub use formats::{FORMATS, format_named};
pub use replay::capacity_fit::Fit;
pub use replay::layout::Device;
pub use replay::survey::{FileSurvey, Survey};
pub use replay::trace_options::TraceOptions;
pub use replay::trace_source::{TraceReport, TraceSource};
pub use rows::blk::BlkAction;
pub use rows::format::{Column, Epoch, Format, TraceRow};
pub use rows::oddities::Oddities;
pub use rows::options::{MissingClock, ReadOptions};
pub(crate) use rows::quote::quote;
pub use rows::rate::doubts;
pub use rows::unit::{TimeUnit, Times, UnitBasis, UnitTaken};
pub use shown::{STANDARD_INPUT, show_as_standard_input, shown};
pub use write::{Losses, Target, TraceWriter, WriteError};

/// Opens a file. If the first bytes of the file show a compression, the content is decompressed.
/// Bytes that follow gzip data are an error here, because no report would mention such bytes.
pub(crate) fn open_decompressed(path: &Path) -> Result<Box<dyn Read + Send>, SourceError> {
    bytes::input::open(path)
        .map(|(input, raw)| Box::new(bytes::input::Whole::new(input, raw)) as Box<dyn Read + Send>)
}
