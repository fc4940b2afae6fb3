//! Prepares text of a trace file for quotation in messages. A quotation is short, and unprintable
//! characters are escaped.

/// Largest number of characters of a line that a message shows.
const SHOWN: usize = 80;

/// Returns the text in quotes, cut after 80 characters. Unprintable characters are escaped.
pub(crate) fn quote(text: &[u8]) -> String {
    let mut shown = String::from("\"");
    let mut length = 0;
    // Each byte gives at least one character after escaping, so the first 81 bytes are enough to
    // fill the quotation.
    for &byte in &text[..text.len().min(SHOWN + 1)] {
        let escaped = std::ascii::escape_default(byte);
        length += escaped.len();
        if length > SHOWN {
            shown.push('…');
            break;
        }
        shown.extend(escaped.map(char::from));
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn long_and_odd_text_is_cut_and_escaped() {
        assert_eq!(quote(b"a\tb\0\xff\"c"), r#""a\tb\x00\xff\"c""#);
        assert_eq!(quote(&[b'x'; 80]), format!("\"{}\"", "x".repeat(80)));
        assert_eq!(quote(&[b'x'; 81]), format!("\"{}…\"", "x".repeat(80)));
        assert_eq!(quote(&[0; 1000]), format!("\"{}…\"", "\\x00".repeat(20)));
    }
}
