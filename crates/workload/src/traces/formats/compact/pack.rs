//! Packs a column of whole numbers into few bytes.
//!
//! A packed column begins with four widths, which are numbers of bytes. Then come two bits for each
//! number, which choose one of the widths for this number. The bytes of the numbers follow. For
//! most columns, an entropy code would save only one or two bits per number. Decoding needs no
//! branch for each number.

/// Column of numbers in packed form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Packed {
    /// Width for each of the four codes. A width is the number of bytes of a packed number, from 0
    /// to 8. The widths are in ascending order.
    pub(super) widths: [u8; 4],
    /// Codes that choose the widths of the numbers. Each code has two bits, and the code of the
    /// first number has the lowest bits. If all widths are equal, there are no codes.
    pub(super) codes: Vec<u8>,
    /// Bytes of the numbers, in little-endian order.
    pub(super) data: Vec<u8>,
}

/// Number of bytes that the decoder may read beyond the end of the packed data.
pub(super) const LOOK_AHEAD: usize = 8;

/// Returns the number of bytes that the codes of `count` numbers take.
pub(super) fn code_bytes(widths: [u8; 4], count: usize) -> usize {
    if is_fixed(widths) { 0 } else { count.div_ceil(4) }
}

fn is_fixed(widths: [u8; 4]) -> bool {
    widths[0] == widths[3]
}

/// Packs numbers into `out`, and replaces the previous content of `out`.
pub(super) fn pack(numbers: &[u64], out: &mut Packed) {
    out.codes.clear();
    out.data.clear();
    let mut counts = [0; 9];
    for n in numbers {
        counts[bytes_of(*n)] += 1;
    }
    out.widths = best_widths(&counts);
    let mut code_of = [0u8; 9];
    for (bytes, code) in code_of.iter_mut().enumerate() {
        *code = out.widths.iter().position(|w| usize::from(*w) >= bytes).unwrap_or(3) as u8;
    }
    out.codes.resize(code_bytes(out.widths, numbers.len()), 0);
    for (i, n) in numbers.iter().enumerate() {
        let code = code_of[bytes_of(*n)];
        if let Some(codes) = out.codes.get_mut(i / 4) {
            *codes |= code << (i % 4 * 2);
        }
        let width = usize::from(out.widths[usize::from(code)]);
        out.data.extend_from_slice(&n.to_le_bytes()[..width]);
    }
}

/// Returns the number of bytes that a number needs. The number 0 needs 0 bytes.
fn bytes_of(n: u64) -> usize {
    (u64::BITS - n.leading_zeros()).div_ceil(8) as usize
}

/// Returns the four widths with which a column takes the fewest bytes. `counts[n]` says how many
/// numbers of the column need n bytes.
fn best_widths(counts: &[usize; 9]) -> [u8; 4] {
    let longest = counts.iter().rposition(|c| *c > 0).unwrap_or(0);
    let shortest = counts.iter().position(|c| *c > 0).unwrap_or(0);
    if longest == shortest {
        return [longest as u8; 4];
    }
    let (mut best, mut least) = ([longest as u8; 4], usize::MAX);
    for a in 0..=longest {
        for b in a..=longest {
            for c in b..=longest {
                let widths = [a, b, c, longest];
                let width_of =
                    |bytes: usize| widths.into_iter().find(|w| *w >= bytes).unwrap_or(longest);
                let total =
                    counts.iter().enumerate().map(|(bytes, count)| count * width_of(bytes)).sum();
                if total < least {
                    (best, least) = (widths.map(|w| w as u8), total);
                }
            }
        }
    }
    best
}

/// Unpacks numbers from `data` until `out` is full. `data` has [`LOOK_AHEAD`] bytes more than the
/// packed numbers take. Returns false if codes, data and widths contradict each other.
#[must_use]
pub(super) fn unpack(widths: [u8; 4], codes: &[u8], data: &[u8], out: &mut [u64]) -> bool {
    if !widths.is_sorted() || widths[3] > 8 || codes.len() != code_bytes(widths, out.len()) {
        return false;
    }
    let width = widths.map(usize::from);
    let mask = width.map(mask);
    let data_bytes = data.len() - LOOK_AHEAD;
    if is_fixed(widths) {
        return data_bytes == out.len() * width[0] && unpack_fixed(width[0], mask[0], data, out);
    }
    let (mut at, mut done) = (0, 0);
    for (four, codes) in out.as_chunks_mut::<4>().0.iter_mut().zip(codes) {
        let Some(window) = data.get(at..).and_then(|rest| rest.first_chunk()) else { break };
        at += unpack_four(&width, &mask, *codes, window, four);
        done += 4;
    }
    // The last numbers are unpacked one by one, because fewer than [`WINDOW`] bytes of data are
    // left.
    for (i, n) in out.iter_mut().enumerate().skip(done) {
        let Some(bytes) = data.get(at..).and_then(|rest| rest.first_chunk()) else { return false };
        let code = usize::from(codes[i / 4] >> (i % 4 * 2) & 3);
        *n = u64::from_le_bytes(*bytes) & mask[code];
        at += width[code];
    }
    at == data_bytes
}

