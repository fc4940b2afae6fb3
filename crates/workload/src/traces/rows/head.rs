//! First lines of a trace file. From these lines, vpass detects the format of the file.

use crate::traces::bytes::lines::MAX_LINE_BYTES;
use crate::traces::rows::fields::is_blank;

/// Byte order mark, which some Windows programs write before the first line.
pub(in crate::traces) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Number of lines that detection of the format reads.
const HEAD_LINES: usize = 16;

/// First bytes of a file, and the first lines that are not blank. At least one line is not blank.
pub(in crate::traces) struct Head<'a> {
    bytes: &'a [u8],
    lines: Vec<&'a [u8]>,
    /// Whether the lines are text.
    pub(in crate::traces) is_text: bool,
}

impl<'a> Head<'a> {
    /// Makes the head of a file from its first bytes. Returns `None` if all lines are blank.
    pub(in crate::traces) fn new(bytes: &'a [u8]) -> Option<Self> {
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let lines: Vec<_> = text
            .split(|b| *b == b'\n')
            .map(<[u8]>::trim_ascii_end)
            .filter(|line| !line.is_empty())
            .take(HEAD_LINES)
            .collect();
        let is_binary = |line: &[u8]| {
            line.contains(&0)
                || (line.len() <= MAX_LINE_BYTES && std::str::from_utf8(line).is_err())
        };
        let is_text = !lines.iter().any(|line| is_binary(line));
        (!lines.is_empty()).then_some(Self { bytes, lines, is_text })
    }

    /// Returns the first line that is not blank.
    pub(in crate::traces) fn first(&self) -> &'a [u8] {
        self.lines[0]
    }

    /// Returns the columns of the first line, which are separated by blanks.
    pub(in crate::traces) fn first_columns(&self) -> Vec<&'a [u8]> {
        self.first().split(|b| is_blank(*b)).filter(|column| !column.is_empty()).collect()
    }

    /// Returns the columns of the first line, which are separated by commas.
    pub(in crate::traces) fn first_fields(&self) -> Vec<&'a [u8]> {
        self.first().split(|b| *b == b',').collect()
    }

    /// Returns all lines of the head.
    pub(in crate::traces) fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        self.lines.iter().copied()
    }

    /// Returns all bytes of the head, for binary formats.
    pub(in crate::traces) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Returns whether a column looks like a whole number, which may be negative.
pub(in crate::traces) fn is_whole(column: &[u8]) -> bool {
    let digits = column.strip_prefix(b"-").unwrap_or(column);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Returns whether a column looks like a whole or decimal number.
pub(in crate::traces) fn is_decimal(column: &[u8]) -> bool {
    let digits = column.strip_prefix(b"-").unwrap_or(column);
    let mut parts = digits.splitn(2, |b| *b == b'.');
    parts.next().is_some_and(is_whole) && parts.next().is_none_or(is_whole)
}

/// Returns whether the first column of any line has a decimal point.
pub(in crate::traces) fn has_decimal_time(head: &Head) -> bool {
    head.lines().any(|line| {
        line.split(|b| is_blank(*b)).find(|c| !c.is_empty()).is_some_and(|c| c.contains(&b'.'))
    })
}
