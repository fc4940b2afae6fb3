//! A byte stream through one buffer of fixed size, however long the stream.

use std::io;
use std::ops::Range;

use crate::traces::bytes::input::Input;

/// Size to begin with: most of the files that are open at the same time may be small.
const FIRST_BYTES: usize = 16 << 10;
/// Size that a longer stream gets: large enough that the carried-over piece of a line (40 bytes) is
/// nothing against it, small enough for the L2 cache.
pub(in crate::traces) const BUFFER_BYTES: usize = 256 << 10;

/// The part of a stream that is in memory.
pub(in crate::traces) struct Window {
    input: Input,
    buffer: Vec<u8>,
    /// What of the buffer is read and not yet handed out.
    pending: Range<usize>,
    at_end: bool,
}

impl Window {
    pub(in crate::traces) fn new(input: Input) -> Self {
        Self { input, buffer: vec![0; FIRST_BYTES], pending: 0..0, at_end: false }
    }

    /// What is in memory and not yet handed out.
    #[inline]
    pub(in crate::traces) fn pending(&self) -> &[u8] {
        &self.buffer[self.pending.clone()]
    }

    /// A piece handed out since the last refill.
    #[inline]
    pub(in crate::traces) fn piece(&self, piece: Range<usize>) -> &[u8] {
        &self.buffer[piece]
    }

    /// Hands out `length` bytes, or all that are pending where those are fewer.
    #[inline]
    pub(in crate::traces) fn take(&mut self, length: usize) -> Range<usize> {
        let start = self.pending.start;
        self.pending.start = start.saturating_add(length).min(self.pending.end);
        start..self.pending.start
    }

    /// Whether nothing follows what is pending.
    pub(in crate::traces) fn at_end(&self) -> bool {
        self.at_end
    }

    /// Moves what is pending to the front and reads until the buffer is full or the stream ends.
    pub(in crate::traces) fn refill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.pending.clone(), 0);
        self.pending = 0..self.pending.len();
        while !self.at_end && self.has_room() {
            match self.input.read(&mut self.buffer[self.pending.end..]) {
                Ok(0) => self.at_end = true,
                Ok(n) => self.pending.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Whether more can be read; a buffer of the first size grows once.
    fn has_room(&mut self) -> bool {
        if self.pending.end == self.buffer.len() && self.buffer.len() < BUFFER_BYTES {
            self.buffer.resize(BUFFER_BYTES, 0);
        }
        self.pending.end < self.buffer.len()
    }
}
