//! Reads the lines of a byte stream in constant memory. A line ends with LF or CRLF. The last line
//! of the stream may end without these characters.

use std::ops::Range;

use crate::traces::bytes::window::Window;
use crate::traces::rows::reader::Odd;

/// Length of the longest line, in bytes. The lines of all formats are much shorter, so a file with
/// a longer line is not a trace.
pub(in crate::traces) const MAX_LINE_BYTES: usize = 64 << 10;

/// Reader of the lines of a stream.
pub(in crate::traces) struct Lines {
    window: Window,
    /// Current line, without its line end.
    line: Range<usize>,
    number: u64,
    /// Whether the bytes in memory contain a NUL byte. One fast scan of all these bytes replaces a
    /// scan of each line.
    has_nul: bool,
    /// Whether the reader is within a line that is too long and must be skipped.
    in_long_line: bool,
}

impl Lines {
    pub(in crate::traces) fn new(window: Window) -> Self {
        let has_nul = memchr::memchr(0, window.pending()).is_some();
        Self { window, line: 0..0, number: 0, has_nul, in_long_line: false }
    }

    /// Goes to the next line.
    #[inline]
    pub(in crate::traces) fn advance(&mut self) -> Result<(), Odd> {
        let next = memchr::memchr(b'\n', self.window.pending());
        if let Some(length) = next
            && !self.has_nul
            && length <= MAX_LINE_BYTES
            && !self.in_long_line
        {
            self.take(length, 1);
            return Ok(());
        }
        self.advance_slowly()
    }

    /// Returns the current line, without its line end.
    #[inline]
    pub(in crate::traces) fn text(&self) -> &[u8] {
        self.window.piece(self.line.clone())
    }

    /// Returns the number of the current line, counted from 1.
    pub(in crate::traces) fn number(&self) -> u64 {
        self.number
    }

    /// Takes the next `length` bytes as the current line. A carriage return at the end is left out.
    /// Also skips the `newline` bytes (0 or 1) that follow the line.
    #[inline]
    fn take(&mut self, length: usize, newline: usize) {
        let taken = self.window.take(length + newline);
        let line = self.window.piece(taken.start..taken.start + length);
        let carriage_return = usize::from(line.last() == Some(&b'\r'));
        self.line = taken.start..taken.start + length - carriage_return;
        self.number += 1;
    }

    /// Goes to the next line in a rare case: the line ends outside the bytes in memory, is the last
    /// line, is too long, or contains a NUL byte.
    #[cold]
    fn advance_slowly(&mut self) -> Result<(), Odd> {
        self.finish_long_line()?;
        let mut next = memchr::memchr(b'\n', self.window.pending());
        if next.is_none() {
            self.refill()?;
            next = memchr::memchr(b'\n', self.window.pending());
        }
        if next.is_none() && self.window.pending().is_empty() {
            return Err(Odd::End);
        }
        // If the buffer contains no line end, it contains the last line or part of a line that is
        // too long.
        self.in_long_line = next.is_none() && !self.window.at_end();
        self.take(next.unwrap_or(self.window.pending().len()), usize::from(next.is_some()));
        if self.line.len() > MAX_LINE_BYTES {
            return Err(Odd::TooLong);
        }
        if self.has_nul && memchr::memchr(0, self.text()).is_some() {
            return Err(Odd::Nul);
        }
        Ok(())
    }

    /// Skips the rest of a line that was too long for the buffer.
    fn finish_long_line(&mut self) -> Result<(), Odd> {
        while self.in_long_line {
            let rest = memchr::memchr(b'\n', self.window.pending());
            self.window.take(rest.map_or(usize::MAX, |length| length + 1));
            self.in_long_line = rest.is_none() && !self.window.at_end();
            if self.in_long_line {
                self.refill()?;
            }
        }
        Ok(())
    }

    fn refill(&mut self) -> Result<(), Odd> {
        self.window.refill().map_err(Odd::Io)?;
        self.has_nul = memchr::memchr(0, self.window.pending()).is_some();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &[u8]) -> Lines {
        Lines::new(Window::new(Box::new(std::io::Cursor::new(text.to_vec()))))
    }

    fn all(text: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = lines_of(text);
        let mut out = Vec::new();
        while lines.advance().is_ok() {
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
        // The size of the buffer is not a multiple of 7 bytes, the length of a line. For this
        // reason every refill of the buffer begins within a line.
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
            let mut lines = lines_of(&[&text, end.as_bytes()].concat());
            assert!(matches!(lines.advance(), Err(Odd::TooLong)), "{end:?}");
        }
    }

    #[test]
    fn after_a_line_of_any_length_comes_the_next() {
        for length in [MAX_LINE_BYTES + 1, 300 << 10, 1 << 20] {
            let mut lines = lines_of(&[vec![b'x'; length], b"\nmore\n".to_vec()].concat());
            assert!(matches!(lines.advance(), Err(Odd::TooLong)), "{length}");
            lines.advance().unwrap();
            assert_eq!((lines.text(), lines.number()), (&b"more"[..], 2), "{length}");
            assert!(matches!(lines.advance(), Err(Odd::End)));
        }
        let mut unended = lines_of(&vec![b'x'; 1 << 20]);
        assert!(matches!(unended.advance(), Err(Odd::TooLong)));
        assert!(matches!(unended.advance(), Err(Odd::End)));
    }

    #[test]
    fn a_nul_is_found_in_its_own_line() {
        let mut lines = lines_of(b"a\nb\n\0\nc\n");
        assert!(lines.advance().is_ok() && lines.advance().is_ok());
        assert!(matches!(lines.advance(), Err(Odd::Nul)));
        assert_eq!(lines.number(), 3);
        lines.advance().unwrap();
        assert_eq!(lines.text(), b"c");
    }
}
