//! Records of a binary byte stream, in constant memory.

use std::io;
use std::ops::Range;

use crate::traces::bytes::window::{BUFFER_BYTES, Window};
use crate::traces::rows::reader::{RecordReader, Taken};
use crate::traces::rows::trace_row::{BadRow, TraceRow};

/// Why there is no row.
#[derive(Debug)]
pub(in crate::traces) enum RecordError {
    /// The stream failed: a read error or a damaged compressed file.
    Io(io::Error),
    /// The record is wrong; where it says so, the next one begins behind it.
    Bad(BadRow),
}

/// What a stream holds next.
pub(in crate::traces) enum Next {
    /// A record that moves data.
    TraceRow(TraceRow),
    /// One that does not.
    Other,
    /// The end.
    End,
}

/// A reader of records.
pub(in crate::traces) struct Records {
    window: Window,
    /// The current record.
    record: Range<usize>,
    number: u64,
    /// Where the current record begins in the stream, in bytes.
    offset: u64,
}

/// The record that a format ends with its file.
const CUT: BadRow = BadRow::Fatal("the file ends within a record; it is truncated");
/// No record comes near this.
const TOO_LONG: BadRow = BadRow::Fatal("the record is longer than 256 KiB");

/// Bytes of a record that a message shows.
const SHOWN: usize = 16;

impl Records {
    pub(in crate::traces) fn new(window: Window) -> Self {
        Self { window, record: 0..0, number: 0, offset: 0 }
    }

    /// Goes to the next record.
    #[inline]
    pub(in crate::traces) fn advance(
        &mut self,
        reader: &mut dyn RecordReader,
    ) -> Result<Next, RecordError> {
        loop {
            let missing = match reader.record(self.window.pending()) {
                Taken::TraceRow(length, row) => {
                    self.take(length);
                    return Ok(Next::TraceRow(row));
                }
                Taken::Other(length) => {
                    self.take(length);
                    return Ok(Next::Other);
                }
                Taken::Bad(length, bad) => {
                    // One of unknown length is shown by its first bytes; nothing can follow it.
                    self.take(if length == 0 { SHOWN } else { length });
                    return Err(RecordError::Bad(bad));
                }
                Taken::More(length) => length,
            };
            if !self.refill(missing)? {
                return Ok(Next::End);
            }
        }
    }

    /// The first bytes of the current record.
    pub(in crate::traces) fn beginning(&self) -> &[u8] {
        let bytes = self.window.piece(self.record.clone());
        &bytes[..bytes.len().min(SHOWN)]
    }

    /// Number of the current record, from 1, and where it begins, in bytes from 0.
    pub(in crate::traces) fn place(&self) -> (u64, u64) {
        (self.number, self.offset)
    }

    #[inline]
    fn take(&mut self, length: usize) {
        self.offset += self.record.len() as u64;
        self.record = self.window.take(length);
        self.number += 1;
    }

    /// Reads on until a record of `length` bytes is there; false at the end of the stream.
    #[cold]
    fn refill(&mut self, length: usize) -> Result<bool, RecordError> {
        if !self.window.at_end() {
            self.window.refill().map_err(RecordError::Io)?;
        }
        let there = self.window.pending().len();
        if length <= there {
            return Ok(true);
        }
        if there == 0 && self.window.at_end() {
            return Ok(false);
        }
        self.take(there);
        Err(RecordError::Bad(if length > BUFFER_BYTES { TOO_LONG } else { CUT }))
    }
}
