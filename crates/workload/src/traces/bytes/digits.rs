//! Parses numbers in text, eight digits at a time.

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
const ZEROES: u64 = 0x3030_3030_3030_3030;
const TOP_BITS: u64 = 0x8080_8080_8080_8080;

/// Returns the number that begins at position `at` of a line, and the count of its digits. Returns
/// `None` if there is no digit, or if the number is 2^64 or more.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "half the cost of a trace line is here; callers know the column's number of digits"
)]
pub(in crate::traces) fn digits(line: &[u8], at: usize) -> Option<(u64, usize)> {
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

/// Reads up to eight digits. Returns the number that they form, and the count of digits.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn leading(line: &[u8], at: usize) -> (u64, usize) {
    // The XOR turns digits into bytes with the values 0 to 9. Adding 0x76 sets the top bit of each
    // byte above 9. A carry out of such a byte changes only later bytes, so the first such byte is
    // found correctly.
    let raw = word(line, at) ^ ZEROES;
    let others = (raw.wrapping_add(0x7676_7676_7676_7676) | raw) & TOP_BITS;
    let count = others.trailing_zeros() / 8;
    if count == 0 {
        return (0, 0);
    }
    // The shift moves the digits to the end of the word. The word then begins with zero bytes,
    // which act as leading zeros of the number.
    (eight(raw << (64 - 8 * count)), count as usize)
}

/// Returns the eight bytes that begin at position `at`, with the first byte lowest. Bytes beyond
/// the end of the line are 0.
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
    // Near the end of the line, the last eight bytes of the line are taken, and the bytes before
    // `at` are shifted out. As a result, the last column of a line needs no loop.
    if let Some(chunk) = line.last_chunk::<8>() {
        return u64::from_le_bytes(*chunk) >> (64 - 8 * left);
    }
    line[at..].iter().rev().fold(0, |word, b| word << 8 | u64::from(*b))
}

/// Converts eight bytes with digits to a number. The first digit is in the lowest byte. Two digits
/// are joined to a pair, two pairs to a group of four, and two such groups to the number. This is
/// D. Lemire's SWAR method.
#[inline]
fn eight(v: u64) -> u64 {
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let v = v.wrapping_mul(10).wrapping_add(v >> 8);
    let low = (v & MASK).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((v >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// Parses a decimal number. Returns the number times ten to the power of `places`, and the count of
/// characters parsed. `places` is at most 9. Further decimal places are dropped.
#[inline]
pub(in crate::traces) fn decimal(line: &[u8], at: usize, places: u32) -> Option<(u64, usize)> {
    let (whole, mut length) = digits(line, at)?;
    let mut value = whole.checked_mul(10u64.pow(places))?;
    if line.get(at + length) == Some(&b'.') {
        length += 1;
        let (mut part, mut count) = leading(line, at + length);
        // Eight decimal places are read together. A ninth decimal place is read separately.
        if places > 8
            && count == 8
            && let Some(digit) = line.get(at + length + count).filter(|b| b.is_ascii_digit())
        {
            (part, count) = (part * 10 + u64::from(digit - b'0'), 9);
        }
        value = value.checked_add(match places.checked_sub(count as u32) {
            _ if count == 0 => return None,
            Some(missing) => part * POWERS[missing as usize],
            None => part / POWERS[count - places as usize],
        })?;
        length += count;
        length += line[at + length..].iter().take_while(|b| b.is_ascii_digit()).count();
    }
    Some((value, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn milliseconds_to_the_nanosecond() {
        for (text, ns) in [
            ("0", 0),
            ("0.221", 221_000),
            ("12.5", 12_500_000),
            ("1.0000019", 1_000_001),
            ("3.000000", 3_000_000),
        ] {
            assert_eq!(decimal(text.as_bytes(), 0, 6), Some((ns, text.len())), "{text}");
        }
        for text in ["", ".5", "5.", "-1.0", "18446744073709551615.0", "5. "] {
            assert_eq!(decimal(text.as_bytes(), 0, 6), None, "{text}");
        }
    }

    #[test]
    fn other_units_to_the_nanosecond() {
        assert_eq!(decimal(b"12.3456", 0, 3), Some((12_345, 7)));
        for (text, ns) in [("7", 7), ("7.9", 7), ("7.123456789", 7)] {
            assert_eq!(decimal(text.as_bytes(), 0, 0), Some((ns, text.len())), "{text}");
        }
        assert_eq!(decimal(b"7.", 0, 0), None);
    }

    #[test]
    fn seconds_to_the_nanosecond() {
        for (text, ns) in [
            ("0", 0),
            ("0.016375", 16_375_000),
            ("1456095145.133076000", 1_456_095_145_133_076_000),
            ("0.1234567899", 123_456_789),
            ("2.12345678", 2_123_456_780),
        ] {
            assert_eq!(decimal(text.as_bytes(), 0, 9), Some((ns, text.len())), "{text}");
        }
        assert_eq!(decimal(b"18446744074", 0, 9), None);
        // The caller reports the rest of the column, `e-06`, as an error.
        assert_eq!(decimal(b"6.942e-06", 0, 9), Some((6_942_000_000, 5)));
    }

    proptest! {
        #[test]
        fn digits_agree_with_the_standard_library(before in "[ \
            -~]{0,9}", text in "[0-9]{0,24}[^0-9]{0,9}[0-9]{0,3}") {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let expected = text[..end].parse::<u64>().ok().map(|n| (n, end));
            prop_assert_eq!(digits(format!("{before}{text}").as_bytes(), before.len()), expected);
        }
    }
}
