//! Reads a binary stream that consists of records, in constant memory.

use std::ops::Range;

use crate::traces::bytes::window::{BUFFER_BYTES, Window};
use crate::traces::rows::format::{BadRow, TraceRow};
use crate::traces::rows::reader::{Odd, RecordReader, Taken};

/// Reader of the records of a stream.
pub(in crate::traces) struct Records {
    window: Window,
    /// Position of the current record in memory.
    record: Range<usize>,
    number: u64,
    /// Position of the current record in the stream, in bytes.
    offset: u64,
}

/// Error for a file that ends within a record.
const CUT: BadRow = BadRow::Fatal("the file ends within a record; it is truncated");
/// Error for a record that is longer than the buffer. Real records are much shorter.
const TOO_LONG: BadRow = BadRow::Fatal("the record is longer than 256 KiB");

/// Number of bytes of a record that a message shows.
const SHOWN: usize = 16;

impl Records {
    pub(in crate::traces) fn new(window: Window) -> Self {
        Self { window, record: 0..0, number: 0, offset: 0 }
    }

    /// Goes to the next record of the stream, and returns its row.
    #[inline]
    pub(in crate::traces) fn advance(
        &mut self,
        reader: &mut dyn RecordReader,
    ) -> Result<TraceRow, Odd> {
        loop {
            let missing = match reader.record(self.window.pending()) {
                Taken::TraceRow(length, row) => {
                    self.take(length);
                    return Ok(row);
                }
                Taken::Event(length, event) => {
                    self.take(length);
                    return Err(Odd::Event(event));
                }
                Taken::Other(length) => {
                    self.take(length);
                    return Err(Odd::Nothing);
                }
                Taken::Bad(length, bad) => {
                    // An error message shows the first bytes of an invalid record. If the length of
                    // the record is unknown, no later record can be read.
                    self.take(if length == 0 { SHOWN } else { length });
                    return Err(Odd::Bad(bad));
                }
                Taken::More(length) => length,
            };
            if !self.refill(missing)? {
                return Err(reader.end().map_or_else(Odd::Bad, |()| Odd::End));
            }
        }
    }

    /// Returns the first bytes of the current record, for a message.
    pub(in crate::traces) fn first_bytes(&self) -> &[u8] {
        let bytes = self.window.piece(self.record.clone());
        &bytes[..bytes.len().min(SHOWN)]
    }

    /// Returns the number of the current record, and the position of this record in the stream in
    /// bytes. The first record has number 1 and position 0.
    pub(in crate::traces) fn place(&self) -> (u64, u64) {
        (self.number, self.offset)
    }

    #[inline]
    fn take(&mut self, length: usize) {
        self.offset += self.record.len() as u64;
        self.record = self.window.take(length);
        self.number += 1;
    }

    /// Reads until a record of `length` bytes is in memory. Returns false at the end of the stream.
    #[cold]
    fn refill(&mut self, length: usize) -> Result<bool, Odd> {
        if !self.window.at_end() {
            self.window.refill().map_err(Odd::Io)?;
        }
        let there = self.window.pending().len();
        if length <= there {
            return Ok(true);
        }
        if there == 0 && self.window.at_end() {
            return Ok(false);
        }
        self.take(there);
        Err(Odd::Bad(if length > BUFFER_BYTES { TOO_LONG } else { CUT }))
    }
}
