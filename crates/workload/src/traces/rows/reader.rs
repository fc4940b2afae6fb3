//! Defines the readers of a file's body: line by line, record by record, or many rows at a time.
//!
//! Each file gets its own reader, so a reader may remember earlier parts of the file.

use crate::traces::rows::options::ReadOptions;
use crate::traces::rows::trace_row::{BadRow, Epoch, TraceRow};
use vpass_core::base::phrase::Phrase;

/// Reader of text. Blank lines do not reach it.
pub(in crate::traces) trait LineReader: Send {
    /// Parses the next line, given without its end. Returns `None` if the line is valid but moves
    /// no data.
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow>;

    /// Returns the trace's own name for a [`TraceRow::device`].
    fn device_name(&self, device: u32) -> String {
        device.to_string()
    }

    /// Returns whether the user's `name` means this device.
    fn is_device(&self, device: u32, name: &str) -> bool {
        self.device_name(device) == name
    }

    /// Returns text to add to the error "holds no requests"; empty by default.
    fn without_rows(&self) -> Phrase {
        Phrase::default()
    }
}

/// Reader of binary records.
pub(in crate::traces) trait RecordReader: Send {
    /// Parses the record at the start of `bytes`, which may be empty, end within the record or
    /// continue after it.
    fn record(&mut self, bytes: &[u8]) -> Taken;

    /// Returns the trace's own name for a [`TraceRow::device`].
    fn device_name(&self, device: u32) -> String {
        device.to_string()
    }
}

/// Result of a [`RecordReader`]. Numbers are the length of the record in bytes, except for `More`.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::traces) enum Taken {
    /// Record with a row.
    TraceRow(usize, TraceRow),
    /// Record without a row, or header.
    Other(usize),
    /// Invalid record of this length. A length of 0 means that it is unknown, which is a fatal
    /// error.
    Bad(usize, BadRow),
    /// More bytes are needed: at least this many in all, at most 256 KiB.
    More(usize),
}

/// Reader of binary blocks of many rows each.
pub(in crate::traces) trait BatchReader: Send {
    /// Decodes the block at the start of `bytes` and appends its rows. `bytes` may end within the
    /// block or continue after it, and is empty at the end of the file. Nothing is read after an
    /// error.
    fn batch(&mut self, bytes: &[u8], rows: &mut Vec<TraceRow>) -> Result<Batch, &'static str>;

    /// Returns the trace's own name for a [`TraceRow::device`].
    fn device_name(&self, device: u32) -> String;

    /// Returns the epoch of the file's times. It is known after the first batch.
    fn clock(&self) -> Epoch;
}

/// Result of a [`BatchReader`].
#[derive(Debug, PartialEq, Eq)]
pub(in crate::traces) enum Batch {
    /// Block of this length in bytes.
    Whole(usize),
    /// More bytes are needed: at least this many in all, at most 256 KiB.
    More(usize),
}

/// Facts that a reader may use when it is made.
pub(in crate::traces) struct Opening<'a> {
    pub(in crate::traces) options: &'a ReadOptions,
    /// First bytes of the file after decompression: the whole file, or 256 KiB.
    pub(in crate::traces) head: &'a [u8],
}

/// Function that makes the reader of a file.
#[derive(Debug)]
pub(in crate::traces) enum Body {
    /// Reader of a text format.
    Lines(fn(&Opening) -> Box<dyn LineReader>),
    /// Reader of a binary format.
    Records(fn(&Opening) -> Box<dyn RecordReader>),
    /// Reader of a binary format with blocks of many rows.
    Batches(fn(&Opening) -> Box<dyn BatchReader>),
}

/// Makes the reader of a format whose lines do not depend on each other.
pub(in crate::traces) fn line_by_line(
    parse: impl Fn(&[u8]) -> Result<Option<TraceRow>, BadRow> + Send + 'static,
) -> Box<dyn LineReader> {
    struct Stateless<F>(F);

    impl<F: Fn(&[u8]) -> Result<Option<TraceRow>, BadRow> + Send> LineReader for Stateless<F> {
        #[inline]
        fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow> {
            (self.0)(line)
        }
    }
    Box::new(Stateless(parse))
}
