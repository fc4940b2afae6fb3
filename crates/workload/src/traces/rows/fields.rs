//! Parses the columns of a line from left to right. Columns are separated by commas or by runs of
//! blanks. Every error names the invalid column.

use vpass_drive::base::request::Op;

use crate::traces::bytes::digits::{decimal, digits};
use crate::traces::rows::format::BadRow;

/// Columns that are separated by runs of spaces and tabs.
pub(in crate::traces) type Blanks<'a> = Fields<'a, true>;

/// Line of a trace whose columns are parsed one after the other. Columns are separated by single
/// commas, or by runs of spaces and tabs (`BLANKS`).
pub(in crate::traces) struct Fields<'a, const BLANKS: bool> {
    line: &'a [u8],
    /// Start of the next column in the line.
    at: usize,
    column: usize,
    /// Whether another column follows. `at` alone does not show this, because the last of several
    /// comma-separated columns may be empty.
    more: bool,
}

/// Limit for offsets and ends of requests, in bytes. No device has such high addresses.
const ADDRESS_END: u64 = 1 << 63;

impl<'a, const BLANKS: bool> Fields<'a, BLANKS> {
    pub(in crate::traces) fn new(line: &'a [u8]) -> Self {
        Self { line, at: 0, column: 0, more: true }
    }

    /// Parses the next column as text, which must not be empty.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(in crate::traces) fn text(&mut self) -> Result<&'a [u8], BadRow> {
        self.begin()?;
        let (start, length) = (self.at, self.length());
        if length == 0 {
            return Err(BadRow::Column(self.column));
        }
        self.finish(length)?;
        Ok(&self.line[start..start + length])
    }

    /// Parses the next column as a whole number.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(in crate::traces) fn number(&mut self) -> Result<u64, BadRow> {
        self.begin()?;
        let (value, length) = digits(self.line, self.at).ok_or(BadRow::Column(self.column))?;
        self.finish(length)?;
        Ok(value)
    }

    /// Checks that the next column is a whole number, and skips the column.
    #[inline]
    pub(in crate::traces) fn unused_number(&mut self) -> Result<(), BadRow> {
        self.number().map(|_| ())
    }

    /// Parses the next column as a whole number, and returns the number times `scale`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(in crate::traces) fn scaled(&mut self, scale: u64) -> Result<u64, BadRow> {
        let column = self.column;
        self.number()?.checked_mul(scale).ok_or(BadRow::Column(column))
    }

    /// Parses the next column as a device number.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(in crate::traces) fn device(&mut self) -> Result<u32, BadRow> {
        let column = self.column;
        u32::try_from(self.number()?).map_err(|_| BadRow::Column(column))
    }

    /// Parses the next column as an address in units of `unit` bytes, and returns it in bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(in crate::traces) fn offset(&mut self, unit: u64) -> Result<u64, BadRow> {
        let column = self.column;
        self.scaled(unit)
            .and_then(|n| if n < ADDRESS_END { Ok(n) } else { Err(BadRow::Column(column)) })
    }

    /// Parses the next column as a decimal number, and returns the number times ten to the power of
    /// `places`. Further decimal places are dropped. With `colon`, a colon may follow the number.
    #[inline]
    pub(in crate::traces) fn decimal(&mut self, places: u32, colon: bool) -> Result<u64, BadRow> {
        self.begin()?;
        let (value, length) =
            decimal(self.line, self.at, places).ok_or(BadRow::Column(self.column))?;
        let colon = colon && self.line.get(self.at + length) == Some(&b':');
        self.finish(length + usize::from(colon))?;
        Ok(value)
    }

    /// Skips the next column, which may be empty.
    #[inline]
    pub(in crate::traces) fn skip(&mut self) -> Result<(), BadRow> {
        self.begin()?;
        self.finish(self.length())
    }

    /// Returns the remaining columns of the line, without leading blanks.
    #[inline]
    pub(in crate::traces) fn rest(&self) -> &'a [u8] {
        self.line[self.at..].trim_ascii_start()
    }

    /// Returns the start of the next column in the line.
    #[inline]
    pub(in crate::traces) fn place(&self) -> usize {
        self.at
    }

    /// Returns the text from a position ([`Fields::place`]) to the end of the last parsed column.
    /// The text includes the separators between columns.
    #[inline]
    pub(in crate::traces) fn since(&self, place: usize) -> &'a [u8] {
        let end = if self.more { self.at - 1 } else { self.at };
        &self.line[place..end]
    }

    /// Returns whether another column follows in the line.
    #[inline]
    pub(in crate::traces) fn more(&self) -> bool {
        if BLANKS { self.line[self.at..].iter().any(|b| !is_blank(*b)) } else { self.more }
    }

    /// Returns the error that the content of the last parsed column is invalid.
    #[cold]
    pub(in crate::traces) fn wrong(&self) -> BadRow {
        BadRow::Column(self.column - 1)
    }

    /// Checks that no further column follows in the line.
    #[inline]
    pub(in crate::traces) fn end(&self) -> Result<(), BadRow> {
        if self.more() { Err(BadRow::Extra) } else { Ok(()) }
    }

    /// Returns the number of bytes to the next separator, or to the end of the line.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    fn length(&self) -> usize {
        let rest = &self.line[self.at..];
        rest.iter().position(|b| separates::<BLANKS>(*b)).unwrap_or(rest.len())
    }

    /// Goes to the first byte of the next column.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    fn begin(&mut self) -> Result<(), BadRow> {
        if BLANKS {
            while self.line.get(self.at).is_some_and(|b| is_blank(*b)) {
                self.at += 1;
            }
            self.more = self.at < self.line.len();
        }
        if self.more { Ok(()) } else { Err(BadRow::Missing(self.column)) }
    }

    /// Ends the current column after `length` bytes. A separator or the end of the line must
    /// follow; otherwise, an error is returned.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    fn finish(&mut self, length: usize) -> Result<(), BadRow> {
        self.at += length;
        match self.line.get(self.at) {
            None => self.more = false,
            Some(&b) if separates::<BLANKS>(b) => self.at += 1,
            Some(_) => return Err(BadRow::Column(self.column)),
        }
        self.column += 1;
        Ok(())
    }
}

