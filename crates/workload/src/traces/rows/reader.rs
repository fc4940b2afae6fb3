//! What reads the body of a file: line by line, record by record, or many rows at a time. A format
//! makes one for each file it is asked to read, so a reader may remember what the file said before.

use crate::traces::rows::options::ReadOptions;
use crate::traces::rows::trace_row::{BadRow, Epoch, TraceRow};

/// A reader of text. It never sees a blank line.
pub(in crate::traces) trait LineReader: Send {
    /// Reads the next line, given without its end; `None` where it is part of the format and moves
    /// no data.
    fn line(&mut self, line: &[u8]) -> Result<Option<TraceRow>, BadRow>;

    /// The name that the trace itself gives a [`TraceRow::device`].
    fn device_name(&self, device: u32) -> String {
        device.to_string()
    }

    /// Whether a user who says `name` means that device.
    fn is_device(&self, device: u32, name: &str) -> bool {
        self.device_name(device) == name
    }

    /// What to add to the complaint that a file holds no requests.
    fn without_rows(&self) -> &'static str {
        ""
    }
}

/// A reader of binary records.
pub(in crate::traces) trait RecordReader: Send {
    /// Reads the record that `bytes` begin with; they may go on far beyond it or end within it, and
    /// may be none.
    fn record(&mut self, bytes: &[u8]) -> Taken;

    /// The name that the trace itself gives a [`TraceRow::device`].
    fn device_name(&self, device: u32) -> String {
        device.to_string()
    }
}

/// What a [`RecordReader`] found, with the length of the record in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::traces) enum Taken {
    /// A row.
    TraceRow(usize, TraceRow),
    /// A record without a row, or a header.
    Other(usize),
    /// A wrong record of this length; 0 where that is unknown, which is fatal.
    Bad(usize, BadRow),
    /// At least this many bytes are needed to tell; they are more than were given and at most 256
    /// KiB.
    More(usize),
}

/// A reader of binary blocks of many rows each.
pub(in crate::traces) trait BatchReader: Send {
    /// Understands the block that `bytes` begin with and appends its rows, if any; `bytes` may go
    /// on far beyond the block or end within it, and are none at the end of the file. After an
    /// error nothing is read further.
    fn batch(&mut self, bytes: &[u8], rows: &mut Vec<TraceRow>) -> Result<Batch, &'static str>;

    /// The name that the trace itself gives a [`TraceRow::device`].
    fn device_name(&self, device: u32) -> String;

    /// What the file's times count from; known after the first batch.
    fn clock(&self) -> Epoch;
}

/// What a [`BatchReader`] found.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::traces) enum Batch {
    /// A block of this length in bytes.
    Whole(usize),
    /// At least this many bytes are needed to tell; they are more than were given and at most 256
    /// KiB.
    More(usize),
}

/// What a reader may know when it is made.
pub(in crate::traces) struct Opening<'a> {
    pub(in crate::traces) options: &'a ReadOptions,
    /// The first bytes of the file, decompressed: all of it or 256 KiB.
    pub(in crate::traces) head: &'a [u8],
}

/// Makes the reader of one file.
#[derive(Debug)]
pub(in crate::traces) enum Body {
    /// Of a text format.
    Lines(fn(&Opening) -> Box<dyn LineReader>),
    /// Of a binary format.
    Records(fn(&Opening) -> Box<dyn RecordReader>),
    /// Of a binary format with blocks of many rows.
    Batches(fn(&Opening) -> Box<dyn BatchReader>),
}

/// The reader of a format whose lines stand for themselves.
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