/// Number of bytes from which four numbers are unpacked. Four numbers with widths below 16 always
/// fit, so the compiler can omit bounds checks.
const WINDOW: usize = 64 + 8;

/// Unpacks four numbers. Returns the number of bytes that these four numbers took.
#[inline]
fn unpack_four(
    width: &[usize; 4],
    mask: &[u64; 4],
    codes: u8,
    window: &[u8; WINDOW],
    out: &mut [u64; 4],
) -> usize {
    let mut at = 0;
    for (k, n) in out.iter_mut().enumerate() {
        let code = usize::from(codes >> (2 * k) & 3);
        *n = word(&window[at & 63..]) & mask[code];
        at += width[code] & 15;
    }
    at
}

fn unpack_fixed(width: usize, mask: u64, data: &[u8], out: &mut [u64]) -> bool {
    if width == 0 {
        out.fill(0);
    } else {
        for (n, bytes) in out.iter_mut().zip(data.windows(8).step_by(width)) {
            *n = word(bytes) & mask;
        }
    }
    true
}

/// Returns the first eight bytes of `data` as a number.
#[inline]
fn word(data: &[u8]) -> u64 {
    u64::from_le_bytes(*data.first_chunk().expect("eight bytes"))
}

/// Returns a mask that keeps the lowest `width` bytes of a number.
fn mask(width: usize) -> u64 {
    u64::MAX.checked_shr(64 - 8 * width as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(widths: [u8; 4], codes: &[u8], data: &[u8], count: usize) -> Option<Vec<u64>> {
        let mut out = vec![7; count];
        unpack(widths, codes, &[data, &[0xff; LOOK_AHEAD]].concat(), &mut out).then_some(out)
    }

    fn round(numbers: &[u64]) -> Packed {
        let mut packed = Packed::default();
        pack(numbers, &mut packed);
        assert_eq!(
            unpacked(packed.widths, &packed.codes, &packed.data, numbers.len()).as_deref(),
            Some(numbers)
        );
        packed
    }

    #[test]
    fn numbers_take_the_bytes_they_need() {
        let packed = round(&[0, 255, 256, 3, 70_000]);
        // The five numbers need 0, 1, 2, 1 and 3 bytes. The first byte of the codes has the codes
        // 0, 1, 2 and 1, and the second byte has code 3.
        assert_eq!(packed.widths, [0, 1, 2, 3]);
        assert_eq!(packed.codes, [0b01_10_01_00, 0b11]);
        assert_eq!(packed.data, [255, 0, 1, 3, 112, 17, 1]);
    }

    #[test]
    fn equal_lengths_need_no_codes() {
        assert_eq!(round(&[0, 0, 0]), Packed::default());
        assert_eq!(round(&[7, 9]), Packed { widths: [1; 4], codes: vec![], data: vec![7, 9] });
        assert_eq!(round(&[u64::MAX]).data, [255; 8]);
        round(&[]);
    }

    #[test]
    fn five_lengths_share_four_widths() {
        // There are only four widths. The single number of 2 bytes gets 3 bytes, because rounding
        // up any other number would cost more.
        let mut numbers = vec![0; 9];
        numbers.extend([[1 << 56; 9], [200; 9], [1 << 20; 9]].concat());
        numbers.push(1 << 10);
        assert_eq!(round(&numbers).widths, [0, 1, 3, 8]);
    }

    #[test]
    fn contradictions_are_found() {
        let packed = round(&[0, 255, 256, 3, 70_000]);
        let Packed { widths, codes, data } = &packed;
        let (cut, longer) = (&data[..data.len() - 1], &[&data[..], &[0]].concat());
        assert_eq!(unpacked(*widths, codes, cut, 5), None);
        assert_eq!(unpacked(*widths, codes, longer, 5), None);
        assert_eq!(unpacked(*widths, codes, data, 4), None);
        assert_eq!(unpacked(*widths, &codes[..1], data, 5), None);
        assert_eq!(unpacked([0, 2, 1, 3], codes, data, 5), None);
        assert_eq!(unpacked([9; 4], &[], &[0; 9], 1), None);
        assert_eq!(unpacked([1; 4], &[], &[0; 3], 2), None);
        // The codes need far more bytes than the data has.
        assert_eq!(unpacked([0, 1, 2, 8], &[0xff; 100], &[0; 790], 400), None);
    }
}
