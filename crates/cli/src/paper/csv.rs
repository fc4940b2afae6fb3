//! Fields of CSV, as in RFC 4180: commas and quotes in names must not end a field.

use std::borrow::Cow;

/// Returns a field: the text, in quotes if it contains a comma, a quote or a line break.
pub(super) fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) { quoted(text).into() } else { text.into() }
}

/// Returns a field in quotes; quotes inside it are doubled.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_part_a_field_is_quoted() {
        assert_eq!(
            ["plain words", "Win 7, timed", "a \"b\"", "two\nlines", ""].map(field),
            ["plain words", "\"Win 7, timed\"", "\"a \"\"b\"\"\"", "\"two\nlines\"", ""]
        );
        assert_eq!(quoted("a"), "\"a\"");
    }
}
