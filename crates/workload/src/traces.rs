//! Trace files of other tools and of public collections, read as a stream in constant memory: one format a file.
//! A new format is a file with a [`Format`] and a line in [`FORMATS`].
//!
//! Start with [`TraceSource`], which needs a [`Survey`] of the files; [`TraceFile`] gives the rows of one file as they stand.

mod alibaba;
mod arc;
mod batches;
mod blk;
mod blkparse;
mod clock;
mod compact;
mod detect;
mod digest;
mod digits;
mod diskmon;
mod disksim;
mod fields;
mod file;
mod fio;
mod fio2;
mod fit;
mod format;
mod input;
mod lane;
mod layout;
mod lines;
mod mqsim;
mod msr;
mod names;
mod options;
mod output;
mod pace;
mod packing;
mod quote;
mod rate;
mod reader;
mod records;
mod scan;
mod source;
mod spc;
mod srt;
mod srt_header;
mod survey;
mod systor;
mod tencent;
mod unit;
mod vscsi;
mod window;
mod wiscsee;
mod write;

use std::io::Read;
use std::path::Path;

use vpass_core::base::request::SourceError;

pub use blk::BlkAction;
pub use digest::sha256_hex;
pub use file::{MAX_REQUEST_BYTES, MAX_TRIM_BYTES, Skipped, TraceFile};
pub use fit::Fit;
pub use format::{Clock, Column, Format, Row, format_named};
pub use layout::Device;
pub use options::{MissingClock, ReadOptions};
pub use output::Compressed;
pub(crate) use quote::quote;
pub use rate::doubts;
pub use source::{TraceOptions, TraceReport, TraceSource};
pub use survey::{FileSurvey, Survey};
pub use unit::{TimeUnit, Times, UnitBasis, UnitTaken};
pub use write::{Losses, Target, TraceWriter, WriteError};

/// Every format that is read, in the order in which they are listed.
pub static FORMATS: [Format; 16] = [
    msr::FORMAT,
    disksim::FORMAT,
    mqsim::FORMAT,
    fio::FORMAT,
    fio2::FORMAT,
    blkparse::FORMAT,
    spc::FORMAT,
    alibaba::FORMAT,
    tencent::FORMAT,
    systor::FORMAT,
    diskmon::FORMAT,
    wiscsee::FORMAT,
    arc::FORMAT,
    vscsi::FORMAT,
    srt::FORMAT,
    compact::FORMAT,
];

/// The content of a file, decompressed where it begins like a compressed one.
pub(crate) fn open_decompressed(path: &Path) -> Result<Box<dyn Read + Send>, SourceError> {
    input::open(path).map(|(input, _)| input)
}
