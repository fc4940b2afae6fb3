//! Which formats a file may have, from its first bytes alone. Formats say by themselves what they look like; this asks them all.
//! The look is coarse on purpose: a file of a known shape with a wrong number in its first line should be told which number is wrong.

use std::path::Path;

use vpass_core::base::request::SourceError;

use super::FORMATS;
use super::fields::is_blank;
use super::format::{Format, known};
use super::lines::MAX_LINE_BYTES;
use super::quote::quote;

/// What some Windows programs put before the first line of a text.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Lines that detection looks at.
const HEAD_LINES: usize = 16;

/// The first bytes of a file, and its first lines that are not blank, at least one.
pub(super) struct Head<'a> {
    bytes: &'a [u8],
    lines: Vec<&'a [u8]>,
    is_text: bool,
}

impl<'a> Head<'a> {
    /// The beginning of a file; none where all of it is blank.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let lines: Vec<_> =
            text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty()).take(HEAD_LINES).collect();
        let is_binary = |line: &[u8]| line.contains(&0) || (line.len() <= MAX_LINE_BYTES && std::str::from_utf8(line).is_err());
        let is_text = !lines.iter().any(|line| is_binary(line));
        (!lines.is_empty()).then_some(Self { bytes, lines, is_text })
    }

    /// The first line.
    pub(super) fn first(&self) -> &'a [u8] {
        self.lines[0]
    }

    /// The columns of the first line, between blanks.
    pub(super) fn first_columns(&self) -> Vec<&'a [u8]> {
        self.first().split(|b| is_blank(*b)).filter(|column| !column.is_empty()).collect()
    }

    /// The columns of the first line, between commas.
    pub(super) fn first_fields(&self) -> Vec<&'a [u8]> {
        self.first().split(|b| *b == b',').collect()
    }

    /// All lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        self.lines.iter().copied()
    }

    /// Everything, for binary formats.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// All formats that recognise the file.
    fn candidates(&self) -> Vec<&'static Format> {
        FORMATS.iter().filter(|format| (self.is_text || !format.is_text()) && (format.detect)(self)).collect()
    }
}

/// The one format that the beginning of a file shows.
///
/// # Errors
/// A sentence with the first line, where there is none or where there are several.
pub(super) fn detected(path: &Path, bytes: &[u8]) -> Result<&'static Format, SourceError> {
    let sentence = |what: String| Err(SourceError(format!("{}: {what}", path.display())));
    let Some(head) = Head::new(bytes) else {
        return sentence("holds no requests".into());
    };
    let first = quote(head.first());
    match head.candidates()[..] {
        [format] => Ok(format),
        [] if head.is_text => {
            sentence(format!("the format is not recognised; the first line is {first}; known formats: {}; name one with --format", known()))
        }
        [] => sentence(format!(
            "is no text and no binary trace that is known; a trace, plain or compressed with gzip or zstd, is expected; it begins with {first}"
        )),
        ref several => {
            let names: Vec<_> = several.iter().map(|f| format!("{} ({})", f.name, f.description)).collect();
            sentence(format!("may be {}; the first line is {first}; name one with --format", names.join(" or ")))
        }
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

/// Whether any first column has a decimal point.
pub(super) fn has_decimal_time(head: &Head) -> bool {
    head.lines().any(|line| line.split(|b| is_blank(*b)).find(|c| !c.is_empty()).is_some_and(|c| c.contains(&b'.')))
}
