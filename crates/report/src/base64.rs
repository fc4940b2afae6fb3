//! Base64, for images and digests inside the page.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns bytes as standard base64 with padding.
///
/// ```
/// use vpass_report::base64::encode;
/// assert_eq!([encode(b"M"), encode(b"Ma"), encode(b"Man")], ["TQ==", "TWE=", "TWFu"]);
/// ```
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let sextet = bits >> (18 - 6 * digit) & 63;
            let is_padding = digit > three.len();
            text.push(if is_padding { '=' } else { DIGITS[sextet as usize] as char });
        }
    }
    text
}
