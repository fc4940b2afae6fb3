//! Text in a line of CSV, as RFC 4180 has it: what names hold (commas, quotes) must not part or end
//! a field.

use std::borrow::Cow;

/// A field: the text, in quotes where a comma, a quote or the end of a line is in it.
pub(super) fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) { quoted(text).into() } else { text.into() }
}

/// A field in quotes, whatever is in it; quotes of its own are doubled.
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
