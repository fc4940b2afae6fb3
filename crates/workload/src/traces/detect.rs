//! Which format a file has, from its first lines alone. Formats say by themselves what they look like; this asks them in turn.
//! The look is coarse on purpose: a file of a known shape with a wrong number in its first line should be told which number is wrong.

use super::FORMATS;
use super::fields::is_blank;
use super::format::Format;

/// Lines that detection looks at.
const HEAD_LINES: usize = 16;

/// The first lines of a file that are not blank, at least one.
pub(super) struct Head<'a> {
    lines: Vec<&'a [u8]>,
}

impl<'a> Head<'a> {
    /// The first lines of `text`; none where all of it is blank.
    pub(super) fn new(text: &'a [u8]) -> Option<Self> {
        let lines: Vec<_> =
            text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty()).take(HEAD_LINES).collect();
        (!lines.is_empty()).then_some(Self { lines })
    }

    /// The first line.
    pub(super) fn first(&self) -> &'a [u8] {
        self.lines[0]
    }

    /// The columns of the first line, between blanks.
    pub(super) fn first_columns(&self) -> impl Iterator<Item = &'a [u8]> {
        self.first().split(|b| is_blank(*b)).filter(|column| !column.is_empty())
    }

    /// All lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        self.lines.iter().copied()
    }

    /// The format that recognises the file.
    pub(super) fn format(&self) -> Option<&'static Format> {
        FORMATS.iter().find(|format| (format.detect)(self))
    }
}

/// Whether a column looks like a whole number, if need be a negative one.
pub(super) fn is_whole(column: &[u8]) -> bool {
    let digits = column.strip_prefix(b"-").unwrap_or(column);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a column looks like a whole or decimal number.
pub(super) fn is_decimal(column: &[u8]) -> bool {
    let digits = column.strip_prefix(b"-").unwrap_or(column);
    let mut parts = digits.splitn(2, |b| *b == b'.');
    parts.next().is_some_and(is_whole) && parts.next().is_none_or(is_whole)
}
