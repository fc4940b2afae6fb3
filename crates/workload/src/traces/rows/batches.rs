//! Reads a binary stream that consists of blocks of rows, in constant memory.

use std::io;

use crate::traces::bytes::window::Window;
use crate::traces::rows::reader::{Batch, BatchReader};
use crate::traces::rows::trace_row::{Epoch, TraceRow};

/// Reason why a block gives no rows.
#[derive(Debug)]
pub(in crate::traces) enum BatchError {
    /// The stream failed, because of a read error or a damaged compressed file.
    Io(io::Error),
    /// The block is invalid, and nothing after the block can be read.
    Bad(&'static str),
}

/// Reader of the blocks of a stream.
pub(in crate::traces) struct Batches {
    window: Window,
    reader: Box<dyn BatchReader>,
    /// Position of the next block in the stream, in bytes.
    offset: u64,
}

impl Batches {
    pub(in crate::traces) fn new(window: Window, reader: Box<dyn BatchReader>) -> Self {
        Self { window, reader, offset: 0 }
    }

    pub(in crate::traces) fn offset(&self) -> u64 {
        self.offset
    }

    pub(in crate::traces) fn device_name(&self, device: u32) -> String {
        self.reader.device_name(device)
    }

    pub(in crate::traces) fn clock(&self) -> Epoch {
        self.reader.clock()
    }

    pub(in crate::traces) fn ends_at(&self) -> Option<u64> {
        self.reader.ends_at()
    }

    /// Appends the rows of the next block to `rows`. The block may be empty. Returns false at the
    /// end of the stream.
    fn read(&mut self, rows: &mut Vec<TraceRow>) -> Result<bool, BatchError> {
        loop {
            let missing =
                match self.reader.batch(self.window.pending(), rows).map_err(BatchError::Bad)? {
                    Batch::Whole(length) => {
                        self.offset += self.window.take(length).len() as u64;
                        return Ok(true);
                    }
                    Batch::More(length) => length,
                };
            if !self.window.at_end() {
                self.window.refill().map_err(BatchError::Io)?;
            }
            match self.window.pending().len() {
                0 if self.window.at_end() => return Ok(false),
                there if there < missing => return Err(BatchError::Bad(CUT)),
                _ => {}
            }
        }
    }
}

/// Rows of a file that are in memory: all rows of a block, or a single row.
#[derive(Default)]
pub(in crate::traces) struct Ready {
    rows: Vec<TraceRow>,
    /// Index of the row after the current row.
    next: usize,
    /// Number of rows that are known to be valid, counted from the first row in memory.
    checked: usize,
    /// Number of rows in all earlier blocks.
    before: u64,
}

impl Ready {
    /// Goes to the next row if the next row is in memory and known to be valid. Otherwise, returns
    /// false.
    #[inline]
    pub(in crate::traces) fn step(&mut self) -> bool {
        let is_there = self.next < self.checked;
        self.next += usize::from(is_there);
        is_there
    }

    /// Returns the current row.
    #[inline]
    pub(in crate::traces) fn current(&self) -> &TraceRow {
        &self.rows[self.next - 1]
    }

    /// Returns the number of rows in the stream up to the current row, including the current row.
    pub(in crate::traces) fn count(&self) -> u64 {
        self.before + self.next as u64
    }

    /// Replaces the rows in memory by a single row, which becomes the current row.
    #[inline]
    pub(in crate::traces) fn hold(&mut self, row: TraceRow) {
        self.rows.clear();
        self.rows.push(row);
        self.next = 1;
    }

    /// Goes to the next row, even if the row is invalid, and reads the next block if necessary.
    /// Returns false at the end of the stream.
    pub(in crate::traces) fn advance(
        &mut self,
        batches: &mut Batches,
        is_good: fn(&TraceRow) -> bool,
    ) -> Result<bool, BatchError> {
        while self.next == self.rows.len() {
            self.before += self.rows.len() as u64;
            self.rows.clear();
            (self.next, self.checked) = (0, 0);
            if !batches.read(&mut self.rows)? {
                return Ok(false);
            }
        }
        self.next += 1;
        let rest = &self.rows[self.next..];
        self.checked = self.next + rest.iter().position(|row| !is_good(row)).unwrap_or(rest.len());
        Ok(true)
    }
}

/// Error text for a stream that ends within a block.
const CUT: &str = "the file ends too early; it is truncated";
