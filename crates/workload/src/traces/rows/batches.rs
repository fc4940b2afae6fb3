//! Rows of a binary byte stream that holds them in blocks, in constant memory.

use std::io;

use crate::traces::bytes::window::Window;
use crate::traces::rows::reader::{Batch, BatchReader};
use crate::traces::rows::trace_row::{Epoch, TraceRow};

/// Why there is no row.
#[derive(Debug)]
pub(in crate::traces) enum BatchError {
    /// The stream failed: a read error or a damaged compressed file.
    Io(io::Error),
    /// The block is wrong, and what follows cannot be read either.
    Bad(&'static str),
}

/// A reader of blocks.
pub(in crate::traces) struct Batches {
    window: Window,
    reader: Box<dyn BatchReader>,
    /// Where the next block begins in the stream, in bytes.
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

    /// Appends the rows of the next block, which may have none; false at the end of the stream.
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

/// The rows of a file that are in memory: those of a block, or one alone.
#[derive(Default)]
pub(in crate::traces) struct Ready {
    rows: Vec<TraceRow>,
    /// Behind the current row.
    next: usize,
    /// Rows before this one are known to be good.
    checked: usize,
    /// Rows of the blocks before.
    before: u64,
}

impl Ready {
    /// Goes to the next row, where it is in memory and known to be good.
    #[inline]
    pub(in crate::traces) fn step(&mut self) -> bool {
        let is_there = self.next < self.checked;
        self.next += usize::from(is_there);
        is_there
    }

    /// The current row.
    #[inline]
    pub(in crate::traces) fn current(&self) -> &TraceRow {
        &self.rows[self.next - 1]
    }

    /// Rows gone through.
    pub(in crate::traces) fn count(&self) -> u64 {
        self.before + self.next as u64
    }

    /// Makes a row from elsewhere the current one.
    #[inline]
    pub(in crate::traces) fn hold(&mut self, row: TraceRow) {
        self.rows.clear();
        self.rows.push(row);
        self.next = 1;
    }

    /// Goes to the next row, good or not, and reads on if need be; false at the end of the stream.
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

/// For a stream that ends within a block.
const CUT: &str = "the file ends too early; it is truncated";
