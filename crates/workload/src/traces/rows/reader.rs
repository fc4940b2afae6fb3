//! Readers of the content of a trace file: line by line, record by record, or many rows at a time.
//!
//! Each file gets a reader of its own, so a reader may keep what it learned from earlier lines or
//! records.

use crate::traces::rows::options::ReadOptions;
use crate::traces::rows::trace_row::{BadRow, Epoch, TraceRow};
use vpass_drive::base::phrase::Phrase;

/// Reader of the lines of a text format. The reader gets no blank lines.
pub(in crate::traces) trait LineReader: Send {
    /// Parses the next line, which is given without its line end. Returns `None` if the line is
    /// valid but moves no data.
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow>;

    /// Returns the name that the trace gives to a device number ([`TraceRow::device`]).
    fn device_name(&self, device: u32) -> String {
        device.to_string()
    }

    /// Returns whether a name that the user gave stands for the device with the given number.
    fn is_device(&self, device: u32, name: &str) -> bool {
        self.device_name(device) == name
    }

    /// Returns a text that says which of several events of a request counts, with the number of
    /// events of each kind. `None` if a request is one row.
    fn counted(&self) -> Option<Phrase> {
        None
    }

    /// Returns text to add to the error "holds no requests". By default, the text is empty.
    fn without_rows(&self) -> Phrase {
        Phrase::default()
    }
}

/// Reader of the records of a binary format.
pub(in crate::traces) trait RecordReader: Send {
    /// Parses the record that begins at the start of `bytes`. `bytes` may be empty, may end within
    /// the record, or may continue after the record.
    fn record(&mut self, bytes: &[u8]) -> Taken;

    /// Returns the name that the trace gives to a device number ([`TraceRow::device`]).
    fn device_name(&self, device: u32) -> String {
        device.to_string()
    }
}

/// Result of a [`RecordReader`]. In every variant except `More`, the number is the length of the
/// record in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::traces) enum Taken {
    /// The record contains a row.
    TraceRow(usize, TraceRow),
    /// The record contains no row. The header of a file counts as such a record.
    Other(usize),
    /// The record is invalid. The number is the length of the record, or 0 if the length is
    /// unknown, which is a fatal error.
    Bad(usize, BadRow),
    /// `bytes` was too short. The next call needs at least as many bytes as this field states,
    /// which are at most 256 KiB.
    More(usize),
}

/// Reader of a binary format that consists of blocks of many rows.
pub(in crate::traces) trait BatchReader: Send {
    /// Decodes the block at the start of `bytes`, and appends the rows of the block to `rows`.
    /// `bytes` may end within the block or continue after the block. At the end of the file,
    /// `bytes` is empty. After an error, the reader is not called again.
    fn batch(&mut self, bytes: &[u8], rows: &mut Vec<TraceRow>) -> Result<Batch, &'static str>;

    /// Returns the name that the trace gives to a device number ([`TraceRow::device`]).
    fn device_name(&self, device: u32) -> String;

    /// Returns the epoch of the file's times. The epoch is known after the first block.
    fn clock(&self) -> Epoch;

    /// Returns the time at which the recorded run ended. The time is known at the end of the file,
    /// if the epoch is [`Epoch::Run`].
    fn ends_at(&self) -> Option<u64>;
}

/// Result of a [`BatchReader`].
#[derive(Debug, PartialEq, Eq)]
pub(in crate::traces) enum Batch {
    /// The block was decoded. The number is the length of the block in bytes.
    Whole(usize),
    /// `bytes` was too short. The next call needs at least as many bytes as this field states,
    /// which are at most 256 KiB.
    More(usize),
}

/// Facts about a file that are known when the reader of the file is made.
pub(in crate::traces) struct Opening<'a> {
    pub(in crate::traces) options: &'a ReadOptions,
    /// First bytes of the file after decompression: the whole file, or its first 256 KiB.
    pub(in crate::traces) head: &'a [u8],
}

/// Function that makes the reader of a file, for each kind of format.
#[derive(Debug)]
pub(in crate::traces) enum Body {
    /// Function that makes the reader of a text format.
    Lines(fn(&Opening) -> Box<dyn LineReader>),
    /// Function that makes the reader of a binary format.
    Records(fn(&Opening) -> Box<dyn RecordReader>),
    /// Function that makes the reader of a binary format with blocks of rows.
    Batches(fn(&Opening) -> Box<dyn BatchReader>),
}

/// Makes the reader of a text format whose lines do not depend on each other.
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
