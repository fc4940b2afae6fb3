//! The columns of a line, taken from left to right: commas or runs of blanks between them, numbers eight digits at a time.
//! Every failure names its column.

use super::format::BadRow;

/// Columns between single commas.
pub(super) type Commas<'a> = Fields<'a, false>;
/// Columns between runs of spaces and tabs.
pub(super) type Blanks<'a> = Fields<'a, true>;

/// A line with what is left of it.
pub(super) struct Fields<'a, const BLANKS: bool> {
    line: &'a [u8],
    /// Where the next column begins.
    at: usize,
    column: usize,
    /// Whether another column follows; with commas the last column may be empty, so `at` does not tell.
    more: bool,
}

/// First address that no device has: offsets and ends of requests stay below it.
const ADDRESS_END: u64 = 1 << 63;
/// Bytes of a disk sector in every format that counts sectors.
const SECTOR_BYTES: u64 = 512;

impl<'a, const BLANKS: bool> Fields<'a, BLANKS> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self { line, at: 0, column: 0, more: true }
    }

    /// The next column as it stands, not empty.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(super) fn text(&mut self) -> Result<&'a [u8], BadRow> {
        self.begin()?;
        let rest = &self.line[self.at..];
        let length = rest.iter().position(|b| separates::<BLANKS>(*b)).unwrap_or(rest.len());
        if length == 0 {
            return Err(BadRow::Column(self.column));
        }
        self.finish(length)?;
        Ok(&rest[..length])
    }

    /// The next column, a whole number.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(super) fn number(&mut self) -> Result<u64, BadRow> {
        self.begin()?;
        let (value, length) = digits(self.line, self.at).ok_or(BadRow::Column(self.column))?;
        self.finish(length)?;
        Ok(value)
    }

    /// The next column, a whole number that the line keeps and nobody here needs.
    #[inline]
    pub(super) fn unused_number(&mut self) -> Result<(), BadRow> {
        self.number().map(|_| ())
    }

    /// The next column, a whole number times `scale`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(super) fn scaled(&mut self, scale: u64) -> Result<u64, BadRow> {
        let column = self.column;
        self.number()?.checked_mul(scale).ok_or(BadRow::Column(column))
    }

    /// The next column, a device number.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(super) fn device(&mut self) -> Result<u32, BadRow> {
        let column = self.column;
        u32::try_from(self.number()?).map_err(|_| BadRow::Column(column))
    }

    /// The next column, a byte offset.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "per column of a trace")]
    pub(super) fn offset(&mut self) -> Result<u64, BadRow> {
        let column = self.column;
        self.number().and_then(|n| if n < ADDRESS_END { Ok(n) } else { Err(BadRow::Column(column)) })
    }

    /// The next column, a sector number, as a byte offset.
    #[inline]
    pub(super) fn sector(&mut self) -> Result<u64, BadRow> {
        let column = self.column;
        self.scaled(SECTOR_BYTES).and_then(|n| if n < ADDRESS_END { Ok(n) } else { Err(BadRow::Column(column)) })
    }

    /// The next column, a number of sectors, in bytes.
    #[inline]
    pub(super) fn sectors(&mut self) -> Result<u64, BadRow> {
        self.scaled(SECTOR_BYTES)
    }

    /// The next column, a decimal number of milliseconds, in ns; digits finer than a nanosecond are dropped.
    #[inline]
    pub(super) fn milliseconds(&mut self) -> Result<u64, BadRow> {
        self.begin()?;
        let (value, length) = milliseconds(self.line, self.at).ok_or(BadRow::Column(self.column))?;
        self.finish(length)?;
        Ok(value)
    }

    /// Where the next column begins.
    #[inline]
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// The columns from a [`Fields::place`] to the last one taken, with the separators between them.
    #[inline]
    pub(super) fn since(&self, place: usize) -> &'a [u8] {
        let end = if self.more { self.at - 1 } else { self.at };
        &self.line[place..end]
    }

    /// Whether another column follows.
    #[inline]
    pub(super) fn more(&self) -> bool {
        if BLANKS { self.line[self.at..].iter().any(|b| !is_blank(*b)) } else { self.more }
    }

    /// The line must end here.
    #[inline]
    pub(super) fn end(&self) -> Result<(), BadRow> {
        if self.more() { Err(BadRow::Extra) } else { Ok(()) }
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

    /// Ends the column after `length` bytes; anything but a separator there means that the column holds something else.
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

/// Whether a byte separates columns in a format that separates with blanks.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
const ZEROES: u64 = 0x3030_3030_3030_3030;
const TOP_BITS: u64 = 0x8080_8080_8080_8080;

/// The number at `at` and its length; none where there is no digit or the number passes 2^64.
#[inline(always)]
#[expect(clippy::inline_always, reason = "half the cost of a trace line is here, and its callers know the column's number of digits")]
pub(super) fn digits(line: &[u8], at: usize) -> Option<(u64, usize)> {
    let (mut value, mut length) = leading(line, at);
    while length > 0 && length % 8 == 0 {
        let (part, count) = leading(line, at + length);
        if count == 0 {
            break;
        }
        value = value.checked_mul(POWERS[count])?.checked_add(part)?;
        length += count;
    }
    (length > 0).then_some((value, length))
}

/// The number that the next up to eight digits make, and how many they are.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn leading(line: &[u8], at: usize) -> (u64, usize) {
    // Digits become 0 to 9. Adding 0x76 sets the top bit of any byte above 9; a carry spoils only bytes after the first such byte.
    let raw = word(line, at) ^ ZEROES;
    let others = (raw.wrapping_add(0x7676_7676_7676_7676) | raw) & TOP_BITS;
    let count = others.trailing_zeros() / 8;
    if count == 0 {
        return (0, 0);
    }
    // Shifted so that the digits end the word: what comes in from below reads as leading zeroes.
    (eight(raw << (64 - 8 * count)), count as usize)
}

