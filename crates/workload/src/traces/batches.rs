//! Rows of a binary byte stream that holds them in blocks, in constant memory.

use std::io;

use super::format::{Clock, Row};
use super::reader::{Batch, BatchReader};
use super::window::Window;

/// Why there is no row.
#[derive(Debug)]
pub(super) enum BatchError {
    /// The stream failed: a read error or a damaged compressed file.
    Io(io::Error),
    /// The block is wrong, and what follows cannot be read either.
    Bad(&'static str),
}

/// A reader of rows.
pub(super) struct Batches {
    window: Window,
    reader: Box<dyn BatchReader>,
    rows: Vec<Row>,
    /// The next of `rows` to hand out.
    next: usize,
    /// Rows of the batches before.
    before: u64,
    /// Where the next block begins in the stream, in bytes.
    offset: u64,
}

impl Batches {
    pub(super) fn new(window: Window, reader: Box<dyn BatchReader>) -> Self {
        Self { window, reader, rows: vec![], next: 0, before: 0, offset: 0 }
    }

    /// The next row; none at the end of the stream.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<Option<Row>, BatchError> {
        loop {
            if let Some(row) = self.rows.get(self.next) {
                self.next += 1;
                return Ok(Some(*row));
            }
            if !self.refill()? {
                return Ok(None);
            }
        }
    }

    /// Rows handed out, and where the block behind theirs begins, in bytes.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.before + self.next as u64, self.offset)
    }

    pub(super) fn device_name(&self, device: u32) -> String {
        self.reader.device_name(device)
    }

    pub(super) fn clock(&self) -> Clock {
        self.reader.clock()
    }

    /// Reads the next block; false at the end of the stream.
    #[cold]
    fn refill(&mut self) -> Result<bool, BatchError> {
        self.before += self.rows.len() as u64;
        self.rows.clear();
        self.next = 0;
        loop {
            match self.reader.batch(self.window.pending(), &mut self.rows) {
                Ok(Batch::Whole(length)) => {
                    self.offset += self.window.take(length).len() as u64;
                    return Ok(true);
                }
                Ok(Batch::More(length)) => {
                    if !self.window.at_end() {
                        self.window.refill().map_err(BatchError::Io)?;
                    }
                    match self.window.pending().len() {
                        0 if self.window.at_end() => return Ok(false),
                        there if there < length => return Err(BatchError::Bad(CUT)),
                        _ => {}
                    }
                }
                Err(what) => {
                    self.rows.clear();
                    return Err(BatchError::Bad(what));
                }
            }
        }
    }
}

/// For a stream that ends within a block.
const CUT: &str = "the file ends too early; it is truncated";
