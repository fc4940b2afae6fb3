//! Numbers in text, eight digits at a time.

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
const ZEROES: u64 = 0x3030_3030_3030_3030;
const TOP_BITS: u64 = 0x8080_8080_8080_8080;

/// The number at `at` and its length; none where there is no digit or the number passes 2^64.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "half the cost of a trace line is here, and its callers know the column's number of digits"
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

/// The number that the next up to eight digits make, and how many they are.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn leading(line: &[u8], at: usize) -> (u64, usize) {
    // Digits become 0 to 9. Adding 0x76 sets the top bit of any byte above 9; a carry spoils only
    // bytes after the first such byte.
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
    // The last eight bytes of the line with those before `at` shifted out: the last column costs no
    // loop.
    if let Some(chunk) = line.last_chunk::<8>() {
        return u64::from_le_bytes(*chunk) >> (64 - 8 * left);
    }
    line[at..].iter().rev().fold(0, |word, b| word << 8 | u64::from(*b))
}

/// Eight digit values, first digit in the lowest byte, as a number: pairs, then fours, then all (D.
/// Lemire's SWAR form).
#[inline]
fn eight(v: u64) -> u64 {
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let v = v.wrapping_mul(10).wrapping_add(v >> 8);
    let low = (v & MASK).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((v >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// A decimal number times ten to the power of `PLACES`, at most 9, and its length in text; further
/// digits are dropped.
#[inline]
pub(in crate::traces) fn decimal<const PLACES: usize>(
    line: &[u8],
    at: usize,
) -> Option<(u64, usize)> {
    let (whole, mut length) = digits(line, at)?;
    let mut value = whole.checked_mul(const { 10u64.pow(PLACES as u32) })?;
    if line.get(at + length) == Some(&b'.') {
        length += 1;
        let (mut part, mut count) = leading(line, at + length);
        // Eight digits come at a time; the ninth, if wanted, alone.
        if PLACES > 8
            && count == 8
            && let Some(digit) = line.get(at + length + count).filter(|b| b.is_ascii_digit())
        {
            (part, count) = (part * 10 + u64::from(digit - b'0'), 9);
        }
        value = value.checked_add(match PLACES.checked_sub(count) {
            _ if count == 0 => return None,
            Some(missing) => part * POWERS[missing],
            None => part / POWERS[count - PLACES],
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
            assert_eq!(decimal::<6>(text.as_bytes(), 0), Some((ns, text.len())), "{text}");
        }
        for text in ["", ".5", "5.", "-1.0", "18446744073709551615.0", "5. "] {
            assert_eq!(decimal::<6>(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn other_units_to_the_nanosecond() {
        assert_eq!(decimal::<3>(b"12.3456", 0), Some((12_345, 7)));
        for (text, ns) in [("7", 7), ("7.9", 7), ("7.123456789", 7)] {
            assert_eq!(decimal::<0>(text.as_bytes(), 0), Some((ns, text.len())), "{text}");
        }
        assert_eq!(decimal::<0>(b"7.", 0), None);
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
            assert_eq!(decimal::<9>(text.as_bytes(), 0), Some((ns, text.len())), "{text}");
        }
        assert_eq!(decimal::<9>(b"18446744074", 0), None);
        // What follows is for whoever ends the column to refuse.
        assert_eq!(decimal::<9>(b"6.942e-06", 0), Some((6_942_000_000, 5)));
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