/// Eight bytes from `at` on, the first lowest, 0 beyond the end of the line.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn word(line: &[u8], at: usize) -> u64 {
    if let Some(chunk) = line.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        return u64::from_le_bytes(*chunk);
    }
    let left = line.len().saturating_sub(at);
    if left == 0 {
        return 0;
    }
    // The last eight bytes of the line with those before `at` shifted out: the last column costs no loop.
    if let Some(chunk) = line.last_chunk::<8>() {
        return u64::from_le_bytes(*chunk) >> (64 - 8 * left);
    }
    line[at..].iter().rev().fold(0, |word, b| word << 8 | u64::from(*b))
}

/// Eight digit values, first digit in the lowest byte, as a number: pairs, then fours, then all (D. Lemire's SWAR form).
#[inline]
fn eight(v: u64) -> u64 {
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let v = v.wrapping_mul(10).wrapping_add(v >> 8);
    let low = (v & MASK).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((v >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// A decimal number of milliseconds in ns, and its length in text.
#[inline]
fn milliseconds(line: &[u8], at: usize) -> Option<(u64, usize)> {
    const NS: u64 = 1_000_000;
    let (whole, mut length) = digits(line, at)?;
    let mut ns = whole.checked_mul(NS)?;
    if line.get(at + length) == Some(&b'.') {
        length += 1;
        let (part, count) = leading(line, at + length);
        ns = ns.checked_add(match count {
            0 => return None,
            1..=6 => part * POWERS[6 - count],
            _ => part / POWERS[count - 6],
        })?;
        length += count;
        length += line[at + length..].iter().take_while(|b| b.is_ascii_digit()).count();
    }
    Some((ns, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn milliseconds_to_the_nanosecond() {
        for (text, ns) in [("0", 0), ("0.221", 221_000), ("12.5", 12_500_000), ("1.0000019", 1_000_001), ("3.000000", 3_000_000)] {
            assert_eq!(milliseconds(text.as_bytes(), 0), Some((ns, text.len())), "{text}");
        }
        for text in ["", ".5", "5.", "-1.0", "18446744073709551615.0", "5. "] {
            assert_eq!(milliseconds(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn commas_and_blanks() {
        let mut f = Commas::new(b"12,ab,,7");
        assert_eq!((f.number(), f.text(), f.text()), (Ok(12), Ok(&b"ab"[..]), Err(BadRow::Column(2))));
        let mut f = Commas::new(b"5,");
        assert_eq!((f.number(), f.more(), f.number()), (Ok(5), true, Err(BadRow::Column(1))));
        let mut f = Blanks::new(b" 12 \t 3 ");
        assert_eq!((f.number(), f.number(), f.end(), f.number()), (Ok(12), Ok(3), Ok(()), Err(BadRow::Missing(2))));
        assert_eq!(Blanks::new(b"3x").number(), Err(BadRow::Column(0)));
        assert_eq!(Commas::new(b"9223372036854775808").offset(), Err(BadRow::Column(0)));
        assert_eq!(Blanks::new(b"18014398509481984").sector(), Err(BadRow::Column(0)));
    }

    proptest! {
        #[test]
        fn digits_agree_with_the_standard_library(before in "[ -~]{0,9}", text in "[0-9]{0,24}[^0-9]{0,9}[0-9]{0,3}") {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let expected = text[..end].parse::<u64>().ok().map(|n| (n, end));
            prop_assert_eq!(digits(format!("{before}{text}").as_bytes(), before.len()), expected);
        }
    }
}
