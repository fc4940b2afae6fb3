//! The beginning of a file, and what its columns look like: by that formats say whether a file may
//! be theirs.

use crate::traces::bytes::lines::MAX_LINE_BYTES;
use crate::traces::rows::fields::is_blank;

/// What some Windows programs put before the first line of a text.
pub(in crate::traces) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Lines that detection looks at.
const HEAD_LINES: usize = 16;

/// The first bytes of a file, and its first lines that are not blank, at least one.
pub(in crate::traces) struct Head<'a> {
    bytes: &'a [u8],
    lines: Vec<&'a [u8]>,
    /// Whether these lines are text.
    pub(in crate::traces) is_text: bool,
}

impl<'a> Head<'a> {
    /// The beginning of a file; none where all of it is blank.
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

    /// The first line.
    pub(in crate::traces) fn first(&self) -> &'a [u8] {
        self.lines[0]
    }

    /// The columns of the first line, between blanks.
    pub(in crate::traces) fn first_columns(&self) -> Vec<&'a [u8]> {
        self.first().split(|b| is_blank(*b)).filter(|column| !column.is_empty()).collect()
    }

    /// The columns of the first line, between commas.
    pub(in crate::traces) fn first_fields(&self) -> Vec<&'a [u8]> {
        self.first().split(|b| *b == b',').collect()
    }

    /// All lines.
    pub(in crate::traces) fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        self.lines.iter().copied()
    }

    /// Everything, for binary formats.
    pub(in crate::traces) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Whether a column looks like a whole number, if need be a negative one.
pub(in crate::traces) fn is_whole(column: &[u8]) -> bool {
    let digits = column.strip_prefix(b"-").unwrap_or(column);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a column looks like a whole or decimal number.
pub(in crate::traces) fn is_decimal(column: &[u8]) -> bool {
    let digits = column.strip_prefix(b"-").unwrap_or(column);
    let mut parts = digits.splitn(2, |b| *b == b'.');
    parts.next().is_some_and(is_whole) && parts.next().is_none_or(is_whole)
}

/// Whether any first column has a decimal point.
pub(in crate::traces) fn has_decimal_time(head: &Head) -> bool {
    head.lines().any(|line| {
        line.split(|b| is_blank(*b)).find(|c| !c.is_empty()).is_some_and(|c| c.contains(&b'.'))
    })
}
