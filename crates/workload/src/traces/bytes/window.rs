//! Gives access to a byte stream of any length through one buffer of limited size.

use std::io;
use std::ops::Range;

use crate::traces::bytes::input::Input;

/// Size of the buffer at first, in bytes. This size is small, because many small files may be open
/// at the same time.
const FIRST_BYTES: usize = 16 << 10;
/// Size of the buffer for longer streams, in bytes. A buffer of this size fits into the L2 cache. A
/// refill must copy a partial line of about 40 bytes, which is little compared with the buffer.
pub(in crate::traces) const BUFFER_BYTES: usize = 256 << 10;

/// Part of a byte stream that is in memory.
pub(in crate::traces) struct Window {
    input: Input,
    buffer: Vec<u8>,
    /// Range of the buffer that was read but not yet handed out.
    pending: Range<usize>,
    at_end: bool,
}

impl Window {
    pub(in crate::traces) fn new(input: Input) -> Self {
        Self { input, buffer: vec![0; FIRST_BYTES], pending: 0..0, at_end: false }
    }

    /// Returns the bytes in memory that were not yet handed out.
    #[inline]
    pub(in crate::traces) fn pending(&self) -> &[u8] {
        &self.buffer[self.pending.clone()]
    }

    /// Returns the bytes in a range of the buffer. These bytes were handed out since the last
    /// refill.
    #[inline]
    pub(in crate::traces) fn piece(&self, piece: Range<usize>) -> &[u8] {
        &self.buffer[piece]
    }

    /// Hands out `length` bytes, or all bytes that are left in memory if there are fewer.
    #[inline]
    pub(in crate::traces) fn take(&mut self, length: usize) -> Range<usize> {
        let start = self.pending.start;
        self.pending.start = start.saturating_add(length).min(self.pending.end);
        start..self.pending.start
    }

    /// Returns whether the bytes in memory are the last bytes of the stream.
    pub(in crate::traces) fn at_end(&self) -> bool {
        self.at_end
    }

    /// Moves the remaining bytes to the start of the buffer. Then reads until the buffer is full or
    /// the stream ends.
    pub(in crate::traces) fn refill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.pending.clone(), 0);
        self.pending = 0..self.pending.len();
        while !self.at_end && self.has_space() {
            match self.input.read(&mut self.buffer[self.pending.end..]) {
                Ok(0) => self.at_end = true,
                Ok(n) => self.pending.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Returns whether the buffer has space for more bytes. A small buffer grows once.
    fn has_space(&mut self) -> bool {
        if self.pending.end == self.buffer.len() && self.buffer.len() < BUFFER_BYTES {
            self.buffer.resize(BUFFER_BYTES, 0);
        }
        self.pending.end < self.buffer.len()
    }
}