#[inline]
fn separates<const BLANKS: bool>(byte: u8) -> bool {
    if BLANKS { is_blank(byte) } else { byte == b',' }
}

/// Returns whether a byte is a blank: a space or a tab.
#[inline]
pub(in crate::traces) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Returns the direction in bit 0 of hexadecimal flags: 1 for a read.
pub(in crate::traces) fn hex_flag(flags: &[u8]) -> Option<Op> {
    let digits = flags.strip_prefix(b"0x").unwrap_or(flags);
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let last = char::from(digits[digits.len() - 1]).to_digit(16)?;
    Some(if last & 1 == 1 { Op::Read } else { Op::Write })
}

/// Returns the direction that the letters of blktrace (RWBS) state. `Some(None)` is a flush or
/// another event without data.
#[expect(clippy::option_option, reason = "no direction, and no data, differ")]
pub(in crate::traces) fn rwbs(letters: &[u8]) -> Option<Option<Op>> {
    // If F is the first of several letters, a flush precedes the request. F alone is a flush
    // without a request.
    let letter = letters.strip_prefix(b"F").and_then(<[u8]>::first).or(letters.first());
    match letter {
        Some(b'R') => Some(Some(Op::Read)),
        Some(b'W') => Some(Some(Op::Write)),
        Some(b'D') => Some(Some(Op::Trim)),
        Some(letter) if letter.is_ascii_alphabetic() => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Commas<'a> = Fields<'a, false>;

    #[test]
    fn columns_of_any_length_end_at_their_separator() {
        for length in 1..40 {
            let name = "n".repeat(length);
            for (line, rest) in [(format!("{name},\t5"), "\t5"), (name.clone(), "")] {
                let mut f = Commas::new(line.as_bytes());
                assert_eq!(
                    (f.text(), f.text().ok()),
                    (Ok(name.as_bytes()), (!rest.is_empty()).then_some(rest.as_bytes()))
                );
            }
            for line in [format!("{name} ,"), format!("{name}\t,"), format!("  {name} ,")] {
                let mut f = Blanks::new(line.as_bytes());
                assert_eq!((f.text(), f.text()), (Ok(name.as_bytes()), Ok(&b","[..])));
            }
        }
    }

    #[test]
    fn commas_and_blanks() {
        let mut f = Commas::new(b"12,ab,,7");
        assert_eq!(
            (f.number(), f.text(), f.text()),
            (Ok(12), Ok(&b"ab"[..]), Err(BadRow::Column(2)))
        );
        let mut f = Commas::new(b"5,");
        assert_eq!((f.number(), f.more(), f.number()), (Ok(5), true, Err(BadRow::Column(1))));
        let mut f = Blanks::new(b" 12 \t 3 ");
        assert_eq!(
            (f.number(), f.number(), f.end(), f.number()),
            (Ok(12), Ok(3), Ok(()), Err(BadRow::Missing(2)))
        );
        assert_eq!(Blanks::new(b"3x").number(), Err(BadRow::Column(0)));
        assert_eq!(Commas::new(b"9223372036854775808").offset(1), Err(BadRow::Column(0)));
        assert_eq!(Blanks::new(b"18014398509481984").offset(512), Err(BadRow::Column(0)));
    }
}
