//! Lines of a byte stream in one buffer of fixed size, however long the stream.
//! LF and CRLF both end a line; the last one may lack its end.

use std::io;
use std::ops::Range;

use super::input::Input;

/// Longest line, in bytes; no format comes near it, so a longer one is no trace.
pub(super) const MAX_LINE_BYTES: usize = 64 << 10;
/// Large enough that the carried-over piece of a line (40 bytes) is nothing against it, small enough for the L2 cache.
const BUFFER_BYTES: usize = 256 << 10;

/// Why there is no next line.
#[derive(Debug)]
pub(super) enum LineError {
    /// The stream failed: a read error or a damaged compressed file.
    Io(io::Error),
    /// The line is longer than [`MAX_LINE_BYTES`].
    TooLong,
    /// The line holds a NUL byte.
    Nul,
}

/// A reader of lines.
pub(super) struct Lines {
    input: Input,
    buffer: Vec<u8>,
    /// What of the buffer is read and not yet handed out.
    pending: Range<usize>,
    /// The current line, without its end.
    line: Range<usize>,
    number: u64,
    at_end: bool,
    /// Whether the buffer holds a NUL anywhere: one fast scan a buffer instead of one a line.
    has_nul: bool,
}

impl Lines {
    pub(super) fn new(input: Input) -> Self {
        Self { input, buffer: vec![0; BUFFER_BYTES], pending: 0..0, line: 0..0, number: 0, at_end: false, has_nul: false }
    }

    /// Goes to the next line; false at the end of the stream.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool, LineError> {
        let next = memchr::memchr(b'\n', &self.buffer[self.pending.clone()]);
        if let Some(length) = next
            && !self.has_nul
            && length <= MAX_LINE_BYTES
        {
            self.take(length);
            return Ok(true);
        }
        self.advance_slowly()
    }

    /// The current line, without its end.
    #[inline]
    pub(super) fn text(&self) -> &[u8] {
        &self.buffer[self.line.clone()]
    }

    /// Number of the current line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The beginning of the stream, before the first `advance`.
    pub(super) fn peek(&mut self) -> Result<&[u8], LineError> {
        self.refill().map_err(LineError::Io)?;
        Ok(&self.buffer[self.pending.clone()])
    }

    /// Makes the next `length` bytes the current line and drops its end.
    #[inline]
    fn take(&mut self, length: usize) {
        let start = self.pending.start;
        let mut end = start + length;
        self.pending.start = (end + 1).min(self.pending.end);
        if end > start && self.buffer[end - 1] == b'\r' {
            end -= 1;
        }
        self.line = start..end;
        self.number += 1;
    }

    /// The cases that are rare: the buffer ends within the line, the line is the last, or it holds a NUL.
    #[cold]
    fn advance_slowly(&mut self) -> Result<bool, LineError> {
        let mut next = memchr::memchr(b'\n', &self.buffer[self.pending.clone()]);
        if next.is_none() {
            self.refill().map_err(LineError::Io)?;
            next = memchr::memchr(b'\n', &self.buffer[self.pending.clone()]);
        }
        if next.is_none() && self.pending.is_empty() {
            return Ok(false);
        }
        // A buffer without a line end is full, and then too long, or holds the last line.
        self.take(next.unwrap_or(self.pending.len()));
        if self.line.len() > MAX_LINE_BYTES {
            return Err(LineError::TooLong);
        }
        if self.has_nul && memchr::memchr(0, self.text()).is_some() {
            return Err(LineError::Nul);
        }
        Ok(true)
    }

    /// Moves the pending piece to the front and reads until the buffer is full or the stream ends.
    fn refill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.pending.clone(), 0);
        self.pending = 0..self.pending.len();
        while !self.at_end && self.pending.end < self.buffer.len() {
            match self.input.read(&mut self.buffer[self.pending.end..]) {
                Ok(0) => self.at_end = true,
                Ok(n) => self.pending.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.has_nul = memchr::memchr(0, &self.buffer[self.pending.clone()]).is_some();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(Box::new(std::io::Cursor::new(text.to_vec())));
        let mut out = Vec::new();
        while lines.advance().unwrap() {
            out.push(lines.text().to_vec());
        }
        assert_eq!(lines.number(), out.len() as u64);
        out
    }

    #[test]
    fn line_ends_of_every_kind() {
        assert_eq!(all(b""), Vec::<Vec<u8>>::new());
        assert_eq!(all(b"a\nb\r\n\n c"), [&b"a"[..], b"b", b"", b" c"]);
        assert_eq!(all(b"\n\r\n"), [b"", b""]);
    }

    #[test]
    fn a_stream_longer_than_the_buffer_loses_nothing() {
        // 7-byte lines do not divide the buffer, so pieces are carried over at every refill.
        let text: Vec<u8> = (0..200_000).flat_map(|i| format!("{i:06}\n").into_bytes()).collect();
        let lines = all(&text);
        assert_eq!(lines.len(), 200_000);
        assert!(lines.iter().enumerate().all(|(i, l)| *l == format!("{i:06}").into_bytes()));
    }

    #[test]
    fn the_longest_line_is_64_kib() {
        let mut text = vec![b'x'; MAX_LINE_BYTES];
        assert_eq!(all(&text).len(), 1);
        text.push(b'x');
        for end in ["", "\n", "\nmore\n"] {
            let mut lines = Lines::new(Box::new(std::io::Cursor::new([&text, end.as_bytes()].concat())));
            assert!(matches!(lines.advance(), Err(LineError::TooLong)), "{end:?}");
        }
    }

    #[test]
    fn a_nul_is_found_in_its_own_line() {
        let mut lines = Lines::new(Box::new(&b"a\nb\n\0\n"[..]));
        assert!(lines.advance().unwrap() && lines.advance().unwrap());
        assert!(matches!(lines.advance(), Err(LineError::Nul)));
        assert_eq!(lines.number(), 3);
    }
}
